"""MJCF constraint writer: equalities, tendons, contact pairs, exclusions."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import FlatLoop, FlatStructure
from linkwork.formats.posture import movable_links
from linkwork.formats.robots.joints import UNWRITTEN_COUPLING
from linkwork.formats.robots.mjcf.naming import MjcfNames, set_native_attributes
from linkwork.formats.robots.mjcf.write_bodies import BodyWriter
from linkwork.formats.text_output import number_text, numbers_text
from linkwork.geometry.pose import Pose
from linkwork.model.parts.constraints import CouplingLaw, law_from_start


def tendons(spelling: MjcfNames, bodies: BodyWriter, notes: ConversionNotes) -> ET.Element:
    """Returns the engine's tendons: weighted sums of joints, or paths through anchors."""
    node = ET.Element("tendon")
    for tendon in (spelling.engine or {}).get("tendons", ()):
        laws = {k: v for k, v in tendon.items() if k not in ("name", "joints", "path")}
        if tuple(laws.get("springlength", ())) == (-1.0, -1.0):
            del laws["springlength"]  # the default: the initial length
        if tendon.get("joints"):
            made = fixed_tendon(tendon["name"], tendon["joints"], bodies)
        else:
            made = _spatial_tendon(tendon["name"], tendon.get("path", ()), bodies)
        if made is None:
            notes.about(
                "tendons of joints or anchors that are not written, left out", tendon["name"]
            )
            continue
        set_native_attributes(made, laws)
        node.append(made)
    return node


def fixed_tendon(name: str, weights: Mapping[str, float], bodies: BodyWriter) -> ET.Element | None:
    """Returns a weighted sum of joints by their full names; None if one has no single axis."""
    made = ET.Element("fixed", name=name)
    for joint, weight in weights.items():
        written = bodies.joints.axes.get(joint)
        if written is None:
            return None
        ET.SubElement(made, "joint", joint=written, coef=number_text(weight))
    return made


def _spatial_tendon(
    name: str, path: Sequence[str | Mapping[str, Any]], bodies: BodyWriter
) -> ET.Element | None:
    made = ET.Element("spatial", name=name)
    for wrap in path:
        if isinstance(wrap, str):
            if wrap not in bodies.sites:
                return None
            ET.SubElement(made, "site", site=bodies.sites[wrap].attrib["name"])
        elif wrap.get("pulley"):
            ET.SubElement(made, "pulley", divisor=number_text(wrap["pulley"]))
        elif wrap["geom"] in bodies.geoms.named:
            node = ET.SubElement(made, "geom", geom=bodies.geoms.named[wrap["geom"]])
            if side := wrap.get("side"):
                if side not in bodies.sites:
                    return None
                node.set("sidesite", bodies.sites[side].attrib["name"])
        else:
            return None
    return made


def tendon_equalities(
    spelling: MjcfNames, written: ET.Element, notes: ConversionNotes
) -> list[ET.Element]:
    """Returns the equalities of the tendons in ``written``."""
    known = {node.get("name") for node in written}
    made: list[ET.Element] = []
    for equality in (spelling.engine or {}).get("tendon_equalities", ()):
        names = {"tendon1": equality["a"]} | (
            {"tendon2": equality["b"]} if equality.get("b") else {}
        )
        if not known.issuperset(names.values()):
            notes.about("constraints of tendons that are not written, left out", equality["a"])
            continue
        node = ET.Element("tendon", names)
        set_native_attributes(node, {k: v for k, v in equality.items() if k not in ("a", "b")})
        made.append(node)
    return made


def joint_equalities(
    spelling: MjcfNames, bodies: BodyWriter, notes: ConversionNotes
) -> list[ET.Element]:
    """Returns the engine's own constraints of joints."""
    made: list[ET.Element] = []
    for equality in (spelling.engine or {}).get("joint_equalities", ()):
        ends = [equality[end] for end in "ab" if equality.get(end)]
        if not all(joint in bodies.joints.axes for joint in ends):
            notes.about("constraints of joints that are not written, left out", equality["a"])
            continue
        starts = [bodies.joints.starts.get(bodies.joints.axes[joint], 0.0) for joint in ends]
        law = equality.get("polycoef", (0.0, 1.0, 0.0, 0.0, 0.0))
        law = law_from_start(law, starts[1] if len(ends) == 2 else 0.0, starts[0])
        node = ET.Element("joint", polycoef=numbers_text(law))
        for number, joint in enumerate(ends, 1):
            node.set(f"joint{number}", bodies.joints.axes[joint])
        given = {k: v for k, v in equality.items() if k not in ("a", "b", "polycoef")}
        set_native_attributes(node, given)
        made.append(node)
    return made


def pairs(spelling: MjcfNames, bodies: BodyWriter, notes: ConversionNotes) -> list[ET.Element]:
    """Returns the contact pairs of named shapes."""
    named = bodies.geoms.named
    made: list[ET.Element] = []
    for pair in (spelling.engine or {}).get("pairs", ()):
        a, b = str(pair["a"]), str(pair["b"])
        if a not in named or b not in named:
            notes.about("contact pairs of shapes that are not written, left out", f"{a} and {b}")
            continue
        node = ET.Element("pair", geom1=named[a], geom2=named[b])
        set_native_attributes(node, {k: v for k, v in pair.items() if k not in ("a", "b")})
        made.append(node)
    return made


