"""Scopes: the named frames of a model or world, and where they stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.errors import FormatError, Origin, suggestion
from linkwork.formats.sdf.values import frame_of, name_of, needed, pose_of, text_of
from linkwork.formats.xml_tree import Node
from linkwork.spatial.pose import IDENTITY, Pose

#: Names for the frame of the model itself, and of the world.
MODEL, WORLD = "__model__", ("world", "__root__")


@dataclass
class Frame:
    """A named frame.

    Attributes:
        kind: "link", "joint", "frame" or "model".
        node: Where it was said.
        pose: Its pose in the frame ``base``.
        base: Name of the frame in which it stands.
        attached: Name of what a frame or joint is attached to.
        inside: The scope of a nested model.
    """

    kind: str
    node: Node
    pose: Pose
    base: str
    attached: str = ""
    inside: Scope | None = None


@dataclass
class Scope:
    """The frames of one model, or of a world.

    Attributes:
        node: The model.
        version: Version of SDF that its file declares.
        name: Name, which an include may change.
        is_world: Whether it is a world.
        frames: By name.
    """

    node: Node
    version: tuple[int, int]
    name: str
    is_world: bool = False
    frames: dict[str, Frame] = field(default_factory=dict)
    _poses: dict[str, Pose] = field(default_factory=dict, repr=False)

    def gather(self) -> None:
        """Takes in the links, joints and frames of the model.

        Raises:
            FormatError: If a name is missing or taken.
        """
        for node in self.node.children:
            if node.tag == "link" and not self.is_world:
                self.add(name_of(node), Frame("link", node, pose_of(node), frame_of(node) or MODEL))
            elif node.tag == "joint" and not self.is_world:
                child = needed(node, "child")
                base = frame_of(node) or child
                self.add(name_of(node), Frame("joint", node, pose_of(node), base, child))
            elif node.tag == "frame":
                on = node.attributes.get("attached_to", "").strip()
                base = frame_of(node) or on or MODEL
                self.add(name_of(node), Frame("frame", node, pose_of(node), base, on))

    def add(self, name: str, frame: Frame) -> None:
        """Adds a frame under a name that must be new."""
        if name in self.frames:
            raise FormatError(
                f"the name {name!r} of a <{frame.node.tag}> is taken by the "
                f"<{self.frames[name].node.tag}> at {self.frames[name].node.origin}.",
                origin=frame.node.origin,
            )
        self.frames[name] = frame

    def pose(self, name: str, origin: Origin) -> Pose:
        """Pose of a frame in the frame of the model or world.

        Raises:
            FormatError: If there is no such frame, or frames stand on each other in a circle.
        """
        pending: dict[str, Pose] = {}  # of each frame in the next one
        while not (name == MODEL or (self.is_world and name in WORLD) or name in self._poses):
            if name in pending:
                circle = " → ".join([*pending, name][-9:])
                raise FormatError(f"the frames {circle} stand on each other.", origin=origin)
            first, separator, rest = name.partition("::")
            frame = self._find(first if separator else name, origin)
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

    def inside(self, link: str, node: Node) -> Pose:
        """Pose of something on a link, in the link's frame, whichever frame it is said in.

        Raises:
            FormatError: If there is no such frame.
        """
        base = frame_of(node)
        if not base or base == link:
            return pose_of(node)
        seen_from = self.pose(link, node.origin).inverse() @ self.pose(base, node.origin)
        return seen_from @ pose_of(node)

    def link(self, name: str, origin: Origin) -> str:
        """Name of the link, scoped by ``::``, that a frame is attached to.

        Raises:
            FormatError: If it is attached to none.
        """
        seen: dict[str, None] = {}
        while True:
            if name in seen:
                circle = " → ".join([*seen, name][-9:])
                raise FormatError(f"the frames {circle} are attached to each other.", origin=origin)
            seen[name] = None
            if name == MODEL:
                named = self.node.attributes.get("canonical_link", "").strip()
                if not named:
                    return self.canonical(origin)
                name = named
                continue
            first, separator, rest = name.partition("::")
            frame = self._find(first if separator else name, origin)
            if separator:
                if frame.inside is None:
                    raise FormatError(f"{first!r} is no model.", origin=origin)
                return f"{first}::{frame.inside.link(rest, origin)}"
            if frame.kind == "link":
                return name
            if frame.inside is not None:
                return f"{name}::{frame.inside.canonical(origin)}"
            name, origin = frame.attached or MODEL, frame.node.origin

    def canonical(self, origin: Origin) -> str:
        """The link that stands for the model: the one it names, else its first."""
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

    def _find(self, name: str, origin: Origin) -> Frame:
        if name not in self.frames:
            raise FormatError(
                f"there is no frame named {name!r} in {self.name!r}.",
                origin=origin,
                hint=suggestion(name, self.frames, kind="frames"),
            )
        return self.frames[name]


def version_of(root: Node) -> tuple[int, int]:
    """The version that a file declares, as two numbers.

    Raises:
        FormatError: If it is none that is known.
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


def placement_frame(node: Node) -> str:
    """The frame of a model that its pose means, if it is not the model's own."""
    return node.attributes.get("placement_frame", "").strip() or text_of(node, "placement_frame")
