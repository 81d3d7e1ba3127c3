"""Links: a world's tree as single joints about axes of their own frames, ready to be traced.

Each link's frame stands in its joint, and the joint's axis is one of the frame's own where the body
frame allows it, else its z: what is then 0 or 1 for good never reaches the traced expressions. A
joint of several degrees of freedom becomes several links, a free one three sliders and a ball.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwork.errors import LinkworkError
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
from linkwork.world import World

_NOTHING = 1e-15


@dataclass
class Link:
    """One joint and what it carries.

    Attributes:
        parent: Number of the link that carries it; −1 is the world.
        turn: Axes of the joint's frame at value 0, in the parent link's (3×3).
        shift: Place of the joint's frame in the parent link's [m].
        kind: "hinge" (a screw where ``pitch`` is not 0), "slider" or "ball".
        axis: Which axis of the frame it turns about or slides along.
        sign: +1, or −1 where the joint's own axis leads the other way.
        pitch: Advance [m/rad].
        q: First coordinate.
        v: First degree of freedom.
        mass: [kg].
        moment: Mass times centre of mass [kg m].
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
class Links:
    """All links of a world.

    Attributes:
        links: Parents come before children.
        carrier: The link that carries each body, −1 for the world.
        turn: Axes of each body's frame in its link's.
        place: Origin of each body's frame in its link's [m].
    """

    links: list[Link]
    carrier: list[int]
    turn: list[np.ndarray]
    place: list[np.ndarray]


def make_links(world: World, bodies: np.ndarray | None = None) -> Links:
    """The tree of a world as links.

    Args:
        world: The world.
        bodies: Mask over those that move; what others do is left out. All if absent.

    Raises:
        LinkworkError: A joint is a rail, whose law changes from piece to piece.
    """
    made = Links([], [-1], [np.eye(3)], [np.zeros(3)])
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
                f"{world.body_names[b]!r} rides on a rail, which has another law for each piece: "
                "a symbolic model has one for the whole motion.",
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
                link = Link(carrier, turn, _clean(at), name, number, sign, pitch, q, v)
                made.links.append(link)
                carrier = len(made.links) - 1
                here, at = aligned.T, np.zeros(3)
            made.carrier.append(carrier)
            made.turn.append(_clean(here))
            made.place.append(_clean(-here @ pivot))
        _load(world, b, made)
    return made


def _steps(world: World, b: int) -> list[tuple[str, np.ndarray, float, int, int]]:
    """Kind, axis in the body's frame, pitch, coordinate and degree of freedom of each link."""
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
    """A rotation after which ``axis`` is one of the frame's own; which, and its sign."""
    largest = int(np.argmax(np.abs(axis)))
    rest = np.delete(axis, largest)
    if np.all(np.abs(rest) < _NOTHING):
        return np.eye(3), largest, float(np.sign(axis[largest]))
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    z = axis / np.linalg.norm(axis)
    return np.column_stack([x, np.cross(z, x), z]), 2, 1.0


def _load(world: World, b: int, made: Links) -> None:
    """Adds the mass of body ``b`` to its link."""
    n = made.carrier[b]
    if n < 0:
        return
    link, turn = made.links[n], made.turn[b]
    centre = made.place[b] + turn @ world.com[b]
    mass = float(world.mass[b])
    own = turn @ world.inertia[b] @ turn.T
    link.mass += mass
    link.moment = _clean(link.moment + mass * centre)
    arm = np.eye(3) * (centre @ centre) - np.outer(centre, centre)
    link.inertia = _clean(link.inertia + own + mass * arm)


def _clean(numbers: np.ndarray) -> np.ndarray:
    """Numbers that rounding alone keeps from 0 or ±1 become that."""
    made = np.array(numbers)
    for exact in (-1.0, 0.0, 1.0):
        made[np.abs(made - exact) < _NOTHING] = exact
    return made


def rotation(quat: np.ndarray) -> np.ndarray:
    """Rotation matrix of a unit quaternion wxyz."""
    w, x, y, z = quat
    made = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return _clean(np.array(made))
