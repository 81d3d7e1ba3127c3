"""Loops as tasks: what keeps a closed chain closed while its joints move."""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.errors import LinkworkError
from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.kernels import BALL, CYLINDRICAL, FIXED, HINGE, PLANAR, SLIDER
from linkwork.kinematics.task_rows import Packed
from linkwork.spatial.pose import Pose, quat_between
from linkwork.world import World
from linkwork.world.world import TYPE_NAMES

#: Before every priority that a task may have.
FIRST = -1_000_000

#: What each closing joint holds: weights of the place across and along its axis, and whether it
#: holds the whole turn (2), its axis (1) or nothing (0).
_HOLDS = {
    FIXED: ((1.0, 1.0, 1.0), 2),
    HINGE: ((1.0, 1.0, 1.0), 1),
    BALL: ((1.0, 1.0, 1.0), 0),
    SLIDER: ((0.0, 1.0, 1.0), 2),
    CYLINDRICAL: ((0.0, 1.0, 1.0), 1),
    PLANAR: ((1.0, 0.0, 0.0), 1),
}


def loop_tasks(world: World, bodies: Sequence[int]) -> list[Packed]:
    """Tasks that close the loops of all islands that these bodies belong to."""
    islands = {int(world.island[b]) for b in bodies if b > 0} - {-1}
    made: list[Packed] = []
    for n, (a, b) in enumerate(world.loop_body.tolist()):
        if not islands & {int(world.island[a]), int(world.island[b])}:
            continue
        kind = int(world.loop_kind[n])
        if kind not in _HOLDS:
            raise LinkworkError(
                f"loop {world.loop_names[n]!r} is closed by a joint of type "
                f"{TYPE_NAMES[kind]!r}, which inverse kinematics does not keep closed.",
                origin=world.loop_origins[n],
                hint=f"It keeps: {', '.join(TYPE_NAMES[each] for each in _HOLDS)}.",
            )
        weights, turn = _HOLDS[kind]
        axes = Pose((0.0, 0.0, 0.0), quat_between((1.0, 0.0, 0.0), world.loop_axis[n]))
        ends = [Pose(tuple(row[:3]), tuple(row[3:])) @ axes for row in world.loop_pose[n]]
        title = world.loop_names[n]
        place = _between(k.POSE, a, b, ends, title)
        place.rows = 6 if turn == 2 else 3
        place.mask = 4 | 1 | (2 if turn == 2 else 0)
        place.how[k.WEIGHT : k.WEIGHT + 3] = weights
        place.how[k.WEIGHT + 3 : k.WEIGHT + 6] = 1.0
        made.append(place)
        if turn == 1:
            axis = _between(k.ALIGN, a, b, ends, title)
            axis.rows = 3
            axis.how[k.WEIGHT + 3 : k.WEIGHT + 6] = 1.0
            made.append(axis)
    return made


def _between(kind: int, a: int, b: int, ends: list[Pose], title: str) -> Packed:
    """A task that brings the second end of a loop to the first."""
    made = Packed(kind, 3, FIRST, body=b, other=a, title=title)
    made.how[:7] = ends[1].array()
    made.how[k.LOCAL_OTHER : k.LOCAL_OTHER + 7] = ends[0].array()
    made.how[k.TARGET : k.TARGET + 7] = Pose().array()
    made.how[k.GAIN] = 1.0
    made.how[k.NEAR] = made.how[k.NEAR_TURN] = 1e-9
    return made
