"""Mechanisms for tests of exact joints: chains, loops, tops."""

import math
from typing import Any

import numpy as np

from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Box, Element, Joint, Loop, Part
from linkwork.model.scene import Scene
from linkwork.session.session import Session


def bar(
    name: str, length: float, mass: float, *, wide: float = 0.02, deep: float = 0.02
) -> Element:
    """Returns a bar along x from its own origin, without collisions."""
    shape = Box(size=(length, wide, deep), at=Pose.of((length / 2, 0, 0)), collide=False)
    return Element(name, (shape,), mass=mass)


def ground(name: str = "ground") -> Element:
    return Element(name, (Box(size=(0.1, 0.1, 0.1), collide=False),), mass=1.0)


def chain(count: int, kind: str = "hinge", *, value: float = 0.3, length: float = 0.2) -> Part:
    """Returns bars in series, level except for ``value``."""
    part, before = Part("chain").add(ground()), "ground"
    for n in range(count):
        part.add(bar(f"bar{n}", length, 0.3, wide=0.04, deep=0.05))
        more: dict[str, Any] = {"value": value} if kind == "hinge" else {"speed": (2.0, 1.0, -1.0)}
        at = Pose.of((length if n else 0.0, 0.0, 0.0))
        part.add(Joint(f"J{n}", kind, before, f"bar{n}", at=at, axis=(0, 1, 0), **more))
        before = f"bar{n}"
    return part


def four_bar(*, loop: str = "hinge", open_by: float = 0.0, turned: float = 0.0) -> Part:
    """Returns crank, coupler and rocker in the plane of x and z, at closed angles."""
    crank, coupler, rocker, base = 0.1, 0.3, 0.25, 0.3
    first = math.radians(60.0)
    b = crank * np.array([math.cos(first), math.sin(first)])
    way = np.array([base, 0.0]) - b
    far = float(np.linalg.norm(way))
    second = math.atan2(way[1], way[0]) + math.acos(
        (coupler**2 + far**2 - rocker**2) / (2 * coupler * far)
    )
    c = b + coupler * np.array([math.cos(second), math.sin(second)])
    third = math.atan2(c[1], c[0] - base)
    part = Part("four_bar").add(
        ground(),
        bar("crank", crank, 0.5),
        bar("coupler", coupler, 1.5),
        bar("rocker", rocker, 1.25),
    )
    axis = (0, -1, 0)
    part.add(
        Joint("A", "hinge", "ground", "crank", axis=axis, value=first),
        Joint("B", "hinge", "crank", "coupler", at=Pose.of((crank, 0, 0)), axis=axis,
              value=second - first + open_by),
        Joint("D", "hinge", "ground", "rocker", at=Pose.of((base, 0, 0)), axis=axis, value=third),
    )  # fmt: skip
    part.add(
        Anchor("end", "coupler", Pose.of((coupler, 0, 0), rpy=(turned, 0, 0))),
        Anchor("tip", "rocker", Pose.of((rocker, 0, 0))),
    )
    return part.add(Loop("C", "end", "tip", loop, axis=axis))


def ring(count: int = 20, *, radius: float = 0.3) -> Part:
    """Returns bars in a circle, hung at the first and the opposite one by balls."""
    part = Part("ring").add(ground())
    side = 2 * radius * math.sin(math.pi / count)
    turn = 2 * math.pi / count
    before = "ground"
    for n in range(count):
        part.add(bar(f"bar{n}", side, 0.1))
        at = Pose.of((0, 0, 0)) if n == 0 else Pose.of((side, 0, 0))
        kind = "hinge" if n else "ball"
        more: dict[str, Any] = {"value": turn} if n else {}
        part.add(Joint(f"J{n}", kind, before, f"bar{n}", at=at, axis=(0, 1, 0), **more))
        before = f"bar{n}"
    # the opposite corner
    place, angle = np.zeros(2), 0.0
    for n in range(count // 2):
        angle = turn * n
        place += side * np.array([math.cos(angle), -math.sin(angle)])
    part.add(
        Anchor("last", before, Pose.of((side, 0, 0))), Anchor("first", "bar0"),
        Anchor("far", f"bar{count // 2}"),
        Anchor("hook", "ground", Pose.of((place[0], 0, place[1]))),
        Loop("closed", "last", "first", "hinge", axis=(0, 1, 0)),
        Loop("hung", "far", "hook", "ball"),
    )  # fmt: skip
    return part


def top(speed: tuple[float, float, float] = (1.0, 0.5, 20.0)) -> Part:
    """Returns an asymmetric top on its tip."""
    shape = Box(size=(0.06, 0.09, 0.2), at=Pose.of((0, 0, 0.1)), collide=False)
    part = Part("top").add(ground(), Element("top", (shape,), mass=0.3))
    return part.add(Joint("tip", "ball", "ground", "top", value=(0.5, 0, 0), speed=speed))


def scene_of(part: Part, engine: str = "impulse", *, step: float = 1e-3, **params: object) -> Scene:
    return Scene("bench", step=step).place(part).engine(engine, **params)


def centers(session: Session) -> np.ndarray:
    """Returns centers of mass of all bodies, in the world."""
    world, state = session.world, session.state
    out = []
    for b in range(1, world.nb):
        w, xyz = state.pose[b, 3], state.pose[b, 4:7]
        c = world.com[b]
        t = 2.0 * np.cross(xyz, c)
        out.append(state.pose[b, :3] + c + w * t + np.cross(xyz, t))
    return np.array(out)
