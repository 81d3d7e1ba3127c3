"""MJCF sensor writer: encoders and MuJoCo's sensors."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import FlatStructure, unique
from linkwork.formats.robots.mjcf.write_bodies import BodyWriter
from linkwork.formats.text_output import number_text, numbers_text
from linkwork.model.parts.spec import scoped_name_of


def sensors(
    flat: FlatStructure, bodies: BodyWriter, tendons: ET.Element, notes: ConversionNotes
) -> ET.Element:
    """Returns encoders as joint sensors, and MuJoCo's sensors; others are noted."""
    node = ET.Element("sensor")
    taken: set[str] = set()
    found = [(scope, spec) for scope, part in flat.parts for spec in part.sensors]
    if flat.scene is not None:
        found += [(spec.scope, spec) for spec in flat.scene.sensors]
    writer = _Writer(bodies, {str(tendon.get("name")) for tendon in tendons})
    for scope, spec in found:
        name = scoped_name_of(scope, spec.name or spec.type)
        made = None
        if spec.type == "encoder":
            measured = scoped_name_of(scope, str(spec.params.get("joint", "")))
            joint = bodies.joints.axes.get(measured)
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
    """Writes MuJoCo's sensors; ``tendons`` are the names of the written tendons."""

    bodies: BodyWriter
    tendons: set[str]

    def sensor(self, name: str, scope: str, given: Mapping[str, Any]) -> ET.Element | None:
        """Returns a sensor without name; None if its object is not in the file."""
        kind = str(given.get("sensor", ""))
        made = ET.Element(kind)
        if given.get("cutoff"):
            made.set("cutoff", number_text(given["cutoff"]))
        if given.get("joint"):
            written = self.bodies.joints.written.get(scoped_name_of(scope, given["joint"]), [])
            return _with(made, joint=written[0]) if len(written) == 1 else None
        if given.get("tendon"):
            known = given["tendon"] in self.tendons
            return _with(made, tendon=given["tendon"]) if known else None
        if not given.get("on"):
            return made
        on = scoped_name_of(scope, given["on"])
        if kind.startswith("subtree"):
            body = self.bodies.names.get(on)
            return None if body is None else _with(made, body=body)
        if kind.startswith("frame"):
            ends = [("obj", on)] + [
                ("ref", scoped_name_of(scope, r)) for r in [given.get("ref")] if r
            ]
            for word, place in ends:
                if (frame := self._frame(place)) is None:
                    return None
                made.attrib |= {f"{word}type": frame[0], f"{word}name": frame[1]}
            return made
        site = self._site(name, on, given if kind == "touch" else {})
        return None if site is None else _with(made, site=site)

    def _frame(self, name: str) -> tuple[str, str] | None:
        """Returns type and name of the frame of an anchor or element."""
        if name in self.bodies.sites:
            return "site", self.bodies.sites[name].attrib["name"]
        return ("xbody", self.bodies.names[name]) if name in self.bodies.names else None

    def _site(self, sensor: str, on: str, volume: Mapping[str, Any]) -> str | None:
        """Returns the site of an anchor or of an element's frame, with the sensitive volume."""
        form = {}
        if volume:
            size = numbers_text(max(c, 1e-9) for c in volume.get("size", (0.005,) * 3))
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
