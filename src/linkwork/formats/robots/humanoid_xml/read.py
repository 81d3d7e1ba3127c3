"""Humanoid XML reader: solids become elements, articulations joints, at joint values 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from linkwork.core.errors import FormatError, LinkworkError, Origin, listing, suggestion
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.names import KEY_PREFIX
from linkwork.formats.robots.humanoid_xml.joints import Articulation, read_articulation
from linkwork.formats.robots.humanoid_xml.values import (
    children_in_section,
    descriptions,
    identifier,
    name_of,
    number,
    triple,
)
from linkwork.formats.robots.xml import XmlNode, parse_xml
from linkwork.geometry.pose import Pose, Vec3
from linkwork.model.parts import Anchor, Box, Element, Loop, Part
from linkwork.model.parts.spec import plain_name

ROBOT_TAGS = ("kind", "desc", "solids", "articulations", "movements")
#: Prefixes of the aliases that keep the numbers of solids and joints.
SOLID, JOINT = "solid:", "joint:"


@dataclass
class HumanoidRobot:
    """The content of a file.

    Attributes:
        part: The robot.
        root: The root XML element.
        articulations: By number.
        notes: What was left out or assumed.
    """

    part: Part
    root: XmlNode
    articulations: dict[str, Articulation] = field(default_factory=dict)
    notes: ConversionNotes = field(default_factory=ConversionNotes)


def read_robot(path: Path, *, text: str | None = None) -> HumanoidRobot:
    """Reads a robot.

    Args:
        path: The file.
        text: Its text, if it need not be read.

    Raises:
        LinkworkError: If the file does not follow the format; names file and line.
    """
    root = parse_xml(path, text=text)
    if root.tag != "robot" or root.first("solids") is None:
        hint = "A URDF has the suffix .urdf." if root.first("link") is not None else ""
        raise FormatError(
            f"this is no robot of solids and articulations: it begins with <{root.tag}> and has no "
            "<solids>.", origin=root.origin, hint=hint,
        )  # fmt: skip
    part = Part(plain_name(path.name.partition(".")[0]), origin=Origin(str(path)))
    part.labels, kind = descriptions(root), root.first("kind")
    if kind is not None:
        part.title = kind.attributes.get("value", "")
    robot = HumanoidRobot(part, root)
    try:
        frames = _read_solids(robot)
        _read_articulations(robot, frames)
    except LinkworkError as error:
        raise error.at(part.origin) from None
    for child in root.children:
        if child.tag not in ROBOT_TAGS:
            robot.notes.about("elements that are not read", child.tag)
    for node in (m for section in root.all("movements") for m in section.all("movement")):
        robot.notes.about(
            f'movements, played by an agent of type "movement" with file = "{path.name}"',
            descriptions(node).get("en") or identifier(node),
        )
    return robot


@dataclass(frozen=True)
class _Solid:
    name: str
    xyz: Vec3
    origin: Origin


def _read_solids(robot: HumanoidRobot) -> dict[str, _Solid]:
    """Returns the solids by number; the frame of each element is at the solid's center."""
    found: dict[str, _Solid] = {}
    for node in children_in_section(robot.root, "solids", "cuboid", robot.notes):
        number_ = identifier(node)
        if number_ in found:
            raise FormatError(
                f"solid {number_} is defined twice, first at {found[number_].origin}.",
                origin=node.origin,
            )
        labels = descriptions(node)
        name = name_of(node, labels, f"solid_{number_}", {*robot.part.elements})
        xyz = triple(node, "pos")
        mass = number(node, "mass", "value")
        element = Element(
            name, (Box(size=triple(node, "size")),), mass=mass, labels=labels, origin=node.origin
        )
        robot.part.add(element)
        robot.part.aliases[f"{KEY_PREFIX}{SOLID}{number_}"] = name
        found[number_] = _Solid(name, xyz, node.origin)
    if not found:
        raise FormatError("the robot has no solids.", origin=robot.root.origin)
    return found


