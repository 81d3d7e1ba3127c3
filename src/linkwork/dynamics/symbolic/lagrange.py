"""Lagrange's equations of a robot in SymPy, for derivation, teaching and checking.

From the kinetic energy T and the potential energy V follow M = ∂²T/∂v² and

    c_k = Σ_l v_l X_l(∂T/∂v_k) − X_k(T) + X_k(V)  (+ ω × ∂T/∂ω for balls),

where X_k is the change of the coordinates along degree of freedom k. For joints with one coordinate
each these are Lagrange's equations; with the last term (Boltzmann and Hamel) they also hold for the
quaternions of balls and free bodies, whose velocities are not rates of coordinates.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.dynamics.symbolic.parameters import NumericParameters, SymbolicParameters
from linkwork.geometry.pose import Numbers
from linkwork.kinematics.forward import shaped
from linkwork.kinematics.kernels import (
    BALL,
    CYLINDRICAL,
    FREE,
    HINGE,
    PLANAR,
    RAIL,
    SCREW,
    SLIDER,
    UNIVERSAL,
)
from linkwork.model.world import World


def sympy() -> Any:
    """Returns SymPy, an optional dependency.

    Raises:
        LinkworkError: If it is not installed.
    """
    try:
        return import_module("sympy")
    except ImportError:
        raise LinkworkError(
            "Lagrange's equations need SymPy, which is not installed.",
            hint="pip install linkwork[symbolic]",
        ) from None


class LagrangeEquations:
    """A robot's equations of motion by Lagrange.

    Args:
        world: The world; its tree is used.
        named: Whether masses, lengths and inertias are symbols, as in a textbook, instead of
            numbers; results are then simplified.
        gravity: [m/s²]; the scene's if absent.

    Attributes:
        q, v, a: Symbols of coordinates, velocities and accelerations.

    Raises:
        LinkworkError: If SymPy is missing, or a joint is a rail.
    """

    def __init__(
        self, world: World, *, named: bool = False, gravity: Numbers | None = None
    ) -> None:
        self.sympy = sympy()
        symbol = self.sympy.Symbol
        self.world, self.named = world, named
        chosen = world.scene.gravity if gravity is None else gravity
        fall = shaped("gravity", np.asarray(chosen), (3,))
        self.q = [symbol(f"q_{n + 1}", real=True) for n in range(world.nq)]
        self.v = [symbol(rf"\dot{{q}}_{n + 1}", real=True) for n in range(world.nv)]
        self.a = [symbol(rf"\ddot{{q}}_{n + 1}", real=True) for n in range(world.nv)]
        kind = SymbolicParameters if named else NumericParameters
        self._parameters = kind(world, self.sympy, fall)
        self._place()

    def _matrix(self, rows: Any) -> Any:
        return self.sympy.Matrix(rows)

    def _about(self, axis: Any, angle: Any) -> Any:
        """Returns the rotation about a unit axis (Rodrigues)."""
        sp = self.sympy
        x, y, z = axis
        k = self._matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return sp.eye(3) + sp.sin(angle) * k + (1 - sp.cos(angle)) * k * k

    def _place(self) -> None:
        """Computes rotation, origin, rotation axes and center of mass of every body."""
        sp, world, given = self.sympy, self.world, self._parameters
        zero = sp.zeros(3, 1)
        turn, origin = [sp.eye(3)], [zero]
        angular_velocity: list[dict[int, Any]] = [{}]
        for b in range(1, world.nb):
            p, i, a = int(world.parent[b]), int(world.vadr[b]), int(world.qadr[b])
            kind = int(world.kind[b])
            if kind == RAIL:
                raise LinkworkError(
                    f"{world.body_names[b]!r} is on a rail, which has a different law for each "
                    "segment: Lagrange's equations would differ on each.",
                    origin=world.body_origins[b],
                )
            pivot = given.pivot(b)
            base = turn[p] * given.turn(b)
            foot = origin[p] + turn[p] * given.shift(b) + base * pivot
            axis, axis2 = given.axis(b), given.axis2(b)
            own, move, about = self._joint(kind, axis, axis2, a)
            if kind == SCREW:
                move = axis * float(world.pitch[b]) * self.q[a]
            turn.append(base * own)
            origin.append(foot + base * move - turn[b] * pivot)
            back = (given.turn(b) * own).T
            angular_velocity.append(
                {k: back * vector for k, vector in angular_velocity[p].items()}
                | {i + k: own.T * vector if fixed else vector
                   for k, (vector, fixed) in about.items()}
            )  # fmt: skip
        self.turn, self.origin, self.angular_velocity = turn, origin, angular_velocity
        self.center = [origin[b] + turn[b] * given.com(b) for b in range(world.nb)]

    def _joint(self, kind: int, axis: Any, axis2: Any, a: int) -> tuple[Any, Any, dict]:
        """Returns rotation and translation of a joint, its axes, and if the base fixes them."""
        sp, q = self.sympy, self.q
        eye, zero = sp.eye(3), sp.zeros(3, 1)
        if kind in (HINGE, SCREW):
            return self._about(axis, q[a]), zero, {0: (axis, False)}
        if kind == SLIDER:
            return eye, axis * q[a], {}
        if kind == UNIVERSAL:
            made = self._about(axis, q[a]) * self._about(axis2, q[a + 1])
            return made, zero, {0: (axis, True), 1: (axis2, False)}
        if kind == CYLINDRICAL:
            return self._about(axis, q[a + 1]), axis * q[a], {1: (axis, False)}
        if kind == PLANAR:
            shift = axis2 * q[a] + axis.cross(axis2) * q[a + 1]
            return self._about(axis, q[a + 2]), shift, {2: (axis, False)}
        if kind in (BALL, FREE):
            first = 3 if kind == FREE else 0
            shift = self._matrix(q[a : a + 3]) if kind == FREE else zero
            axes = {first + k: (eye[:, k], False) for k in range(3)}
            return self._quaternion(q[a + first : a + first + 4]), shift, axes
        return eye, zero, {}

    def _quaternion(self, quat: list) -> Any:
        w, x, y, z = quat
        return self._matrix([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip

    @cached_property
    def _fields(self) -> list[dict[int, Any]]:
        """Returns the rate of the coordinates by each degree of freedom."""
        world, q = self.world, self.q
        made: list[dict[int, Any]] = [{} for _ in range(world.nv)]
        for b in range(1, world.nb):
            kind, a, i = int(world.kind[b]), int(world.qadr[b]), int(world.vadr[b])
            first = {BALL: 0, FREE: 3}.get(kind)
            own = [n for n in range(world.nv) if world.dof_body[n] == b]
            for n in own:
                if first is None or n - i < first:
                    made[n] = {a + n - i: self.sympy.Integer(1)}
            if first is not None:
                w, x, y, z = (q[a + first + k] / 2 for k in range(4))
                rates = [[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]]
                for k in range(3):
                    made[i + first + k] = {a + first + n: rates[k][n] for n in range(4)}
        return made

    def along(self, expression: Any, dof: int) -> Any:
        """Returns X_k: the change of an expression along a degree of freedom."""
        return sum(expression.diff(self.q[n]) * rate for n, rate in self._fields[dof].items())

    @cached_property
    def mass_matrix(self) -> Any:
        """M(q), from the kinetic energy."""
        sp, world, given = self.sympy, self.world, self._parameters
        made = sp.zeros(world.nv, world.nv)
        for b in range(1, world.nb):
            speed = sp.Matrix.hstack(*[
                self._matrix([self.along(c, k) for c in self.center[b]]) for k in range(world.nv)
            ])  # fmt: skip
            none = sp.zeros(3, 1)
            angular_velocity = sp.Matrix.hstack(
                *[self.angular_velocity[b].get(k, none) for k in range(world.nv)]
            )
            made += (
                given.mass(b) * speed.T * speed
                + angular_velocity.T * given.inertia(b) * angular_velocity
            )
        for k in range(world.nv):
            made[k, k] += given.armature(k)
        return self._tidy(made)

    @cached_property
    def kinetic(self) -> Any:
        """Kinetic energy T [J]."""
        speed = self._matrix(self.v)
        return (speed.T * self.mass_matrix * speed)[0] / 2

    @cached_property
    def potential(self) -> Any:
        """Potential energy V [J]."""
        given = self._parameters
        fall = given.gravity()
        made = -sum(given.mass(b) * fall.dot(self.center[b]) for b in range(1, self.world.nb))
        return self._tidy(self._matrix([made]))[0]

    @cached_property
    def gravity_efforts(self) -> Any:
        """Efforts g(q) that hold the robot at rest."""
        return self._tidy(
            self._matrix([self.along(self.potential, k) for k in range(self.world.nv)])
        )

    @cached_property
    def velocity_efforts(self) -> Any:
        """Efforts C(q, v) v of centrifugal and Coriolis forces."""
        world, energy = self.world, self.kinetic
        momentum = [energy.diff(speed) for speed in self.v]
        made = []
        for k in range(world.nv):
            rate = sum(self.v[n] * self.along(momentum[k], n) for n in range(world.nv))
            made.append(rate - self.along(energy, k))
        for b in range(1, world.nb):
            first = {BALL: 0, FREE: 3}.get(int(world.kind[b]))
            if first is None:
                continue
            i = int(world.vadr[b]) + first
            angular_velocity, held = (
                self._matrix(self.v[i : i + 3]),
                self._matrix(momentum[i : i + 3]),
            )
            for k, more in enumerate(angular_velocity.cross(held)):
                made[i + k] += more
        return self._tidy(self._matrix(made))

    @cached_property
    def bias(self) -> Any:
        """Efforts c(q, v) = C(q, v) v + g(q)."""
        return self.velocity_efforts + self.gravity_efforts

    @cached_property
    def inverse_dynamics(self) -> Any:
        """Efforts M(q) a + c(q, v)."""
        return self.mass_matrix * self._matrix(self.a) + self.bias

    def evaluate(self, wanted: Any, q: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        """Returns the values of a matrix of expressions at a state; for equations with numbers."""
        speeds = np.zeros(self.world.nv) if v is None else v
        function = self.sympy.lambdify([*self.q, *self.v], wanted, cse=True)
        return np.asarray(function(*q, *speeds), float).reshape(wanted.shape)

    def _tidy(self, made: Any) -> Any:
        """Simplifies to sums of products of parameters with sines and cosines of sums of angles."""
        if not self.named:
            return made
        from sympy.simplify.fu import TR8

        return self._parameters.short(made.applyfunc(lambda each: TR8(each.expand()).expand()))
