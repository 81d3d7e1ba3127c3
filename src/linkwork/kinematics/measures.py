"""Measures of a posture: in which directions a point moves or pushes easily."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics.closed import closed_motion
from linkwork.kinematics.forward import jacobian
from linkwork.spatial.pose import Numbers
from linkwork.world import World

#: Kinds of ellipsoids that need no masses.
KINDS = ("velocity", "force")


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid at a point.

    Attributes:
        kind: "velocity", "force", "dynamic" or "impact".
        axes: Its principal axes as columns (3×3), the longest first, world axes.
        lengths: Half lengths along them; ∞ where a force costs nothing.
        figure: One number: the product of the singular values of the Jacobian (Yoshikawa's w, for
            velocity and force), of those of J M⁻¹ (dynamic), or the harmonic mean of the effective
            masses, in which a way that gives not at all counts as endlessly heavy (impact).
        jacobian: Of the point by the joints that count (3×n), world axes.
    """

    kind: str
    axes: np.ndarray
    lengths: np.ndarray
    figure: float
    jacobian: np.ndarray


def closed_jacobian(
    world: World,
    q: np.ndarray,
    frame: str,
    *,
    point: Numbers = (0.0, 0.0, 0.0),
    joints: Sequence[str] | None = None,
) -> np.ndarray:
    """Jacobian (6×n) by the joints that count, loops closed and followers with their leaders.

    Args:
        world: The world.
        q: Coordinates.
        frame: Element or anchor.
        point: The point in that frame [m].
        joints: Joints that count; all that move the frame if absent.

    Raises:
        LinkworkError: If the joints do not settle how the frame moves.
    """
    motion = closed_motion(world, q, [world.frame(frame)[0]], joints)
    rows = jacobian(world, q, frame, point=point)
    return motion.by_driven(rows, f"{frame!r}")


def check_moves(rows: np.ndarray, frame: str) -> None:
    """Refuses the measures of what no joint moves."""
    if not rows.shape[1]:
        raise LinkworkError(
            f"no joint moves {frame!r}.", hint="Measures are for what joints carry."
        )


def principal(square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values, the largest first, and axes of A from A Aᵀ (003 eq. 3.9–3.12)."""
    values, axes = np.linalg.eigh(square)
    return np.sqrt(np.maximum(values[::-1], 0.0)), axes[:, ::-1]


def manipulability(
    world: World,
    q: np.ndarray,
    frame: str,
    *,
    kind: str = "velocity",
    point: Numbers = (0.0, 0.0, 0.0),
    joints: Sequence[str] | None = None,
    turning: bool = False,
) -> Ellipsoid:
    """Manipulability ellipsoid of a point of an element or anchor.

    A unit sphere of joint speeds becomes the ellipsoid of velocities with axes u and lengths σ of
    J = U Σ Vᵀ (003 §3.6). The duality of forces makes it the ellipsoid of forces with lengths 1/σ
    that unit efforts can hold. Loops stay closed: joint speeds are those that they allow.

    Args:
        world: The world.
        q: Coordinates.
        frame: Element or anchor.
        kind: "velocity" or "force".
        point: The point in that frame [m].
        joints: Joints that count: those that drive it, where there are loops, whose others go
            along. All that move the frame if absent.
        turning: Whether turns count instead of places.
    """
    if kind not in KINDS:
        raise not_found("kind of ellipsoid", kind, list(KINDS))
    whole = closed_jacobian(world, q, frame, point=point, joints=joints)
    check_moves(whole, frame)
    rows = whole[3:6] if turning else whole[:3]
    sizes, axes = principal(rows @ rows.T)
    figure = float(np.prod(sizes))
    if kind == "velocity":
        return Ellipsoid(kind, axes, sizes, figure, rows)
    with np.errstate(divide="ignore"):
        lengths = np.where(sizes > 1e-12, 1.0 / np.maximum(sizes, 1e-300), np.inf)
    return Ellipsoid(kind, axes[:, ::-1], lengths[::-1], figure, rows)
