"""Moving: which joints the tasks of a solver need, and the loops that those belong to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.columns import Columns, choose
from linkwork.kinematics.kernels import FREE
from linkwork.kinematics.loops import loop_tasks
from linkwork.kinematics.task_rows import Packed
from linkwork.world import World


def find_moving(
    world: World, packed: Sequence[Packed], joints: Sequence[str] | None, first: str
) -> tuple[np.ndarray, list[Packed]]:
    """Which degrees of freedom may move (nv, bool), and the tasks that keep loops closed.

    Those are the joints that carry a task's frame and those that tasks name. A posture that names
    none moves the robots of the other tasks, all of them where there is none; the centre of mass
    of all that moves moves all robots. Loose bodies and everybody else stay.

    Args:
        world: The world.
        packed: The tasks.
        joints: Joints that may move, if they are chosen.
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
            dofs |= _robots(world, near if posture else set(), posture=posture)
    closing = loop_tasks(world, [*bodies, *world.dof_body[sorted(dofs)].tolist()])
    bodies += [b for each in closing for b in (each.body, each.other)]
    return choose(world, bodies, joints, first, dofs), closing


def _robots(world: World, near: set[int], *, posture: bool) -> set[int]:
    """Degrees of freedom of the robots that bodies belong to; of all if there are no bodies."""
    islands = {int(world.island[b]) for b in near} - {-1}
    parts = {world.body_part[b] for b in near} - {""}
    jointed = {int(world.island[b]) for b in world.dof_body if world.kind[b] != FREE}
    found = set()
    for dof, body in enumerate(world.dof_body.tolist()):
        island = int(world.island[body])
        if near and island not in islands and world.body_part[body] not in parts:
            continue
        if world.kind[body] == FREE and (posture or island not in jointed):
            continue  # a posture says nothing of where a robot stands, and a loose body is none
        found.add(dof)
    return found


def settle_postures(world: World, packed: Sequence[Packed], columns: Columns) -> None:
    """Takes what stays, and what follows, out of postures that name no joints."""
    for each in packed:
        if each.kind != k.POSTURE or not each.whole:
            continue
        assert each.table is not None
        leads = set(columns.dof.tolist())
        for dof in range(world.nv):
            if dof not in leads and dof not in each.named:
                each.table[world.nq + dof] = 0.0
