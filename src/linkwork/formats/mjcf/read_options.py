"""Reading options: the scene's step and gravity, and what the Mujoco engine is told."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.formats.mjcf.reading import Reading, numbers, own_values
from linkwork.mujoco_library import mujoco

_INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast", "discrete")
_CONES = ("pyramidal", "elliptic")
_SOLVERS = ("PGS", "CG", "Newton")
_JACOBIANS = ("dense", "sparse", "auto")
_FURTHER = (
    "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations",
    "ccd_tolerance", "wind", "magnetic", "density", "viscosity", "o_margin", "o_solref",
    "o_solimp", "o_friction",
)  # fmt: skip
_DISABLE = (
    "constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper",
    "warmstart", "filterparent", "refsafe", "midphase", "eulerdamp", "nativeccd", "island",
    "multiccd",
)  # fmt: skip
_ENABLE = ("override", "diagexact", "ipc", "speculative")
#: Flags that change nothing here: what they switch is always reported, or never.
_INNOCENT = ("energy", "fwdinv", "invdiscrete", "sensor", "autoreset", "actuation", "clampctrl")


def read_options(reading: Reading) -> dict[str, Any]:
    """Sets the scene's step and gravity, and returns the engine's parameters."""
    option, scene = reading.m.opt, reading.scene
    usual = own_values().opt
    disabled = _flags(mujoco.mjtDisableBit, int(option.disableflags))
    enabled = _flags(mujoco.mjtEnableBit, int(option.enableflags))
    scene.step = float(option.timestep)
    still = "gravity" in disabled
    scene.gravity = (0.0, 0.0, 0.0) if still else numbers(option.gravity)  # type: ignore[assignment]
    made: dict[str, Any] = {
        "native": True,
        "integrator": _INTEGRATORS[int(option.integrator)],
        "cone": _CONES[int(option.cone)],
        "iterations": int(option.iterations),
        "tolerance": float(option.tolerance),
        "impratio": float(option.impratio),
    }
    if option.solver != usual.solver:
        made["solver"] = _SOLVERS[int(option.solver)]
    if option.jacobian != usual.jacobian:
        made["jacobian"] = _JACOBIANS[int(option.jacobian)]
    for name in _FURTHER:
        value, default = getattr(option, name), getattr(usual, name)
        if np.any(np.asarray(value) != np.asarray(default)):
            made[name] = list(numbers(value)) if np.ndim(value) else type(default)(value)
    for word, known, found in (("disable", _DISABLE, disabled), ("enable", _ENABLE, enabled)):
        if flags := [flag for flag in found if flag in known]:
            made[word] = flags
        for flag in found:
            if flag not in known and flag not in (*_INNOCENT, "gravity"):
                reading.notes.about("flags that are not known here, left out", flag)
    if option.disableactuator:
        reading.notes.say("actuators that <option> disables by group stay enabled")
    return made


def _flags(kind: Any, bits: int) -> list[str]:
    """Names of the flags that are set."""
    return [
        name[len("mjDSBL_") :].lower()
        for name, flag in kind.__members__.items()
        if name.startswith(("mjDSBL_", "mjENBL_")) and bits & int(flag)
    ]
