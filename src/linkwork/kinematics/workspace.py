"""Workspace: the places that a point of a robot can reach, as a cloud of points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics import cloud_kernels, solve_kernels
from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.closed import independent
from linkwork.kinematics.columns import find_columns
from linkwork.kinematics.forward import forward
from linkwork.kinematics.moving import find_moving
from linkwork.kinematics.problem import Problem, check_shape, pack
from linkwork.kinematics.task_rows import Packed, pack_task
from linkwork.kinematics.tasks import PositionTask
from linkwork.spatial.pose import Numbers
from linkwork.world import World

#: How loops are closed: steps, starts, damping, its floor, spread, steps without progress, what
#: progress is; and how far drivers go at a time meanwhile [rad or m].
_CLOSING, _STRIDE = np.array([40.0, 1.0, 3e-2, 1e-10, 0.0, 4.0, 0.9]), 0.2


def workspace(
    world: World,
    frame: str,
    count: int = 100_000,
    *,
    point: Numbers = (0.0, 0.0, 0.0),
    joints: Sequence[str] | None = None,
    first: str = "",
    q: np.ndarray | None = None,
    seed: int = 1,
    progress: Callable[[int], object] | None = None,
    chunk: int = 10_000,
) -> np.ndarray:
    """Places [m] (count×3) to which random postures within the ranges take a point.

    Where there are loops, the joints that drive them go there from the posture at hand, as far as
    the loops let them, which stay closed all the way.

    Args:
        world: The world.
        frame: Element or anchor.
        count: How many postures.
        point: The point in that frame [m].
        joints: Joints that move; all that carry the frame if absent.
        first: Only this joint and what it carries.
        q: Coordinates of the joints that stay; the world's if absent.
        seed: Of the random postures.
        progress: Is told how many are done.
        chunk: Postures between two tellings.
    """
    made, at = np.zeros((max(count, 0), 3)), 0
    parts = workspace_parts(
        world, frame, count, point=point, joints=joints, first=first, q=q, seed=seed, chunk=chunk
    )
    for part in parts:
        made[at : at + len(part)] = part
        at += len(part)
        if progress is not None:
            progress(at)
    return made


def workspace_parts(
    world: World,
    frame: str,
    count: int = 100_000,
    *,
    point: Numbers = (0.0, 0.0, 0.0),
    joints: Sequence[str] | None = None,
    first: str = "",
    q: np.ndarray | None = None,
    seed: int = 1,
    chunk: int = 10_000,
) -> Iterator[np.ndarray]:
    """The same cloud piece by piece, for those who show it growing or may give it up.

    Args:
        world: The world.
        frame: Element or anchor.
        count: How many postures.
        point: The point in that frame [m].
        joints: Joints that move; all that carry the frame if absent.
        first: Only this joint and what it carries.
        q: Coordinates of the joints that stay; the world's if absent.
        seed: Of the random postures.
        chunk: Postures in a piece.

    Yields:
        Places [m] (n×3).
    """
    if count < 1:
        raise LinkworkError(f"a workspace needs at least one posture, not {count}.")
    if chunk < 1:
        raise LinkworkError(f"postures come in pieces of at least one, not {chunk}.")
    start = world.q0.copy() if q is None else check_shape(np.array(q, float), world)
    packed = _packed(world, frame, point)
    wanted, closing = find_moving(world, [packed], joints, first)
    if not wanted.any():
        raise LinkworkError(f"no joint that may move moves {frame!r}.")
    columns = find_columns(world, wanted)
    problem = pack(world, columns, [packed, *closing])
    arrays = problem.ints, problem.reals, problem.work
    state = np.array([seed * 2654435761 % (1 << 63) or 1], np.uint64)
    here = start.copy()
    drivers, room = np.zeros(0, np.int64), np.zeros((5, max(world.nq, 4)))
    if closing:
        _close(problem, state, start, frame)
        drivers = independent(world, columns, closing, start)
    for at in range(0, count, chunk):
        part = np.zeros((min(chunk, count - at), 3))
        if closing:
            cloud_kernels.scatter_closed(
                *arrays, state, _STRIDE, _CLOSING, start, drivers, room, here, part
            )  # fmt: skip
        else:
            cloud_kernels.scatter(*arrays, state, 0.3, start, here, part)
        yield part


def _packed(world: World, frame: str, point: Numbers) -> Packed:
    """A task that looks at a frame and wants nothing of it."""
    pose = forward(world, world.q0)
    made = pack_task(PositionTask(frame, point=point, near=np.inf), world, pose, world.q0)
    made.how[k.WEIGHT : k.WEIGHT + 6] = 0.0
    return made


def _close(problem: Problem, seed: np.ndarray, q: np.ndarray, frame: str) -> None:
    """Closes loops that are open a little, in place."""
    found = np.zeros(4)
    solve_kernels.search(problem.ints, problem.reals, problem.work, seed, _CLOSING, q, found)
    if not found[0]:
        raise LinkworkError(
            f"{frame!r}: the loops that it belongs to do not close.",
            hint="Begin with a posture in which they do.",
        )
