"""Columns: the unknowns of inverse kinematics, which are the joints that may move."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.kernels import quat_rotvec
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.world import World


@dataclass(frozen=True)
class Columns:
    """Degrees of freedom that may move, grouped by couplings.

    Attributes:
        col: Column of each degree of freedom; −1 for fixed ones.
        scale: Ratio of each to its column.
        coordinate: Coordinate of each; −1 for those of balls and free bodies.
        dof: Leading degree of freedom of each column.
        lo: Lower limits by column [rad or m].
        hi: Upper limits.
        speed: Velocity limits by column [rad/s or m/s].
        metric: Weight of each column's motion (a weighted pseudo-inverse).
        by_body: Degrees of freedom that may move, by body.
    """

    col: np.ndarray
    scale: np.ndarray
    coordinate: np.ndarray
    dof: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    speed: np.ndarray
    metric: np.ndarray
    by_body: dict[int, list[int]]

    def of_body(self, body: int) -> list[int]:
        """Returns the degrees of freedom of a body's joint that may move."""
        return self.by_body.get(body, [])


def coordinates_of(world: World) -> np.ndarray:
    """Returns the coordinate of each degree of freedom that has its own; −1 for the others."""
    body = world.dof_body
    if not world.nv:
        return np.zeros(0, np.int64)
    made = world.qadr[body] + np.arange(world.nv) - world.vadr[body]
    turning = np.arange(world.nv) - world.vadr[body]
    kind = world.kind[body]
    made[(kind == BALL) | ((kind == FREE) & (turning >= 3))] = -1
    return made


def find_columns(
    world: World,
    wanted: np.ndarray,
    *,
    limits: bool = True,
    metric: np.ndarray | None = None,
    q: np.ndarray | None = None,
) -> Columns:
    """Groups degrees of freedom into columns.

    Args:
        world: The world.
        wanted: Which degrees of freedom may move (nv, bool).
        limits: Whether to apply ranges.
        metric: Weight of each degree of freedom's motion; 1 if absent.
        q: Coordinates at which nonlinear couplings are linearized; if absent, they are rejected.
    """
    lead, ratio, offset = mimic_relations(world, q)
    col = np.full(world.nv, -1, np.int64)
    moving = [d for d in range(world.nv) if lead[d] == d and wanted[d]]
    for c, d in enumerate(moving):
        col[d] = c
    for d in range(world.nv):
        if lead[d] != d:
            col[d] = col[lead[d]]
        if col[d] >= 0 and np.isnan(ratio[d]):
            leader = world.dof_name(int(lead[d]))
            raise LinkworkError(
                f"{world.dof_name(d)!r} follows {leader!r} by a nonlinear law; inverse kinematics "
                "supports linear ones only.",
                hint=f"Leave {leader!r} out of the joints that may move.",
            )
    lo = np.array([world.dof_lo[d] for d in moving]) if limits else np.full(len(moving), -np.inf)
    hi = np.array([world.dof_hi[d] for d in moving]) if limits else np.full(len(moving), np.inf)
    speed = np.array([world.dof_speed[d] for d in moving])
    coordinate = coordinates_of(world)
    for d in range(world.nv):
        c = col[d]
        if c < 0 or lead[d] == d or ratio[d] == 0.0:
            continue
        ends = sorted((end - offset[d]) / ratio[d] for end in (world.dof_lo[d], world.dof_hi[d]))
        if limits:
            lo[c], hi[c] = max(lo[c], ends[0]), min(hi[c], ends[1])
        speed[c] = min(speed[c], world.dof_speed[d] / abs(ratio[d]))
    for c, d in enumerate(moving):
        if coordinate[d] < 0:
            lo[c], hi[c] = -np.inf, np.inf
    by_body: dict[int, list[int]] = {}
    for d in range(world.nv):
        if col[d] >= 0:
            by_body.setdefault(int(world.dof_body[d]), []).append(d)
    weights = np.ones(world.nv) if metric is None else np.asarray(metric, float)
    if weights.shape != (world.nv,) or not (weights > 0.0).all():
        raise LinkworkError(f"metric must have {world.nv} numbers above 0, not {weights}.")
    return Columns(
        col, np.nan_to_num(ratio), coordinate, np.array(moving, np.int64), lo.astype(float),
        hi.astype(float), speed.astype(float), weights[moving], by_body,
    )  # fmt: skip


