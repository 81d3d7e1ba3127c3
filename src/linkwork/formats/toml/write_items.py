"""Tables of a file from elements, joints, anchors, specs."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from linkwork.core.errors import FormatError
from linkwork.core.forms import is_numeric
from linkwork.core.value_types import split_unit
from linkwork.formats.toml.emit import angle, angles, pose_entry, tidy_number, tidy_numbers
from linkwork.formats.toml.scene_keys import SPEC_FILES
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import Pose
from linkwork.model.parts import (
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
from linkwork.model.parts.joint import JOINT_ATTRIBUTES

#: Maximum number of ``..`` in a relative path.
_CLIMB = 3


def relative_path(target: str, folder: str) -> str:
    """Returns the path of ``target`` relative to ``folder``."""
    target = os.path.abspath(target)
    made = os.path.relpath(target, os.path.abspath(folder))
    return target if made.split(os.sep).count("..") > _CLIMB else made.replace(os.sep, "/")


def non_default_fields(thing: Any, *names: str) -> dict[str, Any]:
    """Returns the fields of a dataclass that differ from their defaults, numbers tidied."""
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
        return tidy_number(value)
    if isinstance(value, tuple | list):
        return [_tidy_any(item) for item in value]
    if isinstance(value, dict):
        return {name: _tidy_any(item) for name, item in value.items()}
    return value


def shape_row(shape: Shape, folder: str) -> dict[str, Any]:
    """Returns a shape as ``{ box = { size = […] }, at = … }``."""
    common = {field.name for field in dataclasses.fields(Shape)}
    own = [field.name for field in dataclasses.fields(shape) if field.name not in common]
    geometry = non_default_fields(shape, *own)
    if "file" in geometry:
        geometry["file"] = relative_path(geometry["file"], folder)
    made: dict[str, Any] = {shape.kind: geometry} | pose_entry("at", shape.at)
    made |= non_default_fields(shape, "color", "texture_repeat", "visible", "collide", "mujoco")
    if shape.texture:
        made["texture"] = relative_path(shape.texture, folder)
    return made


def element_row(element: Element, folder: str) -> dict[str, Any]:
    """Returns an element as the table ``[[element]]``."""
    made: dict[str, Any] = (
        {"name": element.name} | non_default_fields(element, "on") | pose_entry("at", element.at)
    )
    shapes = [shape_row(shape, folder) for shape in element.shapes]
    if len(shapes) == 1:
        made["shape"] = shapes[0]
    elif shapes:
        made["shapes"] = shapes
    made |= non_default_fields(element, "mass", "density")
    if element.inertia is not None:
        made |= _inertia(element.inertia)
    made |= non_default_fields(element, "friction", "restitution", "color", "group", "velocity")
    if any(element.spin):
        made |= angles("spin", element.spin)
    return made | non_default_fields(element, "labels", "mujoco")


def _inertia(inertia: Inertia) -> dict[str, Any]:
    made: dict[str, Any] = {"com": tidy_numbers(inertia.com.tolist())} if inertia.com.any() else {}
    matrix = (inertia.matrix + inertia.matrix.T) / 2.0
    numbers = [*np.diag(matrix).tolist(), matrix[0, 1], matrix[0, 2], matrix[1, 2]]
    made["inertia"] = tidy_numbers(numbers if any(numbers[3:]) else numbers[:3])
    return made


def joint_row(joint: Joint) -> dict[str, Any]:
    """Returns a joint as the table ``[[joint]]``."""
    made: dict[str, Any] = {
        "name": joint.name,
        "type": joint.type,
        "from": joint.from_,
        "to": joint.to,
    }
    made |= pose_entry("at", joint.at) | pose_entry("at_to", joint.at_to)
    made |= non_default_fields(joint, "axis", "axis2") | _ranges(joint)
    turning = joint.kind.nv > 0 and all(joint.kind.is_angle(k) for k in range(joint.kind.nv))
    for name, attribute in JOINT_ATTRIBUTES.items():
        if attribute.is_dof_value and getattr(joint, name) != attribute.default:
            made |= _dof_value(name, getattr(joint, name), turning)
        else:
            made |= non_default_fields(joint, name)
    made |= non_default_fields(joint, "pitch")
    if joint.rail:
        made["rail"] = [_rail_piece(piece) for piece in joint.rail]
    if joint.value != dataclasses.replace(joint, value=None).value:
        made |= _per_dof("value", joint.values, joint)
    if any(joint.speeds):
        made |= _per_dof("speed", joint.speeds, joint)
    if joint.drive is not None:
        made["drive"] = spec_row(joint.drive)
    return made | non_default_fields(joint, "bus", "labels", "mujoco")


def _dof_value(name: str, value: float, turning: bool) -> dict[str, Any]:
    return angle(name, value) if turning else {name: tidy_number(value)}


def _rail_piece(piece: RailPiece) -> dict[str, Any]:
    made: dict[str, Any] = {"length": tidy_number(piece.length)}
    for name in ("turn", "climb"):
        made |= angle(name, getattr(piece, name)) if getattr(piece, name) else {}
    return made


def _ranges(joint: Joint) -> dict[str, Any]:
    ranges, kind = joint.ranges, joint.kind
    if ranges == dataclasses.replace(joint, range=None, value=None).ranges:
        return {}
    if kind.nv == 1 and ranges[0] is not None:
        pair = ranges[0]
        return angles("range", pair) if kind.is_angle(0) else {"range": tidy_numbers(pair)}
    if all(pair is None for pair in ranges):
        return {"ranges": [[]] * kind.nv}
    made: dict[str, Any] = {}
    for number, pair in enumerate(ranges):
        if pair is not None:
            name = kind.dofs[number]
            made |= angles(name, pair) if kind.is_angle(number) else {name: tidy_numbers(pair)}
    return {"ranges": made}


def _per_dof(name: str, values: tuple[float, ...], joint: Joint) -> dict[str, Any]:
    kind = joint.kind
    if kind.nv == 1:
        return _dof_value(name, values[0], kind.is_angle(0))
    made: dict[str, Any] = {}
    for number, value in enumerate(values):
        made |= _dof_value(kind.dofs[number], value, kind.is_angle(number))
    return {name: made}


def anchor_row(anchor: Anchor) -> dict[str, Any]:
    """Returns an anchor as the table ``[[anchor]]``."""
    head = {"name": anchor.name, "on": anchor.on}
    return head | pose_entry("at", anchor.at) | non_default_fields(anchor, "fits", "turns")


def loop_row(loop: Loop) -> dict[str, Any]:
    """Returns a loop as the table ``[[loop]]``."""
    made: dict[str, Any] = {"name": loop.name, "a": loop.a, "b": loop.b}
    made |= non_default_fields(loop, "joint", "axis", "axis2", "pitch")
    if loop.rail:
        made["rail"] = [_rail_piece(piece) for piece in loop.rail]
    if loop.curve is not None:
        made["curve"] = _curve(loop.curve)
    return made | non_default_fields(loop, "mujoco")


def _curve(curve: Curve) -> dict[str, Any]:
    if isinstance(curve, Arc):
        made: dict[str, Any] = {"radius": tidy_number(curve.radius)}
        for name in ("start", "end"):
            made |= angle(name, getattr(curve, name)) if non_default_fields(curve, name) else {}
        return {"arc": made}
    kind = "polyline" if isinstance(curve, Polyline) else "spline"
    points = [tidy_numbers(point) for point in curve.points]
    return {kind: points} | non_default_fields(curve, "closed", "radius")


def spring_row(spring: Spring) -> dict[str, Any]:
    """Returns a spring as the table ``[[spring]]``."""
    made: dict[str, Any] = {"name": spring.name, "a": spring.a, "b": spring.b}
    made |= non_default_fields(spring, "type", "stiffness", "damping")
    if spring.rest is not None:
        made |= _dof_value("rest", spring.rest, spring.type == "torsion")
    return made | non_default_fields(spring, "axis")


def coupling_row(coupling: Coupling, turning: bool) -> dict[str, Any]:
    """Returns a coupling as the table ``[[coupling]]``; ``turning`` if its offset is an angle."""
    made = {"joint": coupling.joint, "of": coupling.of} | non_default_fields(coupling, "ratio")
    made |= _dof_value("offset", coupling.offset, turning) if coupling.offset else {}
    return made | non_default_fields(coupling, "mujoco")


def spec_row(spec: Spec, folder: str = "") -> dict[str, Any]:
    """Returns an engine, sensor, actuator or agent as its table.

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
            made |= pose_entry(name, value) or {name: {}}
        elif _is_file(spec, name) and isinstance(value, str) and folder:
            made[name] = relative_path(value, folder)
        else:
            made[name] = _plain_params({name: value}, spec)[name]
    return made


def _is_file(spec: Spec, name: str) -> bool:
    return name == "file" or (spec.kind == "bus" and name in SPEC_FILES)


def port_row(spec: Spec) -> dict[str, Any]:
    """Returns a port as its table; signals given by name get a table."""
    made: dict[str, Any] = {"name": spec.name}
    for name, value in spec.params.items():
        if name in ("commands", "sensors", "parameters"):
            value = [{"signal": item} if isinstance(item, str) else item for item in value]
        made[name] = _plain_params({name: value}, spec)[name]
    return made


def _plain_params(value: Any, spec: Spec) -> Any:
    """Returns parameters as plain values; refuses names that look like a unit."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain_params(item, spec) for item in value]
    if isinstance(value, dict):
        value = {name: _plain_params(item, spec) for name, item in value.items()}
        for name, item in value.items():
            if split_unit(name)[0] != name and is_numeric(item):
                raise FormatError(
                    f"{spec.kind} {spec.name!r}: a file would take the parameter {name!r} for "
                    f"{split_unit(name)[0]!r} in another unit.",
                    origin=spec.origin,
                    hint="Parameters are in SI units, without a unit in the name.",
                )
    return value
