"""Collision avoidance: a robot keeps a distance from obstacles while it follows its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.errors import LinkworkError, not_found
from linkwork.engines.common.collision_scene import CollisionScene
from linkwork.geometry.kernels import rotate
from linkwork.geometry.pose import Numbers, Pose
from linkwork.kinematics import PositionTask, Solver, forward
from linkwork.kinematics.solver import Inequalities
from linkwork.model.parts import Plane, Sphere
from linkwork.model.world import World

Pair = tuple[int, int]

#: Distance below which nearest points define no direction [m].
_TOUCHING = 1e-9

#: Distance of equal corners [m], and maximum number of corners of a pair.
_CORNER, _CORNERS = 0.005, 4


@dataclass(frozen=True)
class ClosestPoints:
    """Nearest points of two shapes.

    Attributes:
        distance: [m]; negative if they overlap.
        a: Element of the robot.
        b: Element that it avoids.
        on_a: The nearest point of the first, in the world [m].
        on_b: The nearest point of the second.
        shapes: Element and shape index of the first and of the second.
    """

    distance: float
    a: str
    b: str
    on_a: np.ndarray
    on_b: np.ndarray
    shapes: tuple[int, int, int, int] = (-1, -1, -1, -1)


class Avoidance:
    """Distance constraints of a solver's steps.

    Args:
        world: The world.
        robot: Placed part that keeps the distance.
        objects: Parts or elements that it avoids.
        distance: Minimum distance [m].
        itself: Whether its own links avoid each other as well.
        reach: Distance at which inequalities become active [m]; three times the minimum if absent.
        gain: Share of the remaining distance that one step may use, 0 to 1.
    """

    def __init__(
        self,
        world: World,
        robot: str,
        objects: Sequence[str] = (),
        *,
        distance: float = 0.05,
        itself: bool = False,
        reach: float | None = None,
        gain: float = 0.2,
    ) -> None:
        if not distance >= 0.0 or not 0.0 < gain <= 1.0:
            raise LinkworkError(
                f"a distance must be 0 m or above and the gain within 0 and 1, not {distance:g} m "
                f"and {gain:g}."
            )
        if robot in objects:
            raise LinkworkError(
                f"{robot!r} cannot avoid itself as an object.",
                hint="Avoidance(..., itself=True) keeps its links away from each other.",
            )
        self.world, self.distance, self.gain = world, distance, gain
        self.reach = 3.0 * distance + 0.05 if reach is None else reach
        self._collision_scene = CollisionScene(world)
        self._shapes = [world.shapes[n] for n in self._collision_scene.shapes]
        of = [shape.element for shape in world.shapes]
        self._shape_numbers = [of[:n].count(of[n]) for n in self._collision_scene.shapes.tolist()]
        own = self._geoms([robot])
        others = self._geoms(objects) if objects else []
        self._pairs: list[Pair] = [(a, b) for a in own for b in others if not self._joined(a, b)]
        if itself:
            self._pairs += [(a, b) for a in own for b in own if a < b and self._apart(a, b)]
        if not self._pairs:
            raise LinkworkError(
                f"{robot!r} has nothing to keep a distance from.",
                hint="Name objects with shapes that collide, or let it keep away from itself.",
            )
        mine = {int(self._shapes[a].body) for a in own} - {0}
        bodies = {int(self._shapes[b].body) for b in others}
        self._objects = sorted(b for b in bodies if not mine & set(self.world.ancestors(b)))
        self._before: dict[int, np.ndarray] = {}
        self._seen: dict[Pair, list[np.ndarray]] = {}
        self._directions: dict[Pair, np.ndarray] = {}

    def reset(self) -> None:
        """Clears the stored motion of objects, for coordinates that jump, as at a new run."""
        self._before.clear()
        self._directions.clear()
        self._seen.clear()

    def _geoms(self, names: Iterable[str]) -> list[int]:
        """Returns the geoms of colliding parts or elements."""
        world, found = self.world, []
        parts = sorted({part for part in world.body_part if part})
        for name in names:
            fits = [
                n
                for n, shape in enumerate(self._shapes)
                if shape.shape.collide
                and (
                    world.element_names[shape.element] == name
                    or world.element_names[shape.element].startswith(f"{name}/")
                )
            ]
            if not fits:
                raise not_found("colliding part or element", name, [*parts, *world.element_names])
            found += fits
        return found

    def _joined(self, a: int, b: int) -> bool:
        one, two = self._shapes[a].body, self._shapes[b].body
        parent = self.world.parent
        if self.world.is_static(int(one)) and self.world.is_static(int(two)):
            return True  # they cannot be separated
        return one == two or parent[one] == two or parent[two] == one

    def _apart(self, a: int, b: int) -> bool:
        """Returns whether two links can be kept apart: not neighbors or neighbors of neighbors."""
        if self._joined(a, b):
            return False
        parent = self.world.parent
        one, two = int(self._shapes[a].body), int(self._shapes[b].body)
        return parent[parent[one]] != two and parent[parent[two]] != one and (
            parent[one] != parent[two]
        )  # fmt: skip

    def nearest(self, q: np.ndarray, most: float | None = None) -> list[ClosestPoints]:
        """Returns pairs closer than ``most`` (the reach if absent) at ``q``, the closest first."""
        pose = forward(self.world, q)
        self._collision_scene.move(pose)
        return [each for each, _ in self._near(self.reach if most is None else most)]

    def _near(self, most: float) -> list[tuple[ClosestPoints, Pair]]:
        names, found = self.world.element_names, []
        for a, b in self._pairs:
            far, points = self._collision_scene.clearance(a, b, most)
            if far < most:
                one, two = self._shapes[a], self._shapes[b]
                near = ClosestPoints(
                    far, names[one.element], names[two.element], points[:3], points[3:],
                    (one.element, self._shape_numbers[a], two.element, self._shape_numbers[b]),
                )  # fmt: skip
                found.append((near, (a, b)))
        return sorted(found, key=lambda each: each[0].distance)

    def _direction(self, each: ClosestPoints, pair: Pair, pose: np.ndarray) -> np.ndarray:
        """Returns the unit vector that separates two shapes: from the second to the first.

        If they just touch, their nearest points define none: then it is the last one, or the normal
        of a plane, or the line between their centers.
        """
        direction = each.on_a - each.on_b
        size = float(np.linalg.norm(direction))
        if size >= _TOUCHING:
            direction = direction / size if each.distance >= 0.0 else -direction / size
        elif pair in self._directions:
            direction = self._directions[pair]
        else:
            one, two = (_pose(pose[self._shapes[g].body]) @ self._shapes[g].pose for g in pair)
            direction = np.subtract(one.xyz, two.xyz)
            if isinstance(self._shapes[pair[1]].shape, Plane):
                direction = np.subtract(two.apply((0.0, 0.0, 1.0)), two.xyz)
            size = float(np.linalg.norm(direction))
            direction = direction / size if size >= _TOUCHING else np.array([0.0, 0.0, 1.0])
        self._directions[pair] = direction
        return direction

    def inequalities(self, q: np.ndarray, dt: float, solver: Solver | None = None) -> Inequalities:
        """Returns the inequalities of the next step of a solver.

        Objects that moved since the last call are assumed to continue their motion (see ``reset``),
        except those that the robot carries or the solver moves.

        Args:
            q: Coordinates.
            dt: Time step [s].
            solver: The solver; required if it moves objects as well.
        """
        if not dt > 0.0:
            raise LinkworkError(f"dt must be above 0 s, not {dt:g}.")
        pose = forward(self.world, q)
        self._collision_scene.move(pose)
        bodies: list[Pair] = []
        points: list[np.ndarray] = []
        bounds: list[float] = []
        seen: dict[Pair, list[np.ndarray]] = {}
        for each, pair in self._near(self.reach):
            direction = self._direction(each, pair, pose)
            a, b = (int(self._shapes[geom].body) for geom in pair)
            moved = b in self._before and not self._moves(solver, b)
            corners = self._corners(each, pair, pose[a], direction)
            for corner in corners:
                on_b = corner - direction * (direction @ (corner - each.on_b))
                far = each.distance + float(direction @ (corner - each.on_a))
                bound = -self.gain * (far - self.distance)
                if moved:
                    bound += float(
                        direction @ (on_b - _previous_position(self._before[b], pose[b], on_b))
                    )
                bodies.append((a, b))
                points.append(np.concatenate([corner, on_b, direction]))
                bounds.append(bound)
            seen[pair] = [np.array(_pose(pose[a]).inverse().apply(each)) for each in corners]
        self._seen = seen
        self._before = {b: pose[b].copy() for b in self._objects}
        return (
            np.array(bodies, np.int64).reshape(-1, 2),
            np.array(points).reshape(-1, 9),
            np.array(bounds),
        )

    def _corners(
        self, each: ClosestPoints, pair: Pair, body: np.ndarray, direction: np.ndarray
    ) -> list[np.ndarray]:
        """Returns nearest points of the first shape: the present one, and others nearly as near.

        If faces are parallel, the nearest point jumps between corners with the slightest rotation.
        A previous nearest point remains one while it is near the plane through the present one.
        """
        found = [each.on_a]
        if any(isinstance(self._shapes[geom].shape, Sphere) for geom in pair):
            return found  # the nearest point moves continuously
        for local in self._seen.get(pair, []):
            corner = np.array(_pose(body).apply(local))
            apart = min(float(np.linalg.norm(corner - other)) for other in found)
            behind = float(direction @ (corner - each.on_a))
            if apart > _CORNER and behind < self.distance and len(found) < _CORNERS:
                found.append(corner)
        return found

    def _moves(self, solver: Solver | None, body: int) -> bool:
        """Returns whether a solver has a joint that carries a body."""
        if solver is None:
            return False
        return any(solver.columns.of_body(b) for b in self.world.ancestors(body))

    def step(self, solver: Solver, q: np.ndarray, dt: float, **how: object) -> np.ndarray:
        """Takes one step of the solver within the distances; returns the coordinates after it."""
        return solver.step(q, dt, inequalities=self.inequalities(q, dt, solver), **how).q  # type: ignore[arg-type]


def _previous_position(before: np.ndarray, now: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Returns the previous position of a body point that is at ``place`` now."""
    return np.array(_pose(before).apply(_pose(now).inverse().apply(place)))


