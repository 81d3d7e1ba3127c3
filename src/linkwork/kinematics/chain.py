"""Chain: the way from the base to one tool through hinges and sliders, for the quick search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.kinematics import layout_kernels as k
from linkwork.kinematics.chain_kernels import HI, LO, SCRATCH, SLIDES, WIDE
from linkwork.kinematics.columns import Columns
from linkwork.kinematics.kernels import FIXED, HINGE, SLIDER
from linkwork.kinematics.task_rows import Packed
from linkwork.spatial.pose import Pose, quat_between
from linkwork.world import World


@dataclass
class Chain:
    """A chain as its kernel takes it.

    Attributes:
        links: Steps from joint to joint (n+1×16).
        coordinates: Coordinate of each joint.
        easy: How easily each joint moves.
        scratch: Room for the search.
        goal: Room for the target as the kernel takes it.
        is_all: Whether its joints are all coordinates there are, in their order.
        target: Where the tool shall be (1×7): the numbers of the task itself.
    """

    links: np.ndarray
    coordinates: np.ndarray
    easy: np.ndarray
    scratch: np.ndarray
    goal: np.ndarray
    is_all: bool
    target: np.ndarray


def pose_of(row: np.ndarray) -> Pose:
    """A pose from seven numbers."""
    return Pose(tuple(float(x) for x in row[:3]), tuple(float(x) for x in row[3:]))  # type: ignore[arg-type]


def goal_of(pose: Pose) -> np.ndarray:
    """A goal as the kernel takes it: the matrix by rows, then the place."""
    return np.concatenate([pose.matrix()[:3, :3].ravel(), pose.xyz])


def meeting_point(axes: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, float]:
    """The point next to lines, each along an axis through a point, and the widest gap [m]."""
    across = np.eye(3) - np.einsum("ki,kj->kij", axes, axes)
    right = np.einsum("kij,kj->i", across, points)
    found = np.linalg.lstsq(across.sum(axis=0), right, rcond=None)[0]
    return found, float(np.linalg.norm(np.cross(axes, found - points), axis=1).max())


def links_to(world: World, body: int, tool: Pose, columns: Columns) -> np.ndarray | None:
    """Steps along the chain to a tool on a body; None if another kind of joint is in it."""
    path = []
    at = body
    while at > 0:
        path.append(at)
        at = int(world.parent[at])
    rows, way = [], Pose()
    for b in reversed(path):
        way = way @ pose_of(world.x0[b])
        kind = world.kind[b]
        if kind == FIXED:
            continue
        if kind not in (HINGE, SLIDER):
            return None
        d = int(world.vadr[b])
        c = int(columns.col[d])
        if c < 0 or columns.dof[c] != d or np.count_nonzero(columns.col == c) != 1:
            return None
        turn = Pose(tuple(world.pivot[b]), quat_between((0.0, 0.0, 1.0), world.axis[b]))
        row = np.zeros(WIDE)
        row[:12] = goal_of(way @ turn)
        row[SLIDES], row[LO], row[HI] = kind == SLIDER, columns.lo[c], columns.hi[c]
        rows.append(row)
        way = turn.inverse()
    last = np.zeros(WIDE)
    last[:12] = goal_of(way @ tool)
    return np.array([*rows, last])


def find_chain(
    world: World, columns: Columns, tasks: list[Packed], how: np.ndarray
) -> Chain | None:
    """The chain, if the tasks are one whole pose in the world that such a chain can take.

    ``how`` holds the numbers of the tasks, as the kernels read them.
    """
    if len(tasks) != 1 or tasks[0].kind != k.POSE:
        return None
    task = tasks[0]
    weights = task.how[k.WEIGHT : k.WEIGHT + 6]
    if task.other >= 0 or task.mask != 3 or not (weights == 1.0).all() or task.how[k.LM] != 0.0:
        return None
    if task.how[k.GAIN] != 1.0:
        return None
    links = links_to(world, task.body, pose_of(task.how[:7]), columns)
    if links is None or len(links) - 1 != len(columns.dof) or len(links) == 1:
        return None
    coordinates = columns.coordinate[columns.dof]
    scratch = np.zeros((SCRATCH, max(len(links), 8)))
    is_all = np.array_equal(coordinates, np.arange(world.nq))
    target = how[0, k.TARGET : k.TARGET + 7].reshape(1, 7)
    return Chain(
        links, coordinates, 1.0 / columns.metric, scratch, np.zeros(12), is_all, target
    )  # fmt: skip


def carriers(count: int) -> str:
    """So many joints carry something, in words."""
    return f"{count} joint carries" if count == 1 else f"{count} joints carry"
