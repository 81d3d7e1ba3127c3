"""Robots from their text, and from the scene graph beside it if there is one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from linkwork.core.errors import FormatError, MeshError, Origin, suggestion
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.drawings.gltf import rigid_pose
from linkwork.formats.drawings.mesh import DENSITY, UP_ROTATIONS, mesh_element
from linkwork.formats.names import KEY_PREFIX
from linkwork.formats.robots.robotix.grammar import JointText, RobotText
from linkwork.geometry.meshes import mesh_nodes
from linkwork.geometry.pose import IDENTITY, Pose, Vec3
from linkwork.model.parts import Capsule, Element, Joint, Part
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Scene

#: Length of the links of a robot without scene graph, one above the other [m].
LINK = 0.2
#: Distance between such robots [m].
SPACING = 1.0

#: Prefix of the alias that keeps the name of a joint's axis.
AXIS = "axis:"

_AXES: dict[str, Vec3] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass
class SceneGraph:
    """The scene graph beside a text: frames of its nodes, z up, and their triangles.

    Attributes:
        file: The glTF file.
        frames: Pose of each node.
        parents: Parent of each node, empty for none.
        shown: Nodes with triangles that are not yet part of a robot.
        joints: Nodes that are joints of any robot.
    """

    file: Path
    frames: dict[str, Pose] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    joints: set[str] = field(default_factory=set)

    @classmethod
    def beside(cls, path: Path) -> SceneGraph | None:
        """Returns the graph in the glTF file of the same name, if there is one."""
        for suffix in (".glb", ".gltf"):
            file = path.with_suffix(suffix)
            if file.is_file():
                graph = cls(file)
                for node in mesh_nodes(file):
                    turn = UP_ROTATIONS["Y"]
                    frame = rigid_pose(node.matrix)
                    if frame is not None:
                        graph.frames[node.key] = turn @ frame @ turn.inverse()
                    graph.parents[node.key] = node.parent
                    if node.has_mesh and frame is not None:
                        graph.shown.append(node.key)
                return graph
        return None

    def frame(self, name: str, what: str, origin: Origin) -> Pose:
        """Returns the pose of a node.

        Raises:
            FormatError: If there is none of this name; lists the existing ones.
        """
        if name not in self.frames:
            raise FormatError(
                f"{what} {name!r} is not in the scene graph {self.file.name}.", origin=origin,
                hint=suggestion(name, self.frames, kind="nodes"),
            )  # fmt: skip
        return self.frames[name]

    def owner(self, node: str) -> str:
        """Returns the node itself or its nearest ancestor that is a joint; empty for none."""
        while node and node not in self.joints:
            node = self.parents[node]
        return node

    def top(self, node: str) -> str:
        """Returns the root of a node's tree."""
        while self.parents[node]:
            node = self.parents[node]
        return node


def build_robots(robots: list[RobotText], path: Path) -> tuple[Part | Scene, list[str]]:
    """Returns a part for one robot, a scene for several; and notes on assumptions.

    Raises:
        LinkworkError: If the scene graph beside the text lacks a joint or cannot be read.
    """
    notes = ConversionNotes()
    graph = SceneGraph.beside(path)
    wanted = {name for robot in robots for j in robot.joints for name in (j.name, j.axis)}
    if graph is not None and not wanted & set(graph.frames):
        notes.add(
            f"{graph.file.name} has no node named as a joint or axis of {path.name}, and is taken "
            "for something else; links are drawn without it."
        )
        graph = None
    elif graph is None:
        notes.add(
            f"{path}: the text holds no shapes; links are drawn {LINK:g} m long, one above the "
            f"other. A glTF file {path.stem}.glb beside it with nodes named as the joints and axes "
            "gives the robot its form."
        )
    else:
        graph.joints = {joint.name for robot in robots for joint in robot.joints}
    swapped = [joint.name for robot in robots for joint in robot.joints if joint.swapped]
    for name in swapped:
        notes.about("QMIN is the upper and QMAX the lower end, as RoboTiX has them; read so", name)
    stem = plain_name(path.stem)
    if len(robots) == 1:
        return _robot(robots[0], stem, graph, path, notes), notes.lines()
    scene = Scene(stem, origin=Origin(str(path))).engine("kinematic")
    for number, robot in enumerate(robots):
        name = plain_name(f"robot_{robot.number}", {*scene.parts})
        at = IDENTITY if graph is not None else Pose((0.0, SPACING * number, 0.0))
        scene.place(_robot(robot, name, graph, path, notes), at=at, origin=robot.origin)
    return scene, notes.lines()


