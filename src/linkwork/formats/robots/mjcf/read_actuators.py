"""MJCF actuator reader: affine drives of joints, and actuators that only MuJoCo has."""

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


def read_actuators(reading: MjcfReadContext, engine: dict[str, Any]) -> None:
    """Adds the scene's actuators: affine ones of joints, and others, which only MuJoCo has."""
    m, taken = reading.m, set[str]()
    if int(m.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION):
        if m.nu:
            reading.notes.add("actuators, left out: the model's flag disables them all")
        return
    for a in range(m.nu):
        name = plain_name(reading.model.name("actuator", a) or f"actuator{a}", taken)
        taken.add(name)
        if int(m.opt.disableactuator) & (1 << int(m.actuator_group[a])):
            reading.lost("actuators of a group that <option> disables", "actuator", a)
            continue
        if why := _unsupported(m, a):
            reading.lost(f"actuators with {why}", "actuator", a)
            continue
        weights = _weights(reading, a) if _is_affine(m, a) else {}
        if weights:
            kind, params = "general", {"joints": weights} | _law(m, a)
        else:
            transmission = _transmission(reading, a, engine)
            if transmission is None:
                reading.lost("actuators of a tendon that is not read", "actuator", a)
                continue
            kind, params = "mujoco", transmission | _own_law(m, a)
        _read_start(reading, a, kind, params)
        origin = reading.model.origin("actuator", a)
        reading.scene.actuators.append(Spec("actuator", kind, name, params, origin))


def _read_start(reading: MjcfReadContext, a: int, kind: str, params: dict[str, Any]) -> None:
    """Adds the controls and activations of keyframes."""
    m = reading.m
    control, first = int(m.actuator_ctrladr[a]), int(m.actuator_actadr[a])
    count = int(m.actuator_actnum[a])
    for k, name in enumerate(reading.keyframe_names()):
        if value := float(m.key_ctrl[k, control]):
            params.setdefault("start", {})[name] = value
        if any(values := numbers(m.key_act[k, first : first + count])):
            given = values[0] if count == 1 else list(values)
            params.setdefault("start_activation", {})[name] = given


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


def _is_affine(m: Any, a: int) -> bool:
    """Whether an actuator has a law that every engine can compute."""
    return (
        int(m.actuator_dyntype[a]) in _DYNAMICS
        and int(m.actuator_gaintype[a]) in (_GAIN.mjGAIN_FIXED, _GAIN.mjGAIN_AFFINE)
        and int(m.actuator_biastype[a]) in (_BIAS.mjBIAS_NONE, _BIAS.mjBIAS_AFFINE)
        and m.actuator_actnum[a] <= 1
        and not m.actuator_armature[a]
        and not m.actuator_damping[a]
        and not m.actuator_dampingpoly[a].any()
    )


def _unsupported(m: Any, a: int) -> str:
    """Returns the unsupported feature of an actuator, or an empty text."""
    for words, kind in (
        (_DYN.__members__, m.actuator_dyntype[a]),
        (_GAIN.__members__, m.actuator_gaintype[a]),
        (_BIAS.__members__, m.actuator_biastype[a]),
    ):
        if any(name.endswith("_USER") and int(value) == kind for name, value in words.items()):
            return "a law in C, which a file does not hold"
    if m.actuator_plugin[a] >= 0:
        return "a plug-in"
    if m.actuator_ctrlnum[a] != 1 or m.actuator_outnum[a] > 1:
        return "several controls"
    if m.actuator_delay[a] or m.actuator_history[a].any():
        return "a delay"
    return ""


def _transmission(
    reading: MjcfReadContext, a: int, engine: dict[str, Any]
) -> dict[str, Any] | None:
    """Returns what an actuator acts on; None if it is a tendon that is not read."""
    m = reading.m
    kind, (one, other) = int(m.actuator_trntype[a]), (int(n) for n in m.actuator_trnid[a])
    made: dict[str, Any] = {"gear": list(numbers(m.actuator_gear[a]))}
    if kind in (_TRN.mjTRN_JOINT, _TRN.mjTRN_JOINTINPARENT):
        made["joint"] = reading.full(reading.joints[one])
        if kind == _TRN.mjTRN_JOINTINPARENT:
            made["in_parent"] = True
    elif kind == _TRN.mjTRN_TENDON:
        name = m.tendon(one).name
        if all(tendon["name"] != name for tendon in engine.get("tendons", ())):
            return None
        made["tendon"] = name
    elif kind == _TRN.mjTRN_SITE:
        made["site"] = reading.full(reading.anchors[one])
        if other >= 0:
            made["ref_site"] = reading.full(reading.anchors[other])
    elif kind == _TRN.mjTRN_SLIDERCRANK:
        made |= {
            "crank_site": reading.full(reading.anchors[one]),
            "slider_site": reading.full(reading.anchors[other]),
            "crank_length": float(m.actuator_cranklength[a]),
        }
    elif kind == _TRN.mjTRN_BODY:
        made["body"] = reading.full(reading.elements[one])
    else:
        return None
    return made


def _word(kind: Any, value: int, prefix: str) -> str:
    return next(
        name.removeprefix(prefix).lower()
        for name, code in kind.__members__.items()
        if int(code) == int(value)
    )


def _own_law(m: Any, a: int) -> dict[str, Any]:
    """Returns the law of an actuator with MuJoCo's own parameters."""
    made: dict[str, Any] = {
        "dynamics": _word(_DYN, m.actuator_dyntype[a], "mjDYN_"),
        "gain_type": _word(_GAIN, m.actuator_gaintype[a], "mjGAIN_"),
        "bias_type": _word(_BIAS, m.actuator_biastype[a], "mjBIAS_"),
    }
    for word in ("dynprm", "gainprm", "biasprm"):
        made[word] = list(numbers(getattr(m, f"actuator_{word}")[a]))
    if m.actuator_actnum[a]:
        made["activations"] = int(m.actuator_actnum[a])
    if m.actuator_ctrlspec[a]:
        made["control_spec"] = int(m.actuator_ctrlspec[a])
    if m.actuator_lengthrange[a].any():
        made["length_range"] = list(numbers(m.actuator_lengthrange[a]))
    if m.actuator_armature[a]:
        made["armature"] = float(m.actuator_armature[a])
    if m.actuator_damping[a] or m.actuator_dampingpoly[a].any():
        made["damping"] = [
            float(m.actuator_damping[a]),
            *numbers(m.actuator_dampingpoly[a]),
        ]
    if m.actuator_actearly[a]:
        made["early"] = True
    if m.actuator_actlimited[a]:
        made["activation_range"] = list(numbers(m.actuator_actrange[a]))
    return made | _ranges(m, a)


def _ranges(m: Any, a: int) -> dict[str, Any]:
    """Returns the ranges of control and force."""
    made: dict[str, Any] = {}
    clamps = not int(m.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)
    if m.actuator_ctrllimited[a] and clamps:
        made["control_range"] = list(numbers(m.actuator_ctrlrange[a]))
    if m.actuator_forcelimited[a]:
        made["force_range"] = list(numbers(m.actuator_forcerange[a]))
    return made


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
    return made | _ranges(m, a)
