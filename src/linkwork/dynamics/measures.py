"""Measures of a posture that need masses: how easily it accelerates, and how hard it hits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.dynamics.recursive import crba
from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics import jacobian
from linkwork.kinematics.measures import Ellipsoid, columns_of, principal
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
    is the impulse [N s] of a plastic blow at 1 m/s.

    Args:
        world: The world.
        q: Coordinates.
        frame: Element or anchor.
        kind: "dynamic" or "impact".
        point: The point in that frame [m].
        joints: Joints that count; all that move the frame if absent. The others are held.
    """
    if kind not in KINDS:
        raise not_found("kind of ellipsoid", kind, list(KINDS))
    chosen = columns_of(world, q, frame, joints)
    rows = jacobian(world, q, frame, point=point)[:3, chosen]
    mass = crba(world, q)[np.ix_(chosen, chosen)]
    try:
        np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        raise LinkworkError(
            f"{frame!r}: some of the joints that move it move nothing that has mass.",
            hint="Give what they carry a mass, or the joints an armature.",
        ) from None
    if kind == "dynamic":
        easy = np.linalg.solve(mass, rows.T).T
        sizes, axes = principal(easy @ easy.T)
        return Ellipsoid(kind, axes, sizes, float(np.prod(sizes)), rows)
    values, axes = np.linalg.eigh(rows @ np.linalg.solve(mass, rows.T))
    with np.errstate(divide="ignore"):
        heavy = np.where(values > 1e-12, 1.0 / np.maximum(values, 1e-300), np.inf)
    finite = heavy[np.isfinite(heavy)]
    return Ellipsoid(kind, axes, heavy, float(finite.mean()) if len(finite) else np.inf, rows)
