"""Transforms of vectors and inertias of expressions between link frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.dynamics.symbolic.expression import Expression, ExpressionGraph
from linkwork.dynamics.symbolic.links import TracedLink

Vector = list[Expression]
Matrix = list[list[Expression]]


def add(a: Vector, b: Vector) -> Vector:
    """Returns a + b."""
    return [x + y for x, y in zip(a, b, strict=True)]


def scale(a: Sequence[Expression | float], factor: Expression) -> Vector:
    """Returns a · factor."""
    return [factor * x for x in a]


def dot(a: Sequence[Expression | float], b: Vector) -> Expression:
    """Returns a · b."""
    made = b[0] * a[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        made = made + y * x
    return made


def cross(a: Vector, b: Vector) -> Vector:
    """Returns a × b."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def times(a: Matrix, b: Vector) -> Vector:
    """Returns A b."""
    return [dot(row, b) for row in a]


def transposed(a: Matrix) -> Matrix:
    """Returns Aᵀ."""
    return [list(column) for column in zip(*a, strict=True)]


def product(a: Matrix, b: Matrix) -> Matrix:
    """Returns A B."""
    return transposed([times(a, column) for column in transposed(b)])


def add_matrices(a: Matrix, b: Matrix) -> Matrix:
    """Returns A + B."""
    return [add(x, y) for x, y in zip(a, b, strict=True)]


def constant_array(graph: ExpressionGraph, values: np.ndarray) -> list:
    """Returns an array of numbers as expressions, in nested lists."""
    if values.ndim == 1:
        return [graph.number(float(value)) for value in values]
    return [constant_array(graph, row) for row in values]


