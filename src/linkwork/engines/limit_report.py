"""Limit report: which limits a prescribed motion exceeds, when and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.engines.common.kernels import (
    ALLOWED,
    BY_EFFORT,
    BY_SPEED,
    FIRST_STEP,
    PEAK_STEP,
    SIZE,
)
from linkwork.model.world import World

#: Names of the limits by kind.
_LIMITS = ("range", "max_speed", "max_acceleration", "max_effort")


@dataclass(frozen=True)
class LimitFinding:
    """A limit of a joint that a prescribed motion exceeds.

    Attributes:
        joint: Joint, or ``joint.dof``.
        limit: "range", "max_speed", "target_speed", "max_acceleration" or "max_effort".
        allowed: The limit [SI]; of a range the exceeded end.
        size: Largest excess over the limit [SI]; if limits are respected, the largest deviation
            from the prescribed motion [rad or m].
        time: When it was largest [s].
        first: When it began [s].
        respected: Whether the joint kept within the limit.
        is_angle: Whether the joint's value is an angle.
    """

    joint: str
    limit: str
    allowed: float
    size: float
    time: float
    first: float
    respected: bool
    is_angle: bool

    def _in_units(self, value: float, suffix: str = "") -> str:
        """A number in degrees or meters."""
        if self.is_angle:
            return f"{math.degrees(value):.4g}°{suffix}"
        return f"{value:.4g} m{suffix}"

    def _values(self) -> tuple[str, str]:
        """The limit and its excess, with units."""
        if self.limit == "max_effort":
            unit = "N m" if self.is_angle else "N"
            return f"{self.allowed:.4g} {unit}", f"{self.size:.4g} {unit}"
        suffix = {"range": "", "max_acceleration": "/s²"}.get(self.limit, "/s")
        end = self._in_units(self.allowed, suffix)
        own = "" if self.respected else suffix
        return ("its end, " if self.limit == "range" else "") + end, self._in_units(self.size, own)

    def notice(self) -> str:
        """The message when the limit binds for the first time."""
        allowed, size = self._values()
        of = f"{self.limit} of {allowed}" if self.limit != "range" else f"range ({allowed})"
        if self.respected:
            return (
                f"{self.joint}: the prescribed motion is not followed: the joint keeps within its "
                f"{of}, from {self.time:.3f} s on."
            )
        if self.limit == "max_effort":
            return (
                f"{self.joint}: the prescribed motion needs {size} more than its {of} at "
                f"{self.time:.3f} s."
            )
        return (
            f"{self.joint}: the prescribed motion exceeds its {of} by {size} at {self.time:.3f} s. "
            'It is followed exactly; limits = "respect" keeps within.'
        )

    def line(self) -> str:
        """The line of the report."""
        allowed, size = self._values()
        of = f"{self.limit} of {allowed}" if self.limit != "range" else f"range ({allowed})"
        since = f"from {self.first:.3f} s on" if self.first != self.time else ""
        if self.respected:
            text = (
                f"{self.joint} is kept within its {of}: up to {size} from the prescribed motion, "
                f"at {self.time:.3f} s"
            )
        elif self.limit == "max_effort":
            text = f"{self.joint} needs {size} more than its {of} at {self.time:.3f} s"
        else:
            text = f"{self.joint} exceeds its {of} by {size} at {self.time:.3f} s"
        return f"{text}{f', {since}' if since else ''}."


def limit_findings(
    world: World, table: np.ndarray, h: float, *, respected: bool, since: int = -1
) -> list[LimitFinding]:
    """Returns the findings of a table of limits (nv × kinds × columns).

    Args:
        world: The world.
        table: The table; see :func:`linkwork.engines.common.kernels.note_limit`.
        h: Time step [s].
        respected: Whether joints keep within range, speed and acceleration.
        since: Only those that bind for the first time at this step; all if negative.
    """
    made = []
    for dof, kind in np.argwhere(table[:, :, FIRST_STEP] > 0.0).tolist():
        row = table[dof, kind]
        first = int(row[FIRST_STEP]) - 1
        if since >= 0 and first != since:
            continue
        limit, allowed = _LIMITS[kind], float(row[ALLOWED])
        if kind == BY_SPEED and allowed < world.dof_speed[dof] * (1.0 - 1e-12):
            limit = "target_speed"
        made.append(
            LimitFinding(
                world.dof_name(dof), limit, allowed, float(row[SIZE]), float(row[PEAK_STEP]) * h,
                first * h, respected and kind != BY_EFFORT, world.dof_is_angle(dof),
            )
        )  # fmt: skip
    return made


__all__ = ["LimitFinding", "limit_findings"]
