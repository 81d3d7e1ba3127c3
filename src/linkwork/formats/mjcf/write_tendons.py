"""Writing tendons and contact pairs: what a scene names for the Mujoco engine."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from linkwork.formats.mjcf.spelling import Spelling
from linkwork.formats.mjcf.write_bodies import BodyWriter
from linkwork.formats.mjcf.write_words import set_words
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral


def tendons(spelling: Spelling, bodies: BodyWriter, notes: Notes) -> ET.Element:
    """The engine's tendons: weighted sums of joints, or strings through anchors."""
    node = ET.Element("tendon")
    for tendon in (spelling.engine or {}).get("tendons", ()):
        laws = {k: v for k, v in tendon.items() if k not in ("name", "joints", "path")}
        if tuple(laws.get("springlength", ())) == (-1.0, -1.0):
            del laws["springlength"]  # the length at the start, which goes without saying
        if tendon.get("joints"):
            made = fixed(tendon["name"], tendon["joints"], bodies)
        else:
            made = _string(tendon["name"], tendon.get("path", ()), bodies)
        if made is None:
            notes.about("tendons of what is not written, left out", tendon["name"])
            continue
        set_words(made, laws)
        node.append(made)
    return node


def fixed(name: str, weights: Mapping[str, float], bodies: BodyWriter) -> ET.Element | None:
    """A weighted sum of joints by their full names; None if one of them is not single."""
    made = ET.Element("fixed", name=name)
    for joint, weight in weights.items():
        written = bodies.joints.single(joint)
        if written is None:
            return None
        ET.SubElement(made, "joint", joint=written, coef=numeral(weight))
    return made


def _string(name: str, path: list[str], bodies: BodyWriter) -> ET.Element | None:
    made = ET.Element("spatial", name=name)
    for anchor in path:
        if anchor not in bodies.sites:
            return None
        ET.SubElement(made, "site", site=bodies.sites[anchor].attrib["name"])
    return made


def tendon_ties(spelling: Spelling, written: ET.Element, notes: Notes) -> list[ET.Element]:
    """Tendons that follow each other or are held, of those in ``written``."""
    known = {node.get("name") for node in written}
    made: list[ET.Element] = []
    for tie in (spelling.engine or {}).get("tendon_ties", ()):
        names = {"tendon1": tie["a"]} | ({"tendon2": tie["b"]} if tie.get("b") else {})
        if not known.issuperset(names.values()):
            notes.about("constraints of tendons that are not written, left out", tie["a"])
            continue
        node = ET.Element("tendon", names)
        set_words(node, {k: v for k, v in tie.items() if k not in ("a", "b")})
        made.append(node)
    return made


def pairs(spelling: Spelling, bodies: BodyWriter, notes: Notes) -> list[ET.Element]:
    """Contacts of their own between named shapes."""
    named = bodies.geoms.named
    made: list[ET.Element] = []
    for pair in (spelling.engine or {}).get("pairs", ()):
        a, b = str(pair["a"]), str(pair["b"])
        if a not in named or b not in named:
            notes.about("contact pairs of shapes that are not written, left out", f"{a} and {b}")
            continue
        node = ET.Element("pair", geom1=named[a], geom2=named[b])
        set_words(node, {k: v for k, v in pair.items() if k not in ("a", "b")})
        made.append(node)
    return made
