"""Writing sensors: encoders and MuJoCo's own."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linkwork.formats.flat import Flat, unique
from linkwork.formats.mjcf.write_bodies import BodyWriter
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.parts.names import scoped


def sensors(flat: Flat, bodies: BodyWriter, tendons: ET.Element, notes: Notes) -> ET.Element:
    """Encoders, as MuJoCo's joint sensors, and MuJoCo's own; others are told."""
    node = ET.Element("sensor")
    taken: set[str] = set()
    found = [(scope, spec) for scope, part in flat.parts for spec in part.sensors]
    if flat.scene is not None:
        found += [(spec.scope, spec) for spec in flat.scene.sensors]
    writer = _Writer(bodies, {str(tendon.get("name")) for tendon in tendons})
    for scope, spec in found:
        name = scoped(scope, spec.name or spec.type)
        made = None
        if spec.type == "encoder":
            joint = bodies.joints.single(scoped(scope, str(spec.params.get("joint", ""))))
            made = None if joint is None else ET.Element("jointpos", joint=joint)
        elif spec.type == "mujoco":
            made = writer.sensor(name, scope, spec.params)
        if made is None:
            notes.about(f"sensors of type {spec.type}, left out", name)
            continue
        made.set("name", unique(name, taken))
        node.append(made)
        if spec.params.get("period"):
            notes.about("periods of sensors, left out", name)
    return node


@dataclass
class _Writer:
    """Writes MuJoCo's own sensors; ``tendons`` are the names of those in the file."""

    bodies: BodyWriter
    tendons: set[str]

    def sensor(self, name: str, scope: str, given: Mapping[str, Any]) -> ET.Element | None:
        """One sensor, without its name; None if what it looks at is not in the file."""
        kind = str(given.get("sensor", ""))
        made = ET.Element(kind)
        if given.get("cutoff"):
            made.set("cutoff", numeral(given["cutoff"]))
        if given.get("joint"):
            written = self.bodies.joints.written.get(scoped(scope, given["joint"]), [])
            return _with(made, joint=written[0]) if len(written) == 1 else None
        if given.get("tendon"):
            known = given["tendon"] in self.tendons
            return _with(made, tendon=given["tendon"]) if known else None
        if not given.get("on"):
            return made
        on = scoped(scope, given["on"])
        if kind.startswith("subtree"):
            body = self.bodies.names.get(on)
            return None if body is None else _with(made, body=body)
        if kind.startswith("frame"):
            ends = [("obj", on)] + [("ref", scoped(scope, r)) for r in [given.get("ref")] if r]
            for word, place in ends:
                if (frame := self._frame(place)) is None:
                    return None
                made.attrib |= {f"{word}type": frame[0], f"{word}name": frame[1]}
            return made
        site = self._site(name, on, given if kind == "touch" else {})
        return None if site is None else _with(made, site=site)

    def _frame(self, name: str) -> tuple[str, str] | None:
        """Kind and name of the frame of an anchor or element."""
        if name in self.bodies.sites:
            return "site", self.bodies.sites[name].attrib["name"]
        return ("xbody", self.bodies.names[name]) if name in self.bodies.names else None

    def _site(self, sensor: str, on: str, volume: Mapping[str, Any]) -> str | None:
        """The site of an anchor, or one at the frame of an element, with the volume that feels."""
        form = {}
        if volume:
            size = numerals(max(c, 1e-9) for c in volume.get("size", (0.005,) * 3))
            form = {"type": str(volume.get("volume", "sphere")), "size": size}
        site = self.bodies.sites.get(on)
        if site is None:
            if on not in self.bodies.nodes:
                return None
            site = self.bodies.add_site(self.bodies.nodes[on], f"{sensor}_site")
        elif form and "type" in site.attrib and form.items() - site.attrib.items():
            beside = {k: site.attrib[k] for k in ("pos", "quat") if k in site.attrib}
            node = self.bodies.nodes[self.bodies.flat.anchors[on][1]]
            site = self.bodies.add_site(node, f"{sensor}_site")
            site.attrib |= beside
        site.attrib |= form
        return site.attrib["name"]


def _with(node: ET.Element, **attributes: str) -> ET.Element:
    node.attrib |= attributes
    return node
