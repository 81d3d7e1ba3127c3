"""Notes of a conversion: one line for each kind of note."""

import time

from linkwork.formats.conversion_notes import ConversionNotes


def test_names_of_one_remark_are_one_line() -> None:
    """Each name occurs once, notes are in order of first mention."""
    notes = ConversionNotes()
    notes.about("meshes, left out", "b")
    notes.add("a line of its own")
    for name in ("a", "b", "a"):
        notes.about("meshes, left out", name)
    notes.add("a line of its own")
    assert notes.lines() == ["meshes, left out: a, b.", "a line of its own"]


def test_many_names_cost_little() -> None:
    """Fifty thousand names take less than a second."""
    notes, began = ConversionNotes(), time.perf_counter()
    for number in range(50_000):
        notes.about("geoms, left out", f"geom {number}")
    assert notes.lines()[0].endswith("(49988 more).")
    assert time.perf_counter() - began < 2.0
