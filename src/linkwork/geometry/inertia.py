"""Inertia: mass, center of mass and inertia matrix of a rigid body, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.geometry.pose import Numbers, Pose


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass properties in some frame.

    Attributes:
        mass: [kg].
        com: Center of mass in the frame [m].
        matrix: 3x3 inertia matrix about the center of mass, axes of the frame [kg m²].
    """

    mass: float
    com: np.ndarray
    matrix: np.ndarray

    @classmethod
    def of(
        cls,
        mass: float,
        com: Numbers = (0.0, 0.0, 0.0),
        matrix: Sequence[Sequence[float]] | np.ndarray | None = None,
    ) -> Inertia:
        """Builds an inertia; without ``matrix`` it is a point mass."""
        m = np.zeros((3, 3)) if matrix is None else np.array(matrix, dtype=np.float64)
        return cls(float(mass), np.array(com, dtype=np.float64), m)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Inertia):
            return NotImplemented
        return (
            self.mass == other.mass
            and np.array_equal(self.com, other.com)
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        return hash((self.mass, *self.com.tolist(), *self.matrix.ravel().tolist()))

    def moved(self, pose: Pose) -> Inertia:
        """Returns the inertia expressed in the frame in which its own frame has pose ``pose``."""
        rotation = pose.matrix()
        com = np.array(pose.apply(self.com))
        return Inertia(self.mass, com, rotation @ self.matrix @ rotation.T)

    def about(self, point: Numbers) -> np.ndarray:
        """Returns the inertia matrix about ``point`` (parallel-axis theorem) [kg m²]."""
        r = self.com - np.asarray(point, dtype=np.float64)
        return self.matrix + self.mass * (r @ r * np.eye(3) - np.outer(r, r))

    def problem(self) -> str:
        """Returns the reason why no real body can have this inertia, or an empty text."""
        if not (np.isfinite(self.mass) and np.isfinite(self.com).all()):
            return "mass and center of mass must be finite numbers"
        if self.mass < 0:
            return f"the mass is negative ({self.mass:g} kg)"
        if not np.isfinite(self.matrix).all():
            return "the inertia matrix must be made of finite numbers"
        unequal = np.abs(self.matrix - self.matrix.T)
        if (unequal > 1e-12 + 1e-6 * np.abs(self.matrix)).any():
            return "the inertia matrix is not symmetric"
        a, b, c = np.linalg.eigvalsh(self.matrix)
        scale = max(abs(a), abs(b), abs(c), 1e-15)
        if a < -1e-9 * scale:
            return f"the inertia about a principal axis is negative ({a:.3g} kg m²)"
        if a + b < c * (1 - 1e-6) - 1e-15:
            return (
                f"no real body has principal inertias {a:.4g}, {b:.4g}, {c:.4g} kg m²: the two "
                "smaller ones must add up to at least the largest"
            )
        return ""


def combine(parts: Iterable[Inertia]) -> Inertia:
    """Returns the inertia of rigidly joined bodies that are given in one common frame."""
    parts = list(parts)
    mass = sum(p.mass for p in parts)
    if mass > 0.0:
        com = sum((p.mass * p.com for p in parts), np.zeros(3)) / mass
    else:
        com = np.mean([p.com for p in parts], axis=0) if parts else np.zeros(3)
    matrix = sum((p.about(com) for p in parts), np.zeros((3, 3)))
    return Inertia(mass, com, matrix)
