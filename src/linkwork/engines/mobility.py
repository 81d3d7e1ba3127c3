"""Mobility: how freely a mechanism with loops can move."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.errors import listing


@dataclass(frozen=True)
class Mobility:
    """How freely a mechanism with loops can move.

    Attributes:
        loops: Names of its loops.
        bodies: How many of its bodies move.
        rows: In how many ways its joints, loops and couplings hold them.
        freedom: Degrees of freedom that are left, as it stands: 6 bodies less the rank of J.
    """

    loops: tuple[str, ...]
    bodies: int
    rows: int
    freedom: int

    @property
    def counted(self) -> int:
        """Grübler's count, which takes all rows for independent."""
        return 6 * self.bodies - self.rows

    def line(self) -> str:
        """What there is to say of it."""
        left = f"mobility {self.freedom}, with {self.bodies} moving bodies held in {self.rows} ways"
        if self.counted != self.freedom:
            twice = self.freedom - self.counted
            left += f" (Grübler counts {self.counted}: {twice} of them hold what others hold too)"
        return f"{listing(self.loops, most=3)}: {left}."
