"""Manipulability of a posture: ellipsoids of velocities or forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError, not_found
from linkwork.geometry.pose import Numbers
from linkwork.kinematics.closed_motion import closed_motion
from linkwork.kinematics.forward import jacobian
from linkwork.model.world import World

#: Kinds of ellipsoids without masses.
KINDS = ("velocity", "force")


@dataclass(frozen=True)
class ManipulabilityEllipsoid:
    """An ellipsoid at a point.

    Attributes:
        kind: "velocity", "force", "dynamic" or "impact".
        axes: Its principal axes as columns (3×3), the longest first, world axes.
        lengths: Semi-axes; ∞ for a force without effort.
        figure: One number: the product of the singular values of the Jacobian (Yoshikawa's w, for
            velocity and force), of those of J M⁻¹ (dynamic), or the harmonic mean of the effective
            masses, infinite in rigid directions (impact).
        jacobian: Of the point by the counted joints (3×n), world axes.
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
    """Returns the Jacobian (6×n) by the counted joints, with loops closed and couplings applied.

    Args:
        world: The world.
        q: Coordinates.
        frame: Element or anchor.
        point: The point in that frame [m].
        joints: Counted joints; all that move the frame if absent.

    Raises:
        LinkworkError: If the joints do not determine the motion of the frame.
    """
    motion = closed_motion(world, q, [world.frame(frame)[0]], joints)
    rows = jacobian(world, q, frame, point=point)
    return motion.by_driven(rows, f"{frame!r}")


def require_motion(rows: np.ndarray, frame: str) -> None:
    """Rejects frames that no joint moves."""
    if not rows.shape[1]:
        raise LinkworkError(f"no joint moves {frame!r}.", hint="Name a frame that joints carry.")


def principal_axes(square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns singular values and axes of A from A Aᵀ (RoboTiX thesis eq. 3.9–3.12)."""
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
) -> ManipulabilityEllipsoid:
    """Returns the manipulability ellipsoid of a point of an element or anchor.

    J = U Σ Vᵀ maps the unit sphere of joint velocities to the ellipsoid with axes u and lengths σ
    (RoboTiX thesis §3.6). By duality, unit efforts hold the ellipsoid of forces with lengths 1/σ.
    Loops stay closed: joint velocities are those that they allow.

    Args:
        world: The world.
        q: Coordinates.
        frame: Element or anchor.
        kind: "velocity" or "force".
        point: The point in that frame [m].
        joints: Counted joints: the driving ones of loops, whose others follow. All that move the
            frame if absent.
        turning: Whether to measure rotation instead of translation.
    """
    if kind not in KINDS:
        raise not_found("kind of ellipsoid", kind, list(KINDS))
    whole = closed_jacobian(world, q, frame, point=point, joints=joints)
    require_motion(whole, frame)
    rows = whole[3:6] if turning else whole[:3]
    sizes, axes = principal_axes(rows @ rows.T)
    figure = float(np.prod(sizes))
    if kind == "velocity":
        return ManipulabilityEllipsoid(kind, axes, sizes, figure, rows)
    with np.errstate(divide="ignore"):
        lengths = np.where(sizes > 1e-12, 1.0 / np.maximum(sizes, 1e-300), np.inf)
    return ManipulabilityEllipsoid(kind, axes[:, ::-1], lengths[::-1], figure, rows)
