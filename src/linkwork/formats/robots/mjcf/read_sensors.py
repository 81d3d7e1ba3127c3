"""MJCF sensor reader: MuJoCo's sensors, which its engine evaluates."""

from __future__ import annotations

from typing import Any

from linkwork.core.mujoco_library import mujoco
from linkwork.formats.robots.mjcf.compiled import pose_of
from linkwork.formats.robots.mjcf.context import MjcfReadContext, numbers
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Anchor, Spec
from linkwork.model.parts.spec import plain_name

_OBJ = mujoco.mjtObj
_VOLUMES = {
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{word.upper()}")): word
    for word in ("sphere", "capsule", "ellipsoid", "cylinder", "box")
}
_ON_SITES = {
    "touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer",
    "rangefinder",
}  # fmt: skip
_ON_JOINTS = {
    "jointpos", "jointvel", "ballquat", "ballangvel", "jointlimitpos", "jointlimitvel",
    "jointlimitfrc",
}  # fmt: skip
_ON_TENDONS = {"tendonpos", "tendonvel", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc"}
_ON_FRAMES = {
    "framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel",
    "frameangvel", "framelinacc", "frameangacc",
}  # fmt: skip
_ON_BODIES = {"subtreecom", "subtreelinvel", "subtreeangmom"}
_SENSOR_TYPES = {
    int(kind): name.removeprefix("mjSENS_").lower()
    for name, kind in mujoco.mjtSensor.__members__.items()
}


def read_sensors(reading: MjcfReadContext, engine: dict[str, Any]) -> None:
    """Adds the scene's sensors."""
    m, taken = reading.m, {"user"}
    tendons = {tendon["name"] for tendon in engine.get("tendons", ())}
    for s in range(m.nsensor):
        params = _params(reading, s, tendons)
        if params is None:
            reading.lost(f"sensors of type {_SENSOR_TYPES[int(m.sensor_type[s])]}", "sensor", s)
            continue
        name = plain_name(reading.model.name("sensor", s) or f"sensor{s}", taken)
        taken.add(name)
        if m.sensor_cutoff[s]:
            params["cutoff"] = float(m.sensor_cutoff[s])
        if m.sensor_noise[s]:
            reading.lost("noise of sensors, which MuJoCo itself does not add", "sensor", s)
        if m.sensor_delay[s] or m.sensor_history[s].any():
            reading.lost("delays and histories of sensors", "sensor", s)
        origin = reading.model.origin("sensor", s)
        reading.scene.sensors.append(Spec("sensor", "mujoco", name, params, origin))


def _params(reading: MjcfReadContext, s: int, tendons: set[str]) -> dict[str, Any] | None:
    m = reading.m
    word, number = _SENSOR_TYPES[int(m.sensor_type[s])], int(m.sensor_objid[s])
    made: dict[str, Any] = {"sensor": word}
    if word in _ON_SITES and int(m.sensor_objtype[s]) == _OBJ.mjOBJ_SITE:
        volume = _VOLUMES.get(int(m.site_type[number]))
        made["on"] = reading.full(reading.anchors[number])
        if word == "touch":
            if volume is None:
                return None
            made |= {"volume": volume, "size": list(numbers(m.site_size[number]))}
        return made if int(m.sensor_dim[s]) in (1, 3) else None
    if word in _ON_JOINTS:
        return made | {"joint": reading.full(reading.joints[number])}
    if word in _ON_TENDONS:
        name = m.tendon(number).name
        return made | {"tendon": name} if name in tendons else None
    if word in _ON_FRAMES:
        made["on"] = _frame(reading, int(m.sensor_objtype[s]), number)
        if int(m.sensor_refid[s]) >= 0:
            made["ref"] = _frame(reading, int(m.sensor_reftype[s]), int(m.sensor_refid[s]))
        return made
    if word in _ON_BODIES and number:
        return made | {"on": reading.full(reading.elements[number])}
    return made if word in ("e_potential", "e_kinetic") else None


def _frame(reading: MjcfReadContext, kind: int, number: int) -> str:
    """Returns the element or anchor at a frame of MuJoCo."""
    m = reading.m
    if kind == _OBJ.mjOBJ_SITE:
        return reading.full(reading.anchors[number])
    if kind == _OBJ.mjOBJ_XBODY:
        return reading.full(reading.elements[number])
    if kind == _OBJ.mjOBJ_BODY:
        return _anchor(reading, number, pose_of(m.body_ipos[number], m.body_iquat[number]), "com")
    word = "geom" if kind == _OBJ.mjOBJ_GEOM else "camera"
    short = "geom" if word == "geom" else "cam"
    body = int(getattr(m, f"{short}_bodyid")[number])
    pose = pose_of(getattr(m, f"{short}_pos")[number], getattr(m, f"{short}_quat")[number])
    return _anchor(reading, body, pose, reading.model.name(word, number) or f"{word}{number}")


def _anchor(reading: MjcfReadContext, body: int, pose: Pose, name: str) -> str:
    part, on = reading.part, reading.elements[body]
    for anchor in part.anchors.values():
        if anchor.on == on and anchor.at == pose:
            return reading.full(anchor.name)
    here = plain_name(f"{on}_{name}", {*part.anchors, *part.elements})
    part.add(Anchor(here, on, pose, origin=reading.model.origin("body", body)))
    return reading.full(here)
