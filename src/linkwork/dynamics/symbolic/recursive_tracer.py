"""Recursive dynamics traced over a world's links.

Vectors are in the axes of their own link. Accelerations are those of the link's origin itself, so
that the velocities of origins do not occur: dynamics depends on angular velocities only (Luh,
Walker and Paul 1980). Forward dynamics eliminates articulated bodies (Featherstone) with a row and
a column of exact zeros for each finished axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from linkwork.core.errors import LinkworkError
from linkwork.dynamics.recursive import NO_MASS_HINT
from linkwork.dynamics.symbolic.expression import Expression, ExpressionGraph
from linkwork.dynamics.symbolic.links import TracedLink, TracedTree
from linkwork.dynamics.symbolic.transforms import (
    LinkTransform,
    Matrix,
    Vector,
    add,
    add_matrices,
    constant_array,
    cross,
    dot,
    scale,
    symmetric,
    times,
    transposed,
)


@dataclass
class LinkMotion:
    """Motion of one link, in its own axes.

    Attributes:
        angular_velocity: Angular velocity.
        angular_acceleration: Its rate, without the joint's own acceleration.
        pull: Acceleration of the origin, likewise.
    """

    angular_velocity: Vector
    angular_acceleration: Vector
    pull: Vector


class RecursiveTracer:
    """Expressions of a robot's motion and dynamics.

    Args:
        graph: The expression graph.
        links: The robot.
        q: Coordinates.
        armature: Rotor inertia by degree of freedom.
        gravity: [m/s²].
        name: Returns the name of a degree of freedom, for messages.
    """

    def __init__(
        self,
        graph: ExpressionGraph,
        links: TracedTree,
        q: Vector,
        armature: list[float],
        gravity: list[float],
        name: Callable[[int], str],
    ) -> None:
        self.graph, self.links, self.armature = graph, links.links, armature
        self.gravity, self._name = gravity, name
        self.moves = [LinkTransform(graph, link, q) for link in links.links]
        self.none: Vector = [graph.zero] * 3

    def axes(self, n: int) -> list[tuple[int, list[float], list[float]]]:
        """Returns degree of freedom, rotation and translation axis of each of a link's freedoms."""
        link, move = self.links[n], self.moves[n]
        if link.kind != "ball":
            return [(link.v, move.angular_velocity.tolist(), move.slide.tolist())]
        unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        return [(link.v + k, unit[k], [0.0] * 3) for k in range(3)]

    def _carried(
        self,
        n: int,
        angular_velocity: Vector,
        angular_acceleration: Vector,
        pull: Vector,
        v: Vector,
    ) -> LinkMotion:
        """Returns the motion of a link from its parent's; the joint has constant ``v``.

        a' = a + α × s + ω × (ω × s) + 2 ω × ṡ,  α' = α + ω' × joint's angular velocity.
        """
        link, move = self.links[n], self.moves[n]
        pull = add(pull, cross(angular_acceleration, move.shift))
        pull = add(pull, cross(angular_velocity, cross(angular_velocity, move.shift)))
        rate = [self.graph.number(0.0)] * 3
        slide = [self.graph.number(0.0)] * 3
        for dof, about, along in self.axes(n):
            rate = add(rate, [v[dof] * c for c in about])
            slide = add(slide, [v[dof] * c for c in along])
        before = move.into(angular_velocity)
        pull = add(move.into(pull), scale(cross(before, slide), self.graph.number(2.0)))
        own = add(before, rate)
        angular_acceleration = add(
            move.into(angular_acceleration), cross(before if link.kind != "ball" else own, rate)
        )
        return LinkMotion(own, angular_acceleration, pull)

    def _rest(self) -> tuple[Vector, Vector, Vector]:
        """Returns the motion of the world, which accelerates against gravity."""
        return self.none, self.none, [self.graph.number(-g) for g in self.gravity]

    def _wrench(
        self, link: TracedLink, angular_velocity: Vector, angular_acceleration: Vector, pull: Vector
    ) -> tuple:
        """Returns moment and force of a rigid link's motion."""
        graph = self.graph
        if link.mass == 0.0 and not link.inertia.any():
            return self.none, self.none
        moment, inertia = constant_array(graph, link.moment), constant_array(graph, link.inertia)
        force = add(scale(pull, graph.number(link.mass)), cross(angular_acceleration, moment))
        force = add(force, cross(angular_velocity, cross(angular_velocity, moment)))
        turn = add(
            times(inertia, angular_acceleration),
            cross(angular_velocity, times(inertia, angular_velocity)),
        )
        return add(turn, cross(moment, pull)), force

    def inverse(self, v: Vector, a: Vector) -> Vector:
        """Returns the efforts for accelerations ``a`` (Newton–Euler)."""
        motions: list[LinkMotion] = []
        wrenches: list[list[Vector]] = []
        for n, link in enumerate(self.links):
            up = motions[link.parent] if link.parent >= 0 else None
            given = (up.angular_velocity, up.angular_acceleration, up.pull) if up else self._rest()
            motion = self._carried(n, *given, v)
            for dof, about, along in self.axes(n):
                motion.angular_acceleration = add(
                    motion.angular_acceleration, [a[dof] * c for c in about]
                )
                motion.pull = add(motion.pull, [a[dof] * c for c in along])
            motions.append(motion)
            wrenches.append(
                [
                    *self._wrench(
                        link, motion.angular_velocity, motion.angular_acceleration, motion.pull
                    )
                ]
            )
        made = [self.graph.zero] * len(v)
        for n in range(len(self.links) - 1, -1, -1):
            moment, force = wrenches[n]
            for dof, about, along in self.axes(n):
                made[dof] = dot(about, moment) + dot(along, force) + a[dof] * self.armature[dof]
            parent = self.links[n].parent
            if parent >= 0:
                moment, force = self.moves[n].wrench(moment, force)
                wrenches[parent][0] = add(wrenches[parent][0], moment)
                wrenches[parent][1] = add(wrenches[parent][1], force)
        return made

    def mass_matrix(self, size: int) -> Matrix:
        """Returns M(q), by composite bodies."""
        graph, made = self.graph, [[self.graph.zero] * size for _ in range(size)]
        whole = [
            (link.mass, constant_array(graph, link.moment), constant_array(graph, link.inertia))
            for link in self.links
        ]
        for n in range(len(self.links) - 1, -1, -1):
            mass, moment, inertia = whole[n]
            axes = self.axes(n)
            for k, (dof, about, along) in enumerate(axes):
                turn, slide = constants(graph, about), constants(graph, along)
                torque = add(times(inertia, turn), cross(moment, slide))
                force = add(scale(slide, graph.number(mass)), cross(turn, moment))
                pairs = axes[: k + 1]
                at = n
                while True:
                    for other, about2, along2 in pairs:
                        value = dot(about2, torque) + dot(along2, force)
                        made[dof][other] = made[other][dof] = value
                    parent = self.links[at].parent
                    if parent < 0:
                        break
                    torque, force = self.moves[at].wrench(torque, force)
                    at, pairs = parent, self.axes(parent)
                made[dof][dof] = made[dof][dof] + self.armature[dof]
            parent = self.links[n].parent
            if parent >= 0:
                m, h, i = self.moves[n].composite(mass, moment, inertia)
                over = whole[parent]
                whole[parent] = over[0] + m, add(over[1], h), add_matrices(over[2], i)
        return made

    def forward(self, v: Vector, effort: Vector) -> Vector:
        """Returns the accelerations that the efforts cause (articulated bodies).

        Raises:
            LinkworkError: If a joint moves nothing that has mass.
        """
        graph, count = self.graph, len(self.links)
        zeros: Matrix = [list(self.none) for _ in range(3)]
        spins: list[Vector] = []
        drifts: list[LinkMotion] = []
        bodies: list[tuple[Matrix, Matrix, Matrix]] = []
        biases: list[tuple[Vector, Vector]] = []
        for n, link in enumerate(self.links):
            angular_velocity = spins[link.parent] if link.parent >= 0 else self.none
            drift = self._carried(n, angular_velocity, self.none, self.none, v)
            spins.append(drift.angular_velocity)
            drifts.append(drift)
            h = constant_array(graph, link.moment)
            coupling = transposed([cross(h, column) for column in _unit(graph)])
            mass = [[x * link.mass for x in row] for row in _unit(graph)]
            bodies.append((constant_array(graph, link.inertia), coupling, mass))
            biases.append(self._wrench(link, drift.angular_velocity, self.none, self.none))
        solved: list[list[tuple[int, Vector, Vector, Expression, Expression]]] = [[]] * count
        for n in range(count - 1, -1, -1):
            a, h, m = bodies[n]
            moment, force = biases[n]
            solved[n] = []
            for dof, about, along in reversed(self.axes(n)):
                turn, slide = constants(graph, about), constants(graph, along)
                upper = add(times(a, turn), times(h, slide))
                lower = add(times(transposed(h), turn), times(m, slide))
                resists = dot(about, upper) + dot(along, lower) + self.armature[dof]
                if resists.is_zero:
                    raise LinkworkError(
                        f"joint {self._name(dof)!r} moves nothing that has mass, so that its "
                        "acceleration is undefined.",
                        hint=NO_MASS_HINT,
                    )
                inverse = 1.0 / resists
                left = effort[dof] - dot(about, moment) - dot(along, force)
                solved[n].append((dof, upper, lower, inverse, left))
                done = _single_axis(about, along) if self.armature[dof] == 0.0 else None
                a, h, m = _eliminate_axis(graph, (a, h, m), upper, lower, inverse, done)
                push = left * inverse
                moment, force = add(moment, scale(upper, push)), add(force, scale(lower, push))
                if done is not None:  # the remainder is the effort itself, regardless of the bias
                    which = moment if done < 3 else force
                    which[done % 3] = effort[dof] * float((about + along)[done])
            parent = self.links[n].parent
            if parent < 0:
                continue
            drift = drifts[n]
            moment = add(moment, add(times(a, drift.angular_acceleration), times(h, drift.pull)))
            force = add(
                force, add(times(transposed(h), drift.angular_acceleration), times(m, drift.pull))
            )
            moment, force = self.moves[n].wrench(moment, force)
            biases[parent] = add(biases[parent][0], moment), add(biases[parent][1], force)
            body = self.moves[n].inertia(a, h, m) if (a, h, m) != (zeros, zeros, zeros) else None
            if body is not None:
                over = bodies[parent]
                bodies[parent] = tuple(add_matrices(x, y) for x, y in zip(over, body, strict=True))  # type: ignore[assignment]
        made = [graph.zero] * len(v)
        moving: list[tuple[Vector, Vector]] = []
        for n, link in enumerate(self.links):
            _, angular_acceleration, pull = self._rest()
            if link.parent >= 0:
                angular_acceleration, pull = moving[link.parent]
            move, drift = self.moves[n], drifts[n]
            pull = add(move.into(add(pull, cross(angular_acceleration, move.shift))), drift.pull)
            angular_acceleration = add(move.into(angular_acceleration), drift.angular_acceleration)
            axes = {dof: (about, along) for dof, about, along in self.axes(n)}
            for dof, upper, lower, inverse, left in reversed(solved[n]):
                made[dof] = (left - dot(upper, angular_acceleration) - dot(lower, pull)) * inverse
                about, along = axes[dof]
                angular_acceleration = add(angular_acceleration, [made[dof] * c for c in about])
                pull = add(pull, [made[dof] * c for c in along])
            moving.append((angular_acceleration, pull))
        return made


