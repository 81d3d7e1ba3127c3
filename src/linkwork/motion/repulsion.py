"""Repulsion: control points on a robot that are pushed away from objects (003 §5, after Khatib)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.kinematics import PositionTask, Solver, forward
from linkwork.spatial.kernels import rotate
from linkwork.spatial.pose import Numbers
from linkwork.world import World


class Repulsion:
    """A field that pushes control points away from places, as tasks of a low priority.

    Each control point flees at the speed strength · (1/d − 1/reach)/d² [m/s], at most ``fastest``,
    from every place that is closer than ``reach``, and stays where it is when none is.

    Args:
        points: Control points: element or anchor, and the point in its frame [m].
        reach: How far the field goes [m].
        strength: [m⁴/s].
        fastest: [m/s].
        priority: Of the tasks.
    """

    def __init__(
        self,
        points: Sequence[tuple[str, Numbers]],
        *,
        reach: float = 0.3,
        strength: float = 1e-3,
        fastest: float = 0.5,
        priority: int = 1,
    ) -> None:
        if not points or not reach > 0.0:
            raise LinkworkError("a field needs control points, and a reach above 0 m.")
        self.points, self.reach = list(points), reach
        self.strength, self.fastest = strength, fastest
        self.tasks = [
            PositionTask(frame, point=point, priority=priority, name=f"repulsion {n}")
            for n, (frame, point) in enumerate(points)
        ]

    def speed(self, place: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """Velocity [m/s] with which a point at ``place`` flees from ``sources`` (n×3)."""
        made = np.zeros(3)
        for source in np.asarray(sources, float).reshape(-1, 3):
            way = place - source
            d = max(float(np.linalg.norm(way)), 1e-6)
            if d < self.reach:
                made += self.strength * (1.0 / d - 1.0 / self.reach) / (d * d) * way / d
        size = float(np.linalg.norm(made))
        return made if size <= self.fastest else made * (self.fastest / size)

    def aim(
        self, solver: Solver, world: World, q: np.ndarray, sources: np.ndarray, dt: float
    ) -> None:
        """Sets the targets of the field's tasks for the next step of ``solver``."""
        pose = forward(world, q)
        for task in self.tasks:
            body, local = world.frame(task.frame)
            x, y, z = local.apply(task.point)
            place = pose[body, :3] + rotate(pose[body, 3:], x, y, z)
            solver.aim(place + dt * self.speed(place, sources), task.name)
