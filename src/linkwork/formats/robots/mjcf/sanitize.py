"""Sanitizing: the subset of a model that MuJoCo compiles, limited in size, without files."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from linkwork.core.errors import FormatError, Origin, os_error_text
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.mjcf.source import MAX_ELEMENTS, MjcfSource, read_source
from linkwork.formats.robots.resources import missing_files
from linkwork.formats.robots.xml import XmlNode
from linkwork.geometry.meshes import MESH_SUFFIXES
from linkwork.model.parts.shape import MAX_POINTS

#: A number in an XML file.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
#: Maximum values of attributes that determine MuJoCo's array sizes or iterations.
_MAX_COUNTS = {
    "actdim": 1000, "nsample": 1000, "num": 1000, "dim": 1000, "resolution": 16_384,
    "sdf_initpoints": 1000, "sdf_iterations": 1000, "ccd_iterations": 10_000,
    "iterations": 10_000, "ls_iterations": 10_000, "noslip_iterations": 10_000,
    "maxhullvert": 100_000, "group": 1000,
}  # fmt: skip
#: Maximum count of numbers of all sensors and actuators, and of all keyframes.
_MAX_NUMBERS, _MAX_KEY_NUMBERS = 1_000_000, 200_000
#: Coordinates and speeds of a joint by its type.
_PER_KEY = {"free": 13, "ball": 7}


class ModelSize:
    """Estimates MuJoCo's memory before it compiles a model."""

    def __init__(self, root: XmlNode) -> None:
        self.numbers = self.per_key = 0
        self.keys: list[Origin] = []
        self.pixels, self.inherited, self.joint = 1, 1, 2
        stack = [(root, False)]
        while stack:
            node, default = stack.pop()
            default = default or node.tag == "default"
            stack += [(child, default) for child in node.children]
            for word in node.attributes.keys() & _MAX_COUNTS.keys():
                _check_count(node, word)
            if node.tag == "camera":
                self.pixels = max(self.pixels, math.prod(_counts(node, "resolution")))
            if default and node.tag == "joint":
                kind = node.attributes.get("type", "").strip()
                self.joint = max(self.joint, _PER_KEY.get(kind, 2))
            elif default:
                self.inherited = max(self.inherited, _size(node))

    def add(self, node: XmlNode, inside: str, default: bool, times: int) -> None:
        """Counts an element.

        Raises:
            FormatError: If the total exceeds the limit.
        """
        if default:
            return
        if node.tag in ("joint", "freejoint") and inside not in ("fixed", "equality"):
            given = node.attributes.get("type", "").strip()
            kind = "free" if node.tag == "freejoint" else given
            self.per_key += times * (_PER_KEY.get(kind, 2) if kind else self.joint)
        elif node.attributes.get("mocap", "").strip() == "true":
            self.per_key += 7 * times
        elif node.tag == "key" and inside == "keyframe":
            self.keys.append(node.origin)
        elif inside in ("sensor", "actuator"):
            size = _size(node) * (self.inherited if inside == "actuator" else 1)
            self.per_key += 2 * size if inside == "actuator" else 0
            self.numbers += size * (self.pixels if "camera" in node.attributes else 1)
        if self.numbers > _MAX_NUMBERS:
            raise FormatError(
                f"sensors and actuators hold more than {_MAX_NUMBERS} numbers.",
                origin=node.origin,
                hint="Give smaller nsample, num, actdim or resolution.",
            )

    def check_keys(self) -> None:
        """Checks the keyframes, after all elements are counted.

        Raises:
            FormatError: If they hold too many numbers.
        """
        if len(self.keys) * self.per_key > _MAX_KEY_NUMBERS:
            raise FormatError(
                f"{len(self.keys)} keyframes of {self.per_key} numbers each are more than the "
                f"{_MAX_KEY_NUMBERS} numbers that are read.",
                origin=self.keys[0],
                hint="Keep fewer keyframes in the file.",
            )


def _size(node: XmlNode) -> int:
    """Returns the count of numbers that an element's attributes declare."""
    return math.prod(max(1, *_counts(node, word)) for word in ("actdim", "nsample", "num", "dim"))


def _counts(node: XmlNode, name: str) -> list[int]:
    words = node.attributes.get(name, "").split() or ["1"]
    return [int(float(word)) if NUMBER.match(word) else 1 for word in words]


def _check_count(node: XmlNode, name: str) -> None:
    for word in node.attributes[name].split():
        if NUMBER.match(word) and not abs(float(word)) <= _MAX_COUNTS[name]:
            raise FormatError(
                f"{name}={word!r} of <{node.tag}> is beyond {_MAX_COUNTS[name]}, the largest "
                "allowed.",
                origin=node.origin,
            )