def equalities(flat: FlatStructure, bodies: BodyWriter, notes: ConversionNotes) -> ET.Element:
    """Returns the equalities of loops, couplings and screws; adds the sites of loops."""
    node = ET.Element("equality")
    for loop in flat.loops:
        _close(node, loop, bodies, notes)
    for coupling in flat.couplings:
        follows, leads = (bodies.joints.axes.get(end) for end in (coupling.joint, coupling.of))
        if follows is None or leads is None:
            notes.about(UNWRITTEN_COUPLING, coupling.joint)
            continue
        starts = bodies.joints.starts
        law = law_from_start(coupling.law, starts.get(leads, 0.0), starts.get(follows, 0.0))
        words = {word: given for word, given in coupling.mujoco.items() if word != "polycoef"}
        set_native_attributes(_joint_equality(node, follows, leads, law), words)
    for hinge, slide, ratio in bodies.joints.screws:
        _joint_equality(node, slide, hinge, (0.0, ratio, 0.0, 0.0, 0.0))
    return node


def _joint_equality(node: ET.Element, follows: str, leads: str, law: CouplingLaw) -> ET.Element:
    return ET.SubElement(node, "joint", joint1=follows, joint2=leads, polycoef=numbers_text(law))


def _close(node: ET.Element, flat: FlatLoop, bodies: BodyWriter, notes: ConversionNotes) -> None:
    """Closes a loop: connects one point (ball) or two points of the axis (hinge), or welds."""
    kind, axis, called = flat.loop.joint, flat.loop.axis, bodies.spelling.bare(flat.name)
    if kind not in ("ball", "hinge", "fixed"):
        notes.about(f"loops closed by a {kind} joint, left out", flat.name)
        return
    word = "weld" if kind == "fixed" else "connect"
    if kind != "hinge":
        ends = [bodies.sites[end].attrib["name"] for end in (flat.loop.a, flat.loop.b)]
        names = {"name": called, "site1": ends[0], "site2": ends[1]}
        set_native_attributes(ET.SubElement(node, word, names), flat.loop.mujoco)
        return
    reach = max(0.01, *(math.hypot(*pose.xyz) for _, pose in flat.ends)) / 2.0
    for number, offset in enumerate((-reach, reach), start=1):
        sites = []
        for (link, pose), end in zip(flat.ends, "ab", strict=True):
            there = pose @ Pose((offset * axis[0], offset * axis[1], offset * axis[2]))
            site = bodies.add_site(bodies.nodes[link], f"{called}_{number}_{end}", there)
            sites.append(site.attrib["name"])
        names = {"name": f"{called}_{number}", "site1": sites[0], "site2": sites[1]}
        set_native_attributes(ET.SubElement(node, word, names), flat.loop.mujoco)


def exclusions(flat: FlatStructure, bodies: BodyWriter, notes: ConversionNotes) -> ET.Element:
    """Returns the excluded pairs of bodies: joined ones, and those that the scene excludes.

    MuJoCo itself excludes parent and child, unless the parent is static.
    """
    node = ET.Element("contact")
    moved = movable_links(flat)
    head = _rigid_groups(flat)
    body: dict[str, list[str]] = {}
    for name, first in head.items():
        body.setdefault(first, []).append(name)
    pairs: set[tuple[str, str]] = set()
    collide = flat.scene.collide if flat.scene is not None else None
    if bodies.spelling.native:
        pass  # MuJoCo's default rule applies
    elif collide is None or not collide.joined:
        ends = [(link.carrier, link.name) for link in flat.links if link.carrier]
        ends += [(a[0], b[0]) for a, b in (loop.ends for loop in flat.loops)]
        for a, b in ends:
            one, other = head[a], head[b]
            if one != other:
                pairs |= {_pair(x, y) for x in body[one] for y in body[other]}
    elif collide.joined:
        notes.add("contact of joined bodies: MuJoCo still excludes parent and child.")
    if collide is not None:
        for one, other in collide.never:
            pairs |= _link_pairs(flat, one, other)
        for one, other in collide.always:
            pairs -= _link_pairs(flat, one, other)
    touching = {
        link.name
        for link in flat.links
        if link.element is not None and any(s.collide for s in link.element.shapes)
    }
    apart = {
        _pair(bodies.names[a], bodies.names[b])
        for a, b in pairs
        if {a, b} <= touching and (a in moved or b in moved)
    }
    for one, other in sorted(apart):
        ET.SubElement(node, "exclude", body1=one, body2=other)
    return node


def _rigid_groups(flat: FlatStructure) -> dict[str, str]:
    """Returns the first link of each link's rigid body; skips links between chained joints."""
    found: dict[str, str] = {}
    for link in flat.links:
        rigid = link.joint is None or link.joint.type == "fixed"
        between = link.element is None
        found[link.name] = found[link.carrier] if link.carrier and (rigid or between) else link.name
    return found


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def _link_pairs(flat: FlatStructure, one: str, other: str) -> set[tuple[str, str]]:
    ends = _links_named(flat, one), _links_named(flat, other)
    return {_pair(a, b) for a in ends[0] for b in ends[1] if a != b}


def _links_named(flat: FlatStructure, name: str) -> list[str]:
    """Returns the links of a collision group, a placed part or an element."""
    links = [link for link in flat.links if link.element is not None]
    grouped = [link.name for link in links if link.element and link.element.group == name]
    placed = [link.name for link in links if link.placed == name]
    return grouped or placed or [link.name for link in links if link.name == name]
