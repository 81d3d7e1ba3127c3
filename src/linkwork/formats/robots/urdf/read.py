"""URDF reader: a file becomes a part."""

from __future__ import annotations

import os
import re
from pathlib import Path

from linkwork.core.errors import FormatError, LinkworkError, Origin, listing, suggestion
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.names import NameTable
from linkwork.formats.robots.resources import MissingResources, ResourceLocator
from linkwork.formats.robots.urdf.context import UrdfReadContext, read_materials
from linkwork.formats.robots.urdf.extensions import (
    add_extensions,
    note_unread,
    read_filters,
    read_transmissions,
)
from linkwork.formats.robots.urdf.joints import (
    JOINT_TAGS,
    JointEnds,
    read_ends,
    read_joint,
    read_mimics,
)
from linkwork.formats.robots.urdf.links import LINK_TAGS, read_link
from linkwork.formats.robots.xml import XmlNode, parse_xml, required_attribute
from linkwork.model.parts import Part
from linkwork.model.parts.spec import plain_name

#: Children of a robot that are read; others are noted.
ROBOT_TAGS = {
    "link", "joint", "drake:joint", "material", "frame", "drake:ball_constraint",
    "drake:linear_spring_damper", "drake:collision_filter_group",
}  # fmt: skip
#: Name of the link that Drake and Bullet define.
WORLD = "world"


def read_urdf(path: Path, *, skip_missing: bool = False) -> tuple[Part, list[str]]:
    """Reads a robot.

    Args:
        path: The URDF file.
        skip_missing: Leaves out shapes whose mesh is missing, with a note.

    Returns:
        The part, and notes on omissions and changes.

    Raises:
        LinkworkError: If the file is not a URDF of one tree; names file and line.
    """
    notes = ConversionNotes()
    missing = MissingResources(skip_missing, notes)
    reading = UrdfReadContext(ResourceLocator(path.parent), notes, missing)
    robot = parse_xml(path, on_fault=lambda at, text: notes.about(text, f"{at}"))
    _substitute(robot, reading)
    _check_root(robot, path)
    read_materials(robot, reading)
    reading.transmissions = read_transmissions(robot)
    for node in robot.all("gazebo"):
        reading.gazebo.setdefault(node.attributes.get("reference", "").strip(), []).append(node)
    links = _by_name(robot, "link")
    joints = _by_name(robot, "joint")
    ends = {name: read_ends(node) for name, node in joints.items()}
    if WORLD not in links and any(end.parent == WORLD for end in ends.values()):
        links = {WORLD: XmlNode("link", {"name": WORLD}, robot.origin), **links}
        notes.add(f"{robot.origin}: the link 'world' is not defined, added as the fixed root.")
    _check_tree(robot, links, joints, ends)
    names = NameTable.of(list(links), list(joints))
    robot_name = robot.attributes.get("name", "").strip()
    if not robot_name:
        robot_name = path.stem or "robot"
        notes.add(f"{robot.origin}: the robot has no name, called {robot_name!r}.")
    part = Part(plain_name(robot_name), self_collision="separate", origin=Origin(str(path)))
    if part.name != robot_name:
        part.title = robot_name
    try:
        for name, node in links.items():
            part.add(read_link(node, names.links[name], reading))
        for name, node in joints.items():
            from_, to = names.links[ends[name].parent], names.links[ends[name].child]
            part.add(read_joint(node, names.joints[name], from_, to, reading))
        part.add(*read_mimics(list(joints.values()), part.joints, names.joints, reading))
        add_extensions(part, robot, names.links, reading)
        read_filters(robot, part, names.links, reading)
    except LinkworkError as error:
        raise error.at(part.origin) from None
    missing.check()
    part.aliases = names.aliases()
    known = {"robot": ROBOT_TAGS, "link": LINK_TAGS, "joint": JOINT_TAGS}
    note_unread(robot, known, part, reading)
    return part, notes.lines()


#: Substitution of ROS with a default value.
_OPTENV = re.compile(r"\$\(optenv\s+(\w+)([^()]*)\)")


