"""The flat arrays of mechanisms that the kernels share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.engines.impulse.body_kernels import TERMS
from linkwork.engines.impulse.joint_columns import FRAME_COLUMNS, SIDES
from linkwork.engines.impulse.order import Pattern


@dataclass
class Mechanism:
    """The arrays that the kernels share.

    Attributes:
        own: Bodies of the world, by row; the last row of ``bodies`` is what does not move.
        mount: Where each body has its principal axes, and its inertia about them (n×10).
        bodies, whole, number, rail: See ``body_kernels`` and ``joint_columns``.
        pattern: Order of elimination.
        tree: Joint, first coordinate, first degree of freedom of each joint of the tree that keeps
            neither quaternion (n×3).
        coupled: Coupling, its end (0 follows, 1 leads) and coordinate of each joint that is coupled
            (n×3).
        turning: Bodies with ball or free joints.
        names: Name of each joint or loop.
        soft_whole, soft: Soft rows, see ``row_kernels``; those of springs are the last.
        springs: Soft row and spring of each row of a spring (n×2).
        rooms: Where each soft row is kept: its degree of freedom, springs after all of them.
        curves: Joint and loop of each point on a curve and each rail that closes a loop (n×2).
    """

    own: np.ndarray
    mount: np.ndarray
    bodies: np.ndarray
    whole: np.ndarray
    number: np.ndarray
    rail: np.ndarray
    pattern: Pattern
    tree: np.ndarray
    coupled: np.ndarray
    turning: np.ndarray
    names: list[str]
    loops: np.ndarray
    soft_whole: np.ndarray
    soft: np.ndarray
    springs: np.ndarray
    rooms: np.ndarray
    curves: np.ndarray

    @property
    def laws(self) -> int:
        """How many soft rows belong to joints, and not to springs."""
        return len(self.soft) - len(self.springs)


def make_desk(mechanism: Mechanism) -> tuple[np.ndarray, ...]:
    """Arrays that steps write to, see ``step_kernels``."""
    n = len(mechanism.whole)
    blocks = len(mechanism.pattern.row_of)
    sides = int(mechanism.whole[:, SIDES].max(initial=2))
    return (
        np.zeros((n, sides, 6, 6)), np.zeros((n, sides, 6, 6)),
        np.zeros((blocks, 6, 6)), np.zeros((blocks, 6, 6)),
        *(np.zeros((n, 6)) for _ in range(6)),
    )  # fmt: skip


def make_scratch() -> tuple[np.ndarray, ...]:
    """Arrays whose contents nobody keeps."""
    return np.zeros(FRAME_COLUMNS), np.zeros((5, 9)), np.zeros((TERMS, 10)), np.zeros((12, 6))
