"""Chain: the serial path of hinges and sliders from the base to one tool, for fast search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.pose import Pose, quat_between
from linkwork.kinematics import memory_layout_kernels as k
from linkwork.kinematics.chain_kernels import HI, LO, SCRATCH, SLIDES, WIDE
from linkwork.kinematics.columns import Columns
from linkwork.kinematics.kernels import FIXED, HINGE, SLIDER
from linkwork.kinematics.packed_tasks import PackedTask
from linkwork.model.world import World

#: Distance below which axes intersect [m].
_EXACT = 1e-9


@dataclass
class Chain:
    """A chain in the form of its kernel.

    Attributes:
        links: Transforms from joint to joint (n+1×16).
        coordinates: Coordinate of each joint.
        inverse_metric: Inverse weight of each joint's motion.
        scratch: Workspace of the search.
        goal: Workspace for the target in kernel form.
        is_all: Whether its joints are all coordinates of the world, in order.
        target: Target pose of the tool (1×7): a view of the task's own numbers.
    """

    links: np.ndarray
    coordinates: np.ndarray
    inverse_metric: np.ndarray
    scratch: np.ndarray
    goal: np.ndarray
    is_all: bool
    target: np.ndarray


def pose_from_row(row: np.ndarray) -> Pose:
    """Returns a pose from seven numbers."""
    return Pose(tuple(float(x) for x in row[:3]), tuple(float(x) for x in row[3:]))  # type: ignore[arg-type]


def goal_row(pose: Pose) -> np.ndarray:
    """Returns a goal in kernel form: the matrix by rows, then the position."""
    return np.concatenate([pose.matrix()[:3, :3].ravel(), pose.xyz])


def common_point(axes: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, float]:
    """Returns the point nearest to several lines, and its largest distance to one [m]."""
    across = np.eye(3) - np.einsum("ki,kj->kij", axes, axes)
    right = np.einsum("kij,kj->i", across, points)
    found = np.linalg.lstsq(across.sum(axis=0), right, rcond=None)[0]
    return found, float(np.linalg.norm(np.cross(axes, found - points), axis=1).max())


def intersection(
    axes: np.ndarray, points: np.ndarray, where: str, refusal: Callable[[str], LinkworkError]
) -> np.ndarray:
    """Returns the common point of several joint axes.

    Args:
        axes: Unit vectors.
        points: A point of each axis [m].
        where: Name of the joint group for the message: "hip".
        refusal: Makes the error from a reason.

    Raises:
        LinkworkError: If the axes do not intersect.
    """
    found, gap = common_point(axes, points)
    if gap > _EXACT:
        raise refusal(f"the axes of its {where} miss each other by {gap:.3g} m")
    return found


def chain_links(world: World, body: int, tool: Pose, columns: Columns) -> np.ndarray | None:
    """Returns the transforms along the chain to a tool; None if it has other kinds of joints."""
    rows, transform = [], Pose()
    for b in reversed(world.ancestors(body)):
        transform = transform @ pose_from_row(world.x0[b])
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
        row[:12] = goal_row(transform @ turn)
        row[SLIDES], row[LO], row[HI] = kind == SLIDER, columns.lo[c], columns.hi[c]
        rows.append(row)
        transform = turn.inverse()
    last = np.zeros(WIDE)
    last[:12] = goal_row(transform @ tool)
    return np.array([*rows, last])


def find_chain(
    world: World, columns: Columns, tasks: list[PackedTask], params: np.ndarray
) -> Chain | None:
    """Returns the chain if the tasks are one full world pose of a single chain.

    ``params`` are the parameters of the tasks in kernel form.
    """
    if len(tasks) != 1 or tasks[0].kind != k.POSE:
        return None
    task = tasks[0]
    weights = task.params[k.WEIGHT : k.WEIGHT + 6]
    if task.other >= 0 or task.mask != 3 or not (weights == 1.0).all() or task.params[k.LM] != 0.0:
        return None
    if task.params[k.GAIN] != 1.0:
        return None
    links = chain_links(world, task.body, pose_from_row(task.params[:7]), columns)
    if links is None or len(links) - 1 != len(columns.dof) or len(links) == 1:
        return None
    coordinates = columns.coordinate[columns.dof]
    scratch = np.zeros((SCRATCH, max(len(links), 8)))
    is_all = np.array_equal(coordinates, np.arange(world.nq))
    target = params[0, k.TARGET : k.TARGET + 7].reshape(1, 7)
    return Chain(
        links, coordinates, 1.0 / columns.metric, scratch, np.zeros(12), is_all, target
    )  # fmt: skip


def joint_count_text(count: int) -> str:
    """Returns the number of joints that carry something, in words."""
    return f"{count} joint carries" if count == 1 else f"{count} joints carry"
