"""Reading Linkwork's own files: a part or a scene, as the file's ``format`` says."""

from __future__ import annotations

from linkwork.errors import suggestion
from linkwork.formats.toml.includes import Includes
from linkwork.formats.toml.read_part import read_part
from linkwork.formats.toml.read_scene import read_scene
from linkwork.formats.toml.source import Place, Source, found
from linkwork.formats.toml.words import FORMS, PART
from linkwork.parts import Part
from linkwork.scene import Scene


def read_source(source: Source, includes: Includes | None = None) -> Part | Scene:
    """What a source says, with the parts that it names.

    Raises:
        LinkworkError: Naming the thing, its file and line, and what would be allowed.
    """
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
    table = FORMS[given]
    includes = includes or Includes(read_source)
    with includes.inside(source.file), place.blamed():
        fields = table.read(source.data, place)
        if table is PART:
            return read_part(fields, includes)
        return read_scene(fields, includes)