#: Prefix of generated names.
GENERATED = "~"

#: Left out: elements without effect on the simulation.
VISUAL_ONLY = {"visual", "statistic", "size", "texture", "layer"}
#: Left out, with a note.
UNSUPPORTED = {
    "custom", "extension", "deformable", "skin", "flex", "flexcomp", "composite", "plugin",
    "flexvert", "flexstrain", "user", "tactile",
}  # fmt: skip
#: Those of them without which a model moves as with them.
_STILL = {"custom", "skin", "extension", "user", "tactile", "plugin"}
_NAMED = {"body", "geom", "joint", "freejoint", "site", "camera", "light"}
_NAMED_INSIDE = {"actuator", "sensor", "equality", "contact", "tendon", "keyframe"}
_COMPILER_FILES = {"meshdir", "texturedir", "assetdir", "strippath", "fusestatic", "discardvisual"}
#: Attributes that hold names; all others must be finite numbers.
_NAMES = re.compile(
    r"name|.*class|joint.*|body.*|site.*|geom.*|tendon.*|mesh|material|hfield|obj.*|model"
)
_NON_FINITE = re.compile(r"[+-]?(inf|infinity|nan)\Z", re.IGNORECASE)
_MAX_NUMBER = 1e15
_PLACEHOLDER = "0 0 0 1e-2 0 0 0 1e-2 0 0 0 1e-2"


@dataclass
class SanitizedModel:
    """A model that MuJoCo can safely compile.

    Attributes:
        text: The model's XML.
        lines: Where each of its lines comes from.
        origins: Where each named element comes from, by kind and name.
        meshes: Files of mesh assets, by name.
        lost_meshes: Reason why a mesh asset cannot be read, by name.
        replaced: Those of them that are replaced by a placeholder.
        corners: Vertices of mesh assets that are defined by vertices only, by name.
        fields: Files of height fields, by name.
        lost_fields: Reason why a height field cannot be read, by name.
        models: Text of each model that is attached, by the name of its file.
        elements: Number of elements, replicas and attached models included.
    """

    text: str = ""
    lines: list[Origin] = field(default_factory=list)
    origins: dict[tuple[str, str], Origin] = field(default_factory=dict)
    meshes: dict[str, Path] = field(default_factory=dict)
    lost_meshes: dict[str, str] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    corners: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Path] = field(default_factory=dict)
    lost_fields: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    elements: int = 0

    def attach(self, other: SanitizedModel, prefix: str) -> None:
        """Adds the assets of an attached model, whose names get a prefix."""
        self.models |= other.models
        self.origins |= {(kind, prefix + name): o for (kind, name), o in other.origins.items()}
        self.meshes |= {prefix + name: path for name, path in other.meshes.items()}
        self.lost_meshes |= {prefix + name: why for name, why in other.lost_meshes.items()}
        self.corners |= {prefix + name: text for name, text in other.corners.items()}
        self.replaced |= {prefix + name for name in other.replaced}
        self.fields |= {prefix + name: path for name, path in other.fields.items()}
        self.lost_fields |= {prefix + name: why for name, why in other.lost_fields.items()}


#: Maximum depth of attached models.
_MAX_ATTACHED = 8


def sanitize(
    source: MjcfSource, notes: ConversionNotes, files: tuple[Path, ...] = ()
) -> SanitizedModel:
    """Returns the sanitized model.

    Args:
        source: The model's text.
        notes: Notes on omissions and changes.
        files: Files of the models to which it is attached.

    Raises:
        FormatError: If a file cannot be found or a number is too large.
    """
    writer = _Writer(source, notes, files)
    writer.write(source.root)
    writer.sizes.check_keys()
    writer.safe.text = "\n".join(writer.out) + "\n"
    writer.safe.elements = writer.written
    return writer.safe


@dataclass(frozen=True)
class _ElementContext:
    """Context of an element: parent tag, whether it is in a default, number of replicas."""

    inside: str
    default: bool
    times: int


