"""The mechanisms of ``loops.py`` as plain numbers, from which every engine builds the same model.

At the start the axes of all bodies are those of the world, and their origins are their centers of
mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

GRAVITY = np.array([0.0, 0.0, -9.81])
GROUND = -1


@dataclass(frozen=True)
class Body:
    """A rigid body: mass [kg], center of mass [m] and inertia about it [kg m²] at the start."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class Pin:
    """A joint that constrains a point: ball, hinge or universal.

    Attributes:
        kind: Type of the joint.
        a: Parent body, or GROUND.
        b: Child body.
        point: Position at the start [m].
        axis: Axis of a hinge, or first axis of a universal joint.
        axis2: Second axis of a universal joint; it turns with ``b``.
        rate: Angular velocity of b relative to a at the start [rad/s].
    """

    kind: str
    a: int
    b: int
    point: np.ndarray
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 1.0, 0.0]))
    axis2: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    rate: np.ndarray = field(default_factory=lambda: np.zeros(3))


@dataclass
class Linkage:
    """Bodies, the joints of their tree (joint n moves body n, depth first), and loops."""

    name: str
    bodies: list[Body] = field(default_factory=list)
    tree: list[Pin] = field(default_factory=list)
    loops: list[Pin] = field(default_factory=list)

    def add(self, body: Body, kind: str, a: int, point: np.ndarray, **more: np.ndarray) -> int:
        """Adds a body and its joint."""
        self.bodies.append(body)
        self.tree.append(Pin(kind, a, len(self.bodies) - 1, np.asarray(point), **more))
        return len(self.bodies) - 1

    def close(self, kind: str, a: int, b: int, point: np.ndarray, **more: np.ndarray) -> None:
        """Closes a loop."""
        self.loops.append(Pin(kind, a, b, np.asarray(point), **more))

    @property
    def pins(self) -> list[Pin]:
        return [*self.tree, *self.loops]

    def center(self, body: int) -> np.ndarray:
        """Center of mass at the start [m]; that of the ground is the origin of the world."""
        return self.bodies[body].center if body >= 0 else np.zeros(3)

    def start(self) -> Motion:
        """Poses and velocities at the start."""
        n = len(self.bodies)
        v, w = np.zeros((n, 3)), np.zeros((n, 3))
        for pin in self.tree:
            above_v, above_w = (v[pin.a], w[pin.a]) if pin.a >= 0 else (np.zeros(3), np.zeros(3))
            at_pin = above_v + np.cross(above_w, pin.point - self.center(pin.a))
            w[pin.b] = above_w + pin.rate
            v[pin.b] = at_pin + np.cross(w[pin.b], self.center(pin.b) - pin.point)
        x = np.array([body.center for body in self.bodies])
        return Motion(x, np.tile(np.eye(3), (n, 1, 1)), v, w)


@dataclass
class Motion:
    """Centers of mass [m], rotations since the start and velocities in world axes."""

    x: np.ndarray
    turn: np.ndarray
    v: np.ndarray
    w: np.ndarray

    def kinetic(self, linkage: Linkage) -> float:
        """Kinetic energy [J]."""
        total = 0.0
        for body, turn, v, w in zip(linkage.bodies, self.turn, self.v, self.w, strict=True):
            own = turn.T @ w
            total += 0.5 * body.mass * float(v @ v) + 0.5 * float(own @ body.inertia @ own)
        return total

    def energy(self, linkage: Linkage) -> float:
        """Kinetic and potential energy [J]."""
        masses = np.array([body.mass for body in linkage.bodies])
        return self.kinetic(linkage) - float(masses @ (self.x @ GRAVITY))

    def gap(self, linkage: Linkage) -> float:
        """Largest gap of all joints [m]."""

        def place(body: int, point: np.ndarray) -> np.ndarray:
            return self.x[body] + self.turn[body] @ (point - linkage.center(body))

        worst = 0.0
        for pin in linkage.pins:
            a = place(pin.a, pin.point) if pin.a >= 0 else pin.point
            worst = max(worst, float(np.linalg.norm(a - place(pin.b, pin.point))))
        return worst


