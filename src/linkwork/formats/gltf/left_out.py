"""Left out: what a glTF file holds beside the triangles, which alone are taken."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from linkwork.formats.notes import Notes

#: Lists of the document that are not read, as the notes call them.
_TABLES = {
    "cameras": "cameras, left out",
    "animations": "animations, left out",
    "skins": "skins, left out: what they bend is stiff",
    "textures": "textures, left out",
}


class _Document(msgspec.Struct):
    """The parts of a document that are not read; they may be of any form."""

    cameras: Any = None
    animations: Any = None
    skins: Any = None
    textures: Any = None
    extensions: Any = None
    meshes: Any = None
    nodes: Any = None


def note_left_out(path: Path, notes: Notes) -> None:
    """Notes cameras, lights, animations, textures, skins, morph targets and our joints.

    Args:
        path: A glTF file whose meshes can be read.
        notes: Takes what it holds and a part does not.
    """
    data = path.read_bytes()
    if data[:4] == b"glTF":
        data = data[20 : 20 + struct.unpack_from("<I", data, 12)[0]]
    try:
        document = msgspec.json.decode(data, type=_Document)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return  # what is no list of a document holds nothing
    for table, what in _TABLES.items():
        _note(what, _named(getattr(document, table)), notes)
    lights = _inside(_inside(document.extensions, "KHR_lights_punctual"), "lights")
    _note("lights, left out", _named(lights), notes)
    _note(
        "morph targets, left out",
        (
            name
            for name, mesh in _named_ones(document.meshes)
            if any(_inside(one, "targets") for one in _list(_inside(mesh, "primitives")))
        ),
        notes,
    )
    _note(
        "joints in extras, left out: their nodes are fixed as they stand",
        (
            name
            for name, node in _named_ones(document.nodes)
            if isinstance(_inside(_inside(node, "extras"), "joint"), dict)
        ),
        notes,
    )


def _note(what: str, names: Iterable[str], notes: Notes) -> None:
    for name in names:
        notes.about(what, name)


def _inside(thing: Any, key: str) -> Any:
    return thing.get(key) if isinstance(thing, dict) else None


def _list(thing: Any) -> list[Any]:
    return thing if isinstance(thing, list) else []


def _named_ones(table: Any) -> Iterator[tuple[str, Any]]:
    """The things in a list, by name or number."""
    for number, thing in enumerate(_list(table)):
        name = _inside(thing, "name")
        yield name if isinstance(name, str) and name else f"#{number}", thing


def _named(table: Any) -> Iterator[str]:
    return (name for name, _ in _named_ones(table))
