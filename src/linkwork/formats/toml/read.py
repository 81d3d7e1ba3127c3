"""Reader of Linkwork's TOML files."""

from __future__ import annotations

from collections.abc import Iterable

from linkwork.core.errors import FormatError, did_you_mean
from linkwork.core.forms import Fields, Table
from linkwork.core.mistakes import describe_value
from linkwork.formats.toml.dofs import check_unit, find_joint, is_angle, joint_names
from linkwork.formats.toml.includes import Includes
from linkwork.formats.toml.movement import read_movement
from linkwork.formats.toml.movement_keys import MOVEMENT
from linkwork.formats.toml.read_items import (
    read_coupling,
    read_element,
    read_joint,
    read_loop,
    read_pose,
    read_spec,
    read_specs,
    read_spring,
    require_name,
)
from linkwork.formats.toml.scene_keys import FILE_TABLES, PART
from linkwork.formats.toml.source import SourceLocation, TomlSource
from linkwork.geometry.pose import IDENTITY
from linkwork.model.parts import Anchor, Part
from linkwork.model.scene import CollisionRules, Light, Movement, Scene, Viewpoint


def read_part(fields: Fields, includes: Includes) -> Part:
    """Returns a part from the tables of its file.

    Every referenced name must exist. That the elements form one tree is checked when the part is
    compiled.

    Raises:
        LinkworkError: Naming the item, its file and line, and what is allowed.
    """
    top = fields.take("name", "title", "labels", "aliases", "self_collision")
    part = Part(**top, origin=fields.location.origin)
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
        with table.location.with_origin():
            for anchor in (loop.a, loop.b):
                part.find_anchor(anchor, origin=loop.origin)
            part.add(loop)
    for table in fields.get("coupling", ()):
        part.add(read_coupling(table))
    for table in fields.get("spring", ()):
        spring = read_spring(table, part.springs)
        with table.location.with_origin():
            for anchor in (spring.a, spring.b):
                part.find_anchor(anchor, origin=spring.origin)
            part.add(spring)
    part.sensors = read_specs("sensor", fields.get("sensor", []), includes.notes)
    part.ports = read_specs("port", fields.get("port", []), includes.notes)
    _check_names(part, fields)
    return part


def _anchor(fields: Fields) -> Anchor:
    with fields.location.with_origin():
        return Anchor(
            **fields.take("name", "on", "fits", "turns"),
            at=read_pose(fields["at"]) if "at" in fields else IDENTITY,
            origin=fields.location.origin,
        )


def _attach(part: Part, fields: Fields, includes: Includes) -> None:
    other = includes.part(fields["part"], fields.at("part"))
    with fields.location.with_origin():
        part.attach(
            fields["to"],
            other,
            **fields.take("name", "by", "turn"),
            origin=fields.location.origin,
            source=fields["part"],
        )


def _check_names(part: Part, fields: Fields) -> None:
    for table in fields.get("element", ()):
        if "on" in table:
            require_name(table["on"], part.elements, "element", table.at("on"))
    for table in fields.get("joint", ()):
        for end in ("from", "to"):
            if table[end] not in part.joints:
                require_name(table[end], part.elements, "element", table.at(end))
    for table in fields.get("anchor", ()):
        require_name(table["on"], part.elements, "element", table.at("on"))
    check_carriers(fields.get("element", ()))
    for table in fields.get("coupling", ()):
        for end in ("joint", "of"):
            name = table[end]
            joint = find_joint(part, name)
            if joint is None:
                require_name(name, dict.fromkeys(joint_names(part)), "joint", table.at(end))
            elif end == "joint":
                check_unit(table, "offset", joint.kind, joint.type)


def check_carriers(tables: Iterable[Fields]) -> None:
    """Checks that ``on`` has no cycle.

    Raises:
        FormatError: If it has one.
    """
    carrier = {table["name"]: table for table in tables}
    sound: set[str] = set()
    for first in carrier:
        walked: dict[str, None] = {}
        name = first
        while name in carrier and name not in sound:
            if name in walked:
                circle = " → ".join([*walked, name])
                raise carrier[name].at("on").mistake(f"has a cycle: {circle}.")
            walked[name] = None
            name = carrier[name].get("on", "")
        sound.update(walked)


