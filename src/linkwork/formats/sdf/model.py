"""Models: a scope with those nested in it as one flat list of links, joints and frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from linkwork.errors import FormatError
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.joints import TIES, TYPES, Axis, joint_type, read_axes
from linkwork.formats.sdf.scope import WORLD, Scope
from linkwork.formats.sdf.values import flag, needed
from linkwork.formats.urdf.locate import Locator
from linkwork.formats.xml_tree import Node
from linkwork.spatial.pose import IDENTITY, Pose

#: Children of a model that are read; others are noted.
MODEL_TAGS = {
    "link", "joint", "frame", "model", "include", "pose", "static", "placement_frame", "name",
}  # fmt: skip


@dataclass(frozen=True)
class ModelLink:
    """A link.

    Attributes:
        node: Where it was said.
        name: Name in its own model.
        scope: The frames of its own model.
        pose: In the outermost model.
        locator: Finds its meshes.
        static: Whether it, or a model that holds it, never moves.
    """

    node: Node
    name: str
    scope: Scope
    pose: Pose
    locator: Locator
    static: bool

    def inside(self, node: Node) -> Pose:
        """Pose of a shape or of the mass properties in the link's frame."""
        return self.scope.inside(self.name, node)


@dataclass(frozen=True)
class ModelJoint:
    """A joint: its node, the links it joins (an empty name is the world), its frame and axes.

    One between two links that never move is held: it is fixed, whatever its type.
    """

    name: str
    node: Node
    parent: str
    child: str
    pose: Pose
    axes: list[Axis]
    held: bool = False

    @property
    def kind(self) -> str:
        """What its type is called here."""
        return "fixed" if self.held else TYPES[joint_type(self.node)]


@dataclass
class FlatModel:
    """A model without nesting; names are scoped by ``::``."""

    name: str
    node: Node
    links: dict[str, ModelLink] = field(default_factory=dict)
    joints: dict[str, ModelJoint] = field(default_factory=dict)
    frames: dict[str, tuple[Node, str, Pose]] = field(default_factory=dict)


def flat_model(scope: Scope, reading: Reading) -> FlatModel:
    """The links, joints and frames of a model and of all that is nested in it.

    Raises:
        FormatError: If a name refers to nothing.
    """
    model = FlatModel(scope.name, scope.node)
    outermost = _Nested("", scope, IDENTITY, reading.locator, False)
    for nested in _nested(outermost, reading):
        _take(model, nested, reading)
    for name, joint in model.joints.items():
        ends = [model.links[end].static for end in (joint.parent, joint.child) if end]
        if all(ends):
            model.joints[name] = replace(joint, held=True)
            if joint_type(joint.node) != "fixed":
                reading.notes.about("joints of static models, held fixed", name)
    if not model.links:
        raise FormatError(f"the model {scope.name!r} has no links.", origin=scope.node.origin)
    return model


@dataclass(frozen=True)
class _Nested:
    """A model in a model: what its names begin with, its frames, pose, files, if it is static."""

    prefix: str
    scope: Scope
    pose: Pose
    locator: Locator
    static: bool


def _nested(outer: _Nested, reading: Reading) -> Iterator[_Nested]:
    scope = outer.scope
    said = reading.static.get(id(scope.node))
    static = flag(scope.node, "static") if said is None else said
    locator = reading.homes.get(id(scope.node), outer.locator)
    outer = replace(outer, locator=locator, static=outer.static or static)
    yield outer
    for name, frame in scope.frames.items():
        if frame.inside is not None:
            pose = outer.pose @ scope.pose(name, frame.node.origin)
            inner = replace(outer, prefix=f"{outer.prefix}{name}::", scope=frame.inside, pose=pose)
            yield from _nested(inner, reading)


def _take(model: FlatModel, nested: _Nested, reading: Reading) -> None:
    prefix, scope, pose = nested.prefix, nested.scope, nested.pose
    reading.unread_but(scope.node, MODEL_TAGS)
    for name, frame in scope.frames.items():
        full, node = prefix + name, frame.node
        if frame.kind == "link":
            place = pose @ scope.pose(name, node.origin)
            model.links[full] = ModelLink(node, name, scope, place, nested.locator, nested.static)
        elif frame.kind == "joint":
            own = scope.pose(name, node.origin)
            if joint_type(node) in TIES:
                reading.notes.about(f"{joint_type(node)} joints, left out", full)
                continue
            parent = needed(node, "parent")
            above = "" if parent in WORLD else prefix + scope.link(parent, node.origin)
            child = needed(node, "child")
            if child in WORLD:
                raise FormatError(
                    f"joint {full!r}: the world cannot be its child.", origin=node.origin
                )
            below = prefix + scope.link(child, node.origin)
            if above == below:
                raise FormatError(
                    f"joint {full!r} joins the link {above!r} to itself.", origin=node.origin
                )
            axes = read_axes(node, own, scope, reading)
            model.joints[full] = ModelJoint(full, node, above, below, pose @ own, axes)
        elif frame.kind == "frame":
            link = prefix + scope.link(name, node.origin)
            model.frames[full] = (node, link, pose @ scope.pose(name, node.origin))
