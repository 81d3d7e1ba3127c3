"""Writing ties: loops and couplings as equalities, and which bodies do not touch."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from linkwork.formats.flat import Flat, FlatLoop
from linkwork.formats.mjcf.write_bodies import BodyWriter
from linkwork.formats.mjcf.write_words import set_words
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numerals
from linkwork.formats.posture import moving
from linkwork.parts.coupling import Law, counted_from
from linkwork.spatial.pose import Pose


def equalities(flat: Flat, bodies: BodyWriter, notes: Notes) -> ET.Element:
    """Loops, couplings and screws; adds the sites that they hold together."""
    node = ET.Element("equality")
    for loop in flat.loops:
        _close(node, loop, bodies, notes)
    for coupling in flat.couplings:
        follows, leads = bodies.joints.single(coupling.joint), bodies.joints.single(coupling.of)
        if follows is None or leads is None:
            notes.about("couplings of joints with several freedoms, left out", coupling.joint)
            continue
        starts = bodies.joints.starts
        law = counted_from(coupling.law, starts.get(leads, 0.0), starts.get(follows, 0.0))
        words = {word: given for word, given in coupling.mujoco.items() if word != "polycoef"}
        set_words(_tie(node, follows, leads, law), words)
    for hinge, slide, pitch in bodies.joints.screws:
        _tie(node, slide, hinge, (0.0, pitch / (2.0 * math.pi), 0.0, 0.0, 0.0))
    return node


def _tie(node: ET.Element, follows: str, leads: str, law: Law) -> ET.Element:
    return ET.SubElement(node, "joint", joint1=follows, joint2=leads, polycoef=numerals(law))


def _close(node: ET.Element, flat: FlatLoop, bodies: BodyWriter, notes: Notes) -> None:
    """A ball by one point, a hinge by two points of its axis, or rigidly."""
    kind, axis, called = flat.loop.joint, flat.loop.axis, bodies.spelling.bare(flat.name)
    if kind not in ("ball", "hinge", "fixed"):
        notes.about(f"loops closed by a {kind} joint, left out", flat.name)
        return
    word = "weld" if kind == "fixed" else "connect"
    if kind != "hinge":
        ends = [bodies.sites[end].attrib["name"] for end in (flat.loop.a, flat.loop.b)]
        names = {"name": called, "site1": ends[0], "site2": ends[1]}
        set_words(ET.SubElement(node, word, names), flat.loop.mujoco)
        return
    reach = max(0.01, *(math.hypot(*pose.xyz) for _, pose in flat.ends)) / 2.0
    for number, way in enumerate((-reach, reach), start=1):
        sites = []
        for (link, pose), end in zip(flat.ends, "ab", strict=True):
            there = pose @ Pose((way * axis[0], way * axis[1], way * axis[2]))
            site = bodies.add_site(bodies.nodes[link], f"{called}_{number}_{end}", there)
            sites.append(site.attrib["name"])
        names = {"name": f"{called}_{number}", "site1": sites[0], "site2": sites[1]}
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
    if bodies.spelling.native:
        pass  # MuJoCo's own rule is meant
    elif collide is None or not collide.joined:
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
    apart = {
        _pair(bodies.names[a], bodies.names[b])
        for a, b in pairs
        if {a, b} <= touching and (a in moved or b in moved)
    }
    for one, other in sorted(apart):
        ET.SubElement(node, "exclude", body1=one, body2=other)
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
