"""Movement files: reader, writer."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from linkwork.core.errors import LinkworkError, not_found
from linkwork.core.forms import Fields
from linkwork.formats.toml.emit import angle, document_text, length, tidy_number
from linkwork.formats.toml.write_items import non_default_fields
from linkwork.model.scene import Movement, TimedPosture
from linkwork.model.scene.motion_limits import LIMITED_QUANTITIES, MotionLimits, MotorLosses


def read_movement(fields: Fields) -> Movement:
    """Returns a movement from the tables of its file.

    Raises:
        LinkworkError: Naming the item, its file and line, and what is allowed.
    """
    units: dict[str, set[str]] = {"_deg": set(), "": set(), "_mm": set()}
    postures = tuple(_posture(table, units) for table in fields.get("posture", ()))
    joints = list(dict.fromkeys(joint for each in postures for joint in each.joints))
    return Movement(
        postures=postures,
        angles=frozenset(units["_deg"]),
        lengths=frozenset(units["_mm"]),
        origin=fields.location.origin,
        limits=_limits(fields, joints, units),
        losses=_losses(fields, joints),
        **fields.take("name", "title", "labels", "interpolation", "planner"),
    )


def _posture(fields: Fields, units: dict[str, set[str]]) -> TimedPosture:
    joints = _by_joint(fields, "joints", units)
    speeds = _by_joint(fields, "speeds", units)
    origin, planner = fields.location.origin, fields.get("planner", "")
    return TimedPosture(fields["time"], joints, origin, speeds, planner)


def _by_joint(fields: Fields, key: str, units: dict[str, set[str]]) -> dict[str, float]:
    """Returns the values of joints, grouped by their suffixes."""
    made: dict[str, float] = {}
    for suffix, values in fields.get(key, {}).items():
        unit = "_mm" if suffix == "_cm" else suffix
        other = {"_mm": "_deg", "_deg": "_mm"}.get(unit)
        for name, value in values.items():
            here = fields.location / f"{key}{suffix}" / name
            if name in made:
                raise here.mistake("is given twice; once is enough.")
            if other and name in units[other]:
                raise here.mistake("is an angle in one posture and a length in another.")
            units[unit].add(name)
            made[name] = value
    return made


def _limits(
    fields: Fields, joints: list[str], units: dict[str, set[str]]
) -> dict[str, MotionLimits]:
    """Returns limits by joint: a number applies to all joints of its unit, a table by name."""
    found: dict[str, dict[str, Any]] = {joint: {} for joint in joints}
    unfit = {"_deg": units["_mm"], "_mm": units["_deg"], "_cm": units["_deg"]}
    for limit in LIMITED_QUANTITIES:
        forms = fields.get(f"max_{limit}", {})
        for suffix, given_limit in forms.items():
            location = fields.location / f"max_{limit}{suffix}"
            alike: Any = dict.fromkeys(joints, given_limit)
            given = given_limit if isinstance(given_limit, dict) else alike
            for joint, value in given.items():
                if joint not in found:
                    raise not_found("joint", joint, joints, origin=(location / joint).origin)
                if joint in unfit.get(suffix, ()):
                    if isinstance(given_limit, dict):
                        raise (location / joint).mistake(
                            "has another unit than the joint's values."
                        )
                    continue
                if not value > 0.0:
                    raise location.mistake("must be above 0.")
                if isinstance(given_limit, dict) or limit not in found[joint]:
                    found[joint][limit] = value
    return {joint: MotionLimits(**values) for joint, values in found.items() if values}


def _losses(fields: Fields, joints: list[str]) -> dict[str, MotorLosses]:
    named: dict[str, MotorLosses] = {}
    others: MotorLosses | None = None
    for table in fields.get("losses", ()):
        try:
            made = MotorLosses(
                **table.take("inertia", "copper", "viscous", "coulomb", "recuperation")
            )
        except LinkworkError as error:
            raise error.at(table.location.origin) from None
        if "joints" not in table:
            others = made
        for joint in table.get("joints", ()):
            if joint not in joints:
                raise not_found("joint", joint, joints, origin=table.at("joints").origin)
            named[joint] = made
    return {joint: found for joint in joints if (found := named.get(joint, others)) is not None}


def movement_text(movement: Movement) -> str:
    """Returns the text of a movement's file.

    Known angles are in degrees, known lengths in millimeters, if that is exact.
    """
    top: dict[str, Any] = {"format": "linkwork/movement 1", "name": movement.name}
    top |= non_default_fields(movement, "title", "labels", "interpolation", "planner")
    for limit in LIMITED_QUANTITIES:
        for joint, limits in movement.limits.items():
            value = getattr(limits, limit)
            if math.isfinite(value):
                _put(top, f"max_{limit}", movement, joint, value)
    sections = [
        ("[[losses]]", {"joints": names, **{k: tidy_number(v) for k, v in asdict(losses).items()}})
        for losses, names in _all_equal(movement.losses).items()
    ]
    for posture in movement.postures:
        row: dict[str, Any] = {"time": tidy_number(posture.time)}
        for key, values in (("joints", posture.joints), ("speeds", posture.speeds)):
            for name, value in values.items():
                _put(row, key, movement, name, value)
        if posture.planner:
            row["planner"] = posture.planner
        sections.append(("[[posture]]", row))
    return document_text(top, sections)


def _all_equal(losses: dict[str, MotorLosses]) -> dict[MotorLosses, list[str]]:
    made: dict[MotorLosses, list[str]] = {}
    for joint, each in losses.items():
        made.setdefault(each, []).append(joint)
    return made


def _put(row: dict[str, Any], key: str, movement: Movement, joint: str, value: float) -> None:
    """Adds a joint's value to the table ``key``, ``key_deg`` or ``key_mm``."""
    given_limit = {key: tidy_number(value)}
    if joint in movement.angles:
        given_limit = angle(key, value)
    elif joint in movement.lengths:
        given_limit = length(key, value)
    for name, number in given_limit.items():
        row.setdefault(name, {})[joint] = number