def _read_articulations(robot: HumanoidRobot, solids: dict[str, _Solid]) -> None:
    """Reads the joints and adds them; joints that close a cycle become loops."""
    for node in children_in_section(robot.root, "articulations", "joint", robot.notes):
        made = read_articulation(node, {*robot.part.elements, *_names(robot)}, robot.notes)
        if made.number in robot.articulations:
            first = robot.articulations[made.number].origin
            raise FormatError(
                f"joint {made.number} is defined twice, first at {first}.", origin=node.origin
            )
        for end in made.ends:
            if end not in solids:
                raise FormatError(
                    f"joint {made.name!r} connects solid {end}, which does not exist.",
                    origin=node.origin,
                    hint=suggestion(end, solids, kind="solids"),
                )
        if made.ends[0] == made.ends[1]:
            raise FormatError(
                f"joint {made.name!r} connects solid {made.ends[0]} with itself.",
                origin=node.origin,
            )
        robot.articulations[made.number] = made
    _assemble(robot, solids)


def _assemble(robot: HumanoidRobot, solids: dict[str, _Solid]) -> None:
    """Adds the joints, from the root outwards; the root is a solid that is no joint's B2."""
    tree = _tree(robot.articulations)
    carried = {each.ends[1] for each in robot.articulations.values()}
    root = next((number for number in solids if number not in carried), next(iter(solids)))
    waiting, reached = [root], {root}
    while waiting:
        here = waiting.pop(0)
        for number_ in tree:
            each = robot.articulations[number_]
            if here not in each.ends or {*each.ends} <= reached:
                continue
            turned = each if each.ends[0] == here else each.with_swapped_ends()
            robot.articulations[number_] = turned
            _join(robot, turned, solids)
            reached.add(turned.ends[1])
            waiting.append(turned.ends[1])
    if len(reached) < len(solids):
        apart = [number_ for number_ in solids if number_ not in reached]
        raise FormatError(
            f"the robot is not connected: no joint to {listing(solids[n].name for n in apart)}.",
            origin=solids[apart[0]].origin,
            hint="Connect each solid by a joint.",
        )
    for number_, each in robot.articulations.items():
        if number_ not in tree:
            _close(robot, each, solids)


def _tree(articulations: dict[str, Articulation]) -> list[str]:
    """Returns the joints of a spanning tree, in the order of the file."""
    group: dict[str, str] = {}

    def top(solid: str) -> str:
        while group.get(solid, solid) != solid:
            solid = group[solid]
        return solid

    found: list[str] = []
    for number_, each in articulations.items():
        a, b = (top(end) for end in each.ends)
        if a != b:
            group[b] = a
            found.append(number_)
    return found


def _names(robot: HumanoidRobot) -> list[str]:
    return [each.name for each in robot.articulations.values()]


def _offset(a: Vec3, b: Vec3) -> Pose:
    return Pose((b[0] - a[0], b[1] - a[1], b[2] - a[2]))


def _join(robot: HumanoidRobot, each: Articulation, solids: dict[str, _Solid]) -> None:
    a, b = (solids[end] for end in each.ends)
    at, at_to = _offset(a.xyz, each.xyz), _offset(b.xyz, each.xyz)
    robot.part.add(each.joint(a.name, b.name, at, at_to))
    robot.part.aliases[f"{KEY_PREFIX}{JOINT}{each.number}"] = each.name


def _close(robot: HumanoidRobot, each: Articulation, solids: dict[str, _Solid]) -> None:
    """Adds a loop for a joint that closes a cycle."""
    anchors = []
    for end, letter in zip(each.ends, "ab", strict=True):
        name = plain_name(f"{each.name}_{letter}", {*robot.part.anchors, *robot.part.elements})
        at = _offset(solids[end].xyz, each.xyz)
        robot.part.add(Anchor(name, solids[end].name, at, origin=each.origin))
        anchors.append(name)
    robot.part.add(Loop(each.name, *anchors, joint=each.type, axis=each.axis, origin=each.origin))
    robot.notes.about("joints that close a loop, read without limits", each.name)
