"""Rigid chains have the mass properties that MuJoCo's compiler computes."""

import math
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from linkwork.geometry import Inertia, Pose
from linkwork.model.parts import (
    Anchor,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Element,
    Joint,
    Part,
    Shape,
    Sphere,
)
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene

mujoco: Any = import_module("mujoco")  # its names are defined at run time


class Compound:
    """A rigid body built twice: as elements of a part, and as nested bodies in an MjSpec.

    MuJoCo's compiler fuses bodies without joints, so poses and inertias are combined there by
    its own arithmetic. Cones and explicit inertias, which it lacks as geoms, enter as inertials.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.spec = mujoco.MjSpec()
        self.spec.compiler.fusestatic = True
        self.part = Part("p")
        self.bodies = {"root": self.spec.worldbody.add_body(name="root")}
        self.bodies["root"].add_freejoint()
        self.part.add(self.element("root", self.bodies["root"]))

    def pose(self) -> Pose:
        return Pose.of(self.rng.uniform(-1, 1, 3), rpy=self.rng.uniform(-3, 3, 3))

    def inside(self, carrier: Any, pose: Pose) -> Any:
        """Adds a body in another's frame."""
        return carrier.add_body(pos=list(pose.xyz), quat=list(pose.quat))

    def back(self, carrier: Any, pose: Pose) -> Any:
        """Adds a body at the inverse of a pose, by MuJoCo's inverse."""
        place, quat = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(place, quat, np.array(pose.xyz), np.array(pose.quat))
        return carrier.add_body(pos=place, quat=quat)

    def element(self, name: str, body: Any, **words: Any) -> Element:
        """Returns an element of one to three shapes with mass shared by volume, or an inertia."""
        if name != "root" and self.rng.random() < 0.2:
            inertia = self.inertia()
            self.inertial(body, inertia)
            return Element(name, inertia=inertia, **words)
        shapes = [self.shape() for _ in range(self.rng.integers(1, 4))]
        mass = float(self.rng.uniform(0.1, 3.0))
        total = sum(shape.volume() for shape in shapes)
        for shape in shapes:
            self.geom(body, shape, mass * shape.volume() / total)
        return Element(name, tuple(shapes), mass=mass, **words)

    def shape(self) -> Shape:
        a, b, c = (float(x) for x in self.rng.uniform(0.05, 0.5, 3))
        at = self.pose()
        kinds = [
            Box(size=(a, b, c), at=at),
            Cylinder(radius=a, length=b, at=at),
            Capsule(radius=a, length=b, at=at),
            Sphere(radius=a, at=at),
            Cone(radius=a, length=b, top_radius=c, at=at),
        ]
        return kinds[self.rng.integers(len(kinds))]

    def inertia(self) -> Inertia:
        masses, positions = self.rng.uniform(0.1, 1.0, 6), self.rng.uniform(-0.5, 0.5, (6, 3))
        com = masses @ positions / masses.sum()
        matrix = np.zeros((3, 3))
        for mass, place in zip(masses, positions - com, strict=True):
            matrix += mass * (place @ place * np.eye(3) - np.outer(place, place))
        return Inertia.of(masses.sum(), com, matrix)

    def inertial(self, body: Any, inertia: Inertia) -> None:
        m = inertia.matrix
        inner = body.add_body(mass=inertia.mass, ipos=inertia.com.tolist(), explicitinertial=True)
        inner.fullinertia = [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]

    def geom(self, body: Any, shape: Shape, mass: float) -> None:
        types = mujoco.mjtGeom
        place = {"pos": list(shape.at.xyz), "quat": list(shape.at.quat), "mass": mass}
        match shape:
            case Box(size=size):
                body.add_geom(type=types.mjGEOM_BOX, size=[c / 2 for c in size], **place)
            case Cylinder(radius=r, length=length):
                body.add_geom(type=types.mjGEOM_CYLINDER, size=[r, length / 2, 0], **place)
            case Capsule(radius=r, length=length):
                body.add_geom(type=types.mjGEOM_CAPSULE, size=[r, length / 2, 0], **place)
            case Sphere(radius=r):
                body.add_geom(type=types.mjGEOM_SPHERE, size=[r, 0, 0], **place)
            case Cone():
                self.inertial(self.inside(body, shape.at), cone_inertia(shape, mass))

    def grow(self) -> None:
        """Adds elements by each kind of rigid connection in turn."""
        self.on("a", "root")
        self.on("b", "a")
        self.weld("c", "b")
        self.on("d", "c")
        self.snap("tool", "d")
        self.weld("e", "root")

    def on(self, name: str, carrier: str) -> None:
        at = self.pose()
        self.bodies[name] = self.inside(self.bodies[carrier], at)
        self.part.add(self.element(name, self.bodies[name], on=carrier, at=at))

    def weld(self, name: str, carrier: str) -> None:
        at, at_to = self.pose(), self.pose()
        self.bodies[name] = self.back(self.inside(self.bodies[carrier], at), at_to)
        self.part.add(self.element(name, self.bodies[name]))
        self.part.add(Joint(f"weld_{name}", "fixed", carrier, name, at=at, at_to=at_to))

    def snap(self, name: str, carrier: str) -> None:
        """Attaches a part at an anchor, rotated, by a mount on an element on its root."""
        flange, mount, step = self.pose(), self.pose(), self.pose()
        turn = float(self.rng.uniform(-3, 3))
        tool = Part(name)
        at = self.inside(self.bodies[carrier], flange)
        at = at.add_body(quat=[math.cos(turn / 2), 0, 0, math.sin(turn / 2)])
        root = self.back(self.back(at, mount), step)
        tool.add(
            self.element("grip", root),
            self.element("jaw", self.inside(root, step), on="grip", at=step),
            Anchor("mount", "jaw", at=mount),
        )
        self.part.add(Anchor(f"on_{carrier}", carrier, at=flange))
        self.part.attach(f"on_{carrier}", tool, turn=turn)