class _Writer:
    def __init__(self, source: MjcfSource, notes: ConversionNotes, files: tuple[Path, ...]) -> None:
        self.source, self.notes, self.safe = source, notes, SanitizedModel()
        self.files = files
        self.attached: dict[str, SanitizedModel] = {}
        self.out: list[str] = []
        self.count = 0
        self.written = 0
        self.mesh_folder = _asset_folder(source.root, "meshdir")
        self.texture_folder = _asset_folder(source.root, "texturedir")
        self.sizes = ModelSize(source.root)

    def write(self, root: XmlNode) -> None:
        """Writes an element and all its descendants, without recursion."""
        waiting: list[tuple[XmlNode, _ElementContext | None]] = [
            (root, _ElementContext("", False, 1))
        ]
        while waiting:
            node, place = waiting.pop()
            if place is None:
                self._line(f"</{node.tag}>", node.origin)
                continue
            inner = self._open(node, place)
            if inner is not None and node.children:
                waiting.append((node, None))
                waiting.extend((child, inner) for child in reversed(node.children))

    def _open(self, node: XmlNode, place: _ElementContext) -> _ElementContext | None:
        """Writes a start tag; returns the context of its children, None if it is left out."""
        inside, default, times = place.inside, place.default, place.times
        if node.tag in VISUAL_ONLY and not (node.tag == "size" and inside != "mujoco"):
            self.notes.about("visual or memory settings, left out", node.tag)
            return None
        if node.tag in UNSUPPORTED or node.tag.startswith("plugin"):
            if node.tag in _STILL and (node.tag != "plugin" or inside in ("extension", "mesh")):
                self.notes.about("elements that are not read", _title(node))
            else:
                text = "elements that are not read: it moves differently without them"
                self.notes.about(text, _title(node), kind="motion")
            return None
        attributes = self._attributes(node, inside, default)
        if node.tag == "replicate":
            times *= _replicas(node)
        self.sizes.add(node, inside, default, times)
        self.written += times
        if self.written > MAX_ELEMENTS:
            raise FormatError(
                f"the model has more than {MAX_ELEMENTS} elements, replicas included.",
                origin=node.origin,
            )
        body = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
        end = ">" if node.children else "/>"
        self._line(f"<{node.tag}{body}{end}", node.origin)
        return _ElementContext(node.tag, default or node.tag == "default", times)

    def _line(self, text: str, origin: Origin) -> None:
        self.out.append(text)
        self.safe.lines.append(origin)

    def _attributes(self, node: XmlNode, inside: str, default: bool) -> dict[str, str]:
        made = {name: " ".join(value.split()) for name, value in node.attributes.items()}
        for name, value in made.items():
            _check(node, name, value)
        if made.pop("user", None) is not None:
            self.notes.about("custom numbers (user=…), left out of", node.tag)
        if node.tag == "compiler":
            made = {name: v for name, v in made.items() if name not in _COMPILER_FILES}
        elif node.tag == "material":
            made = {name: v for name, v in made.items() if name in ("name", "class", "rgba")}
        elif node.tag == "mesh" and not default and inside == "asset":
            self._mesh(node, made)
        elif node.tag == "hfield" and inside == "asset":
            self._hfield(node, made)
        elif node.tag == "model" and inside == "asset":
            self._model(node, made)
        elif node.tag == "attach" and made.get("model") in self.attached:
            inner = self.attached[made["model"]]
            self.safe.attach(inner, made.get("prefix", ""))
            self.written += inner.elements
        elif node.tag == "lengthrange":
            _check_length_range(node, made)
        named = node.tag in _NAMED or inside in _NAMED_INSIDE
        if named and not default and inside not in ("fixed", "spatial"):
            name = made.setdefault("name", f"{GENERATED}{self._number()}")
            self.safe.origins.setdefault((_kind(node, inside), name), node.origin)
        return made

    def _number(self) -> int:
        self.count += 1
        return self.count

    def _model(self, node: XmlNode, made: dict[str, str]) -> None:
        """Sanitizes a model that is attached, which MuJoCo finds under another file name."""
        reference = made.get("file", "")
        path = self.source.locate(reference, node)
        if path in self.files or len(self.files) > _MAX_ATTACHED:
            raise FormatError(f"{reference!r} attaches itself.", origin=node.origin)
        source = read_source(path)
        name = made.setdefault(
            "name", source.root.attributes.get("model", "") or Path(reference).stem
        )
        inner = sanitize(source, self.notes, (*self.files, path))
        self.attached[name] = inner
        made["file"] = f"model{len(self.files)}_{len(self.attached)}.xml"
        inner.models[made["file"]] = inner.text

    def _mesh(self, node: XmlNode, made: dict[str, str]) -> None:
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
        if not path.is_file() and missing_files() == "skip":
            self.safe.lost_meshes[name] = "whose file is missing"
            self._replace(name, made)
            return
        if not path.is_file():
            raise FormatError(
                f"mesh {name!r}: there is no file {str(path)!r}.",
                origin=node.origin,
                hint="Copy it there, or go on without it: --missing-meshes skip.",
            )
        self.safe.meshes[name] = path
        made.pop("content_type", None)

    def _replace(self, name: str, made: dict[str, str]) -> None:
        """Replaces a mesh that cannot be read by a placeholder."""
        for word in [n for n in made if n not in ("name", "class")]:
            del made[word]
        made["vertex"] = _PLACEHOLDER
        self.safe.replaced.add(name)

    def _hfield(self, node: XmlNode, made: dict[str, str]) -> None:
        reference = made.pop("file", "")
        name = made.setdefault("name", Path(reference.replace("\\", "/")).stem or "hfield")
        if reference:
            path = self.source.locate(reference, node, base=self.texture_folder)
            if why := _unreadable_field(path):
                self.safe.lost_fields[name] = why
                made |= {"nrow": "2", "ncol": "2"}
            else:
                self.safe.fields[name] = path
                made |= {"nrow": "0", "ncol": "0"}
            for word in ("elevation", "content_type"):
                made.pop(word, None)
            return
        counts = []
        for word in ("nrow", "ncol"):
            value = made.get(word, "0")
            counts.append(
                int(value)
                if value.isascii() and value.isdecimal() and len(value) < 8
                else MAX_POINTS + 1
            )
        if counts[0] * counts[1] > MAX_POINTS:
            raise FormatError(
                f"<hfield> of {made.get('nrow')} by {made.get('ncol')} points: at most "
                f"{MAX_POINTS} are allowed.",
                origin=node.origin,
            )


