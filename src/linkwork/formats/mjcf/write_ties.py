"""Writing ties: loops and couplings as equalities, and which bodies do not touch."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from linkwork.formats.flat import Flat, FlatLoop
from linkwork.formats.mjcf.write_bodies import BodyWriter
from linkwork.formats.mjcf.write_geoms import place
from linkwork.formats.mjcf.write_words import set_words
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral
from linkwork.formats.posture import moving
from linkwork.spatial.pose import Pose


def equalities(flat: Flat, bodies: BodyWriter, notes: Notes) -> ET.Element:
    """Loops, couplings and screws; adds the sites that they hold together."""
    node = ET.Element("equality")
    for loop in flat.loops:
        _close(node, loop, bodies, notes)
    for coupling in flat.couplings:
        follows = bodies.joints.written.get(coupling.joint, [])
        leads = bodies.joints.written.get(coupling.of, [])
        if len(follows) != 1 or len(leads) != 1:
            notes.about("couplings of single degrees of freedom, left out", coupling.joint)
            continue
        tie = _tie(node, follows[0], leads[0], coupling.offset, coupling.ratio)
        set_words(tie, coupling.mujoco)
    for hinge, slide, pitch in bodies.joints.screws:
        _tie(node, slide, hinge, 0.0, pitch / (2.0 * math.pi))
    return node


def _tie(node: ET.Element, follows: str, leads: str, offset: float, ratio: float) -> ET.Element:
    coefficients = " ".join((numeral(offset), numeral(ratio), "0 0 0"))
    return ET.SubElement(node, "joint", joint1=follows, joint2=leads, polycoef=coefficients)


def _close(node: ET.Element, flat: FlatLoop, bodies: BodyWriter, notes: Notes) -> None:
    """A ball by one point, a hinge by two points of its axis, or rigidly."""
    kind, axis = flat.loop.joint, flat.loop.axis
    if kind not in ("ball", "hinge", "fixed"):
        notes.about(f"loops closed by a {kind} joint, left out", flat.name)
        return
    reach = max(0.01, *(math.hypot(*pose.xyz) for _, pose in flat.ends)) / 2.0
    ways = (-reach, reach) if kind == "hinge" else (0.0,)
    for number, way in enumerate(ways):
        suffix = f"_{number + 1}" if len(ways) > 1 else ""
        sites = []
        for (link, pose), end in zip(flat.ends, "ab", strict=True):
            site = ET.SubElement(bodies.nodes[link], "site", name=f"{flat.name}{suffix}_{end}")
            place(site, pose @ Pose((way * axis[0], way * axis[1], way * axis[2])))
            sites.append(site.attrib["name"])
        word = "weld" if kind == "fixed" else "connect"
        names = {"name": flat.name + suffix, "site1": sites[0], "site2": sites[1]}
        set_words(ET.SubElement(node, word, names), flat.loop.mujoco)


def exclusions(flat: Flat, bodies: BodyWriter, notes: Notes) -> ET.Element:
    """Pairs of bodies that do not touch: those joined, and those that the scene keeps apart.

    MuJoCo keeps parent and child apart by itself, unless the parent stands in the world.
    """
    node = ET.Element("contact")
    moved = moving(flat)
    head = _heads(flat)
    body: dict[str, list[str]] = {}
    for name, first in head.items():
        body.setdefault(first, []).append(name)
    pairs: set[tuple[str, str]] = set()
    collide = flat.scene.collide if flat.scene is not None else None
    if collide is None or not collide.joined:
        ends = [(link.carrier, link.name) for link in flat.links if link.carrier]
        ends += [(a[0], b[0]) for a, b in (loop.ends for loop in flat.loops)]
        for a, b in ends:
            one, other = head[a], head[b]
            if one != other:
                pairs |= {_pair(x, y) for x in body[one] for y in body[other]}
    elif collide.joined:
        notes.say("contact of joined bodies: MuJoCo keeps parent and child apart nevertheless.")
    if collide is not None:
        for one, other in collide.never:
            pairs |= _between(flat, one, other)
        for one, other in collide.always:
            pairs -= _between(flat, one, other)
    touching = {
        link.name
        for link in flat.links
        if link.element is not None and any(s.collide for s in link.element.shapes)
    }
    for a, b in sorted(pairs):
        if {a, b} <= touching and (a in moved or b in moved):
            ET.SubElement(node, "exclude", body1=bodies.names[a], body2=bodies.names[b])
    return node


def _heads(flat: Flat) -> dict[str, str]:
    """The first link of the rigid body that each link belongs to; chained joints count through."""
    found: dict[str, str] = {}
    for link in flat.links:
        rigid = link.joint is None or link.joint.type == "fixed"
        between = link.element is None
        found[link.name] = found[link.carrier] if link.carrier and (rigid or between) else link.name
    return found


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def _between(flat: Flat, one: str, other: str) -> set[tuple[str, str]]:
    ends = _called(flat, one), _called(flat, other)
    return {_pair(a, b) for a in ends[0] for b in ends[1] if a != b}


def _called(flat: Flat, name: str) -> list[str]:
    """Links of a collision group, a placed part or an element."""
    links = [link for link in flat.links if link.element is not None]
    grouped = [link.name for link in links if link.element and link.element.group == name]
    placed = [link.name for link in links if link.placed == name]
    return grouped or placed or [link.name for link in links if link.name == name]
