"""Reading Linkwork's own files: a part, a scene or a movement, as the file's ``format`` says."""

from __future__ import annotations

from linkwork.errors import FormatError, suggestion
from linkwork.formats.toml.includes import Includes
from linkwork.formats.toml.movement import read_movement
from linkwork.formats.toml.read_part import read_part
from linkwork.formats.toml.read_scene import read_scene
from linkwork.formats.toml.source import Place, Source, found
from linkwork.formats.toml.tables import Table
from linkwork.formats.toml.words import FORMS, MOVEMENT, PART
from linkwork.parts import Part
from linkwork.scene import Movement, Scene


def read_source(source: Source, includes: Includes | None = None) -> Part | Scene:
    """What a source says, with the parts that it names.

    Raises:
        LinkworkError: Naming the thing, its file and line, and what would be allowed.
    """
    place, table = Place(source), _table(source)
    if table is MOVEMENT:
        raise FormatError(
            "this is a movement, not a part or scene.",
            origin=place.origin,
            hint="An agent of type 'movement' plays it; load_movement reads it.",
        )
    includes = includes or Includes(read_source)
    with includes.inside(source.file), place.blamed():
        fields = table.read(source.data, place)
        if table is PART:
            return read_part(fields, includes)
        return read_scene(fields, includes)


def read_movements(source: Source) -> list[Movement]:
    """The movement that a source holds; none if it is a part or a scene.

    Raises:
        LinkworkError: As :func:`read_source`.
    """
    place, table = Place(source), _table(source)
    if table is not MOVEMENT:
        return []
    with place.blamed():
        return [read_movement(table.read(source.data, place))]


def _table(source: Source) -> Table:
    """The table of the format that a source names."""
    place = Place(source)
    given = source.data.get("format")
    if not isinstance(given, str) or given not in FORMS:
        if "format" not in source.data:
            message = "does not say its format."
        else:
            message = f"has a format that is not known: {found(given)}."
        close = suggestion(given, FORMS) if isinstance(given, str) else ""
        hint = close if close.startswith("Did") else ""
        allowed = " or ".join(f'format = "{form}"' for form in FORMS)
        raise (place / "format").called("the file").wrong(message, hint=hint or f"Write {allowed}.")
    return FORMS[given]
