"""Small worlds for the tests of engines, and functions to run them."""

import math
from typing import Any

import numpy as np

from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Box, Element, Joint, Part, Shape, Spec
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle

H = 0.002
G = 9.81
UP = (0.0, 0.0, 1.0)
SIDE = (0.0, 1.0, 0.0)


def cycle(scene: Scene) -> Cycle:
    """Returns a compiled scene, ready to step."""
    return Cycle(compile_scene(scene))


def move(cycle: Cycle, steps: int) -> None:
    """Runs actuators and engines, without sensors and agents."""
    for _ in range(steps):
        cycle.move()


def block(name: str, size: tuple[float, float, float], mass: float, **more: Any) -> Element:
    """Returns a box-shaped element."""
    return Element(name, (Box(size),), mass=mass, **more)


def loose(name: str, shape: Shape, mass: float = 1.0, **more: Any) -> Part:
    """Returns a part of one element called ``body``."""
    return Part(name).add(Element("body", (shape,), mass=mass, **more))


def bar(name: str, length: float, mass: float) -> Element:
    """Returns a thin rod along x from its frame's origin, without collisions."""
    shape = Box((length, 0.02, 0.02), at=Pose((length / 2.0, 0.0, 0.0)), collide=False)
    return Element(name, (shape,), mass=mass)


def servo(**params: float) -> Spec:
    return Spec("actuator", "servo", params=dict(params))


def motor(**params: float) -> Spec:
    return Spec("actuator", "motor", params=dict(params))


def effort() -> Spec:
    return Spec("actuator", "effort")


def arm(*, mass: float = 0.05, length: float = 0.1, **joint: Any) -> Part:
    """Returns a square link on a post, rotating about y; at 0 it is level along x."""
    link = Box((length, 0.02, 0.02), at=Pose((length / 2.0, 0.0, 0.0)))
    return Part("arm").add(
        Element("post", mass=1.0),
        Element("link", (link,), mass=mass),
        Joint("J", "hinge", "post", "link", axis=SIDE, **joint),
    )


def arm_inertia(mass: float = 0.05, length: float = 0.1) -> float:
    """Returns the inertia of :func:`arm`'s link about its joint [kg m²]."""
    return mass * (length**2 + 0.02**2) / 12.0 + mass * (length / 2.0) ** 2


def four_bar(
    joint: str, bars: tuple[float, float, float, float], crank_at: float, **more: Any
) -> Scene:
    """Returns crank, coupler and rocker in the x-z plane, joined by a loop.

    ``bars``: crank, coupler, rocker, ground [m]. The loop is initially closed.
    """
    crank, coupler, rocker, ground = bars
    a = crank * np.array([math.cos(crank_at), math.sin(crank_at)])
    q = np.array([ground, 0.0])
    reach = float(np.linalg.norm(q - a))
    inner = math.acos((coupler**2 + reach**2 - rocker**2) / (2.0 * coupler * reach))
    phi = math.atan2(*(q - a)[::-1]) + inner
    b = a + coupler * np.array([math.cos(phi), math.sin(phi)])
    psi = math.atan2(*(b - q)[::-1])
    axis = (0.0, -1.0, 0.0)
    part = Part("bars").add(
        Element("ground", mass=1.0),
        bar("crank", crank, 0.5), bar("coupler", coupler, 0.5), bar("rocker", rocker, 0.5),
        Joint("J1", "hinge", "ground", "crank", axis=axis, value=crank_at),
        Joint("J2", "hinge", "crank", "coupler", at=Pose((crank, 0.0, 0.0)), axis=axis,
              value=phi - crank_at),
        Joint("J3", "hinge", "ground", "rocker", at=Pose((ground, 0.0, 0.0)), axis=axis,
              value=psi),
        Anchor("a", "coupler", Pose((coupler, 0.0, 0.0))),
        Anchor("b", "rocker", Pose((rocker, 0.0, 0.0))),
    )  # fmt: skip
    part.close("a", "b", joint=joint, axis=axis)
    return Scene("loop", **more).place(part)


def ring(count: int, damping: float, **more: Any) -> Scene:
    """Returns a regular polygon of bars, hung at one corner, closed by a hinge."""
    part = Part("ring").add(Element("ground", mass=1.0))
    axis = (0.0, -1.0, 0.0)
    for n in range(count):
        part.add(bar(f"bar{n}", 0.1, 0.1))
        below = f"bar{n - 1}" if n else "ground"
        at = Pose((0.1, 0.0, 0.0)) if n else Pose()
        value = 2.0 * math.pi / count if n else 0.0
        part.add(
            Joint(f"J{n}", "hinge", below, f"bar{n}", at=at, axis=axis, value=value,
                  damping=damping)
        )  # fmt: skip
    part.add(Anchor("a", f"bar{count - 1}", Pose((0.1, 0.0, 0.0))), Anchor("b", "ground"))
    part.close("a", "b", joint="hinge", axis=axis)
    return Scene("loop", **more).place(part)


def seen_from(cycle: Cycle, carrier: str, thing: str) -> Pose:
    """Returns the pose of one element's body in the frame of another's."""
    poses = []
    for name in (carrier, thing):
        row = cycle.state.pose[cycle.world.body(name)]
        poses.append(Pose.of(row[:3], quat=row[3:]))
    return poses[0].inverse() @ poses[1]
