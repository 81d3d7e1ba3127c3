"""MJCF body reader: elements, the joints between them in their order, anchors."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.core.mujoco_library import mujoco
from linkwork.formats.robots.mjcf.compiled import pose_of
from linkwork.formats.robots.mjcf.context import MjcfReadContext, numbers
from linkwork.formats.robots.mjcf.naming import JOINT_NAMES
from linkwork.formats.robots.mjcf.read_geoms import read_shapes
from linkwork.geometry.inertia import Inertia
from linkwork.geometry.pose import IDENTITY, Pose, Vec3, quat_from_axis
from linkwork.model.parts import Anchor, Element, Joint

_JOINT = mujoco.mjtJoint
_TYPES = {
    int(_JOINT.mjJNT_FREE): "free",
    int(_JOINT.mjJNT_BALL): "ball",
    int(_JOINT.mjJNT_SLIDE): "slider",
    int(_JOINT.mjJNT_HINGE): "hinge",
}
_UNKNOWN = (
    "bodies whose mass or inertia is not known, as a mesh that is not read makes it (give their "
    "<body> an <inertial>, or their element a mass)"
)
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)


def read_bodies(reading: MjcfReadContext) -> None:
    """Adds every body with its joints, and every site as an anchor."""
    m, part = reading.m, reading.part
    if not reading.base:
        part.add(Element(reading.elements[0], origin=part.origin))
    for body in range(1, m.nbody):
        _read_body(reading, body)
    for site in range(m.nsite):
        at = pose_of(m.site_pos[site], m.site_quat[site])
        on = reading.elements[int(m.site_bodyid[site])]
        origin = reading.model.origin("site", site)
        part.add(Anchor(reading.anchors[site], on, at, origin=origin))


def _read_body(reading: MjcfReadContext, body: int) -> None:
    m, part = reading.m, reading.part
    name, carrier = reading.elements[body], reading.elements[int(m.body_parentid[body])]
    origin = reading.model.origin("body", body)
    at = pose_of(m.body_pos[body], m.body_quat[body])
    first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
    if m.body_mocapid[body] >= 0:
        reading.notes.about("mocap bodies, kept fixed", name)
    shapes, friction, color = read_shapes(reading, body)
    words: dict[str, Any] = {}
    if m.body_gravcomp[body]:
        words["gravcomp"] = float(m.body_gravcomp[body])
    if not m.body_mass[body] and m.body_ipos[body].any():
        words["ipos"] = numbers(m.body_ipos[body])
    held: dict[str, Any] = {} if count or body == reading.base else {"on": carrier, "at": at}
    inertia = None if reading.model.unknown.get(body) else _inertia(m, body)
    if inertia is not None and count and not _is_chosen(m.body_iquat[body], inertia):
        words["iquat"] = numbers(m.body_iquat[body])
    if body in reading.model.unknown:
        reading.notes.about(_UNKNOWN, name)
    element = Element(
        name, shapes, inertia=inertia, friction=friction, color=color,
        mujoco=words, origin=origin, **held,
    )  # fmt: skip
    part.add(element)
    for k in range(count):
        number = first + k
        from_ = carrier if k == 0 else reading.joints[number - 1]
        to = name if k == count - 1 else reading.joints[number + 1]
        part.add(_read_joint(reading, number, from_, to, at if k == 0 else IDENTITY))


def _inertia(m: Any, body: int) -> Inertia | None:
    mass = float(m.body_mass[body])
    if mass <= 0.0:
        return None
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, m.body_iquat[body])
    turn = turn.reshape(3, 3)
    matrix = turn @ np.diag(m.body_inertia[body]) @ turn.T
    return Inertia.of(mass, numbers(m.body_ipos[body]), (matrix + matrix.T) / 2.0)


def _is_chosen(quat: np.ndarray, inertia: Inertia) -> bool:
    """Whether a rotation is the one that MuJoCo chooses for the principal axes of an inertia.

    It matters where bodies are "simple" to MuJoCo, which weights their constraints differently.
    """
    moments, axes, chosen = np.zeros(3), np.zeros(9), np.zeros(4)
    mujoco.mju_eig3(moments, axes, chosen, np.ascontiguousarray(inertia.matrix).ravel())
    return abs(float(quat @ chosen)) > 1.0 - 1e-9


def _read_joint(reading: MjcfReadContext, number: int, from_: str, to: str, at: Pose) -> Joint:
    """Returns a joint; MuJoCo's frames are at the reference value, Linkwork's at value 0."""
    m = reading.m
    kind = _TYPES[int(m.jnt_type[number])]
    q, v = int(m.jnt_qposadr[number]), int(m.jnt_dofadr[number])
    x, y, z = numbers(m.jnt_axis[number])
    made: dict[str, Any] = {"at": at}
    if kind != "free":
        pivot = Pose(numbers(m.jnt_pos[number]))  # type: ignore[arg-type]
        made = {"at": at @ pivot, "at_to": pivot}
    if kind in ("hinge", "slider"):
        start = float(m.qpos0[q])
        back = _shift_axis(kind, (x, y, z), -start)
        made |= {"at": made["at"] @ back, "axis": (x, y, z), "value": start}
        made["max_effort"] = _max_effort(m, number)
    if m.jnt_limited[number] and kind != "free":
        lo, hi = numbers(m.jnt_range[number])
        made["range"] = ((0.0, hi), None, None) if kind == "ball" else (lo, hi)
    rows = {"jnt": number, "dof": v, "qpos": q}
    laws: dict[str, Any] = {
        name: float(getattr(m, array)[rows[array.partition("_")[0]]])
        for name, (_, array) in JOINT_NAMES.items()
    }
    if kind not in ("hinge", "slider"):
        del laws["rest"]  # a quaternion
    if kind == "free" and laws["stiffness"]:
        reading.lost("springs of free joints", "joint", number)
        laws["stiffness"] = 0.0
    if m.jnt_springyield[number]:
        reading.lost("yielding of springs", "joint", number)
    origin = reading.model.origin("joint", number)
    words = _native_attributes(m, number, v)
    name = reading.joints[number]
    return Joint(name, kind, from_, to, **made, **laws, mujoco=words, origin=origin)


def _shift_axis(kind: str, axis: Vec3, by: float) -> Pose:
    if kind == "hinge":
        return Pose(quat=quat_from_axis(axis, by))
    return Pose((axis[0] * by, axis[1] * by, axis[2] * by))


def _max_effort(m: Any, number: int) -> float | None:
    """Returns the limit of a joint's total drive effort, if it is symmetric."""
    least, most = numbers(m.jnt_actfrcrange[number])
    return most if m.jnt_actfrclimited[number] and most == -least > 0.0 else None


def _native_attributes(m: Any, number: int, v: int) -> dict[str, Any]:
    """Returns the MuJoCo-specific attributes of a joint that are not defaults."""
    found: dict[str, tuple[np.ndarray, tuple[float, ...]]] = {
        "solref_limit": (m.jnt_solref[number], _SOLREF),
        "solimp_limit": (m.jnt_solimp[number], _SOLIMP),
        "solref_friction": (m.dof_solref[v], _SOLREF),
        "solimp_friction": (m.dof_solimp[v], _SOLIMP),
        "stiffness": (m.jnt_stiffnesspoly[number], (0.0, 0.0)),
        "damping": (m.dof_dampingpoly[v], (0.0, 0.0)),
    }
    made: dict[str, Any] = {
        word: numbers(value)
        for word, (value, default) in found.items()
        if numbers(value) != default
    }
    if m.jnt_margin[number]:
        made["margin"] = float(m.jnt_margin[number])
    if m.jnt_actfrclimited[number] and not _max_effort(m, number):
        made["effort_range"] = numbers(m.jnt_actfrcrange[number])
    if m.jnt_actgravcomp[number]:
        made["gravity_by_drive"] = True
    return made