def bar(start: np.ndarray, end: np.ndarray, mass: float, wide: float, deep: float) -> Body:
    """A box from start to end, ``wide`` horizontally and ``deep`` in the third direction."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    side = np.cross([0.0, 0.0, 1.0], along)
    side = side / np.linalg.norm(side) if np.linalg.norm(side) > 1e-9 else np.array([0.0, 1.0, 0.0])
    axes = np.column_stack([along, side, np.cross(along, side)])
    squares = np.array([wide**2 + deep**2, length**2 + deep**2, length**2 + wide**2])
    return Body(mass, 0.5 * (start + end), axes @ np.diag(mass / 12.0 * squares) @ axes.T)


def chain(count: int, kind: str = "hinge", *, value: float = 0.3) -> Linkage:
    """Bars of 0.2 m in a hanging chain, each turned by ``value`` [rad] against the one before."""
    made = Linkage(f"chain of {count}")
    place, angle = np.zeros(3), 0.0
    for n in range(count):
        angle += value if kind == "hinge" else 0.0
        end = place + 0.2 * np.array([math.cos(angle), 0.0, -math.sin(angle)])
        more = {} if kind == "hinge" else {"rate": np.array([2.0, 1.0, -1.0])}
        made.add(bar(place, end, 0.3, 0.04, 0.05), kind, n - 1, place, **more)
        place = end
    return made


def double_pendulum() -> Linkage:
    """Two horizontal bars on ball joints, which rotate about all axes."""
    made = chain(2, "ball")
    made.name = "double pendulum"
    return made


def four_bar() -> Linkage:
    """Crank, coupler and rocker on four hinges, one of which is a loop."""
    crank, coupler, rocker, base = 0.1, 0.3, 0.25, 0.3
    first = math.radians(60.0)
    b = crank * np.array([math.cos(first), 0.0, math.sin(first)])
    d = np.array([base, 0.0, 0.0])
    far = float(np.linalg.norm(d - b))
    second = math.atan2((d - b)[2], (d - b)[0]) + math.acos(
        (coupler**2 + far**2 - rocker**2) / (2 * coupler * far)
    )
    c = b + coupler * np.array([math.cos(second), 0.0, math.sin(second)])
    made = Linkage("four-bar")
    one = made.add(bar(np.zeros(3), b, 0.5, 0.02, 0.02), "hinge", GROUND, np.zeros(3))
    two = made.add(bar(b, c, 1.5, 0.02, 0.02), "hinge", one, b)
    three = made.add(bar(d, c, 1.25, 0.02, 0.02), "hinge", GROUND, d)
    made.close("hinge", two, three, c)
    return made


def ring(count: int = 20, *, radius: float = 0.3, kind: str = "ball", far: int = 8) -> Linkage:
    """Bars in a circle, fixed at the first corner and at another one.

    With ball joints it starts horizontally and swings down; with hinges it stays in a vertical
    plane.
    """
    made = Linkage(f"ring of {count}")
    down = np.array([0.0, 0.0, -1.0]) if kind == "hinge" else np.array([0.0, -1.0, 0.0])
    angles = 2 * math.pi / count * np.arange(count + 1)
    directions = np.outer(np.cos(angles), [1.0, 0.0, 0.0]) + np.outer(np.sin(angles), down)
    side = 2 * radius * math.sin(math.pi / count)
    corners = np.vstack([np.zeros(3), side * np.cumsum(directions, axis=0)])
    for n in range(count):
        mine = kind if n else "ball"
        made.add(bar(corners[n], corners[n + 1], 0.1, 0.02, 0.02), mine, n - 1, corners[n])
    made.close(kind, count - 1, 0, corners[0])
    made.close("ball", GROUND, far, corners[far])
    return made


def hexapod() -> Linkage:
    """A platform that hangs on six rods from six cranks: universal joints above, balls below."""
    made = Linkage("hexapod")
    platform = Body(2.0, np.array([0.0, 0.0, -0.4]), 2.0 * np.diag([0.0036, 0.0036, 0.0072]))
    below = GROUND
    for leg in range(6):
        pair = 1.0 if leg % 2 else -1.0
        middle = math.radians(120.0 * (leg // 2))
        base, foot = middle + pair * math.radians(20.0), middle + pair * math.radians(50.0)
        out = np.array([math.cos(base), math.sin(base), 0.0])
        axis = np.array([-math.sin(base), math.cos(base), 0.0])
        root = 0.2 * out
        lift = -0.8 + 0.15 * math.sin(2.0 * leg + 1.0)
        knee = root + 0.1 * (math.cos(lift) * out + math.sin(lift) * np.array([0.0, 0.0, 1.0]))
        end = platform.center + 0.12 * np.array([math.cos(foot), math.sin(foot), 0.0])
        rod = end - knee
        crank = made.add(bar(root, knee, 0.2, 0.02, 0.02), "hinge", GROUND, root, axis=axis)
        across = np.cross(axis, rod)
        first = axis - rod * (axis @ rod) / (rod @ rod)
        more = {"axis": first / np.linalg.norm(first), "axis2": across / np.linalg.norm(across)}
        rod_body = made.add(bar(knee, end, 0.1, 0.01, 0.01), "universal", crank, knee, **more)
        if leg == 0:
            below = made.add(platform, "ball", rod_body, end)
        else:
            made.close("ball", rod_body, below, end)
    return made


CASES: dict[str, Callable[[], Linkage]] = {
    "double pendulum": double_pendulum,
    "four-bar": four_bar,
    "chain of 10": lambda: chain(10),
    "chain of 200": lambda: chain(200, value=0.01),
    "ring of 20": ring,
    "ring of 20 hinges": lambda: ring(kind="hinge", far=4),
    "hexapod": hexapod,
}
