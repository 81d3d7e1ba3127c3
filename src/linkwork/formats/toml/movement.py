"""Reading and writing a movement's file."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from linkwork.errors import LinkworkError, not_found
from linkwork.formats.toml.emit import document_text
from linkwork.formats.toml.numbers import angle, length, tidy
from linkwork.formats.toml.rows import changed
from linkwork.formats.toml.tables import Fields
from linkwork.scene import Movement, TimedPosture
from linkwork.scene.planning import LIMITED, Limits, Losses


def read_movement(fields: Fields) -> Movement:
    """A movement from the tables of its file.

    Raises:
        LinkworkError: Naming the thing, its file and line, and what would be allowed.
    """
    units: dict[str, set[str]] = {"_deg": set(), "": set(), "_mm": set()}
    postures = tuple(_posture(table, units) for table in fields.get("posture", ()))
    joints = list(dict.fromkeys(joint for each in postures for joint in each.joints))
    return Movement(
        postures=postures,
        angles=frozenset(units["_deg"]),
        lengths=frozenset(units["_mm"]),
        origin=fields.place.origin,
        limits=_limits(fields, joints, units),
        losses=_losses(fields, joints),
        **fields.take("name", "title", "labels", "interpolation", "planner"),
    )


def _posture(fields: Fields, units: dict[str, set[str]]) -> TimedPosture:
    joints = _by_joint(fields, "joints", units)
    speeds = _by_joint(fields, "speeds", units)
    origin, planner = fields.place.origin, fields.get("planner", "")
    return TimedPosture(fields["time"], joints, origin, speeds, planner)


def _by_joint(fields: Fields, key: str, units: dict[str, set[str]]) -> dict[str, float]:
    """Values of joints, whose suffixes tell which of them turn and which slide."""
    made: dict[str, float] = {}
    for suffix, values in fields.get(key, {}).items():
        unit = "_mm" if suffix == "_cm" else suffix
        other = {"_mm": "_deg", "_deg": "_mm"}.get(unit)
        for name, value in values.items():
            here = fields.place / f"{key}{suffix}" / name
            if name in made:
                raise here.wrong("is given twice; once is enough.")
            if other and name in units[other]:
                raise here.wrong("is an angle in one posture and a length in another.")
            units[unit].add(name)
            made[name] = value
    return made


def _limits(fields: Fields, joints: list[str], units: dict[str, set[str]]) -> dict[str, Limits]:
    """Limits by joint: a number is for all that its unit fits, a table for those it names."""
    found: dict[str, dict[str, Any]] = {joint: {} for joint in joints}
    unfit = {"_deg": units["_mm"], "_mm": units["_deg"], "_cm": units["_deg"]}
    for limit in LIMITED:
        forms = fields.get(f"max_{limit}", {})
        for suffix, said in forms.items():
            place = fields.place / f"max_{limit}{suffix}"
            alike: Any = dict.fromkeys(joints, said)
            given = said if isinstance(said, dict) else alike
            for joint, value in given.items():
                if joint not in found:
                    raise not_found("joint", joint, joints, origin=(place / joint).origin)
                if joint in unfit.get(suffix, ()):
                    if isinstance(said, dict):
                        raise (place / joint).wrong("has another unit than the joint's values.")
                    continue
                if not value > 0.0:
                    raise place.wrong("must be above 0.")
                if isinstance(said, dict) or limit not in found[joint]:
                    found[joint][limit] = value
    return {joint: Limits(**values) for joint, values in found.items() if values}


def _losses(fields: Fields, joints: list[str]) -> dict[str, Losses]:
    named: dict[str, Losses] = {}
    others: Losses | None = None
    for table in fields.get("losses", ()):
        try:
            made = Losses(**table.take("inertia", "copper", "viscous", "coulomb", "recuperation"))
        except LinkworkError as error:
            raise error.at(table.place.origin) from None
        if "joints" not in table:
            others = made
        for joint in table.get("joints", ()):
            if joint not in joints:
                raise not_found("joint", joint, joints, origin=table.at("joints").origin)
            named[joint] = made
    return {joint: found for joint in joints if (found := named.get(joint, others)) is not None}


def movement_text(movement: Movement) -> str:
    """The text of a movement's file.

    Joints known to turn are in degrees, those known to slide in millimetres, where no bit is lost.
    """
    top: dict[str, Any] = {"format": "linkwork/movement 1", "name": movement.name}
    top |= changed(movement, "title", "labels", "interpolation", "planner")
    for limit in LIMITED:
        for joint, limits in movement.limits.items():
            value = getattr(limits, limit)
            if math.isfinite(value):
                _put(top, f"max_{limit}", movement, joint, value)
    sections = [
        ("[[losses]]", {"joints": names, **{k: tidy(v) for k, v in asdict(losses).items()}})
        for losses, names in _alike(movement.losses).items()
    ]
    for posture in movement.postures:
        row: dict[str, Any] = {"time": tidy(posture.time)}
        for key, values in (("joints", posture.joints), ("speeds", posture.speeds)):
            for name, value in values.items():
                _put(row, key, movement, name, value)
        if posture.planner:
            row["planner"] = posture.planner
        sections.append(("[[posture]]", row))
    return document_text(top, sections)


def _alike(losses: dict[str, Losses]) -> dict[Losses, list[str]]:
    made: dict[Losses, list[str]] = {}
    for joint, each in losses.items():
        made.setdefault(each, []).append(joint)
    return made


def _put(row: dict[str, Any], key: str, movement: Movement, joint: str, value: float) -> None:
    """Adds a joint's value to the table ``key``, ``key_deg`` or ``key_mm``."""
    said = {key: tidy(value)}
    if joint in movement.angles:
        said = angle(key, value)
    elif joint in movement.lengths:
        said = length(key, value)
    for name, number in said.items():
        row.setdefault(name, {})[joint] = number
