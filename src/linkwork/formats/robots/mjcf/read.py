"""MJCF reader: a model becomes a scene with one part, scenery, options of the Mujoco engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from linkwork.core.errors import LinkworkError, Origin
from linkwork.core.mujoco_library import mujoco
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.mjcf.compiled import compile_model, pose_of
from linkwork.formats.robots.mjcf.context import MjcfReadContext, default_model, numbers
from linkwork.formats.robots.mjcf.read_actuators import read_actuators
from linkwork.formats.robots.mjcf.read_bodies import read_bodies
from linkwork.formats.robots.mjcf.read_constraints import (
    read_contacts,
    read_equalities,
    read_tendons,
)
from linkwork.formats.robots.mjcf.read_geoms import read_scenery
from linkwork.formats.robots.mjcf.read_sensors import read_sensors
from linkwork.formats.robots.mjcf.read_views import read_keyframes, read_views
from linkwork.formats.robots.mjcf.sanitize import sanitize
from linkwork.formats.robots.mjcf.source import read_source
from linkwork.geometry.pose import IDENTITY
from linkwork.model.parts import Part, Spec
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Scene

_INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast", "discrete")
_CONES = ("pyramidal", "elliptic")
_SOLVERS = ("PGS", "CG", "Newton")
_JACOBIANS = ("dense", "sparse", "auto")
_OTHER_OPTIONS = (
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
#: Flags without effect: the quantities that they enable are always reported, or never.
_IGNORED_FLAGS = (
    "energy",
    "fwdinv",
    "invdiscrete",
    "sensor",
    "autoreset",
    "actuation",
    "clampctrl",
)


def read_options(reading: MjcfReadContext) -> dict[str, Any]:
    """Sets the scene's step and gravity, and returns the engine's parameters."""
    option, scene = reading.m.opt, reading.scene
    usual = default_model().opt
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
    for name in _OTHER_OPTIONS:
        value, default = getattr(option, name), getattr(usual, name)
        if np.any(np.asarray(value) != np.asarray(default)):
            made[name] = list(numbers(value)) if np.ndim(value) else type(default)(value)
    for word, known, found in (("disable", _DISABLE, disabled), ("enable", _ENABLE, enabled)):
        if flags := [flag for flag in found if flag in known]:
            made[word] = flags
        for flag in found:
            if flag not in known and flag not in (*_IGNORED_FLAGS, "gravity"):
                reading.notes.about("flags that are not known here, left out", flag)
    return made


def _flags(kind: Any, bits: int) -> list[str]:
    """Returns the names of the flags that are set."""
    return [
        name[len("mjDSBL_") :].lower()
        for name, flag in kind.__members__.items()
        if name.startswith(("mjDSBL_", "mjENBL_")) and bits & int(flag)
    ]


def read_mjcf(path: Path) -> tuple[Scene, list[str]]:
    """Reads a model.

    Returns:
        The scene, and notes on omissions and changes.

    Raises:
        LinkworkError: If the file is not a model that MuJoCo would compile; names file and line.
    """
    file = Origin(str(path))
    notes = ConversionNotes()
    source = read_source(path)
    model = compile_model(sanitize(source, notes), file)
    given = source.root.attributes.get("model", "").strip() or path.stem
    name = plain_name(given)[:60]
    scene, part = Scene(name, origin=file), Part(name, origin=file)
    if name != given:
        scene.title = given
    reading = MjcfReadContext(model, notes, part, scene)
    try:
        reading.name_all()
        engine = read_options(reading)
        read_bodies(reading)
        read_scenery(reading)
        read_tendons(reading, engine)
        read_equalities(reading, engine)
        read_contacts(reading, engine)
        read_actuators(reading, engine)
        read_sensors(reading, engine)
        if model.m.nbody > 1:
            at = IDENTITY
            if base := reading.base:
                at = pose_of(model.m.body_pos[base], model.m.body_quat[base])
            scene.place(part, name=name, at=at)
        read_views(reading)
        read_keyframes(reading)
    except LinkworkError as error:
        raise error.at(file) from None
    scene.engines.append(Spec("engine", "mujoco", "", engine, file))
    return scene, notes.lines()
