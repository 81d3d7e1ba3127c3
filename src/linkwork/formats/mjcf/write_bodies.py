"""Writing bodies: links nested as they carry each other, with joints and inertias."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace

import numpy as np

from linkwork.formats.flat import Flat, FlatLink, unique
from linkwork.formats.mjcf.spelling import Spelling
from linkwork.formats.mjcf.write_geoms import GeomWriter, place
from linkwork.formats.mjcf.write_joints import JointWriter, at_start
from linkwork.formats.mjcf.write_words import set_words
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.posture import moving, static_pose
from linkwork.spatial.inertia import Inertia
from linkwork.spatial.pose import IDENTITY, Pose

#: What a moving body without mass gets, because MuJoCo moves none [kg].
LEAST_MASS = 1e-9
#: Radius of gyration that a point mass gets, for the same reason [m].
LEAST_GYRATION = 1e-4
#: And the least inertia of any [kg m²].
LEAST_INERTIA = 1e-14


@dataclass
class BodyWriter:
    """Writes links as bodies.

    Attributes:
        flat: What is written.
        geoms: Writes the shapes.
        joints: Writes the joints.
        notes: What is said differently.
        spelling: How names are written.
        names: Name in the file of each link, by its full name.
        nodes: The ``<body>`` of each link; that of the world by an empty name.
        sites: The ``<site>`` of each anchor, by its full name.
    """

    flat: Flat
    geoms: GeomWriter
    joints: JointWriter
    notes: Notes
    spelling: Spelling
    names: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, ET.Element] = field(default_factory=dict)
    sites: dict[str, ET.Element] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def write(self, worldbody: ET.Element) -> None:
        """Adds all bodies to the world, and their anchors as sites."""
        links = {link.name: link for link in self.flat.links}
        moved = moving(self.flat)
        carried: dict[str, list[FlatLink]] = {}
        for link in self.flat.links:
            carried.setdefault(self._parent(link), []).append(link)
        self.nodes[""] = worldbody
        taken = {"world"}
        stack = list(reversed(self._on_world()))
        while stack:  # in MuJoCo's order: depth first, which is also that of its coordinates
            link = stack.pop()
            stack.extend(reversed(carried.get(link.name, [])))
            if link.element is None:
                # a place between chained joints is no body: its joint goes to the next one
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
                self.notes.about("what anchors fit, left out", name)

    def _on_world(self) -> list[FlatLink]:
        """What hangs on the world, in the order of the first joints.

        A body that is free inside a part hangs there too, beside the body that carried it: it goes
        first if its joint does.
        """
        top: dict[str, FlatLink] = {}
        first: dict[str, int] = {}
        for number, link in enumerate(self.flat.links):
            top[link.name] = top.get(self._parent(link), link)
            if link.joint is not None and link.joint.type != "fixed":
                first.setdefault(top[link.name].name, number)
        tops = [link for link in self.flat.links if not self._parent(link)]
        places = {link.name: number for number, link in enumerate(self.flat.links)}
        return sorted(tops, key=lambda link: first.get(link.name, places[link.name]))

    def add_site(self, body: ET.Element, name: str, pose: Pose = IDENTITY) -> ET.Element:
        """Adds a site to a body."""
        node = ET.SubElement(body, "site", name=unique(name, self._taken))
        place(node, pose)
        return node

    def _is_world(self, link: FlatLink) -> bool:
        """Whether a link is what MuJoCo's world itself has: a shape of scenery, or an origin."""
        element = link.element
        if element is None or link.carrier or link.joint is not None or element.mujoco:
            return False
        if element.mass_properties().mass > 0.0:
            return False
        if link.placed:
            return bool(self.spelling.scope) and not element.shapes and link.at.is_identity()
        return len(element.shapes) == 1 and all(o.carrier != link.name for o in self.flat.links)

    def _parent(self, link: FlatLink) -> str:
        """What carries a link; free bodies hang on the world in MuJoCo."""
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
        set_words(node, link.element.mujoco)
        frames, here = [], Pose()
        for each in chain:
            frames.append((each, here))
            here = here @ at_start(each).inverse()
        for each, frame in reversed(frames):
            if each.joint is not None:
                self.joints.add(node, each, frame, pose)
        mass = link.element.mass_properties()
        if mass.mass > 0.0 or mass.matrix.any() or node.find("joint") is not None:
            node.append(self._inertial(mass, link.name, moves=moves))
        self.geoms.add(node, link, link.element, moves=moves)

    def _inertial(self, inertia: Inertia, name: str, *, moves: bool) -> ET.Element:
        """Mass and inertia about its principal axes, just physical enough for MuJoCo.

        Flat bodies lie on the edge of what is physical (a + b = c); rounding must not push them
        over it.
        """
        mass = inertia.mass
        if mass <= 0.0:
            mass = LEAST_MASS
            self.notes.about(f"massless bodies that joints move, given {mass:g} kg", name)
        moments, axes = np.linalg.eigh(inertia.matrix)
        if not (inertia.matrix - np.diag(np.diag(inertia.matrix))).any():
            moments, axes = np.diag(inertia.matrix).copy(), np.eye(3)
        least = max(mass * LEAST_GYRATION**2, LEAST_INERTIA) if moves else 0.0
        if moves and inertia.mass > 0.0 and moments.min() < least:
            self.notes.about(
                f"point masses, given a radius of gyration of {LEAST_GYRATION:g} m", name
            )
        moments += max(least - moments.min(), 0.0)
        most = int(moments.argmax())
        moments[most] = min(moments[most], moments.sum() - moments[most])
        node = ET.Element("inertial", pos=numerals(inertia.com), mass=numeral(mass))
        if (axes != np.eye(3)).any():
            node.set("xyaxes", numerals((*axes[:, 0], *axes[:, 1])))
        node.set("diaginertia", numerals(moments))
        return node
