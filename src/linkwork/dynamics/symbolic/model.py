"""Model: a robot's motion and dynamics as expressions of its coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwork.dynamics.symbolic.algorithms import Trace
from linkwork.dynamics.symbolic.expression import Expression, Graph, evaluate
from linkwork.dynamics.symbolic.links import make_links
from linkwork.dynamics.symbolic.moves import Matrix, Vector, add, cross, numbers, product
from linkwork.kinematics.forward import shaped
from linkwork.spatial.pose import Numbers
from linkwork.world import World


@dataclass(frozen=True)
class Point:
    """How a point moves, in world axes.

    Attributes:
        position: [m].
        velocity: [m/s].
        acceleration: [m/s²].
        spin: Angular velocity of what carries it [rad/s].
        turning: Its angular acceleration [rad/s²].
    """

    position: Vector
    velocity: Vector
    acceleration: Vector
    spin: Vector
    turning: Vector


class Model:
    """A world's tree as expressions, traced in a fraction of a second.

    Efforts and the mass matrix are those of :mod:`linkwork.dynamics`: of the spanning tree, without
    loops, springs, damping and friction, with rotor inertia (``armature``).

    Args:
        world: The world; its numbers are constants of the expressions.
        gravity: [m/s²]; the scene's if absent.
        armature: Rotor inertia by degree of freedom [kg m² or kg]; the world's if absent.
        bodies: Mask over bodies (nb) of those that move; the others are left out, and what belongs
            to their degrees of freedom is 0. All if absent.

    Attributes:
        q, v, a, effort: Coordinates, velocities, accelerations and efforts: the inputs ``q[0]`` …

    Raises:
        LinkworkError: A joint is a rail.
    """

    def __init__(
        self, world: World, *, gravity: Numbers | None = None, armature: np.ndarray | None = None,
        bodies: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.world = world
        self.graph = Graph()
        self.q = [self.graph.input(f"q[{n}]") for n in range(world.nq)]
        self.v, self.a, self.effort = (
            [self.graph.input(f"{name}[{n}]") for n in range(world.nv)]
            for name in ("v", "a", "effort")
        )
        chosen = world.scene.gravity if gravity is None else gravity
        self.gravity = shaped("gravity", np.asarray(chosen), (3,))
        self.links = make_links(world, bodies)
        rotors = shaped("armature", world.armature if armature is None else armature, (world.nv,))
        self._trace = Trace(
            self.graph, self.links, self.q, rotors.tolist(), self.gravity.tolist(), world.dof_name
        )

    @cached_property
    def mass_matrix(self) -> Matrix:
        """M(q) (nv×nv)."""
        return self._trace.mass_matrix(self.world.nv)

    @cached_property
    def inverse_dynamics(self) -> Vector:
        """Efforts M(q) a + c(q, v)."""
        return self._trace.inverse(self.v, self.a)

    @cached_property
    def bias(self) -> Vector:
        """Efforts c(q, v) = C(q, v) v + g(q)."""
        return self._trace.inverse(self.v, [self.graph.zero] * self.world.nv)

    @cached_property
    def gravity_efforts(self) -> Vector:
        """Efforts g(q) that hold the robot still."""
        still = [self.graph.zero] * self.world.nv
        return self._trace.inverse(still, still)

    @cached_property
    def forward_dynamics(self) -> Vector:
        """Accelerations M(q)⁻¹ (effort − c(q, v))."""
        return self._trace.forward(self.v, self.effort)

    @cached_property
    def poses(self) -> list[tuple[Vector, Matrix]]:
        """Place of the origin [m] and axes (rotation matrix) of each body, the world first."""
        graph = self.graph
        eye = numbers(graph, np.eye(3))
        placed: list[tuple[Vector, Matrix]] = []
        for n, link in enumerate(self.links.links):
            move = self._trace.moves[n]
            turn = [[move.out(column)[i] for column in eye] for i in range(3)]
            over = placed[link.parent] if link.parent >= 0 else (numbers(graph, np.zeros(3)), eye)
            shift = [_row(row, move.shift) for row in over[1]]
            placed.append((add(over[0], shift), product(over[1], turn)))
        made: list[tuple[Vector, Matrix]] = []
        for carrier, turn, place in zip(
            self.links.carrier, self.links.turn, self.links.place, strict=True
        ):
            own_turn, own_place = numbers(graph, turn), numbers(graph, place)
            if carrier < 0:
                made.append((own_place, own_turn))
                continue
            origin, axes = placed[carrier]
            shift = [_row(row, own_place) for row in axes]
            made.append((add(origin, shift), product(axes, own_turn)))
        return made

    def point(self, frame: str, point: Numbers = (0.0, 0.0, 0.0)) -> Point:
        """Place, velocity and acceleration of a point of an element or anchor, in world axes."""
        body, local = self.world.frame(frame)
        at = np.asarray(local.apply(point))
        carrier, turn = self.links.carrier[body], self.links.turn[body]
        arm: Vector = numbers(self.graph, self.links.place[body] + turn @ at)
        zero: Vector = numbers(self.graph, np.zeros(3))
        place, speed, pull, spin, turning = arm, zero, zero, zero, zero
        # from the point inwards: what is known in a link's axes is carried to its parent's
        while carrier >= 0:
            link, move = self.links.links[carrier], self._trace.moves[carrier]
            rate, rise, slide, haste = list(zero), list(zero), list(zero), list(zero)
            for dof, about, along in self._trace.axes(carrier):
                rate = add(rate, [self.v[dof] * c for c in about])
                rise = add(rise, [self.a[dof] * c for c in about])
                slide = add(slide, [self.v[dof] * c for c in along])
                haste = add(haste, [self.a[dof] * c for c in along])
            # relative motion, then what the joint's own turning adds to it
            twice = [2.0 * c for c in cross(rate, speed)]
            pull = add(add(pull, twice), add(haste, cross(rise, place)))
            pull = add(pull, cross(rate, cross(rate, place)))
            speed = add(add(speed, slide), cross(rate, place))
            turning = add(add(turning, rise), cross(rate, spin))
            spin = add(spin, rate)
            place, speed, pull = add(move.out(place), move.shift), move.out(speed), move.out(pull)
            spin, turning = move.out(spin), move.out(turning)
            carrier = link.parent
        return Point(place, speed, pull, spin, turning)

    def evaluate(
        self, wanted: list[Expression], q: np.ndarray, v: np.ndarray | None = None,
        a: np.ndarray | None = None, effort: np.ndarray | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Numbers that expressions of this model have at a state; what is absent is 0."""
        given = {"q": (q, self.world.nq)}
        given |= {
            name: (np.zeros(self.world.nv) if each is None else each, self.world.nv)
            for name, each in (("v", v), ("a", a), ("effort", effort))
        }
        inputs = {
            f"{name}[{n}]": float(value)
            for name, (values, count) in given.items()
            for n, value in enumerate(shaped(name, values, (count,)))
        }
        return evaluate(wanted, inputs)


def _row(row: Vector, b: Vector) -> Expression:
    return row[0] * b[0] + row[1] * b[1] + row[2] * b[2]