def constants(graph: ExpressionGraph, values: list[float]) -> Vector:
    """Returns numbers as expressions."""
    return [graph.number(value) for value in values]


def _unit(graph: ExpressionGraph) -> Matrix:
    return [[graph.number(float(i == j)) for j in range(3)] for i in range(3)]


def _single_axis(about: list[float], along: list[float]) -> int | None:
    """Returns the single free axis of the joint, if it has one."""
    found = [k for k, c in enumerate([*about, *along]) if c]
    return found[0] if len(found) == 1 else None


def _eliminate_axis(
    graph: ExpressionGraph, body: tuple[Matrix, Matrix, Matrix], upper: Vector, lower: Vector,
    inverse: Expression, done: int | None,
) -> tuple[Matrix, Matrix, Matrix]:  # fmt: skip
    """Returns an articulated inertia with an axis released: I − U Uᵀ / D."""
    a, h, m = body
    up, low = scale(upper, inverse), scale(lower, inverse)
    a = symmetric([[a[i][j] - up[i] * upper[j] if j >= i else a[i][j] for j in range(3)]
                  for i in range(3)])  # fmt: skip
    h = [[h[i][j] - up[i] * lower[j] for j in range(3)] for i in range(3)]
    m = symmetric([[m[i][j] - low[i] * lower[j] if j >= i else m[i][j] for j in range(3)]
                  for i in range(3)])  # fmt: skip
    if done is not None and done < 3:
        for k in range(3):
            a[done][k] = a[k][done] = h[done][k] = graph.zero
    elif done is not None:
        for k in range(3):
            m[done - 3][k] = m[k][done - 3] = h[k][done - 3] = graph.zero
    return a, h, m
