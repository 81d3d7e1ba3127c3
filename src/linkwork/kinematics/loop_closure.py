"""Loops in inverse kinematics: tasks that keep them closed, joints that they involve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.pose import Pose, quat_between
from linkwork.kinematics import memory_layout_kernels as k
from linkwork.kinematics.columns import Columns, choose_dofs
from linkwork.kinematics.kernels import BALL, CYLINDRICAL, FIXED, FREE, HINGE, PLANAR, SLIDER
from linkwork.kinematics.packed_tasks import PackedTask
from linkwork.model.world import World
from linkwork.model.world.world import TYPE_NAMES

#: Above every priority of a task.
FIRST = -1_000_000

#: Constraints of each closing joint: weights of the position across and along its axis, and whether
#: it constrains the orientation (2), its axis (1) or no rotation (0).
_CONSTRAINED_AXES = {
    FIXED: ((1.0, 1.0, 1.0), 2),
    HINGE: ((1.0, 1.0, 1.0), 1),
    BALL: ((1.0, 1.0, 1.0), 0),
    SLIDER: ((0.0, 1.0, 1.0), 2),
    CYLINDRICAL: ((0.0, 1.0, 1.0), 1),
    PLANAR: ((1.0, 0.0, 0.0), 1),
}


def loop_tasks(world: World, bodies: Sequence[int]) -> list[PackedTask]:
    """Returns tasks that close the loops of all islands of these bodies."""
    islands = {int(world.island[b]) for b in bodies if b > 0} - {-1}
    made: list[PackedTask] = []
    for n, (a, b) in enumerate(world.loop_body.tolist()):
        if not islands & {int(world.island[a]), int(world.island[b])}:
            continue
        kind = int(world.loop_kind[n])
        if kind not in _CONSTRAINED_AXES:
            raise LinkworkError(
                f"loop {world.loop_names[n]!r} is closed by a joint of type "
                f"{TYPE_NAMES[kind]!r}, which inverse kinematics does not support.",
                origin=world.loop_origins[n],
                hint=f"It supports: {', '.join(TYPE_NAMES[each] for each in _CONSTRAINED_AXES)}.",
            )
        weights, turn = _CONSTRAINED_AXES[kind]
        axes = Pose((0.0, 0.0, 0.0), quat_between((1.0, 0.0, 0.0), world.loop_axis[n]))
        ends = [Pose(tuple(row[:3]), tuple(row[3:])) @ axes for row in world.loop_pose[n]]
        title = world.loop_names[n]
        place = _closing_task(k.POSE, a, b, ends, title)
        place.rows = 6 if turn == 2 else 3
        place.mask = 4 | 1 | (2 if turn == 2 else 0)
        place.params[k.WEIGHT : k.WEIGHT + 3] = weights
        place.params[k.WEIGHT + 3 : k.WEIGHT + 6] = 1.0
        made.append(place)
        if turn == 1:
            axis = _closing_task(k.ALIGN, a, b, ends, title)
            axis.rows = 3
            axis.params[k.WEIGHT + 3 : k.WEIGHT + 6] = 1.0
            made.append(axis)
    return made


def _closing_task(kind: int, a: int, b: int, ends: list[Pose], title: str) -> PackedTask:
    """Returns a task that moves the second end of a loop to the first."""
    made = PackedTask(kind, 3, FIRST, body=b, other=a, title=title)
    made.params[:7] = ends[1].array()
    made.params[k.LOCAL_OTHER : k.LOCAL_OTHER + 7] = ends[0].array()
    made.params[k.TARGET : k.TARGET + 7] = Pose().array()
    made.params[k.GAIN] = 1.0
    made.params[k.POSITION_TOLERANCE] = made.params[k.ANGLE_TOLERANCE] = 1e-9
    return made


def find_movable(
    world: World, packed: Sequence[PackedTask], joints: Sequence[str] | None, first: str
) -> tuple[np.ndarray, list[PackedTask]]:
    """Returns which degrees of freedom may move (nv, bool), and the tasks that keep loops closed.

    These are the joints that carry a task's frame and those that tasks name. A posture without
    names moves the robots of the other tasks, or all robots if there are none; the center of mass
    of all bodies moves all robots. Free bodies and other robots stay.

    Args:
        world: The world.
        packed: The tasks.
        joints: Joints that may move, if given.
        first: Only this joint and what it carries.
    """
    bodies: list[int] = []
    dofs: set[int] = set()
    for each in packed:
        if each.kind in (k.POSTURE, k.COUPLING):
            dofs |= each.named
        elif not each.whole:
            bodies += [b for b in (each.body, each.other, *each.bodies) if b > 0]
    spoken = {*bodies, *world.dof_body[sorted(dofs)].tolist()}
    near = {b for b in spoken if not world.is_static(b)} or spoken
    for each in packed:
        if each.whole:
            posture = each.kind == k.POSTURE
            dofs |= _robot_dofs(world, near if posture else set(), posture=posture)
    closing = loop_tasks(world, [*bodies, *world.dof_body[sorted(dofs)].tolist()])
    bodies += [b for each in closing for b in (each.body, each.other)]
    return choose_dofs(world, bodies, joints, first, dofs), closing


def _robot_dofs(world: World, near: set[int], *, posture: bool) -> set[int]:
    """Returns the degrees of freedom of the robots of these bodies, or of all robots."""
    islands = {int(world.island[b]) for b in near} - {-1}
    parts = {world.body_part[b] for b in near} - {""}
    jointed = {int(world.island[b]) for b in world.dof_body if world.kind[b] != FREE}
    found = set()
    for dof, body in enumerate(world.dof_body.tolist()):
        island = int(world.island[body])
        if near and island not in islands and world.body_part[body] not in parts:
            continue
        if world.kind[body] == FREE and (posture or island not in jointed):
            continue  # a posture does not include the free joint of a robot
        found.add(dof)
    return found


def restrict_postures(world: World, packed: Sequence[PackedTask], columns: Columns) -> None:
    """Removes fixed and following joints from postures that name no joints."""
    for each in packed:
        if each.kind != k.POSTURE or not each.whole:
            continue
        assert each.table is not None
        leads = set(columns.dof.tolist())
        for dof in range(world.nv):
            if dof not in leads and dof not in each.named:
                each.table[world.nq + dof] = 0.0
