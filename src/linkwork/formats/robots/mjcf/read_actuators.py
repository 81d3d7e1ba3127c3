"""MJCF actuator reader: drives of joints or of weighted sums of joints."""

from __future__ import annotations

from typing import Any

from linkwork.core.mujoco_library import mujoco
from linkwork.formats.robots.mjcf.context import MjcfReadContext, numbers
from linkwork.formats.robots.mjcf.read_constraints import fixed_weights
from linkwork.model.parts import Spec
from linkwork.model.parts.spec import plain_name

_TRN, _DYN = mujoco.mjtTrn, mujoco.mjtDyn
_GAIN, _BIAS = mujoco.mjtGain, mujoco.mjtBias
_DYNAMICS = {
    int(_DYN.mjDYN_NONE): "none",
    int(_DYN.mjDYN_INTEGRATOR): "integrator",
    int(_DYN.mjDYN_FILTER): "filter",
    int(_DYN.mjDYN_FILTEREXACT): "filterexact",
}


def read_actuators(reading: MjcfReadContext) -> None:
    """Adds the scene's actuators."""
    m, taken = reading.m, set[str]()
    if int(m.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION):
        if m.nu:
            reading.notes.add("actuators, left out: the model's flag disables them all")
        return
    for a in range(m.nu):
        weights = _weights(reading, a)
        if not weights:
            reading.lost("actuators of a transmission that is not read", "actuator", a)
            continue
        if why := _unsupported(m, a):
            reading.lost(f"actuators with {why}", "actuator", a)
            continue
        name = plain_name(reading.model.name("actuator", a) or f"actuator{a}", taken)
        taken.add(name)
        params = {"joints": weights} | _law(m, a)
        origin = reading.model.origin("actuator", a)
        reading.scene.actuators.append(Spec("actuator", "general", name, params, origin))


def _weights(reading: MjcfReadContext, a: int) -> dict[str, float]:
    """Returns the transmission length as a weighted sum of joints; empty for other types."""
    m = reading.m
    kind, number = int(m.actuator_trntype[a]), int(m.actuator_trnid[a, 0])
    gear = float(m.actuator_gear[a, 0])
    if kind == _TRN.mjTRN_TENDON:
        return {name: gear * weight for name, weight in fixed_weights(reading, number).items()}
    if kind in (_TRN.mjTRN_JOINT, _TRN.mjTRN_JOINTINPARENT) and int(m.jnt_type[number]) in (
        mujoco.mjtJoint.mjJNT_HINGE,
        mujoco.mjtJoint.mjJNT_SLIDE,
    ):
        return {reading.full(reading.joints[number]): gear}
    return {}


def _unsupported(m: Any, a: int) -> str:
    """Returns the unsupported feature of an actuator, or an empty text."""
    if int(m.actuator_dyntype[a]) not in _DYNAMICS:
        return "dynamics that are not read"
    if int(m.actuator_gaintype[a]) not in (_GAIN.mjGAIN_FIXED, _GAIN.mjGAIN_AFFINE):
        return "a gain that is not read"
    if int(m.actuator_biastype[a]) not in (_BIAS.mjBIAS_NONE, _BIAS.mjBIAS_AFFINE):
        return "a bias that is not read"
    if m.actuator_ctrlnum[a] != 1 or m.actuator_actnum[a] > 1 or m.actuator_outnum[a] > 1:
        return "several controls"
    if m.actuator_armature[a] or m.actuator_damping[a] or m.actuator_dampingpoly[a].any():
        return "an inertia or damping of their own"
    if m.actuator_delay[a]:
        return "a delay"
    return ""


def _law(m: Any, a: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    gain = list(numbers(m.actuator_gainprm[a][:3]))
    if int(m.actuator_gaintype[a]) == _GAIN.mjGAIN_FIXED:
        gain[1:] = [0.0, 0.0]
    made["gain"] = gain
    if int(m.actuator_biastype[a]) == _BIAS.mjBIAS_AFFINE:
        made["bias"] = list(numbers(m.actuator_biasprm[a][:3]))
    dynamics = _DYNAMICS[int(m.actuator_dyntype[a])]
    if dynamics != "none":
        made["dynamics"] = dynamics
        if dynamics != "integrator":
            made["time"] = max(float(m.actuator_dynprm[a, 0]), 1e-10)
        if m.actuator_actlimited[a]:
            made["activation_range"] = list(numbers(m.actuator_actrange[a]))
        if m.actuator_actearly[a]:
            made["early"] = True
    clamps = not int(m.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)
    if m.actuator_ctrllimited[a] and clamps:
        made["control_range"] = list(numbers(m.actuator_ctrlrange[a]))
    if m.actuator_forcelimited[a]:
        made["force_range"] = list(numbers(m.actuator_forcerange[a]))
    return made
