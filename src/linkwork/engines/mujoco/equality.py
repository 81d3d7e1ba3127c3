"""Equality constraints of a MuJoCo model: loops, couplings, screws.

MuJoCo's constraints are springs on the acceleration, which its discrete integrator evaluates at the
end of the step: a spring far faster than the step corrects the whole error within the step. The
remaining error is the curvature of the motion within one step, of order h².
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.core.errors import EngineError, Origin
from linkwork.core.mujoco_library import mujoco
from linkwork.geometry.pose import Pose
from linkwork.model.parts.constraints import CouplingLaw, law_from_start
from linkwork.model.parts.joint import JOINT_TYPES
from linkwork.model.world import World

if TYPE_CHECKING:
    from linkwork.engines.mujoco.params import EqualityParams
    from linkwork.engines.mujoco.spec_builder import ModelBuilder

#: Impedance of equalities. Measured on a four-bar, a parallelogram and a ring of ten bars at 1 and
#: 2 ms: nearer to 1 gains nothing, further away the parallelogram's redundant constraint opens.
STIFF = (0.9999, 0.9999, 0.001, 0.5, 2.0)

#: Default time constant of equalities [steps]. In the same measurements 2 leaves three times the
#: gap, less gains nothing.
MIN_TIME_STEPS = 0.02

#: Types of joints that can close loops.
CLOSABLE_KINDS = ("ball", "hinge", "fixed")


def couple_screw(spec: Any, hinge: str, slide: str, pitch: float) -> None:
    """Makes a slide advance by ``pitch`` [m/rad] with its hinge."""
    _stiffen(spec, _couple_joints(spec, slide, hinge, (0.0, pitch, 0.0, 0.0, 0.0)), 0.0)


def add_equalities(build: ModelBuilder, loop_time: float) -> None:
    """Adds loops and couplings with the time constant ``loop_time`` [s]; 0 is the stiffest."""
    world = build.world
    for n, name in enumerate(world.loop_names):
        if build.owned[world.loop_body[n]].any():
            _close(build, n, name, loop_time)
    names = {v: name for _, v, name, size in build.coordinates if size == 1}
    laws = zip(world.coupling_dof.tolist(), world.laws(), world.coupling_words, strict=True)
    for (follows, leads), law, words in laws:
        if follows in names and leads in names:
            starts = build.starts.get(leads, 0.0), build.starts.get(follows, 0.0)
            law = law_from_start(law, *starts)
            made = _couple_joints(build.spec, names[follows], names[leads], law)
            _set_softness(build, made, words, loop_time)


def add_joint_equalities(
    build: ModelBuilder, equalities: Sequence[EqualityParams], origin: Origin
) -> None:
    """Adds the engine's own constraints of joints, whose law is that of their values.

    Raises:
        LinkworkError: If a joint is unknown or not moved by this engine.
    """
    names = {v: name for _, v, name, size in build.coordinates if size == 1}
    for equality in equalities:
        dofs = [build.world.single_dof(n, origin=origin) for n in (equality.a, equality.b) if n]
        for dof, joint in zip(dofs, (equality.a, equality.b), strict=False):
            if dof not in names:
                raise EngineError(
                    f"joint_equalities: joint {joint!r} is not moved by this engine.",
                    origin=origin,
                )
        starts = [build.starts.get(dof, 0.0) for dof in dofs]
        law = law_from_start(equality.polycoef, starts[1] if equality.b else 0.0, starts[0])
        leads = names[dofs[1]] if equality.b else ""
        made = _couple_joints(build.spec, names[dofs[0]], leads, law)
        given = {"solref": equality.solref, "solimp": equality.solimp}
        _set_softness(build, made, {k: v for k, v in given.items() if v is not None}, 0.0)


def _couple_joints(spec: Any, follows: str, leads: str, law: CouplingLaw) -> Any:
    equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=follows, name2=leads)
    equality.data[:5] = law
    return equality


def _set_softness(build: ModelBuilder, equality: Any, words: dict[str, Any], time: float) -> None:
    """Makes an equality as stiff as possible, or as MuJoCo does, with its own attributes."""
    if not build.native:
        _stiffen(build.spec, equality, time)
    for word in ("solref", "solimp"):
        if word in words:
            setattr(equality, word, list(words[word]))
    if "torquescale" in words:
        equality.data[10] = words["torquescale"]


def _stiffen(spec: Any, equality: Any, time: float) -> None:
    # MuJoCo's estimate of the constraint inertia is a thousandfold wrong if a light hinge moves a
    # heavy slide (a screw)
    spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
    equality.solref = [time or MIN_TIME_STEPS * spec.option.timestep, 1.0]
    equality.solimp = list(STIFF)


def _close(build: ModelBuilder, n: int, name: str, time: float) -> None:
    """Closes a loop: a ball by one point, a hinge by two points of its axis, or rigidly."""
    world, kind = build.world, int(build.world.loop_kind[n])
    arm = _axis_point_distance(world, n)
    offsets = [-arm, arm] if kind == JOINT_TYPES["hinge"].code else [0.0]
    rigid = kind == JOINT_TYPES["fixed"].code
    for k, offset in enumerate(offsets):
        sites = [_add_site(build, n, end, k, offset) for end in (0, 1)]
        equality = build.spec.add_equality(
            name=f"{name}#{k}",
            type=mujoco.mjtEq.mjEQ_WELD if rigid else mujoco.mjtEq.mjEQ_CONNECT,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=sites[0],
            name2=sites[1],
        )
        _set_softness(build, equality, world.loop_words[n], time)


def _axis_point_distance(world: World, n: int) -> float:
    """Returns half the distance of the two points of a hinge's axis [m]."""
    reach = [np.linalg.norm(world.loop_pose[n, end, :3]) for end in (0, 1)]
    return 0.5 * max(0.01, float(max(reach)))


def _add_site(build: ModelBuilder, n: int, end: int, k: int, offset: float) -> str:
    """Adds the point of one end of a loop, ``offset`` [m] along the axis, to its body."""
    world = build.world
    pose = Pose.of(world.loop_pose[n, end, :3], quat=world.loop_pose[n, end, 3:])
    axis = world.loop_axis[n]
    pose = pose @ Pose((offset * axis[0], offset * axis[1], offset * axis[2]))
    name = f"{world.loop_names[n]}#{k}{'ab'[end]}"
    element = int(world.loop_element[n, end])
    body = build.bodies[int(world.loop_body[n, end])]
    if element in build.element_bodies:
        body = build.element_bodies[element]
        row = world.element_pose[element]
        pose = Pose.of(row[:3], quat=row[3:]).inverse() @ pose
    body.add_site(name=name, pos=list(pose.xyz), quat=list(pose.quat))
    return name
