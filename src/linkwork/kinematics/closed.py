"""Closed motion: the speeds that loops and couplings leave to a robot's joints.

Speeds q̇ = T y, where the columns of T span what couplings allow and loops do not hinder: each
column of the couplings is a leader with its followers, and y the null space of the loops' rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics.columns import Columns, choose, find_columns, leaders
from linkwork.kinematics.kernels import FREE
from linkwork.kinematics.loops import loop_tasks
from linkwork.kinematics.problem import check_shape, look_at, pack
from linkwork.kinematics.task_rows import Packed
from linkwork.world import World

#: Part of the largest singular value below which one counts as nothing: loops that hold something
#: twice do so to rounding, and to what a file's digits are worth.
SMALL = 1e-6


@dataclass(frozen=True)
class ClosedMotion:
    """What joints can do together.

    Attributes:
        free: Speeds of all degrees of freedom by free motion, T (nv×r).
        driven: Speeds of the joints that count by free motion (c×r).
        dofs: The degrees of freedom that count (c), leaders of their couplings.
        plain: Whether each moves by itself: nothing is looped or coupled.
    """

    free: np.ndarray
    driven: np.ndarray
    dofs: np.ndarray
    plain: bool = False

    def by_driven(self, rows: np.ndarray, what: str) -> np.ndarray:
        """Rows (m×nv) as functions of the speeds of the joints that count (m×c): A = R T D⁺.

        Raises:
            LinkworkError: If those joints do not settle what the rows tell.
        """
        made = rows @ self.free
        if self.plain:
            return made
        left = made @ (np.eye(self.driven.shape[1]) - _inverse(self.driven) @ self.driven)
        if np.abs(left).max(initial=0.0) > 1e-7 * max(1.0, float(np.abs(made).max(initial=0.0))):
            raise LinkworkError(
                f"{what}: loops leave it free to move while the joints that count stand still.",
                hint="Name more of the joints that drive it.",
            )
        return made @ _inverse(self.driven)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    return np.linalg.pinv(matrix, rcond=SMALL)


def closed_motion(
    world: World,
    q: np.ndarray,
    bodies: Sequence[int],
    joints: Sequence[str] | None = None,
    *,
    held: bool = True,
) -> ClosedMotion:
    """What the joints that carry bodies can do, together with the loops that these belong to.

    Args:
        world: The world.
        q: Coordinates.
        bodies: Bodies.
        joints: Joints that count; if absent, all that move, but of those that loops tie together
            the driven ones, and where none is, those that are not free. Of the others, those in
            loops go along.
        held: Whether the rest of those that carry the bodies is held, where joints are named.

    Raises:
        LinkworkError: If a loop is of a kind that cannot be kept closed, or leaves nothing free.
    """
    q = check_shape(q, world)
    chosen = None if joints is None else [d for name in joints for d in world.dofs(name)]
    closing = loop_tasks(world, [*bodies, *world.dof_body[chosen or []].tolist()])
    wanted = choose(world, [] if chosen is not None and held else bodies, None, "", chosen or ())
    if not closing and not len(world.coupling_dof):
        dofs = np.flatnonzero(wanted) if chosen is None else np.array(chosen, np.int64)
        moving = dofs if chosen is None or held else np.flatnonzero(wanted)
        one = np.eye(world.nv)
        return ClosedMotion(one[:, moving], one[dofs][:, moving], dofs, plain=moving is dofs)
    lead = leaders(world, q)[0]
    moved = set(lead[wanted].tolist())
    ties = [each for each in _tied(world, closing, lead) if each & moved]
    for each in ties:
        wanted |= np.isin(lead, list(each))
    columns = find_columns(world, wanted, limits=False, q=q)
    n = len(columns.dof)
    free = np.zeros((world.nv, n))
    moving = np.flatnonzero(columns.col >= 0)
    free[moving, columns.col[moving]] = columns.scale[moving]
    if chosen is None:
        chosen = _counting(world, columns.dof, ties)
    counted = np.array(list(dict.fromkeys(columns.col[chosen].tolist())), np.int64)
    null = _null_space(world, columns, closing, q) if closing else np.eye(n)
    return ClosedMotion(free @ null, null[counted], columns.dof[counted])


def independent(world: World, columns: Columns, closing: list[Packed], q: np.ndarray) -> np.ndarray:
    """Columns whose values settle all others in loops, driven ones first."""
    null = _null_space(world, columns, closing, q)
    order = [int(columns.col[d]) for d in _drivers(world, columns.dof)]
    order += [c for c in range(len(columns.dof)) if c not in order]
    found: list[int] = []
    for column in order:
        if columns.coordinate[columns.dof[column]] < 0:
            continue
        if np.linalg.matrix_rank(null[[*found, column]], tol=SMALL) > len(found):
            found.append(column)
    return np.array(found, np.int64)


def _tied(world: World, closing: Sequence[Packed], lead: np.ndarray) -> list[set[int]]:
    """Leading degrees of freedom by what loops tie together: those between a loop's two ends."""
    found: list[set[int]] = []
    for each in closing:
        group = set(lead[_between(world, each)].tolist())
        found, apart = [], found
        for other in apart:
            if group & other:
                group |= other
            else:
                found.append(other)
        found.append(group)
    return found


def _between(world: World, loop: Packed) -> np.ndarray:
    """Which degrees of freedom move one end of a loop against the other (nv, bool)."""
    return choose(world, [loop.body], None, "") ^ choose(world, [loop.other], None, "")


def _counting(world: World, dofs: np.ndarray, ties: Sequence[set[int]]) -> list[int]:
    """Those that move by themselves, and the drivers of those that loops tie together."""
    loose = set(dofs.tolist()).difference(*ties)
    counted = {d for each in ties for d in _drivers(world, np.array(sorted(each)))}
    return sorted(loose | counted)


def _drivers(world: World, dofs: np.ndarray) -> list[int]:
    """Those that are driven, or if none is those that are not of free bodies, or else all."""
    held = [int(d) for d in dofs if world.kind[world.dof_body[d]] != FREE]
    return _driven(world, dofs) or held or dofs.tolist()


def _driven(world: World, dofs: np.ndarray) -> list[int]:
    joint = {int(body): each for body, each in zip(world.joint_body, world.joints, strict=True)}
    return [int(d) for d in dofs if joint[int(world.dof_body[d])].drive is not None]


def _null_space(world: World, columns: Columns, closing: list[Packed], q: np.ndarray) -> np.ndarray:
    """Speeds of the columns that keep loops closed (n×r).

    Raises:
        LinkworkError: If loops with drives, or all of them, leave nothing free.
    """
    rows = look_at(pack(world, columns, closing), q)[1]
    _, sizes, turned = np.linalg.svd(rows)
    rank = int((sizes > SMALL * max(1.0, float(sizes.max(initial=0.0)))).sum())
    null = turned[rank:].T
    for each in closing:
        own = np.unique(columns.col[_between(world, each) & (columns.col >= 0)])
        stuck = len(own) and np.abs(null[own]).max(initial=0.0) <= SMALL
        if stuck and (_driven(world, columns.dof[own]) or not null.size):
            raise LinkworkError(
                f"loop {each.title!r} leaves nothing free to move.",
                origin=world.loop_origins[world.loop_names.index(each.title)],
                hint="Let all joints around it move, and turn axes that are to be parallel exactly "
                "so; `linkwork check` tells what its joints hold twice.",
            )
    return null
