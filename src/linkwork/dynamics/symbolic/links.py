"""Traced links: a world's tree as single joints about axes of their own frames.

Each link's frame is in its joint, and the joint's axis is one of the frame's own axes if the body
frame permits, else its z: constants 0 and 1 then never reach the traced expressions. A joint of
several degrees of freedom becomes several links, a free one three sliders and a ball.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.geometry.pose import matrix_from_quat
from linkwork.kinematics.kernels import (
    BALL,
    CYLINDRICAL,
    FIXED,
    FREE,
    HINGE,
    PLANAR,
    RAIL,
    SCREW,
    SLIDER,
    UNIVERSAL,
)
from linkwork.model.world import World

_NOTHING = 1e-15


@dataclass
class TracedLink:
    """One joint and the body it carries.

    Attributes:
        parent: Index of the link that carries it; −1 is the world.
        turn: Axes of the joint's frame at value 0, in the parent link's (3×3).
        shift: Position of the joint's frame in the parent link's [m].
        kind: "hinge" (a screw if ``pitch`` is not 0), "slider" or "ball".
        axis: Rotation or translation axis of the frame.
        sign: +1, or −1 if the joint's own axis is opposite.
        pitch: Advance [m/rad].
        q: First coordinate.
        v: First degree of freedom.
        mass: [kg].
        moment: Mass times center of mass [kg m].
        inertia: About the frame's origin [kg m²].
    """

    parent: int
    turn: np.ndarray
    shift: np.ndarray
    kind: str
    axis: int
    sign: float
    pitch: float
    q: int
    v: int
    mass: float = 0.0
    moment: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def dofs(self) -> range:
        """Degrees of freedom."""
        return range(self.v, self.v + (3 if self.kind == "ball" else 1))


@dataclass
class TracedTree:
    """All links of a world.

    Attributes:
        links: Parents precede children.
        carrier: The link that carries each body, −1 for the world.
        turn: Axes of each body's frame in its link's.
        place: Origin of each body's frame in its link's [m].
    """

    links: list[TracedLink]
    carrier: list[int]
    turn: list[np.ndarray]
    place: list[np.ndarray]


def make_links(world: World, bodies: np.ndarray | None = None) -> TracedTree:
    """Returns the tree of a world as links.

    Args:
        world: The world.
        bodies: Mask over moving bodies; others are omitted. All if absent.

    Raises:
        LinkworkError: If a joint is a rail, whose law changes from segment to segment.
    """
    made = TracedTree([], [-1], [np.eye(3)], [np.zeros(3)])
    for b in range(1, world.nb):
        parent = int(world.parent[b])
        kind = int(world.kind[b])
        if bodies is not None and not bodies[b] and kind != FIXED:
            made.carrier.append(-1)
            made.turn.append(np.eye(3))
            made.place.append(np.zeros(3))
            continue
        if kind == RAIL:
            raise LinkworkError(
                f"{world.body_names[b]!r} is on a rail, which has a different law for each "
                "segment: a symbolic model has one for the whole motion.",
                origin=world.body_origins[b],
                hint="Replace the rail by a slider, or use linkwork.dynamics.",
            )
        base_turn = made.turn[parent] @ rotation(world.x0[b, 3:])
        base_place = made.place[parent] + made.turn[parent] @ world.x0[b, :3]
        carrier = made.carrier[parent]
        if kind == FIXED:
            made.carrier.append(carrier)
            made.turn.append(base_turn)
            made.place.append(base_place)
        else:
            pivot = world.pivot[b]
            here, at = base_turn, base_place + base_turn @ pivot
            for step in _steps(world, b):
                name, axis, pitch, q, v = step
                aligned, number, sign = _align(axis)
                turn = _clean(here @ aligned)
                link = TracedLink(carrier, turn, _clean(at), name, number, sign, pitch, q, v)
                made.links.append(link)
                carrier = len(made.links) - 1
                here, at = aligned.T, np.zeros(3)
            made.carrier.append(carrier)
            made.turn.append(_clean(here))
            made.place.append(_clean(-here @ pivot))
        _load(world, b, made)
    return made


def _steps(world: World, b: int) -> list[tuple[str, np.ndarray, float, int, int]]:
    """Returns kind, axis (body frame), pitch, coordinate and degree of freedom of each link."""
    axis, axis2 = world.axis[b], world.axis2[b]
    q, v = int(world.qadr[b]), int(world.vadr[b])
    match int(world.kind[b]):
        case k if k == HINGE:
            return [("hinge", axis, 0.0, q, v)]
        case k if k == SCREW:
            return [("hinge", axis, float(world.pitch[b]), q, v)]
        case k if k == SLIDER:
            return [("slider", axis, 0.0, q, v)]
        case k if k == BALL:
            return [("ball", np.eye(3)[2], 0.0, q, v)]
        case k if k == UNIVERSAL:
            return [("hinge", axis, 0.0, q, v), ("hinge", axis2, 0.0, q + 1, v + 1)]
        case k if k == CYLINDRICAL:
            return [("slider", axis, 0.0, q, v), ("hinge", axis, 0.0, q + 1, v + 1)]
        case k if k == PLANAR:
            other = np.cross(axis, axis2)
            slides = [("slider", axis2, 0.0, q, v), ("slider", other, 0.0, q + 1, v + 1)]
            return [*slides, ("hinge", axis, 0.0, q + 2, v + 2)]
        case k if k == FREE:
            slides = [("slider", np.eye(3)[n], 0.0, q + n, v + n) for n in range(3)]
            return [*slides, ("ball", np.eye(3)[2], 0.0, q + 3, v + 3)]
    raise AssertionError(world.kind[b])


def _align(axis: np.ndarray) -> tuple[np.ndarray, int, float]:
    """Returns a rotation after which ``axis`` is one of the frame's own; which, and its sign."""
    largest = int(np.argmax(np.abs(axis)))
    rest = np.delete(axis, largest)
    if np.all(np.abs(rest) < _NOTHING):
        return np.eye(3), largest, float(np.sign(axis[largest]))
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    z = axis / np.linalg.norm(axis)
    return np.column_stack([x, np.cross(z, x), z]), 2, 1.0


def _load(world: World, b: int, made: TracedTree) -> None:
    """Adds the mass of body ``b`` to its link."""
    n = made.carrier[b]
    if n < 0:
        return
    link, turn = made.links[n], made.turn[b]
    center = made.place[b] + turn @ world.com[b]
    mass = float(world.mass[b])
    own = turn @ world.inertia[b] @ turn.T
    link.mass += mass
    link.moment = _clean(link.moment + mass * center)
    arm = np.eye(3) * (center @ center) - np.outer(center, center)
    link.inertia = _clean(link.inertia + own + mass * arm)


def _clean(numbers: np.ndarray) -> np.ndarray:
    """Returns numbers with rounding errors about 0 and ±1 removed."""
    made = np.array(numbers)
    for exact in (-1.0, 0.0, 1.0):
        made[np.abs(made - exact) < _NOTHING] = exact
    return made


def rotation(quat: np.ndarray) -> np.ndarray:
    """Returns the rotation matrix of a unit quaternion wxyz, with exact 0 and ±1."""
    return _clean(matrix_from_quat(quat))