def _substitute(robot: XmlNode, reading: UrdfReadContext) -> None:
    """Replaces ``$(optenv NAME default)`` as xacro does, with a note; Bullet reads such files."""
    for node in robot.walk():
        for key, text in node.attributes.items():
            if "$(optenv" not in text:
                continue
            node.attributes[key] = _OPTENV.sub(
                lambda found: os.environ.get(found[1], found[2].strip()), text
            )
            what = f"{text}, read as {node.attributes[key]!r}"
            reading.notes.about(what, f"{node.origin}")


def _check_root(robot: XmlNode, path: Path) -> None:
    for child in robot.children:
        values = (value for node in child.walk() for value in node.attributes.values())
        macros = (value for value in values if "${" in value or "$(" in value)
        unexpanded = child.tag in ROBOT_TAGS and any(macros)
        if child.tag.startswith("xacro:") or unexpanded:
            raise FormatError(
                "this is a xacro file, a macro that writes URDF.",
                origin=child.origin,
                hint=f"Run it first: xacro {path.name} > {path.name.split('.')[0]}_expanded.urdf",
            )
    if robot.tag != "robot":
        raise FormatError(
            f"the outermost element is <{robot.tag}>; that of a URDF is <robot>.",
            origin=robot.origin,
        )


def _by_name(robot: XmlNode, tag: str) -> dict[str, XmlNode]:
    found: dict[str, XmlNode] = {}
    for node in robot.children:
        if node.tag.removeprefix("drake:") != tag:
            continue
        name = required_attribute(node, "name")
        if name in found:
            raise FormatError(
                f"{tag} name {name!r} is taken by the {tag} at {found[name].origin}.",
                origin=node.origin,
            )
        found[name] = node
    return found


def _check_tree(
    robot: XmlNode,
    links: dict[str, XmlNode],
    joints: dict[str, XmlNode],
    ends: dict[str, JointEnds],
) -> None:
    """Rejects unknown links, links with two parents, cycles and more than one root."""
    if not links:
        soft = robot.first("deformable") or robot.first("reduced_deformable")
        hint = "Its body is deformable; Linkwork has rigid bodies only." if soft else ""
        raise FormatError("the robot has no links.", origin=robot.origin, hint=hint)
    parent_joint: dict[str, str] = {}
    for joint, (_, node) in zip(ends, joints.items(), strict=True):
        for role, link in (("parent", ends[joint].parent), ("child", ends[joint].child)):
            if link not in links:
                raise FormatError(
                    f"joint {joint!r}: its {role} link {link!r} does not exist.",
                    origin=node.origin,
                    hint=suggestion(link, links, kind="links"),
                )
        child = ends[joint].child
        if child in parent_joint:
            other = parent_joint[child]
            raise FormatError(
                f"link {child!r} has two parents: the joints {other!r} "
                f"(at {joints[other].origin}) and {joint!r}.",
                origin=node.origin,
                hint="A URDF is a tree; a loop cannot be closed in it.",
            )
        parent_joint[child] = joint
    rooted: set[str] = set()
    for link in links:
        chain: dict[str, None] = {}
        walker = link
        while walker in parent_joint and walker not in rooted:
            if walker in chain:
                circle = _cycle_text(walker, list(chain))
                raise FormatError(
                    f"the links {circle} carry each other in a cycle.",
                    origin=joints[parent_joint[walker]].origin,
                )
            chain[walker] = None
            walker = ends[parent_joint[walker]].parent
        rooted.update(chain)
    roots = [link for link in links if link not in parent_joint]
    if len(roots) > 1:
        raise FormatError(
            f"the robot falls apart: {len(roots)} links have no parent joint ({listing(roots)}).",
            origin=links[roots[1]].origin,
            hint="Join them by joints; a URDF has one root link.",
        )


def _cycle_text(link: str, chain: list[str]) -> str:
    """Returns the names of the links from ``link`` back to itself; ``chain``: child to parent."""
    names = [link, *reversed(chain[chain.index(link) :])]
    shown = names if len(names) <= 10 else [*names[:8], "…", names[-1]]
    return " → ".join(shown)
