"""Closed motion: the velocities that loops and couplings leave to a robot's joints.

Velocities are q̇ = T y, where the columns of T span the motions that couplings allow and loops do
not block: each coupling column is a leader with its followers, and y is in the null space of the
loops' rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.kinematics.columns import Columns, choose_dofs, find_columns, mimic_relations
from linkwork.kinematics.kernels import FREE
from linkwork.kinematics.loop_closure import loop_tasks
from linkwork.kinematics.packed_tasks import PackedTask
from linkwork.kinematics.problem import check_shape, evaluate_tasks, pack
from linkwork.model.world import World

#: Relative singular value that counts as zero: redundant loop constraints agree to rounding and to
#: the digits of a file.
SMALL = 1e-6


@dataclass(frozen=True)
class ClosedMotion:
    """Possible velocities of joints with loops closed.

    Attributes:
        free: Velocities of all degrees of freedom by free motion, T (nv×r).
        driven: Velocities of the counted joints by free motion (c×r).
        dofs: The counted degrees of freedom (c), leaders of their couplings.
        plain: Whether they are independent: no loops, no couplings.
    """

    free: np.ndarray
    driven: np.ndarray
    dofs: np.ndarray
    plain: bool = False

    def by_driven(self, rows: np.ndarray, what: str) -> np.ndarray:
        """Returns rows (m×nv) as functions of the counted joints' velocities (m×c): A = R T D⁺.

        Raises:
            LinkworkError: If those joints do not determine the rows.
        """
        made = rows @ self.free
        if self.plain:
            return made
        left = made @ (np.eye(self.driven.shape[1]) - _inverse(self.driven) @ self.driven)
        if np.abs(left).max(initial=0.0) > 1e-7 * max(1.0, float(np.abs(made).max(initial=0.0))):
            raise LinkworkError(
                f"{what}: it can still move while the named joints are fixed.",
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
    """Returns the possible velocities of the joints that carry bodies, with their loops closed.

    Args:
        world: The world.
        q: Coordinates.
        bodies: Bodies.
        joints: Counted joints; if absent, all that move; within loops the driven ones, or, without
            any, those that are not free. The other joints of loops follow.
        held: Whether other joints that carry the bodies are fixed, if joints are named.

    Raises:
        LinkworkError: If a loop is of an unsupported kind, or leaves no freedom.
    """
    q = check_shape(q, world)
    chosen = None if joints is None else [d for name in joints for d in world.dofs(name)]
    closing = loop_tasks(world, [*bodies, *world.dof_body[chosen or []].tolist()])
    wanted = choose_dofs(
        world, [] if chosen is not None and held else bodies, None, "", chosen or ()
    )
    if not closing and not len(world.coupling_dof):
        dofs = np.flatnonzero(wanted) if chosen is None else np.array(chosen, np.int64)
        moving = dofs if chosen is None or held else np.flatnonzero(wanted)
        one = np.eye(world.nv)
        return ClosedMotion(one[:, moving], one[dofs][:, moving], dofs, plain=moving is dofs)
    lead = mimic_relations(world, q)[0]
    moved = set(lead[wanted].tolist())
    groups = [each for each in _loop_groups(world, closing, lead) if each & moved]
    for each in groups:
        wanted |= np.isin(lead, list(each))
    columns = find_columns(world, wanted, limits=False, q=q)
    n = len(columns.dof)
    free = np.zeros((world.nv, n))
    moving = np.flatnonzero(columns.col >= 0)
    free[moving, columns.col[moving]] = columns.scale[moving]
    if chosen is None:
        chosen = _independent_dofs(world, columns.dof, groups)
    counted = np.array(list(dict.fromkeys(columns.col[chosen].tolist())), np.int64)
    null = _null_space(world, columns, closing, q) if closing else np.eye(n)
    return ClosedMotion(free @ null, null[counted], columns.dof[counted])


def independent(
    world: World, columns: Columns, closing: list[PackedTask], q: np.ndarray
) -> np.ndarray:
    """Returns columns whose values determine all others in loops, driven ones first."""
    null = _null_space(world, columns, closing, q)
    order = [int(columns.col[d]) for d in _drivers_of(world, columns.dof)]
    order += [c for c in range(len(columns.dof)) if c not in order]
    found: list[int] = []
    for column in order:
        if columns.coordinate[columns.dof[column]] < 0:
            continue
        if np.linalg.matrix_rank(null[[*found, column]], tol=SMALL) > len(found):
            found.append(column)
    return np.array(found, np.int64)


def _loop_groups(world: World, closing: Sequence[PackedTask], lead: np.ndarray) -> list[set[int]]:
    """Groups leading degrees of freedom by the loops that constrain them."""
    found: list[set[int]] = []
    for each in closing:
        group = set(lead[_relative_dofs(world, each)].tolist())
        found, apart = [], found
        for other in apart:
            if group & other:
                group |= other
            else:
                found.append(other)
        found.append(group)
    return found


def _relative_dofs(world: World, loop: PackedTask) -> np.ndarray:
    """Returns which degrees of freedom move one end of a loop relative to the other (nv, bool)."""
    return choose_dofs(world, [loop.body], None, "") ^ choose_dofs(world, [loop.other], None, "")


def _independent_dofs(world: World, dofs: np.ndarray, groups: Sequence[set[int]]) -> list[int]:
    """Returns the unconstrained ones, and the drivers of those in loops."""
    loose = set(dofs.tolist()).difference(*groups)
    counted = {d for each in groups for d in _drivers_of(world, np.array(sorted(each)))}
    return sorted(loose | counted)


def _drivers_of(world: World, dofs: np.ndarray) -> list[int]:
    """Returns the driven ones; without any those that are not of free bodies; or else all."""
    held = [int(d) for d in dofs if world.kind[world.dof_body[d]] != FREE]
    return _driven(world, dofs) or held or dofs.tolist()


def _driven(world: World, dofs: np.ndarray) -> list[int]:
    joint = {int(body): each for body, each in zip(world.joint_body, world.joints, strict=True)}
    return [int(d) for d in dofs if joint[int(world.dof_body[d])].drive is not None]


def _null_space(
    world: World, columns: Columns, closing: list[PackedTask], q: np.ndarray
) -> np.ndarray:
    """Returns velocities of the columns that keep loops closed (n×r).

    Raises:
        LinkworkError: If loops with drives, or all of them, leave no freedom.
    """
    rows = evaluate_tasks(pack(world, columns, closing), q)[1]
    _, sizes, turned = np.linalg.svd(rows)
    rank = int((sizes > SMALL * max(1.0, float(sizes.max(initial=0.0)))).sum())
    null = turned[rank:].T
    for each in closing:
        own = np.unique(columns.col[_relative_dofs(world, each) & (columns.col >= 0)])
        stuck = len(own) and np.abs(null[own]).max(initial=0.0) <= SMALL
        if stuck and (_driven(world, columns.dof[own]) or not null.size):
            raise LinkworkError(
                f"loop {each.title!r} leaves no degree of freedom.",
                origin=world.loop_origins[world.loop_names.index(each.title)],
                hint="Let all of its joints move, and make parallel axes exactly parallel; "
                "`linkwork check` lists redundant constraints.",
            )
    return null