def symmetric(upper: Matrix) -> Matrix:
    """Returns a symmetric matrix from its upper half."""
    return [[upper[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)]


class AxisRotation:
    """A rotation about one of the frame's axes, which needs few products."""

    def __init__(self, axis: int, sine: Expression, cosine: Expression) -> None:
        self.i, self.j, self.k = (axis + 1) % 3, (axis + 2) % 3, axis
        self.sine, self.cosine = sine, cosine

    def out(self, a: Vector) -> Vector:
        """Returns R a: from the rotated frame to the one before."""
        made = list(a)
        made[self.i] = self.cosine * a[self.i] - self.sine * a[self.j]
        made[self.j] = self.sine * a[self.i] + self.cosine * a[self.j]
        return made

    def into(self, a: Vector) -> Vector:
        """Returns Rᵀ a."""
        made = list(a)
        made[self.i] = self.cosine * a[self.i] + self.sine * a[self.j]
        made[self.j] = self.cosine * a[self.j] - self.sine * a[self.i]
        return made

    def matrix(self, a: Matrix) -> Matrix:
        """Returns R A Rᵀ."""
        i, j, k = self.i, self.j, self.k
        made = [list(row) for row in a]
        twist = self.sine * (a[i][i] - a[j][j]) + self.cosine * (a[i][j] + a[j][i])
        part = self.sine * twist
        made[i][i] = a[i][i] - part
        made[j][j] = a[j][j] + part
        part = self.cosine * twist
        made[i][j] = part - a[j][i]
        made[j][i] = part - a[i][j]
        side = self.out([a[n][k] for n in range(3)])
        lower = self.out([a[k][n] for n in range(3)])
        for n in (i, j):
            made[n][k], made[k][n] = side[n], lower[n]
        return made


class MatrixRotation:
    """A rotation by a full matrix."""

    def __init__(self, turn: Matrix) -> None:
        self.turn, self.back = turn, transposed(turn)

    def out(self, a: Vector) -> Vector:
        """Returns R a."""
        return times(self.turn, a)

    def into(self, a: Vector) -> Vector:
        """Returns Rᵀ a."""
        return times(self.back, a)

    def matrix(self, a: Matrix) -> Matrix:
        """Returns R A Rᵀ."""
        half = product(self.turn, a)
        made = product(half, self.back)
        same = all(a[i][j] is a[j][i] for i in range(3) for j in range(i))
        return symmetric(made) if same else made


class LinkTransform:
    """Transform from a link's frame to its parent's: the joint's motion, then a constant.

    Attributes:
        shift: Origin of the link's frame in the parent's axes.
        slide: Translation axis of the joint in the link's axes, per unit velocity.
        angular_velocity: Rotation axis, likewise.
    """

    def __init__(self, graph: ExpressionGraph, link: TracedLink, q: Vector) -> None:
        self._turns: list[AxisRotation | MatrixRotation] = []
        self.shift: Vector = constant_array(graph, link.shift)
        along = np.zeros(3)
        along[link.axis] = link.sign
        self.angular_velocity = along if link.kind == "hinge" else np.zeros(3)
        factor = {"hinge": link.pitch, "slider": 1.0, "ball": 0.0}[link.kind]
        self.slide = along * factor
        if link.kind == "hinge":
            angle = q[link.q]
            self._turns.append(
                AxisRotation(link.axis, graph.sine(angle) * link.sign, graph.cosine(angle))
            )
        elif link.kind == "ball":
            self._turns.append(MatrixRotation(_from_quaternion(q[link.q : link.q + 4])))
        if factor:
            path = link.turn @ self.slide
            self.shift = [s + q[link.q] * float(c) for s, c in zip(self.shift, path, strict=True)]
        if not np.array_equal(link.turn, np.eye(3)):
            self._turns.append(MatrixRotation(constant_array(graph, link.turn)))

    def out(self, a: Vector) -> Vector:
        """Returns a vector of the link's axes in the parent's."""
        for turn in self._turns:
            a = turn.out(a)
        return a

    def into(self, a: Vector) -> Vector:
        """Returns a vector of the parent's axes in the link's."""
        for turn in reversed(self._turns):
            a = turn.into(a)
        return a

    def wrench(self, moment: Vector, force: Vector) -> tuple[Vector, Vector]:
        """Returns moment and force at the parent's origin, in its axes."""
        force = self.out(force)
        return add(self.out(moment), cross(self.shift, force)), force

    def turned(self, a: Matrix) -> Matrix:
        """Returns a matrix of the link's axes in the parent's."""
        for turn in self._turns:
            a = turn.matrix(a)
        return a

    def crossed(self, a: Matrix) -> Matrix:
        """Returns shift × each column of A."""
        return transposed([cross(self.shift, column) for column in transposed(a)])

    def inertia(self, a: Matrix, h: Matrix, m: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Returns an articulated inertia at the parent's origin and axes.

        Moment = A α + H a, force = Hᵀ α + M a for angular acceleration α and acceleration a of the
        origin.
        """
        a, h, m = self.turned(a), self.turned(h), self.turned(m)
        moved = add_matrices(h, self.crossed(m))
        one = self.crossed(transposed(h))
        two = transposed(self.crossed(transposed(moved)))
        whole = add_matrices(a, add_matrices(one, two))
        return symmetric(whole), moved, m

    def composite(
        self, mass: float, moment: Vector, inertia: Matrix
    ) -> tuple[float, Vector, Matrix]:
        """Returns a rigid body's mass, first moment and inertia at the parent's origin and axes."""
        first = self.out(moment)
        moved = [x + s * mass for x, s in zip(first, self.shift, strict=True)]
        # I' = I − [s][h] − [h'][s], with [·] the matrix of a cross product
        turned = self.turned(inertia)
        made: Matrix = [list(row) for row in turned]
        s = self.shift
        trace = dot(s, first) + dot(s, moved)
        for i in range(3):
            for j in range(i, 3):
                made[i][j] = made[i][j] - first[i] * s[j] - s[i] * moved[j]
            made[i][i] = made[i][i] + trace
        return mass, moved, symmetric(made)


def _from_quaternion(quat: Vector) -> Matrix:
    """Returns the rotation matrix of a quaternion wxyz of any length."""
    w, x, y, z = quat
    factor = 2.0 / (w * w + x * x + y * y + z * z)
    wx, wy, wz = factor * x * w, factor * y * w, factor * z * w
    xx, xy, xz = factor * x * x, factor * x * y, factor * x * z
    yy, yz, zz = factor * y * y, factor * y * z, factor * z * z
    return [
        [1.0 - (yy + zz), xy - wz, xz + wy],
        [xy + wz, 1.0 - (xx + zz), yz - wx],
        [xz - wy, yz + wx, 1.0 - (xx + yy)],
    ]