def read_scene(fields: Fields, includes: Includes) -> Scene:
    """Returns a scene from the tables of its file.

    Raises:
        LinkworkError: Naming the item, its file and line, and what is allowed.
    """
    if fields.get("step", 1.0) <= 0.0:
        raise fields.at("step").mistake("must be more than 0.")
    scene = Scene(
        **fields.take("name", "title", "background", "gravity", "step", "seed", "start", "mode"),
        origin=fields.location.origin,
    )
    for table in fields.get("part", ()):
        _place(scene, table, includes)
    for table in fields.get("element", ()):
        scene.add(read_element(table))
    for table in fields.get("element", ()):
        if "on" in table:
            require_name(table["on"], scene.scenery, "element", table.at("on"))
    check_carriers(fields.get("element", ()))
    for table in fields.get("loop", ()):
        loop = read_loop(table, scene.loops)
        scene.loops[loop.name] = loop
    for table in fields.get("coupling", ()):
        _check_offset(scene, table)
        scene.couplings.append(read_coupling(table))
    for table in fields.get("spring", ()):
        spring = read_spring(table, scene.springs)
        scene.springs[spring.name] = spring
    scene.engines = read_specs("engine", fields.get("engine", []), includes.notes)
    scene.sensors = read_specs("sensor", fields.get("sensor", []), includes.notes)
    scene.actuators = read_specs("actuator", fields.get("actuator", []), includes.notes)
    scene.agents = read_specs("agent", fields.get("agent", []), includes.notes)
    scene.buses = read_specs("bus", fields.get("bus", []), includes.notes)
    scene.ports = read_specs("port", fields.get("port", []), includes.notes)
    scene.faults = read_specs("fault", fields.get("fault", []), includes.notes)
    for table in fields.get("posture", ()):
        if table["name"] in scene.postures:
            raise table.location.mistake("has the name of another posture.")
        scene.postures[table["name"]] = _posture(scene, table)
        scene.posture_origins[table["name"]] = table.location.origin
    if scene.start:
        require_name(scene.start, scene.postures, "posture", fields.at("start"))
    _read_visuals(scene, fields)
    if "collide" in fields:
        collide: Fields = fields["collide"]
        scene.collide = CollisionRules(
            **collide.take("never", "always", "joined"), origin=collide.location.origin
        )
    return scene


def _place(scene: Scene, fields: Fields, includes: Includes) -> None:
    part = includes.part(fields["part"], fields.at("part"))
    with fields.location.with_origin():
        if "by" in fields:
            part.find_anchor(fields["by"])
        scene.place(
            part,
            **fields.take("name", "base", "on", "by"),
            at=read_pose(fields["at"]) if "at" in fields else IDENTITY,
            drives={
                name: read_spec("actuator", each) for name, each in fields.get("drives", {}).items()
            },
            source=fields["part"],
            origin=fields.location.origin,
        )


def _check_offset(scene: Scene, fields: Fields) -> None:
    suffix = fields.suffixes.get("offset", "")
    angle = is_angle(scene, fields["joint"])
    if suffix and angle is not None and angle != (suffix == "_deg"):
        raise fields.at("offset").mistake(
            f"does not fit: {fields['joint']} is {'an angle' if angle else 'a length'}."
        )


def _posture(scene: Scene, fields: Fields) -> dict[str, float]:
    made: dict[str, float] = {}
    for suffix, values in fields["joints"].items():
        for name, value in values.items():
            here = fields.location / f"joints{suffix}" / name
            if name in made:
                raise here.mistake("is given twice; once is enough.")
            angle = is_angle(scene, name)
            if suffix and angle is not None and angle != (suffix == "_deg"):
                what = "an angle, in joints or joints_deg" if angle else "a length, in joints"
                raise here.mistake(f"does not fit: {name} is {what}.")
            made[name] = value
    return made


def _read_visuals(scene: Scene, fields: Fields) -> None:
    for table in fields.get("light", ()):
        _check_free(table, scene.lights)
        scene.lights.append(Light(**table.values, origin=table.location.origin))
    for table in fields.get("viewpoint", ()):
        _check_free(table, scene.viewpoints)
        scene.viewpoints.append(Viewpoint(**table.values, origin=table.location.origin))


def _check_free(fields: Fields, things: list[Light] | list[Viewpoint]) -> None:
    for thing in things:
        if thing.name == fields["name"]:
            raise fields.location.mistake(f"has the name of another, at {thing.origin}.")


def read_source(source: TomlSource, includes: Includes | None = None) -> Part | Scene:
    """Returns the part or scene of a source, with the parts that it names.

    Raises:
        LinkworkError: Naming the item, its file and line, and what is allowed.
    """
    location, table = SourceLocation(source), _table(source)
    if table is MOVEMENT:
        raise FormatError(
            "this is a movement, not a part or scene.",
            origin=location.origin,
            hint="An agent of type 'movement' plays it; load_movement reads it.",
        )
    includes = includes or Includes(read_source)
    with includes.inside(source.file), location.with_origin():
        fields = table.read(source.data, location)
        if table is PART:
            return read_part(fields, includes)
        return read_scene(fields, includes)


def read_movements(source: TomlSource) -> list[Movement]:
    """Returns the movement that a source holds; none if it is a part or a scene.

    Raises:
        LinkworkError: As :func:`read_source`.
    """
    location, table = SourceLocation(source), _table(source)
    if table is not MOVEMENT:
        return []
    with location.with_origin():
        return [read_movement(table.read(source.data, location))]


def _table(source: TomlSource) -> Table:
    """Returns the table of the format that a source names."""
    location = SourceLocation(source)
    given = source.data.get("format")
    if not isinstance(given, str) or given not in FILE_TABLES:
        if "format" not in source.data:
            message = "has no format key."
        else:
            message = f"has a format that is not known: {describe_value(given)}."
        hint = did_you_mean(given, FILE_TABLES)
        allowed = " or ".join(f'format = "{form}"' for form in FILE_TABLES)
        raise (
            (location / "format")
            .labeled("the file")
            .mistake(message, hint=hint or f"Write {allowed}.")
        )
    return FILE_TABLES[given]
