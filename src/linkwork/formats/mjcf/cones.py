"""Cones: MJCF has no word for them, so they are written as meshes of corners, and known again."""

from __future__ import annotations

import math
from typing import Any

from linkwork.parts import Cone

#: Corners of a round end.
_CORNERS = 32


def cone_corners(shape: Cone) -> list[float]:
    """Corners of a many-sided cone, x y z each [m]."""
    corners: list[float] = []
    for radius, z in ((shape.radius, -shape.length / 2), (shape.top_radius, shape.length / 2)):
        count = _CORNERS if radius > 0.0 else 1
        for number in range(count):
            angle = 2.0 * math.pi * number / count
            x, y = radius * math.cos(angle), radius * math.sin(angle)
            corners += [round(x, 12), round(y, 12), z]
    return corners


def cone_of(corners: list[float], **common: Any) -> Cone | None:
    """The cone whose corners these are, to the last digit; None if they are no cone's."""
    if len(corners) not in (3 * (_CORNERS + 1), 3 * 2 * _CORNERS):
        return None
    radius, top_radius = corners[0], corners[3 * _CORNERS]
    length = 2.0 * corners[-1]
    if not (radius > 0.0 and top_radius >= 0.0 and length > 0.0):
        return None
    made = Cone(radius=radius, length=length, top_radius=top_radius, **common)
    return made if cone_corners(made) == corners else None
