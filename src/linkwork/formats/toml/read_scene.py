"""Reading a scene's file."""

from __future__ import annotations

from linkwork.formats.toml.includes import Includes
from linkwork.formats.toml.joints import is_angle
from linkwork.formats.toml.pieces import (
    need,
    read_coupling,
    read_element,
    read_loop,
    read_pose,
    read_spec,
    read_specs,
    read_spring,
)
from linkwork.formats.toml.read_part import check_carriers
from linkwork.formats.toml.tables import Fields
from linkwork.scene import Collide, Light, Scene, Viewpoint
from linkwork.spatial.pose import IDENTITY


def read_scene(fields: Fields, includes: Includes) -> Scene:
    """A scene from the tables of its file.

    Raises:
        LinkworkError: Naming the thing, its file and line, and what would be allowed.
    """
    if fields.get("step", 1.0) <= 0.0:
        raise fields.at("step").wrong("must be more than 0.")
    scene = Scene(
        **fields.take("name", "title", "background", "gravity", "step", "seed", "start", "mode"),
        origin=fields.place.origin,
    )
    for table in fields.get("part", ()):
        _place(scene, table, includes)
    for table in fields.get("element", ()):
        scene.add(read_element(table))
    for table in fields.get("element", ()):
        if "on" in table:
            need(table["on"], scene.scenery, "element", table.at("on"))
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
    scene.engines = read_specs("engine", fields.get("engine", []))
    scene.sensors = read_specs("sensor", fields.get("sensor", []))
    scene.actuators = read_specs("actuator", fields.get("actuator", []))
    scene.agents = read_specs("agent", fields.get("agent", []))
    scene.buses = read_specs("bus", fields.get("bus", []))
    scene.ports = read_specs("port", fields.get("port", []))
    scene.faults = read_specs("fault", fields.get("fault", []))
    for table in fields.get("posture", ()):
        if table["name"] in scene.postures:
            raise table.place.wrong("has the name of another posture.")
        scene.postures[table["name"]] = _posture(scene, table)
        scene.posture_origins[table["name"]] = table.place.origin
    if scene.start:
        need(scene.start, scene.postures, "posture", fields.at("start"))
    _for_the_eye(scene, fields)
    if "collide" in fields:
        collide: Fields = fields["collide"]
        scene.collide = Collide(
            **collide.take("never", "always", "joined"), origin=collide.place.origin
        )
    return scene


def _place(scene: Scene, fields: Fields, includes: Includes) -> None:
    part = includes.part(fields["part"], fields.at("part"))
    with fields.place.blamed():
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
            origin=fields.place.origin,
        )


def _check_offset(scene: Scene, fields: Fields) -> None:
    suffix = fields.suffixes.get("offset", "")
    angle = is_angle(scene, fields["joint"])
    if suffix and angle is not None and angle != (suffix == "_deg"):
        raise fields.at("offset").wrong(
            f"does not fit: {fields['joint']} is {'an angle' if angle else 'a length'}."
        )


def _posture(scene: Scene, fields: Fields) -> dict[str, float]:
    made: dict[str, float] = {}
    for suffix, values in fields["joints"].items():
        for name, value in values.items():
            here = fields.place / f"joints{suffix}" / name
            if name in made:
                raise here.wrong("is given twice; once is enough.")
            angle = is_angle(scene, name)
            if suffix and angle is not None and angle != (suffix == "_deg"):
                what = "an angle, in joints or joints_deg" if angle else "a length, in joints"
                raise here.wrong(f"does not fit: {name} is {what}.")
            made[name] = value
    return made


def _for_the_eye(scene: Scene, fields: Fields) -> None:
    for table in fields.get("light", ()):
        _check_free(table, scene.lights)
        scene.lights.append(Light(**table.values, origin=table.place.origin))
    for table in fields.get("viewpoint", ()):
        _check_free(table, scene.viewpoints)
        scene.viewpoints.append(Viewpoint(**table.values, origin=table.place.origin))


def _check_free(fields: Fields, things: list[Light] | list[Viewpoint]) -> None:
    for thing in things:
        if thing.name == fields["name"]:
            raise fields.place.wrong(f"has the name of another, at {thing.origin}.")
