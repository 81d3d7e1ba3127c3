"""Writing bodies: links nested as they carry each other, with joints and inertias."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

import numpy as np

from linkwork.formats.flat import Flat, FlatLink, unique
from linkwork.formats.mjcf.write_geoms import GeomWriter, place
from linkwork.formats.mjcf.write_joints import JointWriter
from linkwork.formats.mjcf.write_words import set_words
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.posture import moving, static_pose
from linkwork.spatial.inertia import Inertia
from linkwork.spatial.pose import Pose

#: What a moving body without mass gets, because MuJoCo moves none [kg].
LEAST_MASS = 1e-9
#: Radius of gyration that a point mass gets, for the same reason [m].
LEAST_GYRATION = 1e-4


@dataclass
class BodyWriter:
    """Writes links as bodies.

    Attributes:
        flat: What is written.
        geoms: Writes the shapes.
        joints: Writes the joints.
        notes: What is said differently.
        names: Name in the file of each link, by its full name.
        nodes: The ``<body>`` of each link; that of the world by an empty name.
    """

    flat: Flat
    geoms: GeomWriter
    joints: JointWriter
    notes: Notes
    names: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, ET.Element] = field(default_factory=dict)

    def write(self, worldbody: ET.Element) -> None:
        """Adds all bodies to the world."""
        links = {link.name: link for link in self.flat.links}
        moved = moving(self.flat)
        carried: dict[str, list[FlatLink]] = {}
        for link in self.flat.links:
            carried.setdefault(self._parent(link), []).append(link)
        self.nodes[""] = worldbody
        taken = {"world"}
        stack = list(reversed(carried.get("", [])))
        while stack:  # in MuJoCo's order: depth first, which is also that of its coordinates
            link = stack.pop()
            stack.extend(reversed(carried.get(link.name, [])))
            if link.element is None:
                # a place between chained joints is no body: its joint goes to the next one
                self.nodes[link.name] = self.nodes[self._parent(link)]
                continue
            self.names[link.name] = unique(link.name, taken)
            self._body(link, links, moves=link.name in moved)

    def _parent(self, link: FlatLink) -> str:
        """What carries a link; free bodies hang on the world in MuJoCo."""
        return "" if link.joint is not None and link.joint.type == "free" else link.carrier

    def _body(self, link: FlatLink, links: dict[str, FlatLink], *, moves: bool) -> None:
        assert link.element is not None
        node = ET.SubElement(self.nodes[self._parent(link)], "body", name=self.names[link.name])
        self.nodes[link.name] = node
        free = link.joint is not None and link.joint.type == "free"
        chain, pose = [link], static_pose(link, self.flat) @ link.offset if free else link.at_zero
        carrier = links.get(link.carrier)
        while carrier is not None and carrier.element is None and not free:
            chain.append(carrier)
            pose = carrier.at_zero @ pose
            carrier = links.get(carrier.carrier)
        place(node, pose)
        set_words(node, link.element.mujoco)
        frames, here = [], Pose()
        for each in chain:
            frames.append((each, here))
            here = here @ each.at_zero.inverse()
        for each, frame in reversed(frames):
            if each.joint is not None:
                self.joints.add(node, each, frame, pose)
        mass = link.element.mass_properties()
        if mass.mass > 0.0 or mass.matrix.any() or node.find("joint") is not None:
            node.append(self._inertial(mass, link.name, moves=moves))
        self.geoms.add(node, link.name, link.element, moves=moves)

    def _inertial(self, inertia: Inertia, name: str, *, moves: bool) -> ET.Element:
        """Mass and inertia, just physical enough for MuJoCo.

        Flat bodies lie on the edge of what is physical (a + b = c); rounding must not push them
        over it.
        """
        mass = inertia.mass
        if mass <= 0.0:
            mass = LEAST_MASS
            self.notes.about(f"massless bodies that joints move, given {mass:g} kg", name)
        a, b, c = np.linalg.eigvalsh(inertia.matrix)
        least = mass * LEAST_GYRATION**2 if moves else 0.0
        if moves and inertia.mass > 0.0 and a < least:
            self.notes.about(
                f"point masses, given a radius of gyration of {LEAST_GYRATION:g} m", name
            )
        lift = max(c - a - b + 1e-13 * (1.0 + c), least - a, 0.0)
        m = inertia.matrix + lift * np.eye(3)
        six = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
        return ET.Element(
            "inertial", pos=numerals(inertia.com), mass=numeral(mass), fullinertia=numerals(six)
        )
