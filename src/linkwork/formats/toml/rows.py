"""Rows: what the pieces of parts and scenes look like as tables of a file."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.toml.numbers import angle, angles, posed, tidied, tidy
from linkwork.formats.toml.tables import numeric
from linkwork.formats.toml.words import SPEC_FILES
from linkwork.parts import (
    Anchor,
    Arc,
    Coupling,
    Curve,
    Element,
    Joint,
    Loop,
    Polyline,
    RailPiece,
    Shape,
    Spec,
    Spring,
)
from linkwork.spatial.inertia import Inertia
from linkwork.spatial.pose import Pose
from linkwork.units import split_unit

#: A path climbs at most so far up; beyond, the absolute one is easier to follow.
_CLIMB = 3


def relative_path(target: str, folder: str) -> str:
    """``target`` as a file in ``folder`` names it."""
    target = os.path.abspath(target)
    made = os.path.relpath(target, os.path.abspath(folder))
    return target if made.split(os.sep).count("..") > _CLIMB else made.replace(os.sep, "/")


def changed(thing: Any, *names: str) -> dict[str, Any]:
    """The fields of a dataclass that differ from their defaults, numbers tidied."""
    made: dict[str, Any] = {}
    for spec in dataclasses.fields(thing):
        if spec.name not in names:
            continue
        value = getattr(thing, spec.name)
        default = spec.default
        if spec.default_factory is not dataclasses.MISSING:
            default = spec.default_factory()
        if value != default:
            made[spec.name] = _tidy_any(value)
    return made


def _tidy_any(value: Any) -> Any:
    if isinstance(value, float):
        return tidy(value)
    if isinstance(value, tuple | list):
        return [_tidy_any(item) for item in value]
    if isinstance(value, dict):
        return {name: _tidy_any(item) for name, item in value.items()}
    return value


def shape_row(shape: Shape, folder: str) -> dict[str, Any]:
    """A shape as ``{ box = { size = […] }, at = … }``."""
    common = {field.name for field in dataclasses.fields(Shape)}
    own = [field.name for field in dataclasses.fields(shape) if field.name not in common]
    geometry = changed(shape, *own)
    if "file" in geometry:
        geometry["file"] = relative_path(geometry["file"], folder)
    made: dict[str, Any] = {shape.kind: geometry} | posed("at", shape.at)
    made |= changed(shape, "color", "texture_repeat", "visible", "collide", "mujoco")
    if shape.texture:
        made["texture"] = relative_path(shape.texture, folder)
    return made


def element_row(element: Element, folder: str) -> dict[str, Any]:
    """An element as the table ``[[element]]``."""
    made: dict[str, Any] = {"name": element.name} | changed(element, "on") | posed("at", element.at)
    shapes = [shape_row(shape, folder) for shape in element.shapes]
    if len(shapes) == 1:
        made["shape"] = shapes[0]
    elif shapes:
        made["shapes"] = shapes
    made |= changed(element, "mass", "density")
    if element.inertia is not None:
        made |= _inertia(element.inertia)
    made |= changed(element, "friction", "restitution", "color", "group", "velocity")
    if any(element.spin):
        made |= angles("spin", element.spin)
    return made | changed(element, "labels", "mujoco")


def _inertia(inertia: Inertia) -> dict[str, Any]:
    made: dict[str, Any] = {"com": tidied(inertia.com.tolist())} if inertia.com.any() else {}
    matrix = (inertia.matrix + inertia.matrix.T) / 2.0
    numbers = [*np.diag(matrix).tolist(), matrix[0, 1], matrix[0, 2], matrix[1, 2]]
    made["inertia"] = tidied(numbers if any(numbers[3:]) else numbers[:3])
    return made


def joint_row(joint: Joint) -> dict[str, Any]:
    """A joint as the table ``[[joint]]``."""
    made: dict[str, Any] = {
        "name": joint.name,
        "type": joint.type,
        "from": joint.from_,
        "to": joint.to,
    }
    made |= posed("at", joint.at) | posed("at_to", joint.at_to)
    made |= changed(joint, "axis", "axis2") | _ranges(joint)
    turning = joint.kind.nv > 0 and all(joint.kind.is_angle(k) for k in range(joint.kind.nv))
    for name in ("max_speed", "rest"):
        made |= _freedom(name, getattr(joint, name), turning) if changed(joint, name) else {}
    made |= changed(joint, "max_effort", "damping", "friction", "stiffness", "armature", "pitch")
    made |= changed(joint, "restitution")
    if joint.rail:
        made["rail"] = [_rail_piece(piece) for piece in joint.rail]
    if joint.value != dataclasses.replace(joint, value=None).value:
        made |= _by_freedom("value", joint.values, joint)
    if any(joint.speeds):
        made |= _by_freedom("speed", joint.speeds, joint)
    if joint.drive is not None:
        made["drive"] = spec_row(joint.drive)
    return made | changed(joint, "bus", "labels", "mujoco")


def _freedom(name: str, value: float, turning: bool) -> dict[str, Any]:
    return angle(name, value) if turning else {name: tidy(value)}


def _rail_piece(piece: RailPiece) -> dict[str, Any]:
    made: dict[str, Any] = {"length": tidy(piece.length)}
    for name in ("turn", "climb"):
        made |= angle(name, getattr(piece, name)) if getattr(piece, name) else {}
    return made


def _ranges(joint: Joint) -> dict[str, Any]:
    ranges, kind = joint.ranges, joint.kind
    if ranges == dataclasses.replace(joint, range=None, value=None).ranges:
        return {}
    if kind.nv == 1 and ranges[0] is not None:
        pair = ranges[0]
        return angles("range", pair) if kind.is_angle(0) else {"range": tidied(pair)}
    if all(pair is None for pair in ranges):
        return {"ranges": [[]] * kind.nv}
    made: dict[str, Any] = {}
    for number, pair in enumerate(ranges):
        if pair is not None:
            name = kind.dofs[number]
            made |= angles(name, pair) if kind.is_angle(number) else {name: tidied(pair)}
    return {"ranges": made}


def _by_freedom(name: str, values: tuple[float, ...], joint: Joint) -> dict[str, Any]:
    kind = joint.kind
    if kind.nv == 1:
        return _freedom(name, values[0], kind.is_angle(0))
    made: dict[str, Any] = {}
    for number, value in enumerate(values):
        made |= _freedom(kind.dofs[number], value, kind.is_angle(number))
    return {name: made}


def anchor_row(anchor: Anchor) -> dict[str, Any]:
    """An anchor as the table ``[[anchor]]``."""
    head = {"name": anchor.name, "on": anchor.on}
    return head | posed("at", anchor.at) | changed(anchor, "fits", "turns")


def loop_row(loop: Loop) -> dict[str, Any]:
    """A loop as the table ``[[loop]]``."""
    made: dict[str, Any] = {"name": loop.name, "a": loop.a, "b": loop.b}
    made |= changed(loop, "joint", "axis", "axis2", "pitch")
    if loop.rail:
        made["rail"] = [_rail_piece(piece) for piece in loop.rail]
    if loop.curve is not None:
        made["curve"] = _curve(loop.curve)
    return made | changed(loop, "mujoco")


def _curve(curve: Curve) -> dict[str, Any]:
    if isinstance(curve, Arc):
        made: dict[str, Any] = {"radius": tidy(curve.radius)}
        for name in ("start", "end"):
            made |= angle(name, getattr(curve, name)) if changed(curve, name) else {}
        return {"arc": made}
    kind = "polyline" if isinstance(curve, Polyline) else "spline"
    points = [tidied(point) for point in curve.points]
    return {kind: points} | changed(curve, "closed", "radius")


def spring_row(spring: Spring) -> dict[str, Any]:
    """A spring as the table ``[[spring]]``."""
    made: dict[str, Any] = {"name": spring.name, "a": spring.a, "b": spring.b}
    made |= changed(spring, "type", "stiffness", "damping")
    if spring.rest is not None:
        made |= _freedom("rest", spring.rest, spring.type == "torsion")
    return made | changed(spring, "axis")


def coupling_row(coupling: Coupling, turning: bool) -> dict[str, Any]:
    """A coupling as the table ``[[coupling]]``; ``turning`` if its offset is an angle."""
    made = {"joint": coupling.joint, "of": coupling.of} | changed(coupling, "ratio")
    made |= _freedom("offset", coupling.offset, turning) if coupling.offset else {}
    return made | changed(coupling, "mujoco")


def spec_row(spec: Spec, folder: str = "") -> dict[str, Any]:
    """An engine, sensor, actuator or agent as its table.

    Raises:
        FormatError: If a parameter's name would read back as another.
    """
    made: dict[str, Any] = ({"name": spec.name} if spec.name else {}) | {"type": spec.type}
    for name, value in spec.params.items():
        if name in made:
            raise FormatError(
                f"{spec.kind} {spec.name!r}: a parameter cannot be called {name!r} in a file.",
                origin=spec.origin,
            )
        if name == "at" and isinstance(value, Pose):
            made |= posed(name, value) or {name: {}}
        elif _is_file(spec, name) and isinstance(value, str) and folder:
            made[name] = relative_path(value, folder)
        else:
            made[name] = _plain({name: value}, spec)[name]
    return made


def _is_file(spec: Spec, name: str) -> bool:
    return name == "file" or (spec.kind == "bus" and name in SPEC_FILES)


def port_row(spec: Spec) -> dict[str, Any]:
    """A port as its table; signals that are given by name alone get a table of their own."""
    made: dict[str, Any] = {"name": spec.name}
    for name, value in spec.params.items():
        if name in ("commands", "sensors", "parameters"):
            value = [{"signal": item} if isinstance(item, str) else item for item in value]
        made[name] = _plain({name: value}, spec)[name]
    return made


def _plain(value: Any, spec: Spec) -> Any:
    """Parameters as plain values, refused where a name would be taken for one with a unit."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item, spec) for item in value]
    if isinstance(value, dict):
        value = {name: _plain(item, spec) for name, item in value.items()}
        for name, item in value.items():
            if split_unit(name)[0] != name and numeric(item):
                raise FormatError(
                    f"{spec.kind} {spec.name!r}: a file would take the parameter {name!r} for "
                    f"{split_unit(name)[0]!r} in another unit.",
                    origin=spec.origin,
                    hint="Parameters are in SI units, without a unit in the name.",
                )
    return value
