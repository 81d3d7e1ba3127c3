"""Measures of a posture that need masses: how easily it accelerates, and how hard it hits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.dynamics.recursive import crba
from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics import jacobian
from linkwork.kinematics.closed import closed_motion
from linkwork.kinematics.measures import Ellipsoid, check_moves, principal
from linkwork.spatial.pose import Numbers
from linkwork.world import World

KINDS = ("dynamic", "impact")


def dynamic_manipulability(
    world: World,
    q: np.ndarray,
    frame: str,
    *,
    kind: str = "dynamic",
    point: Numbers = (0.0, 0.0, 0.0),
    joints: Sequence[str] | None = None,
) -> Ellipsoid:
    """Ellipsoid of accelerations, or of impacts, of a point of an element or anchor.

    Dynamic (Yoshikawa): efforts of unit size accelerate the point within the ellipsoid of
    J M⁻¹. Impact (Walker, Khatib): the effective mass Λ = (J M⁻¹ Jᵀ)⁻¹, whose length along an axis
    is the impulse [N s] of a plastic blow at 1 m/s. With loops and couplings, q̇ = T y, both are
    those of what is free: J T (Tᵀ M T)⁻¹ Dᵀ for efforts at the joints that count, whose speeds are
    D y, and (J T (Tᵀ M T)⁻¹ Tᵀ Jᵀ)⁻¹.

    Args:
        world: The world.
        q: Coordinates.
        frame: Element or anchor.
        kind: "dynamic" or "impact".
        point: The point in that frame [m].
        joints: Joints that count; all that move the frame if absent. The others are held, but for
            those that loops take along.

    Raises:
        LinkworkError: If those joints do not settle how the frame moves, or move no mass.
    """
    if kind not in KINDS:
        raise not_found("kind of ellipsoid", kind, list(KINDS))
    motion = closed_motion(world, q, [world.frame(frame)[0]], joints)
    free = motion.free
    point_rows = jacobian(world, q, frame, point=point)[:3]
    shown = motion.by_driven(point_rows, f"{frame!r}")
    check_moves(shown, frame)
    rows = point_rows @ free
    mass = free.T @ crba(world, q) @ free
    try:
        np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        raise LinkworkError(
            f"{frame!r}: some of the joints that move it move nothing that has mass.",
            hint="Give what they carry a mass, or the joints an armature.",
        ) from None
    if kind == "dynamic":
        easy = np.linalg.solve(mass, rows.T).T @ motion.driven.T
        sizes, axes = principal(easy @ easy.T)
        return Ellipsoid(kind, axes, sizes, float(np.prod(sizes)), shown)
    values, axes = np.linalg.eigh(rows @ np.linalg.solve(mass, rows.T))
    with np.errstate(divide="ignore"):
        heavy = np.where(values > 1e-12, 1.0 / np.maximum(values, 1e-300), np.inf)
    gives = float(values.sum())
    return Ellipsoid(kind, axes, heavy, 3.0 / gives if gives > 1e-12 else np.inf, shown)
