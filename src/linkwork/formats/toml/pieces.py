"""Pieces that part and scene files share, built from what their tables say."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from linkwork.errors import NameNotFound, suggestion
from linkwork.formats.toml.freedoms import check_unit, read_ranges, read_value
from linkwork.formats.toml.includes import locate
from linkwork.formats.toml.source import Place
from linkwork.formats.toml.tables import Fields
from linkwork.formats.toml.words import SHAPE_TABLES, SPEC_FILES
from linkwork.parts import (
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
from linkwork.parts.loop import free_loop_name
from linkwork.spatial.inertia import Inertia
from linkwork.spatial.pose import Pose


def read_pose(fields: Fields) -> Pose:
    """A pose from ``{ xyz, rpy | quat }``."""
    if "rpy" in fields and "quat" in fields:
        raise fields.at("quat").wrong("and rpy are both given; one is enough.")
    with fields.place.blamed():
        return Pose.of(**fields.take("xyz", "rpy", "quat"))


def _posed(fields: Fields, *names: str) -> dict[str, Any]:
    return {name: read_pose(fields[name]) for name in names if name in fields}


def _words(fields: Fields) -> dict[str, Any]:
    """What only one engine understands."""
    if "mujoco" not in fields:
        return {}
    given: Fields = fields["mujoco"]
    return {"mujoco": dict(given.values)}


def read_shape(fields: Fields) -> Shape:
    """A shape from ``{ box = { … }, at = { … }, … }``."""
    kind = next(kind for kind in SHAPE_TABLES if kind in fields)
    geometry: Fields = fields[kind]
    given = dict(geometry.values)
    if kind == "mesh":
        given["file"] = locate(given["file"], geometry.at("file"), what="mesh")
    common = (
        fields.take("color", "texture_repeat", "visible", "collide")
        | _posed(fields, "at")
        | _words(fields)
    )
    if "texture" in fields:
        common["texture"] = locate(fields["texture"], fields.at("texture"), what="texture")
    with geometry.place.blamed():
        return SHAPES[kind](**given, **common)


def read_element(fields: Fields) -> Element:
    """An element from its table."""
    if "shape" in fields and "shapes" in fields:
        raise fields.at("shapes").wrong("and shape are both given; one is enough.")
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
    with fields.place.blamed():
        return Element(
            **plain,
            **_posed(fields, "at"),
            **_words(fields),
            shapes=tuple(read_shape(shape) for shape in shapes),
            inertia=inertia,
            origin=fields.place.origin,
        )


def _inertia(fields: Fields) -> Inertia | None:
    if "inertia" not in fields:
        if "com" in fields:
            raise fields.at("com").wrong(
                "needs 'inertia' and 'mass' beside it.",
                hint="Without them the centre of mass follows from the shapes.",
            )
        return None
    if "mass" not in fields:
        raise fields.at("inertia").wrong("needs 'mass' beside it.")
    if "density" in fields:
        raise fields.at("density").wrong("and inertia are both given; one is enough.")
    xx, yy, zz, xy, xz, yz = (*fields["inertia"], 0.0, 0.0, 0.0)[:6]
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia.of(fields["mass"], fields.get("com", (0.0, 0.0, 0.0)), matrix)


def read_joint(fields: Fields) -> Joint:
    """A joint from its table."""
    type = fields["type"]
    kind = JOINT_TYPES[type]
    for name in ("max_speed", "rest"):
        check_unit(fields, name, kind, type)
    plain = fields.take(
        "name",
        "type",
        "to",
        "axis",
        "axis2",
        "max_speed",
        "max_effort",
        "damping",
        "friction",
        "stiffness",
        "rest",
        "armature",
        "pitch",
        "restitution",
        "labels",
    )
    with fields.place.blamed():
        return Joint(
            **plain,
            **_posed(fields, "at", "at_to"),
            **_words(fields),
            **read_ranges(fields, kind, type),
            **read_value(fields, kind, type),
            from_=fields["from"],
            rail=_rail(fields),
            bus=_bus(fields),
            drive=_drive(fields),
            origin=fields.place.origin,
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
    return Spec("actuator", drive["type"], "", drive.params, drive.place.origin, lines=lines)


def read_spec(kind: str, fields: Fields) -> Spec:
    """An engine, sensor, actuator, agent, bus or fault from its table.

    A ``file``, and a bus's ``certificate`` and ``key``, become absolute paths, ``at`` a pose.
    """
    params: dict[str, Any] = dict(fields.params)
    if kind != "fault":  # whose at is a time
        params |= _posed(fields, "at")
    for name in SPEC_FILES:
        if name in fields:
            file = os.path.expanduser(fields[name])
            params[name] = os.path.abspath(os.path.join(fields.place.source.folder, file))
    for name in fields.values:
        if name not in ("name", "type", *SPEC_FILES) and (name != "at" or kind == "fault"):
            params[name] = fields[name]
    return Spec(
        kind, fields["type"], fields.get("name", ""), params, fields.place.origin,
        lines=fields.lines(),
    )  # fmt: skip


def read_port(fields: Fields) -> Spec:
    """A port from its table."""
    params: dict[str, Any] = fields.take("bus", "group")
    for role in ("commands", "sensors", "parameters"):
        if role in fields:
            params[role] = [{**table.values, **table.params} for table in fields[role]]
    return Spec("port", "port", fields["name"], params, fields.place.origin)


def read_specs(kind: str, tables: list[Fields]) -> list[Spec]:
    """All specs of a kind.

    Raises:
        FormatError: If two have one name.
    """
    made: dict[str, Spec] = {}
    for number, fields in enumerate(tables):
        spec = read_port(fields) if kind == "port" else read_spec(kind, fields)
        if spec.name and spec.name in made:
            raise fields.place.wrong(f"has the name of another, at {made[spec.name].origin}.")
        made[spec.name or f"/{number}"] = spec
    return list(made.values())


def read_loop(fields: Fields, taken: dict[str, Loop]) -> Loop:
    """A closed loop from its table; without a name it gets the next free ``loop1``."""
    name = fields.get("name", free_loop_name(taken))
    if name in taken:
        raise fields.place.wrong(f"has the name of another, at {taken[name].origin}.")
    given = fields.take("a", "b", "joint", "axis", "axis2", "pitch") | _words(fields)
    with fields.place.blamed():
        curve = _curve(fields["curve"]) if "curve" in fields else None
        return Loop(name, **given, rail=_rail(fields), curve=curve, origin=fields.place.origin)


def _curve(fields: Fields) -> Curve:
    kind = next(kind for kind in ("polyline", "spline", "arc") if kind in fields)
    for name, of in (("closed", ("polyline", "spline")), ("radius", ("polyline",))):
        if name in fields and kind not in of:
            raise fields.at(name).wrong(f"has no meaning for '{kind}'.")
    with fields.at(kind).blamed():
        if kind == "arc":
            return Arc(**fields["arc"].take("radius", "start", "end"))
        more = fields.take("closed", "radius")
        return Spline(fields[kind], **more) if kind == "spline" else Polyline(fields[kind], **more)


def read_spring(fields: Fields, taken: dict[str, Spring]) -> Spring:
    """A spring from its table."""
    if fields["name"] in taken:
        raise fields.place.wrong(f"has the name of another, at {taken[fields['name']].origin}.")
    turning = fields.get("type", "linear") == "torsion"
    suffix = fields.suffixes.get("rest", "")
    if suffix and turning != (suffix == "_deg"):
        what = "an angle, in rest or rest_deg" if turning else "a length, in rest or rest_mm"
        raise fields.at("rest").wrong(f"does not fit: it is {what}.")
    given = fields.take("name", "a", "b", "type", "stiffness", "damping", "rest", "axis")
    with fields.place.blamed():
        return Spring(**given, origin=fields.place.origin)


def read_coupling(fields: Fields) -> Coupling:
    """A coupling from its table."""
    given = fields.take("joint", "of", "ratio", "offset") | _words(fields)
    return Coupling(**given, origin=fields.place.origin)


def need(name: str, names: dict[str, Any], kind: str, place: Place) -> None:
    """Refuses a name that refers to nothing.

    Raises:
        NameNotFound: Listing what exists.
    """
    if name not in names:
        head = f"{place.label}: " if place.label else ""
        raise NameNotFound(
            f"{head}there is no {kind} named {name!r}.",
            origin=place.origin,
            hint=suggestion(name, names, kind=f"{kind}s"),
        )
