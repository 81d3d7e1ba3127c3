"""Numbers for files: whole ones without a point, degrees and millimetres where nothing is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from linkwork.spatial.pose import IDENTITY, Pose
from linkwork.units import SUFFIXES

_DEG, _MM = SUFFIXES["_deg"], SUFFIXES["_mm"]

#: Decimals of degrees that people write; more would be noise.
_DECIMALS = (3, 6, 9)


def tidy(value: float) -> float | int:
    """The same number, whole where it is."""
    return int(value) if abs(value) < 1e15 and value == int(value) else float(value)


def tidied(values: Sequence[float]) -> list[float | int]:
    """The same numbers, whole where they are."""
    return [tidy(value) for value in values]


def _as_degrees(
    values: Sequence[float], same: Callable[[list[float]], bool]
) -> list[float | int] | None:
    for decimals in _DECIMALS:
        rounded = [round(value / _DEG, decimals) for value in values]
        if same([value * _DEG for value in rounded]):
            return tidied(rounded)
    return None


def angles(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Angles [rad] under ``name_deg`` if they read back the same to the last bit, else ``name``."""
    exact = _as_degrees(values, lambda read: read == list(values))
    return {f"{name}_deg": exact} if exact is not None else {name: tidied(values)}


def angle(name: str, value: float) -> dict[str, Any]:
    """One angle [rad], as :func:`angles`."""
    return {key: values[0] for key, values in angles(name, [value]).items()}


def length(name: str, value: float) -> dict[str, Any]:
    """A length [m] under ``name_mm`` if it reads back the same to the last bit, else ``name``."""
    for decimals in _DECIMALS:
        rounded = round(value / _MM, decimals)
        if rounded * _MM == value:
            return {f"{name}_mm": tidy(rounded)}
    return {name: tidy(value)}


def pose_table(pose: Pose) -> dict[str, Any]:
    """A pose as ``{ xyz, rpy_deg }``, or with ``quat`` where angles would lose bits."""
    made: dict[str, Any] = {}
    if any(pose.xyz):
        made["xyz"] = tidied(pose.xyz)
    if pose.quat != IDENTITY.quat:
        rpy = pose.rpy()
        exact = _as_degrees(rpy, lambda read: Pose.of(rpy=read).quat == pose.quat)
        if exact is not None:
            made["rpy_deg"] = exact
        elif Pose.of(rpy=rpy).quat == pose.quat and all(math.isfinite(c) for c in rpy):
            made["rpy"] = tidied(rpy)
        else:
            made["quat"] = tidied(pose.quat)
    return made


def posed(name: str, pose: Pose) -> dict[str, Any]:
    """``{name: pose}``, or nothing for a pose that changes nothing."""
    return {name: pose_table(pose)} if pose != IDENTITY else {}
