"""Avoidance: a robot keeps a distance from objects and from itself while it follows its tasks.

Between each pair of shapes that come closer than a reach stands a fence: the pair may approach only
as fast as v = gain (d − keep) / dt allows, and has to part where that is negative. Fences come
before every priority, so that a pair takes over when it is close and lets go as it parts, without
a jump: far away, the fence is nowhere near the motion that tasks ask for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.errors import LinkworkError, not_found
from linkwork.kinematics import Solver, forward
from linkwork.kinematics.solver import Fences
from linkwork.parts import Plane, Sphere
from linkwork.sensors.shadow import Shadow
from linkwork.spatial.pose import Pose
from linkwork.world import World

Pair = tuple[int, int]

#: Nearest points closer than this say nothing about a direction [m].
_TOUCHING = 1e-9

#: Corners nearer to each other than this are one [m], and how many of a pair are kept.
_CORNER, _CORNERS = 0.005, 4


@dataclass(frozen=True)
class Nearest:
    """Where two shapes are nearest to each other.

    Attributes:
        distance: [m]; negative where they overlap.
        a: Element of the robot.
        b: Element that it keeps away from.
        on_a: The nearest point of the first, in the world [m].
        on_b: The nearest point of the second.
        shapes: Element and shape within it, by number, of the first and of the second.
    """

    distance: float
    a: str
    b: str
    on_a: np.ndarray
    on_b: np.ndarray
    shapes: tuple[int, int, int, int] = (-1, -1, -1, -1)


class Avoidance:
    """Distances that a solver's steps keep.

    Args:
        world: The world.
        robot: Placed part that keeps away.
        objects: Parts or elements that it keeps away from.
        distance: How far at least [m].
        itself: Whether its own links keep away from each other, too.
        reach: From which distance on fences stand [m]; three times the distance if absent.
        gain: Part of what is left of the distance that one step may use up, 0 to 1.
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
                f"{robot!r} cannot keep a distance from all of itself.",
                hint="Avoidance(..., itself=True) keeps its links away from each other.",
            )
        self.world, self.distance, self.gain = world, distance, gain
        self.reach = 3.0 * distance + 0.05 if reach is None else reach
        self._shadow = Shadow(world)
        self._shapes = [world.shapes[n] for n in self._shadow.shapes]
        of = [shape.element for shape in world.shapes]
        self._places = [of[:n].count(of[n]) for n in self._shadow.shapes.tolist()]
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
        self._objects = sorted(b for b in bodies if not mine & set(self._carriers(b)))
        self._before: dict[int, np.ndarray] = {}
        self._seen: dict[Pair, list[np.ndarray]] = {}
        self._ways: dict[Pair, np.ndarray] = {}

    def reset(self) -> None:
        """Forgets how objects moved: for coordinates that jump, as a new run's do."""
        self._before.clear()
        self._ways.clear()
        self._seen.clear()

    def _carriers(self, body: int) -> list[int]:
        """A body and those that carry it, without the world."""
        found = []
        while body > 0:
            found.append(body)
            body = int(self.world.parent[body])
        return found

    def _geoms(self, names: Iterable[str]) -> list[int]:
        """Geoms of parts or elements that collide."""
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
            return True  # nothing can part them
        return one == two or parent[one] == two or parent[two] == one

    def _apart(self, a: int, b: int) -> bool:
        """Whether two links of a robot can be asked to keep apart: not neighbours of neighbours."""
        if self._joined(a, b):
            return False
        parent = self.world.parent
        one, two = int(self._shapes[a].body), int(self._shapes[b].body)
        return parent[parent[one]] != two and parent[parent[two]] != one and (
            parent[one] != parent[two]
        )  # fmt: skip

    def nearest(self, q: np.ndarray, most: float | None = None) -> list[Nearest]:
        """Pairs that are closer than ``most`` (the reach if absent) at ``q``, the closest first."""
        pose = forward(self.world, q)
        self._shadow.move(pose)
        return [each for each, _ in self._near(self.reach if most is None else most)]

    def _near(self, most: float) -> list[tuple[Nearest, Pair]]:
        names, found = self.world.element_names, []
        for a, b in self._pairs:
            far, points = self._shadow.clearance(a, b, most)
            if far < most:
                one, two = self._shapes[a], self._shapes[b]
                near = Nearest(
                    far, names[one.element], names[two.element], points[:3], points[3:],
                    (one.element, self._places[a], two.element, self._places[b]),
                )  # fmt: skip
                found.append((near, (a, b)))
        return sorted(found, key=lambda each: each[0].distance)

    def _way(self, each: Nearest, pair: Pair, pose: np.ndarray) -> np.ndarray:
        """Unit vector that parts two shapes: from the second to the first.

        Where they just touch, their nearest points give none: then it is the last one, or the
        normal of a plane, or that of their centres.
        """
        way = each.on_a - each.on_b
        size = float(np.linalg.norm(way))
        if size >= _TOUCHING:
            way = way / size if each.distance >= 0.0 else -way / size
        elif pair in self._ways:
            way = self._ways[pair]
        else:
            one, two = (_pose(pose[self._shapes[g].body]) @ self._shapes[g].pose for g in pair)
            way = np.subtract(one.xyz, two.xyz)
            if isinstance(self._shapes[pair[1]].shape, Plane):
                way = np.subtract(two.apply((0.0, 0.0, 1.0)), two.xyz)
            size = float(np.linalg.norm(way))
            way = way / size if size >= _TOUCHING else np.array([0.0, 0.0, 1.0])
        self._ways[pair] = way
        return way

    def fences(self, q: np.ndarray, dt: float, solver: Solver | None = None) -> Fences:
        """What the next step of a solver must not cross.

        Objects that moved since the last call are taken to move on as they did (see ``reset``),
        except those that the robot carries or the solver moves.

        Args:
            q: Coordinates.
            dt: Length of the step [s].
            solver: Whose step it is; needed where it moves objects, too.
        """
        if not dt > 0.0:
            raise LinkworkError(f"dt must be above 0 s, not {dt:g}.")
        pose = forward(self.world, q)
        self._shadow.move(pose)
        bodies: list[Pair] = []
        points: list[np.ndarray] = []
        bounds: list[float] = []
        seen: dict[Pair, list[np.ndarray]] = {}
        for each, pair in self._near(self.reach):
            way = self._way(each, pair, pose)
            a, b = (int(self._shapes[geom].body) for geom in pair)
            moved = b in self._before and not self._moves(solver, b)
            corners = self._corners(each, pair, pose[a], way)
            for corner in corners:
                on_b = corner - way * (way @ (corner - each.on_b))
                far = each.distance + float(way @ (corner - each.on_a))
                bound = -self.gain * (far - self.distance)
                if moved:
                    bound += float(way @ (on_b - _carried(self._before[b], pose[b], on_b)))
                bodies.append((a, b))
                points.append(np.concatenate([corner, on_b, way]))
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
        self, each: Nearest, pair: Pair, body: np.ndarray, way: np.ndarray
    ) -> list[np.ndarray]:
        """Nearest points of the first shape: the present one, and others that are hardly farther.

        Where faces lie along each other the nearest point jumps from corner to corner with the
        slightest turn. A point that was nearest stays one as long as it is next to the plane
        through the present one.
        """
        found = [each.on_a]
        if any(isinstance(self._shapes[geom].shape, Sphere) for geom in pair):
            return found  # the nearest point goes steadily
        for local in self._seen.get(pair, []):
            corner = np.array(_pose(body).apply(local))
            apart = min(float(np.linalg.norm(corner - other)) for other in found)
            behind = float(way @ (corner - each.on_a))
            if apart > _CORNER and behind < self.distance and len(found) < _CORNERS:
                found.append(corner)
        return found

    def _moves(self, solver: Solver | None, body: int) -> bool:
        """Whether a solver has a joint that carries a body."""
        if solver is None:
            return False
        return any(solver.columns.of_body(b) for b in self._carriers(body))

    def keep(self, solver: Solver, q: np.ndarray, dt: float, **how: object) -> np.ndarray:
        """One step of the solver that keeps the distances: the coordinates after it."""
        return solver.tick(q, dt, fences=self.fences(q, dt, solver), **how).q  # type: ignore[arg-type]


def _carried(before: np.ndarray, now: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Where a point of a body was before that is at ``place`` now."""
    return np.array(_pose(before).apply(_pose(now).inverse().apply(place)))


def _pose(row: np.ndarray) -> Pose:
    return Pose(tuple(row[:3]), tuple(row[3:]))


def keep_distance(
    world: World, robot: str, objects: str | Sequence[str], distance: float = 0.05
) -> Avoidance:
    """Keep this distance from that object: one call (003 §3.7)."""
    names = [objects] if isinstance(objects, str) else objects
    return Avoidance(world, robot, names, distance=distance)
