"""Options: how a MuJoCo model is stepped, as the scene says."""

from __future__ import annotations

from typing import Any

from linkwork.engines.mujoco.params import OPTIONS, MujocoParams
from linkwork.mujoco_library import mujoco
from linkwork.scene import Scene

#: What is set aside where the solver needs a matrix of all constraints [byte]; the system gives
#: only what is used. MuJoCo's own guess does not think of it: a dog on its back runs out.
MEMORY = 256 * 2**20


def set_options(spec: Any, scene: Scene, params: MujocoParams) -> None:
    """Fills the options of a model in the making."""
    spec.compiler.autolimits = True
    spec.compiler.degree = False
    spec.compiler.fusestatic = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    option = spec.option
    option.timestep = scene.step
    option.gravity = list(scene.gravity)
    option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{params.integrator.upper()}")
    option.cone = getattr(mujoco.mjtCone, f"mjCONE_{params.cone.upper()}")
    option.impratio = params.impratio
    option.iterations = params.iterations
    option.tolerance = params.tolerance
    if params.solver is not None:
        option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{params.solver.upper()}")
    if params.jacobian is not None:
        option.jacobian = getattr(mujoco.mjtJacobian, f"mjJAC_{params.jacobian.upper()}")
    for name in OPTIONS:
        value = getattr(params, name)
        if value is not None:
            setattr(option, name, list(value) if isinstance(value, tuple) else value)
    if params.noslip_iterations or params.solver == "PGS":
        spec.memory = MEMORY
    for flag in ("autoreset", *params.disable):
        option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}"))
    for flag in params.enable:
        option.enableflags |= int(getattr(mujoco.mjtEnableBit, f"mjENBL_{flag.upper()}"))
    if not params.native:  # who touches whom is ours to say
        option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