def mimic_relations(
    world: World, q: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns leader, ratio and offset of each degree of freedom; a free one leads itself.

    For nonlinear laws, ratio and offset are those at ``q``, or NaN without it.
    """
    lead, ratio, offset = np.arange(world.nv), np.ones(world.nv), np.zeros(world.nv)
    coordinate = coordinates_of(world)
    for (follows, leads), law in zip(world.coupling_dof, world.laws(), strict=True):
        start, slope = law[0], law[1]
        if any(law[2:]) and q is None:
            slope = start = np.nan
        elif q is not None and any(law[2:]):
            here = float(q[coordinate[leads]])
            slope = sum(n * law[n] * here ** (n - 1) for n in range(1, len(law)))
            start = sum(law[n] * here**n for n in range(len(law))) - slope * here
        lead[follows] = lead[leads]
        ratio[follows] = slope * ratio[leads]
        offset[follows] = slope * offset[leads] + start
    return lead, ratio, offset


class MimicJoints:
    """Coordinates that follow others by couplings: q_f = ratio q_l + offset."""

    def __init__(self, world: World) -> None:
        lead, ratio, offset = mimic_relations(world)
        # followers with nonlinear laws are fixed, as their leaders are
        dofs = np.flatnonzero((lead != np.arange(world.nv)) & ~np.isnan(ratio))
        coordinate = coordinates_of(world)
        self._follows, self._connects = coordinate[dofs], coordinate[lead[dofs]]
        self._ratio, self._offset = ratio[dofs], offset[dofs]
        self._any = len(dofs) > 0

    def put(self, q: np.ndarray) -> None:
        """Sets the followers from their leaders, in place; ``q`` may have many rows."""
        if self._any:
            q[..., self._follows] = self._ratio * q[..., self._connects] + self._offset


def choose_dofs(
    world: World,
    bodies: Sequence[int],
    joints: Sequence[str] | None,
    first: str,
    dofs: Collection[int] = (),
) -> np.ndarray:
    """Returns which degrees of freedom may move (nv, bool).

    Args:
        world: The world.
        bodies: Bodies of tasks: by default all joints that carry them move.
        joints: These joints only.
        first: Only this joint and what it carries.
        dofs: Degrees of freedom of tasks themselves.
    """
    chosen = np.zeros(world.nv, bool)
    if isinstance(joints, str):
        raise LinkworkError(f"joints must be a list of names, not {joints!r}.")
    if joints is not None:
        for name in joints:
            chosen[list(world.dofs(name))] = True
    else:
        carriers: set[int] = set()
        for body in bodies:
            while body > 0:
                carriers.add(body)
                body = int(world.parent[body])
        chosen[[d for d in range(world.nv) if int(world.dof_body[d]) in carriers]] = True
        chosen[list(dofs)] = True
        for follows, leads in world.coupling_dof[::-1]:  # leaders precede followers
            chosen[leads] |= chosen[follows]
    if first:
        root = int(world.joint_body[world.joint(first)])
        for d in range(world.nv):
            body = int(world.dof_body[d])
            while body > 0 and body != root:
                body = int(world.parent[body])
            chosen[d] &= body == root
    return chosen


def dof_value(world: World, dof: int, q: np.ndarray) -> float:
    """Returns the value of a degree of freedom [rad or m].

    A rotation has a component of a rotation vector: a ball's is in the axes of its joint, as in
    postures, a free body's in the world, as its position.
    """
    at = int(coordinates_of(world)[dof])
    if at >= 0:
        return float(q[at])
    body = int(world.dof_body[dof])
    number = int(np.flatnonzero(world.joint_body == body)[0])
    is_free = world.kind[body] == FREE
    start = int(world.qadr[body]) + (3 if is_free else 0)
    turn = quat_rotvec(q[start : start + 4])
    if not is_free:
        turn = world.joints[number].at_to.inverse().rotate(turn)
    return float(turn[dof - int(world.vadr[body]) - (3 if is_free else 0)])
