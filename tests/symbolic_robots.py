"""Small robots for the symbolic models, and their states."""

import numpy as np

from linkwork.geometry import Pose
from linkwork.kinematics import integrate
from linkwork.model.parts import Box, Element, Joint, Part, Sphere
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene

AT = Pose.of((0.2, -0.1, 0.15), rpy=(0.3, -0.4, 0.2))
AT_TO = Pose.of((-0.1, 0.05, 0.02), rpy=(0.1, 0.5, -0.2))


def chain(kinds: list[str], *, base: str = "fixed", askew: bool = True) -> World:
    """Returns joints in series, and one more hinge on a side branch; skew or aligned."""
    part = Part("p").add(Element("e0", (Box(size=(0.2, 0.1, 0.3)),), mass=2.0))
    for n, kind in enumerate([*kinds, "hinge"]):
        at = AT if askew else Pose((0.2, 0.0, 0.1))
        shape = Box(size=(0.1, 0.15, 0.2), at=Pose((0.05, 0.02, -0.03)))
        part.add(Element(f"e{n + 1}", (shape,), mass=1.0 + 0.1 * n))
        part.add(
            Joint(
                f"j{n}",
                kind,
                "e1" if n == len(kinds) else f"e{n}",
                f"e{n + 1}",
                at=at,
                at_to=AT_TO if askew else Pose((-0.1, 0.0, 0.0)),
                axis=(1.0, 2.0, -2.0) if askew else (0.0, -1.0, 0.0),
                axis2=(2.0, 1.0, 2.0) if askew else (1.0, 0.0, 0.0),
                pitch=0.2 if kind == "screw" else 0.0,
                armature=0.3 if kind == "hinge" else 0.0,
            )
        )
    placed = Scene("s").place(part, name="p", base=base, at=Pose((0.3, 0.4, 1.0)))
    return compile_scene(placed)


def pendulum(*, masses: tuple[float, float] = (0.5, 0.4)) -> World:
    """Returns a double pendulum of two small balls on massless bars, angles from hanging."""
    part = Part("pendulum").add(Element("stand", (), mass=1.0))
    for n, (name, above, below) in enumerate(
        (("upper", "stand", 0.0), ("lower", "upper", -0.3)), start=0
    ):
        ball = Sphere(radius=0.01, at=Pose((0.0, 0.0, -0.3)))
        part.add(Element(name, (ball,), mass=masses[n]))
        place = Pose((0.0, 0.0, below))
        part.add(Joint(f"j{n + 1}", "hinge", above, name, at=place, axis=(0.0, -1.0, 0.0)))
    return compile_scene(Scene("pendulum").place(part, name="p", base="fixed"))


def state(world: World, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns coordinates, velocities and accelerations."""
    rng = np.random.default_rng(seed)
    q = integrate(world, world.q0, rng.uniform(-0.8, 0.8, world.nv), 1.0)
    return q, *rng.uniform(-1, 1, (2, world.nv))
