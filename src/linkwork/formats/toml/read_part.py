"""Reading a part's file."""

from __future__ import annotations

from collections.abc import Iterable

from linkwork.formats.toml.freedoms import check_unit
from linkwork.formats.toml.includes import Includes
from linkwork.formats.toml.joints import find_joint, joint_names
from linkwork.formats.toml.pieces import (
    need,
    read_coupling,
    read_element,
    read_joint,
    read_loop,
    read_pose,
    read_specs,
    read_spring,
)
from linkwork.formats.toml.tables import Fields
from linkwork.parts import Anchor, Part
from linkwork.spatial.pose import IDENTITY


def read_part(fields: Fields, includes: Includes) -> Part:
    """A part from the tables of its file.

    Every name that the file refers to must exist. Whether all elements hang together is seen when
    the part is compiled, so that a part may be written piece by piece.

    Raises:
        LinkworkError: Naming the thing, its file and line, and what would be allowed.
    """
    part = Part(**fields.take("name", "title", "labels", "aliases"), origin=fields.place.origin)
    for table in fields.get("element", ()):
        part.add(read_element(table))
    for table in fields.get("joint", ()):
        part.add(read_joint(table))
    for table in fields.get("anchor", ()):
        part.add(_anchor(table))
    for table in fields.get("attach", ()):
        _attach(part, table, includes)
    for table in fields.get("loop", ()):
        loop = read_loop(table, part.loops)
        with table.place.blamed():
            for anchor in (loop.a, loop.b):
                part.find_anchor(anchor, origin=loop.origin)
            part.add(loop)
    for table in fields.get("coupling", ()):
        part.add(read_coupling(table))
    for table in fields.get("spring", ()):
        spring = read_spring(table, part.springs)
        with table.place.blamed():
            for anchor in (spring.a, spring.b):
                part.find_anchor(anchor, origin=spring.origin)
            part.add(spring)
    part.sensors = read_specs("sensor", fields.get("sensor", []))
    part.ports = read_specs("port", fields.get("port", []))
    _check_names(part, fields)
    return part


def _anchor(fields: Fields) -> Anchor:
    with fields.place.blamed():
        return Anchor(
            **fields.take("name", "on", "fits", "turns"),
            at=read_pose(fields["at"]) if "at" in fields else IDENTITY,
            origin=fields.place.origin,
        )


def _attach(part: Part, fields: Fields, includes: Includes) -> None:
    other = includes.part(fields["part"], fields.at("part"))
    with fields.place.blamed():
        part.attach(
            fields["to"],
            other,
            **fields.take("name", "by", "turn"),
            origin=fields.place.origin,
            source=fields["part"],
        )


def _check_names(part: Part, fields: Fields) -> None:
    for table in fields.get("element", ()):
        if "on" in table:
            need(table["on"], part.elements, "element", table.at("on"))
    for table in fields.get("joint", ()):
        for end in ("from", "to"):
            if table[end] not in part.joints:
                need(table[end], part.elements, "element", table.at(end))
    for table in fields.get("anchor", ()):
        need(table["on"], part.elements, "element", table.at("on"))
    check_carriers(fields.get("element", ()))
    for table in fields.get("coupling", ()):
        for end in ("joint", "of"):
            name = table[end]
            joint = find_joint(part, name)
            if joint is None:
                need(name, dict.fromkeys(joint_names(part)), "joint", table.at(end))
            elif end == "joint":
                check_unit(table, "offset", joint.kind, joint.type)


def check_carriers(tables: Iterable[Fields]) -> None:
    """Refuses elements that carry themselves.

    Raises:
        FormatError: If following ``on`` leads in a circle.
    """
    carrier = {table["name"]: table for table in tables}
    sound: set[str] = set()
    for first in carrier:
        walked: dict[str, None] = {}
        name = first
        while name in carrier and name not in sound:
            if name in walked:
                circle = " → ".join([*walked, name])
                raise carrier[name].at("on").wrong(f"leads in a circle: {circle}.")
            walked[name] = None
            name = carrier[name].get("on", "")
        sound.update(walked)
