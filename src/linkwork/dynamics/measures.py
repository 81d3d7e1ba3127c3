"""Dynamic manipulability of a posture: acceleration and impact ellipsoids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.core.errors import LinkworkError, not_found
from linkwork.dynamics.recursive import NO_MASS_HINT, crba
from linkwork.geometry.pose import Numbers
from linkwork.kinematics import jacobian
from linkwork.kinematics.closed_motion import closed_motion
from linkwork.kinematics.measures import ManipulabilityEllipsoid, principal_axes, require_motion
from linkwork.model.world import World

KINDS = ("dynamic", "impact")


def dynamic_manipulability(
    world: World,
    q: np.ndarray,
    frame: str,
    *,
    kind: str = "dynamic",
    point: Numbers = (0.0, 0.0, 0.0),
    joints: Sequence[str] | None = None,
) -> ManipulabilityEllipsoid:
    """Returns the ellipsoid of accelerations, or of impacts, of a point of an element or anchor.

    Dynamic (Yoshikawa): unit efforts accelerate the point within the ellipsoid of J M⁻¹. Impact
    (Walker, Khatib): the effective mass Λ = (J M⁻¹ Jᵀ)⁻¹, whose length along an axis is the impulse
    [N s] of a plastic impact at 1 m/s. With loops and couplings, q̇ = T y, both are those of the
    free motion: J T (Tᵀ M T)⁻¹ Dᵀ for efforts at the counted joints, whose velocities are D y, and
    (J T (Tᵀ M T)⁻¹ Tᵀ Jᵀ)⁻¹.

    Args:
        world: The world.
        q: Coordinates.
        frame: Element or anchor.
        kind: "dynamic" or "impact".
        point: The point in that frame [m].
        joints: Counted joints; all that move the frame if absent. The others are fixed, except
            those that loops move along.

    Raises:
        LinkworkError: If those joints do not determine the motion of the frame, or move no mass.
    """
    if kind not in KINDS:
        raise not_found("kind of ellipsoid", kind, list(KINDS))
    motion = closed_motion(world, q, [world.frame(frame)[0]], joints)
    free = motion.free
    point_rows = jacobian(world, q, frame, point=point)[:3]
    shown = motion.by_driven(point_rows, f"{frame!r}")
    require_motion(shown, frame)
    rows = point_rows @ free
    mass = free.T @ crba(world, q) @ free
    try:
        np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        raise LinkworkError(
            f"{frame!r}: some of the joints that move it move nothing that has mass.",
            hint=NO_MASS_HINT,
        ) from None
    if kind == "dynamic":
        inverse_metric = np.linalg.solve(mass, rows.T).T @ motion.driven.T
        sizes, axes = principal_axes(inverse_metric @ inverse_metric.T)
        return ManipulabilityEllipsoid(kind, axes, sizes, float(np.prod(sizes)), shown)
    values, axes = np.linalg.eigh(rows @ np.linalg.solve(mass, rows.T))
    with np.errstate(divide="ignore"):
        heavy = np.where(values > 1e-12, 1.0 / np.maximum(values, 1e-300), np.inf)
    gives = float(values.sum())
    return ManipulabilityEllipsoid(
        kind, axes, heavy, 3.0 / gives if gives > 1e-12 else np.inf, shown
    )
