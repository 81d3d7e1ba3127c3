"""Symbolic model: a robot's motion and dynamics as expressions of its coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwork.dynamics.symbolic.expression import Expression, ExpressionGraph, evaluate
from linkwork.dynamics.symbolic.links import make_links
from linkwork.dynamics.symbolic.recursive_tracer import RecursiveTracer
from linkwork.dynamics.symbolic.transforms import (
    Matrix,
    Vector,
    add,
    constant_array,
    cross,
    product,
)
from linkwork.geometry.pose import Numbers
from linkwork.kinematics.forward import shaped
from linkwork.model.world import World


@dataclass(frozen=True)
class PointMotion:
    """Motion of a point, in world axes.

    Attributes:
        position: [m].
        velocity: [m/s].
        acceleration: [m/s²].
        angular_velocity: Angular velocity of its body [rad/s].
        angular_acceleration: Its angular acceleration [rad/s²].
    """

    position: Vector
    velocity: Vector
    acceleration: Vector
    angular_velocity: Vector
    angular_acceleration: Vector


class SymbolicModel:
    """A world's tree as traced expressions.

    Efforts and the mass matrix are those of :mod:`linkwork.dynamics`: of the spanning tree, without
    loops, springs, damping and friction, with rotor inertia (``armature``).

    Args:
        world: The world; its numbers are constants of the expressions.
        gravity: [m/s²]; the scene's if absent.
        armature: Rotor inertia by degree of freedom [kg m² or kg]; the world's if absent.
        bodies: Mask over moving bodies (nb); the others are omitted, and results of their degrees
            of freedom are 0. All if absent.

    Attributes:
        q, v, a, effort: Coordinates, velocities, accelerations and efforts: the inputs ``q[0]`` …

    Raises:
        LinkworkError: If a joint is a rail.
    """

    def __init__(
        self, world: World, *, gravity: Numbers | None = None, armature: np.ndarray | None = None,
        bodies: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.world = world
        self.graph = ExpressionGraph()
        self.q = [self.graph.input(f"q[{n}]") for n in range(world.nq)]
        self.v, self.a, self.effort = (
            [self.graph.input(f"{name}[{n}]") for n in range(world.nv)]
            for name in ("v", "a", "effort")
        )
        chosen = world.scene.gravity if gravity is None else gravity
        self.gravity = shaped("gravity", np.asarray(chosen), (3,))
        self.links = make_links(world, bodies)
        rotors = shaped("armature", world.armature if armature is None else armature, (world.nv,))
        self._trace = RecursiveTracer(
            self.graph, self.links, self.q, rotors.tolist(), self.gravity.tolist(), world.dof_name
        )

    @cached_property
    def mass_matrix(self) -> Matrix:
        """Returns M(q) (nv×nv)."""
        return self._trace.mass_matrix(self.world.nv)

    @cached_property
    def inverse_dynamics(self) -> Vector:
        """Returns the efforts M(q) a + c(q, v)."""
        return self._trace.inverse(self.v, self.a)

    @cached_property
    def bias(self) -> Vector:
        """Returns the efforts c(q, v) = C(q, v) v + g(q)."""
        return self._trace.inverse(self.v, [self.graph.zero] * self.world.nv)

    @cached_property
    def gravity_efforts(self) -> Vector:
        """Returns the efforts g(q) that hold the robot at rest."""
        still = [self.graph.zero] * self.world.nv
        return self._trace.inverse(still, still)

    @cached_property
    def forward_dynamics(self) -> Vector:
        """Returns the accelerations M(q)⁻¹ (effort − c(q, v))."""
        return self._trace.forward(self.v, self.effort)

    @cached_property
    def poses(self) -> list[tuple[Vector, Matrix]]:
        """Returns origin [m] and axes (rotation matrix) of each body, the world first."""
        graph = self.graph
        eye = constant_array(graph, np.eye(3))
        placed: list[tuple[Vector, Matrix]] = []
        for n, link in enumerate(self.links.links):
            move = self._trace.moves[n]
            turn = [[move.out(column)[i] for column in eye] for i in range(3)]
            over = (
                placed[link.parent]
                if link.parent >= 0
                else (constant_array(graph, np.zeros(3)), eye)
            )
            shift = [_row(row, move.shift) for row in over[1]]
            placed.append((add(over[0], shift), product(over[1], turn)))
        made: list[tuple[Vector, Matrix]] = []
        for carrier, turn, place in zip(
            self.links.carrier, self.links.turn, self.links.place, strict=True
        ):
            own_turn, own_place = constant_array(graph, turn), constant_array(graph, place)
            if carrier < 0:
                made.append((own_place, own_turn))
                continue
            origin, axes = placed[carrier]
            shift = [_row(row, own_place) for row in axes]
            made.append((add(origin, shift), product(axes, own_turn)))
        return made

    def point(self, frame: str, point: Numbers = (0.0, 0.0, 0.0)) -> PointMotion:
        """Returns the motion of a point of an element or anchor, in world axes."""
        body, local = self.world.frame(frame)
        at = np.asarray(local.apply(point))
        carrier, turn = self.links.carrier[body], self.links.turn[body]
        arm: Vector = constant_array(self.graph, self.links.place[body] + turn @ at)
        zero: Vector = constant_array(self.graph, np.zeros(3))
        place, speed, pull, angular_velocity, angular_acceleration = arm, zero, zero, zero, zero
        # from the point to the root: transform from each link's axes to its parent's
        while carrier >= 0:
            link, move = self.links.links[carrier], self._trace.moves[carrier]
            rate, rise, slide, haste = list(zero), list(zero), list(zero), list(zero)
            for dof, about, along in self._trace.axes(carrier):
                rate = add(rate, [self.v[dof] * c for c in about])
                rise = add(rise, [self.a[dof] * c for c in about])
                slide = add(slide, [self.v[dof] * c for c in along])
                haste = add(haste, [self.a[dof] * c for c in along])
            # relative motion, then the terms of the joint's own rotation
            twice = [2.0 * c for c in cross(rate, speed)]
            pull = add(add(pull, twice), add(haste, cross(rise, place)))
            pull = add(pull, cross(rate, cross(rate, place)))
            speed = add(add(speed, slide), cross(rate, place))
            angular_acceleration = add(
                add(angular_acceleration, rise), cross(rate, angular_velocity)
            )
            angular_velocity = add(angular_velocity, rate)
            place, speed, pull = add(move.out(place), move.shift), move.out(speed), move.out(pull)
            angular_velocity, angular_acceleration = (
                move.out(angular_velocity),
                move.out(angular_acceleration),
            )
            carrier = link.parent
        return PointMotion(place, speed, pull, angular_velocity, angular_acceleration)

    def evaluate(
        self, wanted: list[Expression], q: np.ndarray, v: np.ndarray | None = None,
        a: np.ndarray | None = None, effort: np.ndarray | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Returns the values of expressions of this model at a state; omitted inputs are 0."""
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
