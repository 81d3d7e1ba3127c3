"""Readers of the tables that part and scene files share."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from linkwork.core.errors import NameNotFound, Origin, suggestion
from linkwork.core.forms import Fields
from linkwork.core.renamed_keys import current_params, new_names
from linkwork.formats.toml.dofs import check_unit, read_ranges, read_value
from linkwork.formats.toml.includes import locate_file
from linkwork.formats.toml.part_keys import SHAPE_TABLES
from linkwork.formats.toml.scene_keys import SPEC_FILES
from linkwork.formats.toml.source import SourceLocation
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import Pose
from linkwork.model.parts import (
    JOINT_TYPES,
    SHAPES,
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
    Spline,
    Spring,
)
from linkwork.model.parts.constraints import free_loop_name
from linkwork.model.parts.joint import JOINT_ATTRIBUTES


def read_pose(fields: Fields) -> Pose:
    """Returns a pose from ``{ xyz, rpy | quat }``."""
    if "rpy" in fields and "quat" in fields:
        raise fields.at("quat").mistake("and rpy are both given; one is enough.")
    with fields.location.with_origin():
        return Pose.of(**fields.take("xyz", "rpy", "quat"))


def _read_placement(fields: Fields, *names: str) -> dict[str, Any]:
    return {name: read_pose(fields[name]) for name in names if name in fields}


def _native_attributes(fields: Fields) -> dict[str, Any]:
    """Returns the native attributes, as keyword argument."""
    if "mujoco" not in fields:
        return {}
    given: Fields = fields["mujoco"]
    return {"mujoco": dict(given.values)}


def read_shape(fields: Fields) -> Shape:
    """Returns a shape from ``{ box = { … }, at = { … }, … }``."""
    kind = next(kind for kind in SHAPE_TABLES if kind in fields)
    geometry: Fields = fields[kind]
    given = dict(geometry.values)
    if kind == "mesh":
        given["file"] = locate_file(given["file"], geometry.at("file"), what="mesh")
    common = (
        fields.take("color", "texture_repeat", "visible", "collide")
        | _read_placement(fields, "at")
        | _native_attributes(fields)
    )
    if "texture" in fields:
        common["texture"] = locate_file(fields["texture"], fields.at("texture"), what="texture")
    with geometry.location.with_origin():
        return SHAPES[kind](**given, **common)


def read_element(fields: Fields) -> Element:
    """Returns an element from its table."""
    if "shape" in fields and "shapes" in fields:
        raise fields.at("shapes").mistake("and shape are both given; one is enough.")
    shapes = [fields["shape"]] if "shape" in fields else fields.get("shapes", ())
    inertia = _inertia(fields)
    plain = fields.take(
        "name",
        "on",
        "mass",
        "density",
        "friction",
        "restitution",
        "color",
        "group",
        "velocity",
        "spin",
        "labels",
    )
    with fields.location.with_origin():
        return Element(
            **plain,
            **_read_placement(fields, "at"),
            **_native_attributes(fields),
            shapes=tuple(read_shape(shape) for shape in shapes),
            inertia=inertia,
            origin=fields.location.origin,
        )


def _inertia(fields: Fields) -> Inertia | None:
    if "inertia" not in fields:
        if "com" in fields:
            raise fields.at("com").mistake(
                "needs 'inertia' and 'mass' with it.",
                hint="Without them the center of mass follows from the shapes.",
            )
        return None
    if "mass" not in fields:
        raise fields.at("inertia").mistake("needs 'mass' with it.")
    if "density" in fields:
        raise fields.at("density").mistake("and inertia are both given; one is enough.")
    xx, yy, zz, xy, xz, yz = (*fields["inertia"], 0.0, 0.0, 0.0)[:6]
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia.of(fields["mass"], fields.get("com", (0.0, 0.0, 0.0)), matrix)


def read_joint(fields: Fields) -> Joint:
    """Returns a joint from its table."""
    type = fields["type"]
    kind = JOINT_TYPES[type]
    for name, attribute in JOINT_ATTRIBUTES.items():
        if attribute.is_dof_value:
            check_unit(fields, name, kind, type)
    plain = fields.take("name", "type", "to", "axis", "axis2", "pitch", "labels", *JOINT_ATTRIBUTES)
    with fields.location.with_origin():
        return Joint(
            **plain,
            **_read_placement(fields, "at", "at_to"),
            **_native_attributes(fields),
            **read_ranges(fields, kind, type),
            **read_value(fields, kind, type),
            from_=fields["from"],
            rail=_rail(fields),
            bus=_bus(fields),
            drive=_drive(fields),
            origin=fields.location.origin,
        )


def _rail(fields: Fields) -> tuple[RailPiece, ...]:
    return tuple(
        RailPiece(**piece.take("length", "turn", "climb")) for piece in fields.get("rail", ())
    )


def _bus(fields: Fields) -> dict[str, Any] | None:
    if "bus" not in fields:
        return None
    bus: Fields = fields["bus"]
    return {**bus.values, **bus.params}


def _drive(fields: Fields) -> Spec | None:
    if "drive" not in fields:
        return None
    drive: Fields = fields["drive"]
    lines = drive.lines()
    return Spec("actuator", drive["type"], "", drive.params, drive.location.origin, lines=lines)


def read_spec(kind: str, fields: Fields, notes: list[str] | None = None) -> Spec:
    """Returns an engine, sensor, actuator, agent, bus or fault from its table.

    A ``file``, and a bus's ``certificate`` and ``key``, become absolute paths, ``at`` a pose.

    Args:
        kind: Kind of the spec.
        fields: Its table.
        notes: Receives a line for each renamed key.
    """
    params: dict[str, Any] = dict(fields.params)
    if kind != "fault":  # the ``at`` of a fault is a time
        params |= _read_placement(fields, "at")
    for name in SPEC_FILES:
        if name in fields:
            file = os.path.expanduser(fields[name])
            params[name] = os.path.abspath(os.path.join(fields.location.source.folder, file))
    for name in fields.values:
        if name not in ("name", "type", *SPEC_FILES) and (name != "at" or kind == "fault"):
            params[name] = fields[name]
    type, lines = fields["type"], fields.lines()
    params, renamed = current_params(kind, type, params)
    for old, note in renamed:
        if notes is not None:
            origin = Origin(fields.location.origin.file, lines.get(old, 0))
            notes.append(f"{origin}: {fields.location.name}: {note}")
    names = new_names(kind, type)
    lines = {names.get(key, key): line for key, line in lines.items()}
    return Spec(kind, type, fields.get("name", ""), params, fields.location.origin, lines=lines)


def read_port(fields: Fields) -> Spec:
    """Returns a port from its table."""
    params: dict[str, Any] = fields.take("bus", "group")
    for role in ("commands", "sensors", "parameters"):
        if role in fields:
            params[role] = [{**table.values, **table.params} for table in fields[role]]
    return Spec("port", "port", fields["name"], params, fields.location.origin)


def read_specs(kind: str, tables: list[Fields], notes: list[str]) -> list[Spec]:
    """Returns all specs of a kind.

    Args:
        kind: The kind.
        tables: Their tables.
        notes: Receives a line for each renamed key.

    Raises:
        FormatError: If two have one name.
    """
    made: dict[str, Spec] = {}
    for number, fields in enumerate(tables):
        spec = read_port(fields) if kind == "port" else read_spec(kind, fields, notes)
        if spec.name and spec.name in made:
            raise fields.location.mistake(f"has the name of another, at {made[spec.name].origin}.")
        made[spec.name or f"/{number}"] = spec
    return list(made.values())


def read_loop(fields: Fields, taken: dict[str, Loop]) -> Loop:
    """Returns a closed loop from its table; without a name it gets the next free ``loop1``."""
    name = fields.get("name", free_loop_name(taken))
    if name in taken:
        raise fields.location.mistake(f"has the name of another, at {taken[name].origin}.")
    given = fields.take("a", "b", "joint", "axis", "axis2", "pitch") | _native_attributes(fields)
    with fields.location.with_origin():
        curve = _curve(fields["curve"]) if "curve" in fields else None
        return Loop(name, **given, rail=_rail(fields), curve=curve, origin=fields.location.origin)


def _curve(fields: Fields) -> Curve:
    kind = next(kind for kind in ("polyline", "spline", "arc") if kind in fields)
    for name, of in (("closed", ("polyline", "spline")), ("radius", ("polyline",))):
        if name in fields and kind not in of:
            raise fields.at(name).mistake(f"has no meaning for '{kind}'.")
    with fields.at(kind).with_origin():
        if kind == "arc":
            return Arc(**fields["arc"].take("radius", "start", "end"))
        more = fields.take("closed", "radius")
        return Spline(fields[kind], **more) if kind == "spline" else Polyline(fields[kind], **more)


def read_spring(fields: Fields, taken: dict[str, Spring]) -> Spring:
    """Returns a spring from its table."""
    if fields["name"] in taken:
        raise fields.location.mistake(
            f"has the name of another, at {taken[fields['name']].origin}."
        )
    turning = fields.get("type", "linear") == "torsion"
    suffix = fields.suffixes.get("rest", "")
    if suffix and turning != (suffix == "_deg"):
        what = "an angle, in rest or rest_deg" if turning else "a length, in rest or rest_mm"
        raise fields.at("rest").mistake(f"does not fit: it is {what}.")
    given = fields.take("name", "a", "b", "type", "stiffness", "damping", "rest", "axis")
    with fields.location.with_origin():
        return Spring(**given, origin=fields.location.origin)


def read_coupling(fields: Fields) -> Coupling:
    """Returns a coupling from its table."""
    given = fields.take("joint", "of", "ratio", "offset") | _native_attributes(fields)
    return Coupling(**given, origin=fields.location.origin)


def require_name(name: str, names: dict[str, Any], kind: str, location: SourceLocation) -> None:
    """Checks that a name exists.

    Raises:
        NameNotFound: Listing what exists.
    """
    if name not in names:
        head = f"{location.label}: " if location.label else ""
        raise NameNotFound(
            f"{head}there is no {kind} named {name!r}.",
            origin=location.origin,
            hint=suggestion(name, names, kind=f"{kind}s"),
        )
