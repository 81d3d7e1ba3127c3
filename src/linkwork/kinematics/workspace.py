"""Workspace: the places that a point of a robot can reach, as a cloud of points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics import cloud_kernels
from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.columns import find_columns
from linkwork.kinematics.forward import forward
from linkwork.kinematics.moving import find_moving
from linkwork.kinematics.problem import Problem, check_shape, pack
from linkwork.kinematics.task_rows import pack_task
from linkwork.kinematics.tasks import PositionTask
from linkwork.spatial.pose import Numbers
from linkwork.world import World

#: How a random posture is brought to close its loops: steps, postures tried in a row, damping,
#: its floor, spread, steps without progress, what progress is.
_CLOSING = np.array([40.0, 1000.0, 3e-2, 1e-10, 0.3, 4.0, 0.9])


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

    Loops are closed in each of them.

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
    made, at = np.zeros((count, 3)), 0
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
    problem = _problem(world, frame, point, joints, first)
    state = np.array([seed * 2654435761 % (1 << 63) or 1], np.uint64)
    here, found = start.copy(), np.zeros(6)
    for at in range(0, count, chunk):
        part = np.zeros((min(chunk, count - at), 3))
        done = cloud_kernels.scatter(
            problem.ints, problem.reals, problem.work, state, 0.3, _CLOSING.copy(), start, here,
            found, part,
        )  # fmt: skip
        if done < len(part):
            raise LinkworkError(
                f"{frame!r}: none of {_CLOSING[1]:g} random postures in a row closes its loops.",
                hint="Let more of their joints move, or widen their ranges.",
            )
        yield part


def _problem(
    world: World, frame: str, point: Numbers, joints: Sequence[str] | None, first: str
) -> Problem:
    """The frame, which wants nothing, and the loops to keep closed behind it."""
    pose = forward(world, world.q0)
    looked = pack_task(PositionTask(frame, point=point, near=np.inf), world, pose, world.q0)
    looked.how[k.WEIGHT : k.WEIGHT + 6] = 0.0
    wanted, closing = find_moving(world, [looked], joints, first)
    if not wanted.any():
        raise LinkworkError(f"no joint that may move moves {frame!r}.")
    return pack(world, find_columns(world, wanted), [looked, *closing])
