"""Notes of a conversion: one line for each remark, whatever it is about."""

import time

from linkwork.formats.notes import Notes


def test_names_of_one_remark_are_one_line() -> None:
    """Each name once, remarks in the order of their first mention."""
    notes = Notes()
    notes.about("meshes, left out", "b")
    notes.say("a line of its own")
    for name in ("a", "b", "a"):
        notes.about("meshes, left out", name)
    notes.say("a line of its own")
    assert notes.lines() == ["meshes, left out: a, b.", "a line of its own"]


def test_many_names_cost_little() -> None:
    """Fifty thousand names take a moment, not minutes."""
    notes, began = Notes(), time.perf_counter()
    for number in range(50_000):
        notes.about("geoms, left out", f"geom {number}")
    assert notes.lines()[0].endswith("(49988 more).")
    assert time.perf_counter() - began < 2.0
