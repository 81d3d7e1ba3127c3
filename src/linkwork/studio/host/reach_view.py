"""ReachView: the view of a dragged tool: ellipsoid, Jacobian, distances."""

from __future__ import annotations

import time

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.core.state import State
from linkwork.kinematics.measures import ManipulabilityEllipsoid
from linkwork.model.world import World
from linkwork.motion import Avoidance, ReachSolver
from linkwork.studio import protocol as m
from linkwork.studio.host.tool_drag import ToolDrag

#: Largest displayed distance [m], and the maximum number of displayed pairs.
SHOWN_DISTANCE, MAX_PAIRS = 0.3, 24


def surroundings(
    world: World, tip: str, *, distance: float = 0.0, itself: bool = False
) -> Avoidance | None:
    """Distances of a robot from all other colliding shapes, with ``itself`` also from itself.

    Args:
        world: The world.
        tip: Element or anchor of the robot.
        distance: Distance to keep [m].
        itself: Whether its own links are included.

    Returns:
        None if nothing else collides.
    """
    robot = world.body_part[world.frame(tip)[0]]
    colliding = dict.fromkeys(s.element for s in world.shapes if s.shape.collide)
    names = [world.element_names[number] for number in colliding]
    others = [name for name in names if not name.startswith(f"{robot}/")]
    try:
        return Avoidance(world, robot, others, distance=distance, itself=itself)
    except LinkworkError:
        return None


def near_rows(near: Avoidance, q: np.ndarray) -> np.ndarray:
    """The closest pairs in the format of ``NEAR`` in the protocol, closest first."""
    found = near.nearest(q, SHOWN_DISTANCE)[:MAX_PAIRS]
    rows = np.zeros((len(found), 11), "<f4")
    for row, each in zip(rows, found, strict=True):
        row[:3], row[3:6], row[6] = each.on_a, each.on_b, each.distance
        row[7:] = each.shapes
    return rows


#: Tolerance within which a tool at rest has reached its target [m, rad].
_THERE = 1e-4, 1e-3
#: Maximum rate of distance measurements [1/s].
_RATE = 20.0


class ReachView:
    """Builds blocks and caches them while they are unchanged."""

    def __init__(self) -> None:
        self._of: tuple[ReachSolver, bool] | None = None
        self._near: Avoidance | None = None
        self._rows, self._made = b"", 0.0

    def tool(
        self, reach: ReachSolver, setup: m.ReachSetup, state: State, drag: ToolDrag, jumps: int
    ) -> bytes:
        """The tool, its ellipsoid and its Jacobian, in the format of :data:`m.REACH`.

        Args:
            reach: The tool.
            setup: Settings of the tool.
            state: The displayed state.
            drag: The drag of the tool or of a link.
            jumps: How often the robot's coordinates were set directly.
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

    def near(self, reach: ReachSolver, setup: m.ReachSetup, state: State) -> bytes:
        """The surroundings of the robot, in the format of :data:`m.NEAR`."""
        key = reach, setup.itself
        if self._of is None or self._of[0] is not reach or self._of[1] != setup.itself:
            self._of, self._made = key, 0.0
            self._near = surroundings(reach.world, reach.tip, itself=setup.itself)
        now = time.perf_counter()
        if self._near is not None and now - self._made >= 1.0 / _RATE:
            self._rows, self._made = near_rows(self._near, state.q).tobytes(), now
        return self._rows if self._near is not None else b""


def _left(setup: m.ReachSetup, missed: tuple[float, float]) -> tuple[float, float]:
    """Remaining error of a tool at rest, in the goals that are set [m, rad]."""
    kinds = {aim.kind for aim in setup.aims}
    far = missed[0] if "position" in kinds and missed[0] > _THERE[0] else 0.0
    return far, missed[1] if "orientation" in kinds and missed[1] > _THERE[1] else 0.0


def _ellipsoid(reach: ReachSolver, kind: str, q: np.ndarray) -> ManipulabilityEllipsoid:
    """The requested ellipsoid, with NaN lengths if the posture has none."""
    try:
        return reach.ellipsoid(q, kind)
    except LinkworkError:
        return ManipulabilityEllipsoid(
            kind, np.eye(3), np.full(3, np.nan), np.nan, np.zeros((3, 0))
        )