def _robot(
    text: RobotText, name: str, graph: SceneGraph | None, path: Path, notes: ConversionNotes
) -> Part:
    part = Part(name, title=f"Robot {text.number} of {path.name}", origin=text.origin)
    taken: set[str] = {"base"}
    names: dict[str, str] = {}
    for joint in text.joints:
        names[joint.name] = plain_name(joint.name, taken)
        taken.add(names[joint.name])
        if names[joint.name] != joint.name:
            part.aliases[joint.name] = names[joint.name]
        part.aliases[f"{KEY_PREFIX}{AXIS}{joint.axis}"] = names[joint.name]
    links = {"": "base"}
    for joint in text.joints:
        links[joint.name] = plain_name(f"{names[joint.name]}_link", taken)
        taken.add(links[joint.name])
    if graph is not None:
        _from_graph(part, text, names, links, graph, notes)
    else:
        _without_graph(part, text, names, links, notes)
    return part


def _without_graph(
    part: Part,
    text: RobotText,
    names: dict[str, str],
    links: dict[str, str],
    notes: ConversionNotes,
) -> None:
    """Adds a vertical chain of links; an axis' name ends in its direction, else it is z."""
    rod = Capsule(radius=LINK / 8.0, length=LINK * 0.75, at=Pose((0.0, 0.0, LINK / 2.0)))
    part.add(Element("base", (rod,), density=DENSITY, origin=text.origin))
    below = "base"
    for joint in text.joints:
        letter = joint.axis[-1].lower()
        if letter not in _AXES:
            notes.about("axes of unknown direction, taken as z", joint.axis)
        link = links[joint.name]
        part.add(Element(link, (rod,), density=DENSITY, origin=joint.origin))
        at = Pose((0.0, 0.0, LINK))
        part.add(_joint(joint, names[joint.name], below, link, at, IDENTITY, _AXES.get(letter)))
        below = link


def _from_graph(
    part: Part,
    text: RobotText,
    names: dict[str, str],
    links: dict[str, str],
    graph: SceneGraph,
    notes: ConversionNotes,
) -> None:
    """Adds links with the triangles below their joints' nodes; axes are the z of their nodes.

    Nodes below no joint, but in the same tree as the first joint, form the base.
    """
    frames = {joint.name: graph.frame(joint.name, "joint", joint.origin) for joint in text.joints}
    frames[""] = IDENTITY
    top = graph.top(text.joints[0].name)
    shapes: dict[str, list[Element]] = {name: [] for name in links}
    for node in [*graph.shown]:
        owner = graph.owner(node)
        if owner not in links or (not owner and graph.top(node) != top):
            continue
        graph.shown.remove(node)
        at = frames[owner].inverse() @ UP_ROTATIONS["Y"]
        try:
            shapes[owner].append(
                mesh_element(graph.file, plain_name(node), notes, node=node, at=at)
            )
        except MeshError:
            notes.about("nodes without triangles, left out", node)
    for name, link in links.items():
        colored = [replace(each.shapes[0], color=each.color) for each in shapes[name]]
        heavy = colored and all(each.density for each in shapes[name])
        part.add(
            Element(link, tuple(colored), density=DENSITY if heavy else None, origin=text.origin)
        )
    for number, joint in enumerate(text.joints):
        above = graph.owner(graph.parents[joint.name])
        if above not in links or (number and not above):
            above = text.joints[number - 1].name if number else ""
            notes.about(
                "joints without a parent joint in the scene graph, connected in series", joint.name
            )
        turned = graph.frame(joint.axis, "axis", joint.origin)
        axis = turned @ UP_ROTATIONS["Y"]  # its z is the node's z in the file
        at, at_to = frames[above].inverse() @ axis, frames[joint.name].inverse() @ axis
        part.add(_joint(joint, names[joint.name], links[above], links[joint.name], at, at_to, None))


def _joint(
    text: JointText, name: str, from_: str, to: str, at: Pose, at_to: Pose, axis: Vec3 | None
) -> Joint:
    stroke = text.stroke
    if stroke is not None and not text.slides:
        stroke = (math.radians(stroke[0]), math.radians(stroke[1]))
    return Joint(
        name, "slider" if text.slides else "hinge", from_, to, at=at, at_to=at_to,
        axis=axis or (0.0, 0.0, 1.0), range=stroke, origin=text.origin,
    )  # fmt: skip
