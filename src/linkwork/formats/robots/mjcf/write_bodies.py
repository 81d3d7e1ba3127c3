"""MJCF body writer: nested links with joints and inertias."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace

import numpy as np

from linkwork.core.mujoco_library import MIN_GYRATION_RADIUS
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import FlatLink, FlatStructure, unique
from linkwork.formats.posture import movable_links, static_pose
from linkwork.formats.robots.mjcf.naming import MjcfNames, set_native_attributes
from linkwork.formats.robots.mjcf.write_geoms import GeomWriter, place
from linkwork.formats.robots.mjcf.write_joints import JointWriter, at_start
from linkwork.formats.text_output import number_text, numbers_text
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import IDENTITY, Pose, matrix_from_quat

#: Mass of a moving body without mass, which MuJoCo requires [kg].
MIN_MASS = 1e-9
#: Minimum principal inertia of a moving body [kg m²].
MIN_INERTIA = 1e-14


@dataclass
class BodyWriter:
    """Writes links as bodies.

    Attributes:
        flat: The structure to write.
        geoms: Writes the shapes.
        joints: Writes the joints.
        notes: Receives changes.
        spelling: Names in the file.
        names: Name in the file of each link, by its full name.
        nodes: The ``<body>`` of each link; that of the world by an empty name.
        sites: The ``<site>`` of each anchor, by its full name.
    """

    flat: FlatStructure
    geoms: GeomWriter
    joints: JointWriter
    notes: ConversionNotes
    spelling: MjcfNames
    names: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, ET.Element] = field(default_factory=dict)
    sites: dict[str, ET.Element] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def write(self, worldbody: ET.Element) -> None:
        """Adds all bodies to the world, and their anchors as sites."""
        links = {link.name: link for link in self.flat.links}
        moved = movable_links(self.flat)
        carried: dict[str, list[FlatLink]] = {}
        for link in self.flat.links:
            carried.setdefault(self._parent(link), []).append(link)
        self.nodes[""] = worldbody
        taken = {"world"}
        stack = list(reversed(self._on_world()))
        while stack:  # in MuJoCo's order of bodies and coordinates: depth first
            link = stack.pop()
            stack.extend(reversed(carried.get(link.name, [])))
            if link.element is None:
                # the link between chained joints is not a body: its joint belongs to the next one
                self.nodes[link.name] = self.nodes[self._parent(link)]
                continue
            if self.spelling.native and self._is_world(link):
                self.names[link.name], self.nodes[link.name] = "world", worldbody
                shapes = tuple(shape.moved(link.at) for shape in link.element.shapes)
                element = replace(link.element, shapes=shapes)
                name = "" if link.placed else link.name
                self.geoms.add(worldbody, link, element, moves=False, name=name)
                continue
            self.names[link.name] = unique(self.spelling(link.name), taken)
            self._body(link, links, moves=link.name in moved)
        for name, (anchor, on) in self.flat.anchors.items():
            self.sites[name] = self.add_site(self.nodes[on], self.spelling.bare(name), anchor.at)
            if anchor.fits or anchor.turns:
                self.notes.about("tags and turns of anchors, left out", name)

    def _on_world(self) -> list[FlatLink]:
        """Returns the children of the world body, in the order of their first joints.

        They include bodies that are free inside a part, ordered by their own joints.
        """
        top: dict[str, FlatLink] = {}
        first: dict[str, int] = {}
        for number, link in enumerate(self.flat.links):
            top[link.name] = top.get(self._parent(link), link)
            if link.joint is not None and link.joint.type != "fixed":
                first.setdefault(top[link.name].name, number)
        tops = [link for link in self.flat.links if not self._parent(link)]
        order = {link.name: number for number, link in enumerate(self.flat.links)}
        return sorted(tops, key=lambda link: first.get(link.name, order[link.name]))

    def add_site(self, body: ET.Element, name: str, pose: Pose = IDENTITY) -> ET.Element:
        """Adds a site to a body."""
        node = ET.SubElement(body, "site", name=unique(name, self._taken))
        place(node, pose)
        return node

    def _is_world(self, link: FlatLink) -> bool:
        """Whether a link becomes part of MuJoCo's world body: a shape of scenery, or an origin."""
        element = link.element
        if element is None or link.carrier or link.joint is not None or element.mujoco:
            return False
        if element.mass_properties().mass > 0.0:
            return False
        if link.placed:
            return bool(self.spelling.scope) and not element.shapes and link.at.is_identity()
        return len(element.shapes) == 1 and all(o.carrier != link.name for o in self.flat.links)

    def _parent(self, link: FlatLink) -> str:
        """Returns the parent of a link; MuJoCo requires that of a free body to be the world."""
        return "" if link.joint is not None and link.joint.type == "free" else link.carrier

    def _body(self, link: FlatLink, links: dict[str, FlatLink], *, moves: bool) -> None:
        assert link.element is not None
        node = ET.SubElement(self.nodes[self._parent(link)], "body", name=self.names[link.name])
        self.nodes[link.name] = node
        free = link.joint is not None and link.joint.type == "free"
        chain, pose = [link], static_pose(link, self.flat) @ link.offset if free else at_start(link)
        carrier = links.get(link.carrier)
        while carrier is not None and carrier.element is None and not free:
            chain.append(carrier)
            pose = at_start(carrier) @ pose
            carrier = links.get(carrier.carrier)
        place(node, pose)
        own = dict(link.element.mujoco)
        center, turn = own.pop("ipos", None), own.pop("iquat", None)
        set_native_attributes(node, own)
        frames, here = [], Pose()
        for each in chain:
            frames.append((each, here))
            here = here @ at_start(each).inverse()
        for each, frame in reversed(frames):
            if each.joint is not None:
                self.joints.add(node, each, frame, pose)
        mass = link.element.mass_properties()
        if mass.mass > 0.0 or mass.matrix.any() or node.find("joint") is not None:
            node.append(self._inertial(mass, link.name, turn, moves=moves))
        elif center is not None:
            zero = {"mass": "0", "diaginertia": "0 0 0"}
            ET.SubElement(node, "inertial", {"pos": numbers_text(center), **zero})
        self.geoms.add(node, link, link.element, moves=moves)

    def _inertial(
        self, inertia: Inertia, name: str, turn: tuple[float, ...] | None, *, moves: bool
    ) -> ET.Element:
        """Returns the mass and principal inertias, adjusted to the minimum that MuJoCo accepts.

        ``turn`` is the rotation of the principal axes, if it is given.

        Flat bodies are at the limit of the triangle inequality (a + b = c); rounding must not
        violate it.
        """
        mass = inertia.mass
        if mass <= 0.0:
            mass = MIN_MASS
            self.notes.about(f"massless bodies that joints move, given {mass:g} kg", name)
        moments, axes = np.linalg.eigh(inertia.matrix)
        if not (inertia.matrix - np.diag(np.diag(inertia.matrix))).any():
            moments, axes = np.diag(inertia.matrix).copy(), np.eye(3)
        if turn is not None:
            axes = matrix_from_quat(turn)
            moments = np.diag(axes.T @ inertia.matrix @ axes).copy()
        least = max(mass * MIN_GYRATION_RADIUS**2, MIN_INERTIA) if moves else 0.0
        if moves and inertia.mass > 0.0 and moments.min() < least:
            self.notes.about(
                f"point masses, given a radius of gyration of {MIN_GYRATION_RADIUS:g} m", name
            )
        moments += max(least - moments.min(), 0.0)
        most = int(moments.argmax())
        moments[most] = min(moments[most], moments.sum() - moments[most])
        node = ET.Element("inertial", pos=numbers_text(inertia.com), mass=number_text(mass))
        if (axes != np.eye(3)).any():
            node.set("xyaxes", numbers_text((*axes[:, 0], *axes[:, 1])))
        node.set("diaginertia", numbers_text(moments))
        return node
