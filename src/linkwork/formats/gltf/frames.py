"""Frames of a scene graph: rigid poses out of matrices that may also scale and shear."""

from __future__ import annotations

import numpy as np

from linkwork.spatial.pose import Pose, quat_from_matrix


def rigid(matrix: np.ndarray) -> Pose | None:
    """The pose nearest to a 4×4 placement, without its scale, shear and mirroring.

    The rotation is U·Vᵀ of the singular value decomposition, turned right-handed. None if the
    placement flattens or is not finite: nothing has a direction then.
    """
    if not np.isfinite(matrix).all():
        return None
    u, values, v = np.linalg.svd(matrix[:3, :3])
    if not values[2] > 1e-9 * values[0]:
        return None
    if np.linalg.det(u @ v) < 0:
        u[:, 2] = -u[:, 2]
    return Pose.of(matrix[:3, 3].tolist(), quat=quat_from_matrix(u @ v))
