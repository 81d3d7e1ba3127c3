"""Scopes: the named frames of an SDF model or world, with those of nested models."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.core.errors import FormatError, Origin, suggestion
from linkwork.formats.robots.resources import ResourceLocator
from linkwork.formats.robots.sdf.context import SdfReadContext
from linkwork.formats.robots.sdf.values import (
    flag,
    frame_of,
    name_of,
    pose_of,
    required_child,
    text_of,
)
from linkwork.formats.robots.xml import XmlNode, parse_xml
from linkwork.geometry.pose import IDENTITY, Pose

#: Names for the frame of the model itself, and of the world.
MODEL, WORLD = "__model__", ("world", "__root__")


@dataclass
class ScopeFrame:
    """A named frame.

    Attributes:
        kind: "link", "joint", "frame" or "model".
        node: Its XML element.
        pose: Its pose in the frame ``base``.
        base: Name of the frame in which ``pose`` is given.
        attached: Name of the frame that it is attached to.
        inside: The scope of a nested model.
    """

    kind: str
    node: XmlNode
    pose: Pose
    base: str
    attached: str = ""
    inside: FrameScope | None = None


@dataclass
class FrameScope:
    """The frames of one model, or of a world.

    Attributes:
        node: The model.
        version: Version of SDF that its file declares.
        name: Name, which an include may change.
        is_world: Whether it is a world.
        frames: By name.
    """

    node: XmlNode
    version: tuple[int, int]
    name: str
    is_world: bool = False
    frames: dict[str, ScopeFrame] = field(default_factory=dict)
    _poses: dict[str, Pose] = field(default_factory=dict, repr=False)

    def gather(self) -> None:
        """Adds the links, joints and frames of the model.

        Raises:
            FormatError: If a name is missing or taken.
        """
        for node in self.node.children:
            if node.tag == "link" and not self.is_world:
                self.add(
                    name_of(node), ScopeFrame("link", node, pose_of(node), frame_of(node) or MODEL)
                )
            elif node.tag == "joint" and not self.is_world:
                child = required_child(node, "child")
                base = frame_of(node) or child
                self.add(name_of(node), ScopeFrame("joint", node, pose_of(node), base, child))
            elif node.tag == "frame":
                on = node.attributes.get("attached_to", "").strip()
                base = frame_of(node) or on or MODEL
                self.add(name_of(node), ScopeFrame("frame", node, pose_of(node), base, on))

    def add(self, name: str, frame: ScopeFrame) -> None:
        """Adds a frame under a name that must be new."""
        if name in self.frames:
            raise FormatError(
                f"the name {name!r} of a <{frame.node.tag}> is taken by the "
                f"<{self.frames[name].node.tag}> at {self.frames[name].node.origin}.",
                origin=frame.node.origin,
            )
        self.frames[name] = frame

    def pose(self, name: str, origin: Origin) -> Pose:
        """Returns the pose of a frame in the frame of the model or world.

        Raises:
            FormatError: If there is no such frame, or frames refer to each other in a cycle.
        """
        pending: dict[str, Pose] = {}  # pose of each frame in the next one
        while not (self._is_own(name) or (self.is_world and name in WORLD) or name in self._poses):
            if name in pending:
                circle = " → ".join([*pending, name][-9:])
                raise FormatError(
                    f"the frames {circle} refer to each other in a cycle.", origin=origin
                )
            first, separator, rest = self._split(name)
            frame = self._find(first, origin)
            if not separator:
                pending[name], name, origin = frame.pose, frame.base, frame.node.origin
                continue
            if frame.inside is None:
                raise FormatError(f"{first!r} is no model.", origin=origin)
            pending[name], name = frame.inside.pose(rest, origin), first
        found = self._poses.get(name, IDENTITY)
        for each, pose in reversed(pending.items()):
            found = self._poses[each] = found @ pose
        return found

    def inside(self, link: str, node: XmlNode) -> Pose:
        """Returns the pose of a link's child in the link's frame, whichever frame it is given in.

        Raises:
            FormatError: If there is no such frame.
        """
        base = frame_of(node)
        if not base or base == link:
            return pose_of(node)
        seen_from = self.pose(link, node.origin).inverse() @ self.pose(base, node.origin)
        return seen_from @ pose_of(node)

    def link(self, name: str, origin: Origin) -> str:
        """Returns the name of the link, scoped by ``::``, that a frame is attached to.

        Raises:
            FormatError: If it is not attached to a link.
        """
        seen: dict[str, None] = {}
        while True:
            if name in seen:
                circle = " → ".join([*seen, name][-9:])
                raise FormatError(f"the frames {circle} are attached to each other.", origin=origin)
            seen[name] = None
            if self._is_own(name):
                named = self.node.attributes.get("canonical_link", "").strip()
                if not named:
                    return self.canonical(origin)
                name = named
                continue
            first, separator, rest = self._split(name)
            frame = self._find(first, origin)
            if separator:
                if frame.inside is None:
                    raise FormatError(f"{first!r} is no model.", origin=origin)
                return f"{first}::{frame.inside.link(rest, origin)}"
            if frame.kind == "link":
                return name
            if frame.inside is not None:
                return f"{name}::{frame.inside.canonical(origin)}"
            name, origin = frame.attached or MODEL, frame.node.origin

    def has_links(self) -> bool:
        """Whether the model or a nested one has links."""
        return any(
            frame.kind == "link" or (frame.inside is not None and frame.inside.has_links())
            for frame in self.frames.values()
        )

    def canonical(self, origin: Origin) -> str:
        """Returns the model's canonical link: the one it names, else its first."""
        named = self.node.attributes.get("canonical_link", "").strip()
        if named:
            return self.link(named, origin)
        for name, frame in self.frames.items():
            if frame.kind == "link":
                return name
        for name, frame in self.frames.items():
            if frame.inside is not None:
                return f"{name}::{frame.inside.canonical(origin)}"
        raise FormatError(f"the model {self.name!r} has no links.", origin=self.node.origin)

    def _split(self, name: str) -> tuple[str, str, str]:
        """Returns a nested model, ``::`` and the name in it; old files have ``::`` in own names."""
        return (name, "", "") if name in self.frames else name.partition("::")

    def _is_own(self, name: str) -> bool:
        """Whether a name means the model itself; old files use the model's own name."""
        return name == MODEL or (name == self.name and name not in self.frames)

    def _find(self, name: str, origin: Origin) -> ScopeFrame:
        if name not in self.frames:
            raise FormatError(
                f"there is no frame named {name!r} in {self.name!r}.",
                origin=origin,
                hint=suggestion(name, self.frames, kind="frames"),
            )
        return self.frames[name]


