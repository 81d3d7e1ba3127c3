"""MJCF reader of cameras, lights and keyframes: viewpoints, lights and postures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.core.mujoco_library import mujoco
from linkwork.formats.appearance import hex_color
from linkwork.formats.robots.mjcf.compiled import pose_of
from linkwork.formats.robots.mjcf.context import MjcfReadContext, numbers
from linkwork.formats.robots.mjcf.naming import START_KEYFRAMES
from linkwork.geometry.pose import Pose
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Light, Viewpoint

_JOINT = mujoco.mjtJoint
_FIXED_CAMERA = "{} that move with a body, visual only, kept fixed"


def read_views(reading: MjcfReadContext) -> None:
    """Adds cameras as viewpoints, and lights, at their initial poses."""
    m, scene = reading.m, reading.scene
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    mujoco.mj_camlight(m, data)
    taken: set[str] = set()
    for c in range(m.ncam):
        name = plain_name(reading.model.name("camera", c) or f"camera{c}", taken)
        taken.add(name)
        eye, forward = data.cam_xpos[c], -data.cam_xmat[c].reshape(3, 3)[:, 2]
        opening = math.radians(float(m.cam_fovy[c]))
        if int(m.cam_projection[c]) == mujoco.mjtProjection.mjPROJ_ORTHOGRAPHIC:
            opening = Viewpoint.opening  # that of an orthographic camera is a length
            reading.notes.about("orthographic cameras, read as perspective", name)
        view = Viewpoint(
            name, _three(eye), _three(eye + forward), opening,
            origin=reading.model.origin("camera", c),
        )  # fmt: skip
        scene.viewpoints.append(view)
        if m.cam_bodyid[c] or m.cam_mode[c]:
            reading.notes.about(_FIXED_CAMERA.format("cameras"), name)
    taken.clear()
    for n in range(m.nlight):
        name = plain_name(reading.model.name("light", n) or f"light{n}", taken)
        taken.add(name)
        if not m.light_active[n]:
            reading.notes.about("lights that are switched off, left out", name)
            continue
        kind = "sun" if int(m.light_type[n]) == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL else "lamp"
        position, direction = data.light_xpos[n], data.light_xdir[n]
        diffuse = np.clip(m.light_diffuse[n], 0.0, 1.0)
        strength = float(diffuse.max())
        color = hex_color((*numbers(diffuse / strength), 1.0)) if strength > 0.0 else "#ffffff"
        scene.lights.append(
            Light(
                name, kind, _three(position), _three(position + direction), color, strength,
                bool(m.light_castshadow[n]),
                origin=reading.model.origin("light", n),
            )
        )  # fmt: skip
        if m.light_bodyid[n] or m.light_mode[n]:
            reading.notes.about(_FIXED_CAMERA.format("lights"), name)


def _three(values: np.ndarray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def read_keyframes(reading: MjcfReadContext) -> None:
    """Adds keyframes as postures; the start keyframe with velocities sets the initial motion."""
    m, scene = reading.m, reading.scene
    named = {reading.model.name("keyframe", k): k for k in range(m.nkey) if m.key_qvel[k].any()}
    first = next((named[name] for name in START_KEYFRAMES if name in named), -1)
    for k, name in enumerate(reading.keyframe_names()):
        posture: dict[str, float] = {}
        for j in range(m.njnt):
            full, q = reading.full(reading.joints[j]), int(m.jnt_qposadr[j])
            single = int(m.jnt_type[j]) in (_JOINT.mjJNT_HINGE, _JOINT.mjJNT_SLIDE)
            posture |= _joint_values(m, j, full, m.key_qpos[k])
            if single and m.jnt_limited[j]:
                posture[full] = float(np.clip(m.key_qpos[k][q], *m.jnt_range[j]))
                if posture[full] != m.key_qpos[k][q]:
                    reading.notes.about("values of keyframes beyond a limit, clamped", name)
        scene.postures[name] = posture
        if k == first:
            scene.start = name
            reading.notes.about("starts in its keyframe, with its velocities", name)
            _set_motion(reading, m.key_qpos[k], m.key_qvel[k])
        elif m.key_qvel[k].any():
            reading.notes.about("velocities of keyframes, left out", name)


def _set_motion(reading: MjcfReadContext, qpos: np.ndarray, qvel: np.ndarray) -> None:
    """Sets the initial speeds of joints, and velocity and spin of free bodies in world axes."""
    m, part = reading.m, reading.part
    for j in range(m.njnt):
        kind, q, v = int(m.jnt_type[j]), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        if kind != _JOINT.mjJNT_FREE:
            width = 3 if kind == _JOINT.mjJNT_BALL else 1
            joint = part.joints[reading.joints[j]]
            part.joints[joint.name] = replace(joint, speed=numbers(qvel[v : v + width]))
            continue
        element = part.elements[reading.elements[int(m.jnt_bodyid[j])]]
        spin = pose_of(np.zeros(3), qpos[q + 3 : q + 7]).rotate(qvel[v + 3 : v + 6])
        moving = replace(element, velocity=_three(qvel[v : v + 3]), spin=spin)
        part.elements[element.name] = moving


def _joint_values(m: Any, j: int, name: str, qpos: np.ndarray) -> dict[str, float]:
    q, kind = int(m.jnt_qposadr[j]), int(m.jnt_type[j])
    if kind in (_JOINT.mjJNT_HINGE, _JOINT.mjJNT_SLIDE):
        return {name: float(qpos[q])}
    turn = np.zeros(3)
    if kind == _JOINT.mjJNT_BALL:
        mujoco.mju_quat2Vel(turn, qpos[q : q + 4], 1.0)
        return dict(zip((f"{name}.rx", f"{name}.ry", f"{name}.rz"), numbers(turn), strict=True))
    first = pose_of(m.qpos0[q : q + 3], m.qpos0[q + 3 : q + 7])
    there = pose_of(qpos[q : q + 3], qpos[q + 3 : q + 7])
    moved: Pose = first.inverse() @ there
    mujoco.mju_quat2Vel(turn, np.array(moved.quat), 1.0)
    words = (f"{name}.{dof}" for dof in ("x", "y", "z", "rx", "ry", "rz"))
    return dict(zip(words, (*moved.xyz, *numbers(turn)), strict=True))
