"""Models: a scope with those nested in it as one flat list of links, joints and frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from linkwork.errors import FormatError
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.joints import TIES, Axis, joint_type, read_axes
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
    """A link: its node, its pose in the outermost model, and where its meshes are looked for."""

    node: Node
    pose: Pose
    locator: Locator


@dataclass(frozen=True)
class ModelJoint:
    """A joint: its node, the links it joins (an empty name is the world), its frame and axes."""

    name: str
    node: Node
    parent: str
    child: str
    pose: Pose
    axes: list[Axis]


@dataclass
class FlatModel:
    """A model without nesting; names are scoped by ``::``."""

    name: str
    node: Node
    static: bool
    links: dict[str, ModelLink] = field(default_factory=dict)
    joints: dict[str, ModelJoint] = field(default_factory=dict)
    frames: dict[str, tuple[Node, str, Pose]] = field(default_factory=dict)


def flat_model(scope: Scope, reading: Reading) -> FlatModel:
    """The links, joints and frames of a model and of all that is nested in it.

    Raises:
        FormatError: If a name refers to nothing.
    """
    static = flag(scope.node, "static") or id(scope.node) in reading.static
    model = FlatModel(scope.name, scope.node, static)
    for prefix, inner, pose, locator in _scopes(scope, "", IDENTITY, reading.locator, reading):
        _take(model, prefix, inner, pose, locator, reading)
    if not model.links:
        raise FormatError(f"the model {scope.name!r} has no links.", origin=scope.node.origin)
    return model


def _scopes(
    scope: Scope, prefix: str, pose: Pose, locator: Locator, reading: Reading
) -> Iterator[tuple[str, Scope, Pose, Locator]]:
    locator = reading.homes.get(id(scope.node), locator)
    yield prefix, scope, pose, locator
    for name, frame in scope.frames.items():
        if frame.inside is not None:
            inner = pose @ scope.pose(name, frame.node.origin)
            yield from _scopes(frame.inside, f"{prefix}{name}::", inner, locator, reading)


def _take(
    model: FlatModel, prefix: str, scope: Scope, pose: Pose, locator: Locator, reading: Reading
) -> None:
    reading.unread_but(scope.node, MODEL_TAGS)
    for name, frame in scope.frames.items():
        full, node = prefix + name, frame.node
        if frame.kind == "link":
            place = pose @ scope.pose(name, node.origin)
            model.links[full] = ModelLink(node, place, locator)
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
