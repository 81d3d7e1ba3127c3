"""Workspace: reachable positions of a point of a robot, as a point cloud."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.pose import Numbers
from linkwork.kinematics import memory_layout_kernels as k
from linkwork.kinematics import solve_kernels, workspace_kernels
from linkwork.kinematics.closed_motion import independent
from linkwork.kinematics.columns import find_columns
from linkwork.kinematics.forward import forward
from linkwork.kinematics.loop_closure import find_movable
from linkwork.kinematics.packed_tasks import PackedTask, pack_task
from linkwork.kinematics.problem import IkProblem, check_shape, pack
from linkwork.kinematics.tasks import PositionTask
from linkwork.model.world import World

#: Settings of the search that closes loops (``memory_layout_kernels``), and the step of the driving
#: joints [rad or m].
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
    """Returns positions [m] (count×3) of a point at random postures within the ranges.

    With loops, the driving joints move from the given posture as far as the loops allow, which stay
    closed throughout.

    Args:
        world: The world.
        frame: Element or anchor.
        count: Number of postures.
        point: The point in that frame [m].
        joints: Joints that move; all that carry the frame if absent.
        first: Only this joint and what it carries.
        q: Coordinates of the fixed joints; the world's if absent.
        seed: Seed of the random postures.
        progress: Called with the number of finished postures.
        chunk: Postures between two calls of ``progress``.
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
    """Yields the same cloud in chunks, for incremental display.

    Args:
        world: The world.
        frame: Element or anchor.
        count: Number of postures.
        point: The point in that frame [m].
        joints: Joints that move; all that carry the frame if absent.
        first: Only this joint and what it carries.
        q: Coordinates of the fixed joints; the world's if absent.
        seed: Seed of the random postures.
        chunk: Postures per chunk.

    Yields:
        Positions [m] (n×3).
    """
    if count < 1:
        raise LinkworkError(f"a workspace needs at least one posture, not {count}.")
    if chunk < 1:
        raise LinkworkError(f"chunk must be 1 or above, not {chunk}.")
    start = world.q0.copy() if q is None else check_shape(np.array(q, float), world)
    packed = _packed(world, frame, point)
    wanted, closing = find_movable(world, [packed], joints, first)
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
            workspace_kernels.sample_closed_positions(
                *arrays, state, _STRIDE, _CLOSING, start, drivers, room, here, part
            )  # fmt: skip
        else:
            workspace_kernels.sample_positions(*arrays, state, 0.3, start, here, part)
        yield part


def _packed(world: World, frame: str, point: Numbers) -> PackedTask:
    """Returns a task of a frame with zero weight."""
    pose = forward(world, world.q0)
    made = pack_task(PositionTask(frame, point=point, tolerance=np.inf), world, pose, world.q0)
    made.params[k.WEIGHT : k.WEIGHT + 6] = 0.0
    return made


def _close(problem: IkProblem, seed: np.ndarray, q: np.ndarray, frame: str) -> None:
    """Closes loops with small gaps, in place."""
    found = np.zeros(4)
    solve_kernels.search(problem.ints, problem.reals, problem.work, seed, _CLOSING, q, found)
    if not found[0]:
        raise LinkworkError(
            f"{frame!r}: its loops do not close.",
            hint="Start from a posture in which they are closed.",
        )