def _pose(row: np.ndarray) -> Pose:
    return Pose(tuple(row[:3]), tuple(row[3:]))


def keep_distance(
    world: World, robot: str, objects: str | Sequence[str], distance: float = 0.05
) -> Avoidance:
    """Returns the avoidance of one object by a robot at a distance (RoboTiX thesis §3.7)."""
    names = [objects] if isinstance(objects, str) else objects
    return Avoidance(world, robot, names, distance=distance)


class Repulsion:
    """A repulsive field on control points, as tasks of a low priority.

    Each control point moves at the velocity strength · (1/d − 1/reach)/d² [m/s], at most
    ``fastest``, away from every source closer than ``reach``, and stays otherwise.

    Args:
        points: Control points: element or anchor, and the point in its frame [m].
        reach: Range of the field [m].
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
        """Returns the velocity [m/s] of a point at ``place`` away from ``sources`` (n×3)."""
        made = np.zeros(3)
        for source in np.asarray(sources, float).reshape(-1, 3):
            direction = place - source
            d = max(float(np.linalg.norm(direction)), 1e-6)
            if d < self.reach:
                made += self.strength * (1.0 / d - 1.0 / self.reach) / (d * d) * direction / d
        size = float(np.linalg.norm(made))
        return made if size <= self.fastest else made * (self.fastest / size)

    def set_target(
        self, solver: Solver, world: World, q: np.ndarray, sources: np.ndarray, dt: float
    ) -> None:
        """Sets the targets of the field's tasks for the next step of ``solver``."""
        pose = forward(world, q)
        for task in self.tasks:
            body, local = world.frame(task.frame)
            x, y, z = local.apply(task.point)
            place = pose[body, :3] + rotate(pose[body, 3:], x, y, z)
            solver.set_target(place + dt * self.speed(place, sources), task.name)
