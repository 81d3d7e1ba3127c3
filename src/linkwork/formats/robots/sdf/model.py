"""Models: nested SDF models as flat lists of links, joints and frames; their self-collision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from linkwork.core.errors import FormatError
from linkwork.formats.robots.gazebo import is_true
from linkwork.formats.robots.resources import ResourceLocator
from linkwork.formats.robots.sdf.context import SdfReadContext
from linkwork.formats.robots.sdf.joints import COUPLED_TYPES, TYPES, SdfAxis, joint_type, read_axes
from linkwork.formats.robots.sdf.scope import WORLD, FrameScope
from linkwork.formats.robots.sdf.values import flag, required_child
from linkwork.formats.robots.xml import XmlNode
from linkwork.geometry.pose import IDENTITY, Pose

#: Children of a model that are read; others are noted.
MODEL_TAGS = {
    "link", "joint", "frame", "model", "include", "pose", "static", "placement_frame", "name",
    "self_collide",
}  # fmt: skip


@dataclass(frozen=True)
class ModelLink:
    """A link.

    Attributes:
        node: Its XML element.
        name: Name in its own model.
        scope: The frames of its own model.
        pose: Pose in the outermost model.
        locator: Finds its meshes.
        static: Whether it belongs to a static model.
    """

    node: XmlNode
    name: str
    scope: FrameScope
    pose: Pose
    locator: ResourceLocator
    static: bool

    def inside(self, node: XmlNode) -> Pose:
        """Returns the pose of a shape or of the mass properties in the link's frame."""
        return self.scope.inside(self.name, node)


@dataclass(frozen=True)
class ModelJoint:
    """A joint: its node, the links it joins (an empty name is the world), its frame and axes.

    A joint between two static links is held: it is fixed, whatever its type.
    """

    name: str
    node: XmlNode
    parent: str
    child: str
    pose: Pose
    axes: list[SdfAxis]
    held: bool = False

    @property
    def kind(self) -> str:
        """Linkwork's name of its type."""
        return "fixed" if self.held else TYPES[joint_type(self.node)]


@dataclass
class FlatModel:
    """A model without nesting; names are scoped by ``::``."""

    name: str
    node: XmlNode
    links: dict[str, ModelLink] = field(default_factory=dict)
    joints: dict[str, ModelJoint] = field(default_factory=dict)
    frames: dict[str, tuple[XmlNode, str, Pose]] = field(default_factory=dict)


def flat_model(scope: FrameScope, reading: SdfReadContext) -> FlatModel:
    """Returns the links, joints and frames of a model and of all nested models.

    Raises:
        FormatError: If a name refers to nothing.
    """
    model = FlatModel(scope.name, scope.node)
    outermost = _Nested("", scope, IDENTITY, reading.locator, False)
    for nested in _nested(outermost, reading):
        _add_nested(model, nested, reading)
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
    """A nested model: prefix of its names, frames, pose, files, whether it is static."""

    prefix: str
    scope: FrameScope
    pose: Pose
    locator: ResourceLocator
    static: bool


def _nested(outer: _Nested, reading: SdfReadContext) -> Iterator[_Nested]:
    scope = outer.scope
    included = reading.static.get(id(scope.node))
    static = flag(scope.node, "static") if included is None else included
    locator = reading.homes.get(id(scope.node), outer.locator)
    outer = replace(outer, locator=locator, static=outer.static or static)
    yield outer
    for name, frame in scope.frames.items():
        if frame.inside is not None:
            pose = outer.pose @ scope.pose(name, frame.node.origin)
            inner = replace(outer, prefix=f"{outer.prefix}{name}::", scope=frame.inside, pose=pose)
            yield from _nested(inner, reading)


def _add_nested(model: FlatModel, nested: _Nested, reading: SdfReadContext) -> None:
    prefix, scope, pose = nested.prefix, nested.scope, nested.pose
    reading.unread_but(scope.node, MODEL_TAGS)
    for name, frame in scope.frames.items():
        full, node = prefix + name, frame.node
        if frame.kind == "link":
            place = pose @ scope.pose(name, node.origin)
            model.links[full] = ModelLink(node, name, scope, place, nested.locator, nested.static)
        elif frame.kind == "joint":
            own = scope.pose(name, node.origin)
            if joint_type(node) in COUPLED_TYPES:
                what = f"{joint_type(node)} joints, left out; these joints move independently"
                reading.notes.about(what, full, kind="motion")
                continue
            parent = required_child(node, "parent")
            above = "" if parent in WORLD else prefix + scope.link(parent, node.origin)
            child = required_child(node, "child")
            if child in WORLD:
                raise FormatError(
                    f"joint {full!r}: the world cannot be its child.", origin=node.origin
                )
            below = prefix + scope.link(child, node.origin)
            if above == below and parent == child:
                raise FormatError(
                    f"joint {full!r} joins the link {above!r} to itself.", origin=node.origin
                )
            if above == below:  # through frames
                reading.notes.about("joints of a link to itself, left out", full)
                continue
            axes = read_axes(node, own, scope, reading)
            model.joints[full] = ModelJoint(full, node, above, below, pose @ own, axes)
        elif frame.kind == "frame":
            link = prefix + scope.link(name, node.origin)
            model.frames[full] = (node, link, pose @ scope.pose(name, node.origin))


def read_self_collision(model: FlatModel, reading: SdfReadContext) -> str:
    """Returns the rule of a part for the collisions between its elements.

    "none" is SDF's default. Nested models that no joint connects collide with each other in
    Gazebo, so their pairs are "separate"; ``<self_collide>`` of a model or link makes it "all".

    Args:
        model: The model.
        reading: Receives what is approximated.
    """
    solid = {name: link for name, link in model.links.items() if link.node.first("collision")}
    moving = [name for name, link in solid.items() if not link.static]
    if not moving or len(solid) < 2:
        return "all"  # there are no pairs
    colliding = [
        name
        for name in solid
        if any(is_true(node.first("self_collide")) for node in _owners(model, name))
    ]
    if colliding:
        if len(colliding) < len(solid):
            what = "models with <self_collide> in some links, all of their links collide"
            reading.notes.about(what, model.name, kind="motion")
        return "all"
    return "none" if _is_one_group(model, list(solid)) else "separate"


def _owners(model: FlatModel, link: str) -> list[XmlNode]:
    """Returns a link and the model that holds it."""
    return [model.links[link].node, model.links[link].scope.node]


def _is_one_group(model: FlatModel, links: list[str]) -> bool:
    """Whether links belong to one model, or joints connect them."""
    group = {name: name for name in model.links}

    def first(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    firsts: dict[int, str] = {}
    for name, link in model.links.items():
        group[first(name)] = first(firsts.setdefault(id(link.scope), name))
    for joint in model.joints.values():
        if joint.parent:
            group[first(joint.child)] = first(joint.parent)
    return len({first(name) for name in links}) == 1