def cone_inertia(cone: Cone, mass: float) -> Inertia:
    """Returns a frustum's inertia by the textbook: a full cone minus its tip."""
    low, high = cone.radius, cone.top_radius
    if high > low:
        turned = cone_inertia(Cone(radius=high, length=cone.length, top_radius=low), mass)
        return turned.moved(Pose.of(rpy=(math.pi, 0, 0)))
    full = cone.length * low / (low - high)
    parts = []
    for radius, height, sign in ((low, full, 1.0), (high, full - cone.length, -1.0)):
        volume = math.pi * radius**2 * height / 3.0
        center = full - 0.75 * height  # above the base: the tip is shared
        across = 3.0 / 80.0 * (4.0 * radius**2 + height**2)
        parts.append((sign * volume, center, across, 0.3 * radius**2))
    total = sum(volume for volume, *_ in parts)
    middle = sum(volume * center for volume, center, *_ in parts) / total
    across = sum(v * (a + (c - middle) ** 2) for v, c, a, _ in parts) / total * mass
    along = sum(v * a for v, _, _, a in parts) / total * mass
    return Inertia.of(mass, (0, 0, middle - cone.length / 2), np.diag([across, across, along]))


@pytest.mark.capability(42)
@pytest.mark.parametrize("seed", range(25))
def test_rigid_chains_weigh_what_mujoco_finds(seed: int) -> None:
    """Mass, center and inertia of chains, fixed joints and attached parts agree to 1e-9."""
    compound = Compound(seed)
    compound.grow()
    world = compile_scene(Scene("s").place(compound.part, base="free"))
    assert (world.nb, world.joint_names) == (2, ["p"])
    model = compound.spec.compile()
    assert model.nbody == 2
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[1])
    turn = turn.reshape(3, 3)
    inertia = turn @ np.diag(model.body_inertia[1]) @ turn.T
    assert world.mass[1] == pytest.approx(model.body_mass[1], rel=1e-12)
    np.testing.assert_allclose(world.com[1], model.body_ipos[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(world.inertia[1], inertia, rtol=0, atol=1e-9)