def _title(node: XmlNode) -> str:
    name = node.attributes.get("name", "")
    return f"{node.tag} {name}" if name else node.tag


def _kind(node: XmlNode, inside: str) -> str:
    if inside in _NAMED_INSIDE:
        return inside if inside != "contact" else node.tag
    return "joint" if node.tag == "freejoint" else node.tag


#: Maximum number of steps by which MuJoCo finds the range of a muscle's length.
_MAX_LENGTH_STEPS = 20_000


def _check_length_range(node: XmlNode, given: dict[str, str]) -> None:
    """Rejects simulations for the range of lengths that take too long."""
    total, step = (
        float(word) if NUMBER.match(word) else 1.0
        for word in (given.get("inttotal", "10"), given.get("timestep", "0.01"))
    )
    if step <= 0.0 or total / step > _MAX_LENGTH_STEPS:
        raise FormatError(
            f"<lengthrange> simulates {total:g} s in steps of {step:g} s for each actuator: at "
            f"most {_MAX_LENGTH_STEPS} steps are allowed.",
            origin=node.origin,
            hint="Give the actuators a lengthrange, or a longer timestep.",
        )


def _replicas(node: XmlNode) -> int:
    count = node.attributes.get("count", "").strip()
    if not (
        count.isascii() and count.isdecimal() and len(count) < 6 and 0 < int(count) <= MAX_ELEMENTS
    ):
        raise FormatError(
            f"count={count!r} of <replicate> is not a whole number from 1 to {MAX_ELEMENTS}.",
            origin=node.origin,
        )
    return int(count)


def _check(node: XmlNode, name: str, value: str) -> None:
    """Rejects non-finite and too large numbers, and control characters."""
    if any(ord(c) < 32 for c in value):
        raise FormatError(
            f"{name}={value!r} of <{node.tag}> holds a control character.", origin=node.origin
        )
    if _NAMES.match(name):
        return
    for word in value.split():
        number = float(word) if NUMBER.match(word) else 0.0
        if _NON_FINITE.match(word) or not abs(number) <= _MAX_NUMBER or math.isnan(number):
            raise FormatError(
                f"{name}={word!r} of <{node.tag}> is not a finite number up to {_MAX_NUMBER:g}.",
                origin=node.origin,
            )


def _asset_folder(root: XmlNode, word: str) -> str:
    """Returns the folder of the meshes or images, relative to that of the file."""
    folder = ""
    for node in root.all("compiler"):
        for name in ("assetdir", word):
            folder = node.attributes.get(name, folder)
    return folder


_PNG = b"\x89PNG\r\n\x1a\n"


def _unreadable_field(path: Path) -> str:
    """Returns why MuJoCo cannot read a height field's file safely, or an empty text.

    It is a PNG image, or two counts and as many 32-bit numbers.
    """
    try:
        with path.open("rb") as file:
            head, size = file.read(24), path.stat().st_size
    except OSError as error:
        return os_error_text(error)
    if head.startswith(_PNG) and len(head) == 24:
        rows, columns = struct.unpack(">II", head[16:24])
        whole = True
    elif len(head) >= 8:
        rows, columns = struct.unpack("<ii", head[:8])
        whole = size == 8 + 4 * rows * columns
    else:
        return "no height field"
    if not whole or rows < 1 or columns < 1:
        return "neither a PNG image nor MuJoCo's own format"
    return f"more than {MAX_POINTS} points" if rows * columns > MAX_POINTS else ""
