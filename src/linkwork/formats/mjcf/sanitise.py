"""Sanitising: the part of a model that MuJoCo may compile, as text that reaches out to no file.

MuJoCo knows best what its defaults, frames and replicas come to, so its compiler computes the
numbers. It sees a text that is written anew from the parsed tree: without files, textures, skins,
plug-ins and settings of memory; with meshes as numbers that our own readers took from their files;
with a name on each element, which leads back to its line; and with no count that could run away.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from linkwork.errors import FormatError, Origin
from linkwork.formats.mjcf.sizes import NUMBER, Sizes
from linkwork.formats.mjcf.source import MOST_ELEMENTS, Source
from linkwork.formats.notes import Notes
from linkwork.formats.xml_tree import Node
from linkwork.meshes import MESH_SUFFIXES
from linkwork.parts.terrain import MOST_POINTS

#: Begins names that the file does not give.
GENERATED = "~"

#: Left out without loss for anything that moves.
FOR_THE_EYE = {"visual", "statistic", "size", "texture", "layer"}
#: Left out, and told as lost.
LEFT_OUT = {
    "custom", "extension", "deformable", "skin", "flex", "flexcomp", "composite", "model",
    "attach", "plugin", "flexvert", "flexstrain", "user", "tactile", "adhesion", "muscle",
    "lengthrange",
}  # fmt: skip
_NAMED = {"body", "geom", "joint", "freejoint", "site", "camera", "light"}
_NAMED_INSIDE = {"actuator", "sensor", "equality", "contact", "tendon", "keyframe"}
_COMPILER_FILES = {"meshdir", "texturedir", "assetdir", "strippath", "fusestatic", "discardvisual"}
#: Attributes that hold names; all others may hold no infinite number.
_NAMES = re.compile(
    r"name|.*class|joint.*|body.*|site.*|geom.*|tendon.*|mesh|material|hfield|obj.*|model"
)
_ENDLESS = re.compile(r"[+-]?(inf|infinity|nan)\Z", re.IGNORECASE)
_LARGEST = 1e15
_PLACEHOLDER = "0 0 0 1e-2 0 0 0 1e-2 0 0 0 1e-2"


@dataclass
class Safe:
    """What MuJoCo may see.

    Attributes:
        text: The model's XML.
        lines: Where each of its lines comes from.
        origins: Where each named element comes from, by kind and name.
        meshes: Files of mesh assets, by name.
        lost_meshes: Mesh assets that cannot be read, by name: why.
        replaced: Those of them in whose place stands a small solid.
        corners: Numbers of mesh assets that are given by their corners alone, by name.
        lost_fields: Height fields that cannot be read, by name.
    """

    text: str = ""
    lines: list[Origin] = field(default_factory=list)
    origins: dict[tuple[str, str], Origin] = field(default_factory=dict)
    meshes: dict[str, Path] = field(default_factory=dict)
    lost_meshes: dict[str, str] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    corners: dict[str, str] = field(default_factory=dict)
    lost_fields: set[str] = field(default_factory=set)


def sanitise(source: Source, notes: Notes) -> Safe:
    """Writes the text that MuJoCo may compile.

    Raises:
        FormatError: If a file cannot be found or a number is beyond all measure.
    """
    writer = _Writer(source, notes)
    writer.write(source.root)
    writer.sizes.check_keys()
    writer.safe.text = "\n".join(writer.out) + "\n"
    return writer.safe


@dataclass(frozen=True)
class _Place:
    """Where an element is: tag of what holds it, whether it is a default, how often it is made."""

    inside: str
    default: bool
    times: int


class _Writer:
    def __init__(self, source: Source, notes: Notes) -> None:
        self.source, self.notes, self.safe = source, notes, Safe()
        self.out: list[str] = []
        self.count = 0
        self.written = 0
        self.mesh_folder = _mesh_folder(source.root)
        self.sizes = Sizes(source.root)

    def write(self, root: Node) -> None:
        """Writes an element and all inside it, however deep."""
        waiting: list[tuple[Node, _Place | None]] = [(root, _Place("", False, 1))]
        while waiting:
            node, place = waiting.pop()
            if place is None:
                self._line(f"</{node.tag}>", node.origin)
                continue
            inner = self._open(node, place)
            if inner is not None and node.children:
                waiting.append((node, None))
                waiting.extend((child, inner) for child in reversed(node.children))

    def _open(self, node: Node, place: _Place) -> _Place | None:
        """Writes how an element begins; returns what holds inside, None if it is left out."""
        inside, default, times = place.inside, place.default, place.times
        if node.tag in FOR_THE_EYE and not (node.tag == "size" and inside != "mujoco"):
            self.notes.about("for the eye or MuJoCo's memory only, left out", node.tag)
            return None
        if node.tag in LEFT_OUT or node.tag.startswith("plugin"):
            self.notes.about("elements that are not read", _title(node))
            return None
        attributes = self._attributes(node, inside, default)
        if node.tag == "replicate":
            times *= _replicas(node)
        self.sizes.add(node, inside, default, times)
        self.written += times
        if self.written > MOST_ELEMENTS:
            raise FormatError(
                f"the model has more than {MOST_ELEMENTS} elements, replicas included.",
                origin=node.origin,
            )
        body = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
        end = ">" if node.children else "/>"
        self._line(f"<{node.tag}{body}{end}", node.origin)
        return _Place(node.tag, default or node.tag == "default", times)

    def _line(self, text: str, origin: Origin) -> None:
        self.out.append(text)
        self.safe.lines.append(origin)

    def _attributes(self, node: Node, inside: str, default: bool) -> dict[str, str]:
        made = {name: " ".join(value.split()) for name, value in node.attributes.items()}
        for name, value in made.items():
            _check(node, name, value)
        if made.pop("user", None) is not None:
            self.notes.about("numbers of the user's own (user=…), left out of", node.tag)
        if node.tag == "compiler":
            made = {name: v for name, v in made.items() if name not in _COMPILER_FILES}
        elif node.tag == "material":
            made = {name: v for name, v in made.items() if name in ("name", "class", "rgba")}
        elif node.tag == "mesh" and not default and inside == "asset":
            self._mesh(node, made)
        elif node.tag == "hfield" and inside == "asset":
            self._hfield(node, made)
        named = node.tag in _NAMED or inside in _NAMED_INSIDE
        if named and not default and inside not in ("fixed", "spatial"):
            name = made.setdefault("name", f"{GENERATED}{self._number()}")
            self.safe.origins.setdefault((_kind(node, inside), name), node.origin)
        return made

    def _number(self) -> int:
        self.count += 1
        return self.count

    def _mesh(self, node: Node, made: dict[str, str]) -> None:
        reference = made.pop("file", "")
        name = made.setdefault("name", Path(reference.replace("\\", "/")).stem or "mesh")
        if any(child.tag == "plugin" for child in node.children):
            self.safe.lost_meshes[name] = "made by a plug-in"
        if not reference:
            if "vertex" not in made:
                self.safe.lost_meshes[name] = "made by MuJoCo itself"
            else:
                self.safe.lost_meshes[name] = "given by numbers in the file"
                if not {"face", "refpos", "refquat"} & {*made}:
                    self.safe.corners[name] = made["vertex"]
            if "builtin" in made or "vertex" not in made:
                self._replace(name, made)
            return
        path = self.source.locate(reference, node, base=self.mesh_folder)
        if path.suffix.lower() not in MESH_SUFFIXES:
            self.safe.lost_meshes[name] = f"of a format that is not read ({path.suffix})"
            self._replace(name, made)
            return
        if not path.is_file():
            raise FormatError(f"mesh {name!r}: there is no file {str(path)!r}.", origin=node.origin)
        self.safe.meshes[name] = path
        made.pop("content_type", None)

    def _replace(self, name: str, made: dict[str, str]) -> None:
        """Puts a small solid in the place of a mesh that cannot be read."""
        for word in [n for n in made if n not in ("name", "class")]:
            del made[word]
        made["vertex"] = _PLACEHOLDER
        self.safe.replaced.add(name)

    def _hfield(self, node: Node, made: dict[str, str]) -> None:
        reference = made.pop("file", "")
        name = made.setdefault("name", Path(reference.replace("\\", "/")).stem or "hfield")
        if reference:
            self.safe.lost_fields.add(name)
            made |= {"nrow": "2", "ncol": "2"}
            made.pop("elevation", None)
            return
        counts = []
        for word in ("nrow", "ncol"):
            value = made.get(word, "0")
            counts.append(int(value) if value.isdecimal() and len(value) < 8 else MOST_POINTS + 1)
        if counts[0] * counts[1] > MOST_POINTS:
            raise FormatError(
                f"<hfield> of {made.get('nrow')} by {made.get('ncol')} points: at most "
                f"{MOST_POINTS} are allowed.",
                origin=node.origin,
            )


def _title(node: Node) -> str:
    name = node.attributes.get("name", "")
    return f"{node.tag} {name}" if name else node.tag


def _kind(node: Node, inside: str) -> str:
    if inside in _NAMED_INSIDE:
        return inside if inside != "contact" else node.tag
    return "joint" if node.tag == "freejoint" else node.tag


def _replicas(node: Node) -> int:
    count = node.attributes.get("count", "").strip()
    if not (count.isdecimal() and len(count) < 6 and 0 < int(count) <= MOST_ELEMENTS):
        raise FormatError(
            f"count={count!r} of <replicate> is not a whole number from 1 to {MOST_ELEMENTS}.",
            origin=node.origin,
        )
    return int(count)


def _check(node: Node, name: str, value: str) -> None:
    """Refuses numbers that no machine has, and characters that no XML has."""
    if any(ord(c) < 32 for c in value):
        raise FormatError(
            f"{name}={value!r} of <{node.tag}> holds a control character.", origin=node.origin
        )
    if _NAMES.match(name):
        return
    for word in value.split():
        number = float(word) if NUMBER.match(word) else 0.0
        if _ENDLESS.match(word) or not abs(number) <= _LARGEST or math.isnan(number):
            raise FormatError(
                f"{name}={word!r} of <{node.tag}> is not a finite number up to {_LARGEST:g}.",
                origin=node.origin,
            )


def _mesh_folder(root: Node) -> str:
    """Where the file says its meshes are, from its own folder."""
    folder = ""
    for node in root.all("compiler"):
        for name in ("assetdir", "meshdir"):
            folder = node.attributes.get(name, folder)
    return folder