def version_of(root: XmlNode) -> tuple[int, int]:
    """Returns the version that a file declares, as two numbers.

    Raises:
        FormatError: If it is unknown.
    """
    text = root.attributes.get("version", "").strip()
    major, _, minor = text.partition(".")
    if not (major == "1" and minor.isascii() and minor.isdigit() and len(minor) < 4):
        raise FormatError(
            f"version={text!r} of <sdf> is not known.",
            origin=root.origin,
            hint="Versions 1.4 to 1.12 are read.",
        )
    return 1, int(minor)


def placement_frame(node: XmlNode) -> str:
    """Returns the frame of a model that its pose places, if it is not the model's own."""
    return node.attributes.get("placement_frame", "").strip() or text_of(node, "placement_frame")


#: Maximum depth of nested and included models.
MAX_DEPTH = 12


def scope_of(
    node: XmlNode,
    version: tuple[int, int],
    reading: SdfReadContext,
    *,
    name: str = "",
    depth: int = 0,
) -> FrameScope:
    """Returns the frames of a model or world, with those of the models in it.

    Raises:
        FormatError: If names are missing or taken, or an included file is not found.
    """
    if depth > MAX_DEPTH:
        raise FormatError(
            f"models are nested or included more than {MAX_DEPTH} deep.", origin=node.origin
        )
    is_world = node.tag == "world"
    scope = FrameScope(node, version, name or (name_of(node)), is_world)
    scope.gather()
    for child in node.children:
        if child.tag == "model":
            inner = scope_of(child, version, reading, depth=depth + 1)
            if is_world and inner.name in scope.frames:
                inner.name = _free_name(inner.name, scope)
                what = "models whose name is taken, renamed"
                reading.notes.about(what, f"{inner.name} ({child.origin})")
            _nest(scope, inner, child, pose_node=child)
        elif child.tag == "include":
            _include(scope, child, reading, depth)
    return scope


def _free_name(name: str, scope: FrameScope) -> str:
    number = 2
    while f"{name}_{number}" in scope.frames:
        number += 1
    return f"{name}_{number}"


def _nest(scope: FrameScope, inner: FrameScope, node: XmlNode, *, pose_node: XmlNode) -> None:
    """Adds a nested model to the scope of its parent."""
    placed = placement_frame(node) or placement_frame(inner.node)
    pose = pose_of(pose_node)
    if placed:
        pose = pose @ inner.pose(placed, node.origin).inverse()
    base = frame_of(pose_node) or MODEL
    scope.add(inner.name, ScopeFrame("model", node, pose, base, inside=inner))


def _include(scope: FrameScope, node: XmlNode, reading: SdfReadContext, depth: int) -> None:
    reference = required_child(node, "uri")
    file, tried = reading.locator.find_model(reference)
    if file is None:
        reading.missing.add("model", reference, node.origin, reading.locator, tried)
        return
    reading.enter(file, node)
    root = parse_xml(file, on_fault=reading.note_fault)
    model = root.first("model") if root.tag == "sdf" else None
    if model is None:
        hint = "An included URDF is not read." if root.tag == "robot" else ""
        raise FormatError(f"{file} holds no SDF model.", origin=node.origin, hint=hint)
    name = text_of(node, "name") or name_of(model)
    outer, reading.locator = reading.locator, ResourceLocator(file.parent)
    try:
        inner = scope_of(model, version_of(root), reading, name=name, depth=depth + 1)
    finally:
        reading.locator = outer
    reading.homes[id(inner.node)] = ResourceLocator(file.parent)
    if node.first("static") is not None:
        reading.static[id(inner.node)] = flag(node, "static")
    if node.attributes.get("merge", "").strip().lower() in ("true", "1"):
        reading.notes.about("merged includes, read as nested models", name)
    for child in node.children:
        if child.tag not in ("uri", "name", "pose", "static", "placement_frame"):
            reading.unread(child)
    _nest(scope, inner, node, pose_node=node if node.first("pose") else model)
