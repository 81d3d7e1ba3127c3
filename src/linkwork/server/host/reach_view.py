"""ReachView: what viewers see of a tool that is dragged: ellipsoid, Jacobian, distances."""

from __future__ import annotations

import time

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics.measures import Ellipsoid
from linkwork.motion import Avoidance, Reach
from linkwork.server import messages as m
from linkwork.server.host.near import near_rows, surroundings
from linkwork.server.host.tool_drag import ToolDrag
from linkwork.state import State

#: A tool at rest that is nearer than this to where it was dragged has arrived [m, rad].
_THERE = 1e-4, 1e-3
#: Distances are measured so often at most [1/s].
_RATE = 20.0


class ReachView:
    """Makes blocks, and keeps what would be the same again."""

    def __init__(self) -> None:
        self._of: tuple[Reach, bool] | None = None
        self._near: Avoidance | None = None
        self._rows, self._made = b"", 0.0

    def tool(
        self, reach: Reach, setup: m.ReachSetup, state: State, drag: ToolDrag, jumps: int
    ) -> bytes:
        """The tool, its ellipsoid and its Jacobian, as :data:`m.REACH` says.

        Args:
            reach: The tool.
            setup: How it is dragged.
            state: As it is shown.
            drag: What is on its way, the tool or a link.
            jumps: How often the robot has been put elsewhere.
        """
        q, dragged = state.q, drag.reach
        seen = _ellipsoid(reach, setup.ellipsoid, q)
        rows = reach.jacobian(q)
        target, miss = np.full(7, np.nan), _left(setup, drag.missed)
        if dragged is not None and dragged.hand is None:
            target, miss = dragged.target.array(), dragged.miss(q)
        used = 0.0 if dragged is None else dragged.used
        head = [used, *miss, float(dragged is not None), float(jumps), rows.shape[1]]
        return np.concatenate(
            [
                reach.place(q).array(), target, seen.lengths, seen.axes.T.ravel(), [seen.figure],
                head, rows.ravel(),
            ]
        ).astype("<f8").tobytes()  # fmt: skip

    def near(self, reach: Reach, setup: m.ReachSetup, state: State) -> bytes:
        """What is near the robot, as :data:`m.NEAR` says."""
        key = reach, setup.itself
        if self._of is None or self._of[0] is not reach or self._of[1] != setup.itself:
            self._of, self._made = key, 0.0
            self._near = surroundings(reach.world, reach.tip, itself=setup.itself)
        now = time.perf_counter()
        if self._near is not None and now - self._made >= 1.0 / _RATE:
            self._rows, self._made = near_rows(self._near, state.q).tobytes(), now
        return self._rows if self._near is not None else b""


def _left(setup: m.ReachSetup, missed: tuple[float, float]) -> tuple[float, float]:
    """What a tool at rest has missed of what was wanted of it [m, rad]."""
    kinds = {aim.kind for aim in setup.aims}
    far = missed[0] if "position" in kinds and missed[0] > _THERE[0] else 0.0
    return far, missed[1] if "orientation" in kinds and missed[1] > _THERE[1] else 0.0


def _ellipsoid(reach: Reach, kind: str, q: np.ndarray) -> Ellipsoid:
    """The ellipsoid that was asked for; one without lengths where the posture has none."""
    try:
        return reach.ellipsoid(q, kind)
    except LinkworkError:
        return Ellipsoid(kind, np.eye(3), np.full(3, np.nan), np.nan, np.zeros((3, 0)))
