"""Numbers as files write them, so that reading them back gives the same number."""

from __future__ import annotations

from collections.abc import Iterable

from linkwork.spatial.pose import Pose


def numeral(value: float) -> str:
    """The shortest decimal that reads back as the same number; whole ones without ``.0``."""
    text = repr(float(value) + 0.0)
    return text.removesuffix(".0")


def numerals(values: Iterable[float]) -> str:
    """Numbers separated by spaces."""
    return " ".join(numeral(value) for value in values)


def origin_attributes(pose: Pose) -> dict[str, str]:
    """The attributes of an ``<origin>``; none for a pose that changes nothing at all."""
    if pose.is_identity():
        return {}
    return {"xyz": numerals(pose.xyz), "rpy": numerals(pose.rpy())}
