"""Ties: what holds bodies and joints together as constraints of a MuJoCo model.

MuJoCo's constraints are springs on the acceleration, and its discrete integrator evaluates them at
the end of the step: a spring far faster than the step acts as a correction of the whole error
within the step. What remains is the curvature of the motion within one step, of order h².
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.mujoco_library import mujoco
from linkwork.parts.coupling import Law, counted_from
from linkwork.parts.joint import JOINT_TYPES
from linkwork.spatial.pose import Pose
from linkwork.world import World

if TYPE_CHECKING:
    from linkwork.engines.mujoco.bodies import Build

#: Impedance of ties. Measured on a four-bar, a parallelogram and a ring of ten bars at 1 and 2 ms:
#: nearer to 1 gains nothing, further away the parallelogram's redundant tie gives.
STIFF = (0.9999, 0.9999, 0.001, 0.5, 2.0)

#: Time constant of ties [steps], where the scene gives none. The same measurements: 2 leaves three
#: times the gap, less gains nothing.
TIE_STEPS = 0.02

#: Types of joints that close loops here.
CLOSING = ("ball", "hinge", "fixed")


def tie_screw(spec: Any, hinge: str, slide: str, pitch: float) -> None:
    """Makes a slide advance by ``pitch`` [m/rad] with its hinge."""
    _stiffen(spec, _tie_joints(spec, slide, hinge, (0.0, pitch, 0.0, 0.0, 0.0)), 0.0)


def add_ties(build: Build, loop_time: float) -> None:
    """Adds loops and couplings, with the time constant ``loop_time`` [s]; 0 is the stiffest."""
    world = build.world
    for n, name in enumerate(world.loop_names):
        if build.owned[world.loop_body[n]].any():
            _close(build, n, name, loop_time)
    names = {v: name for _, v, name, size in build.coordinates if size == 1}
    laws = zip(world.coupling_dof.tolist(), world.laws(), world.coupling_words, strict=True)
    for (follows, leads), law, words in laws:
        if follows in names and leads in names:
            starts = build.starts.get(leads, 0.0), build.starts.get(follows, 0.0)
            law = counted_from(law, *starts)
            made = _tie_joints(build.spec, names[follows], names[leads], law)
            _set_softness(build, made, words, loop_time)


def _tie_joints(spec: Any, follows: str, leads: str, law: Law) -> Any:
    equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=follows, name2=leads)
    equality.data[:5] = law
    return equality


def _set_softness(build: Build, equality: Any, words: dict[str, Any], time: float) -> None:
    """As stiff as can be, or as MuJoCo has it, and what the tie's words say."""
    if not build.native:
        _stiffen(build.spec, equality, time)
    for word in ("solref", "solimp"):
        if word in words:
            setattr(equality, word, list(words[word]))
    if "torquescale" in words:
        equality.data[10] = words["torquescale"]


def _stiffen(spec: Any, equality: Any, time: float) -> None:
    # MuJoCo guesses how heavy a constraint is and errs a thousandfold where a light hinge moves
    # a heavy slide (a screw)
    spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
    equality.solref = [time or TIE_STEPS * spec.option.timestep, 1.0]
    equality.solimp = list(STIFF)


def _close(build: Build, n: int, name: str, time: float) -> None:
    """Closes a loop: a ball by one point, a hinge by two points of its axis, or rigidly."""
    world, kind = build.world, int(build.world.loop_kind[n])
    arm = _arm(world, n)
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


def _arm(world: World, n: int) -> float:
    """Half the distance at which the two points of a hinge's axis are put [m]."""
    reach = [np.linalg.norm(world.loop_pose[n, end, :3]) for end in (0, 1)]
    return 0.5 * max(0.01, float(max(reach)))


def _add_site(build: Build, n: int, end: int, k: int, offset: float) -> str:
    """Adds the point of one end of a loop, ``offset`` [m] along the axis, to the body there."""
    world = build.world
    pose = Pose.of(world.loop_pose[n, end, :3], quat=world.loop_pose[n, end, 3:])
    axis = world.loop_axis[n]
    pose = pose @ Pose((offset * axis[0], offset * axis[1], offset * axis[2]))
    name = f"{world.loop_names[n]}#{k}{'ab'[end]}"
    element = int(world.loop_element[n, end])
    body = build.bodies[int(world.loop_body[n, end])]
    if element in build.pieces:
        body = build.pieces[element]
        row = world.element_pose[element]
        pose = Pose.of(row[:3], quat=row[3:]).inverse() @ pose
    body.add_site(name=name, pos=list(pose.xyz), quat=list(pose.quat))
    return name
