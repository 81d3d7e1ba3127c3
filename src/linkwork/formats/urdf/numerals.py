"""Numbers as a URDF writes them, so that reading them back gives the same number."""

from __future__ import annotations

import math
from collections.abc import Iterable

from linkwork.spatial.pose import Pose, Vec3


def numeral(value: float) -> str:
    """The shortest decimal that reads back as the same number; whole ones without ``.0``."""
    text = repr(float(value) + 0.0)
    return text.removesuffix(".0")


def numerals(values: Iterable[float]) -> str:
    """Numbers separated by spaces."""
    return " ".join(numeral(value) for value in values)


def rpy_of(pose: Pose) -> Vec3:
    """Fixed-axis xyz angles [rad], exact at pitch ±90° too, where only yaw ∓ roll is defined.

    Yaw is taken first and turned back before roll is measured, so that both always fit together.
    """
    (m00, m01, m02), (m10, m11, m12), (m20, _, _) = pose.matrix().tolist()
    yaw = math.atan2(m10, m00)
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-m20, c * m00 + s * m10)
    roll = math.atan2(s * m02 - c * m12, c * m11 - s * m01)
    return (roll, pitch, yaw)


def origin_attributes(pose: Pose) -> dict[str, str]:
    """The attributes of an ``<origin>``; none for a pose that changes nothing at all."""
    if not any((*pose.xyz, *pose.quat[1:])):
        return {}
    return {"xyz": numerals(pose.xyz), "rpy": numerals(rpy_of(pose))}
