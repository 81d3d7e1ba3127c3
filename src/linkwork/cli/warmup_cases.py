"""Warm-up cases: scenes that use every kernel once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from linkwork.dynamics import aba, crba, drift, rnea
from linkwork.formats import load_part, load_scene
from linkwork.geometry import Pose
from linkwork.kinematics import (
    CenterOfMassTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Solver,
    forward,
    integrate,
    velocities,
)
from linkwork.kinematics.leg import LegGeometry
from linkwork.kinematics.srs import SrsArm
from linkwork.kinematics.workspace import workspace
from linkwork.model.parts import Anchor, Box, Element, Joint, Part, Plane, Sphere
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from linkwork.motion import ReachSolver

#: Sensors by type, on the arm defined below.
SENSORS: dict[str, dict[str, object]] = {
    "encoder": {"joint": "arm/servo"},
    "effort": {"joint": "arm/servo"},
    "ray": {"on": "arm/tip", "range": 2.0},
    "inclinometer": {"on": "arm/tip"},
    "contact": {"on": "ball/ball"},
    "imu": {"on": "arm/tip"},
    "foot": {"on": "ball/ball", "size": (0.05, 0.05)},
    "lidar": {"on": "arm/tip", "range": 2.0, "count": 8, "noise": 0.001},
    "camera": {"on": "arm/tip", "width": 8, "height": 6},
    "motion": {"on": "arm/tip"},
    "mujoco": {"sensor": "jointpos", "joint": "arm/servo"},
}
ACTUATORS = ("servo", "auto_servo", "smart_servo", "motor", "effort", "general", "mujoco")


def arm() -> Part:
    """A chain of links with a joint for each kind of actuator."""
    part = Part("arm").add(Element("base", (Box(size=(0.1, 0.1, 0.1)),), mass=1.0))
    before = "base"
    for actuator in ACTUATORS:
        link = f"{actuator}_link"
        part.add(
            Element(link, (Box(size=(0.05, 0.05, 0.2), at=Pose.of((0.0, 0.0, 0.1))),), mass=0.3),
            Joint(actuator, "hinge", before, link, at=Pose.of((0, 0, 0.2)), axis=(0.0, 1.0, 0.0)),
        )
        before = link
    part.add(Anchor("tip", before, Pose.of((0.0, 0.0, 0.2))), Anchor("foot", "base"))
    return part


def one_of_each() -> Scene:
    """A scene with every sensor and actuator."""
    ball = Part("ball").add(Element("ball", (Sphere(radius=0.05),), mass=0.1))
    scene = Scene("one_of_each")
    scene.add(Element("ground", (Plane(),)))
    scene.place(arm(), at=Pose.of((0.0, 0.0, 0.5)))
    scene.place(ball, at=Pose.of((1.0, 0.0, 0.05)), base="free")
    for actuator in ACTUATORS:
        joint = f"arm/{actuator}"
        drives = {"joints": {joint: 1.0}} if actuator == "general" else {"joint": joint}
        scene.actuator(f"{actuator}_drive", actuator, **drives)
    for sensor, params in SENSORS.items():
        scene.sensor(f"{sensor}_sensor", sensor, **params)
    return scene


def shipped_scenes() -> Iterator[Scene]:
    """Two engines in one scene, a listener, a program; a walk in two modes."""
    yield load_scene("tripod/level")
    yield load_scene("gripper/follow")
    yield load_scene("bart_uh/walk")
    yield replace(load_scene("bart_uh/walk"), mode="emulation")


def impulse_scenes() -> Iterator[Scene]:
    """The methods of the engine ``impulse``, the default first."""
    yield Scene("exact_direct").place(arm()).engine("impulse", order=4)
    yield Scene("exact_forces").place(arm()).engine("impulse", order=4, method="forces")
    yield Scene("exact_anytime").place(arm()).engine("impulse", order=2, solver="anytime")


def lagrange_scenes() -> Scene:
    """The engine ``lagrange``, with a contact point."""
    scene = Scene("tree").add(Element("ground", (Plane(),))).place(arm())
    return scene.engine("lagrange", contacts=["arm/tip"])


def _arm() -> World:
    return compile_scene(Scene("solve_of_each").place(load_part("kuka/arm"), name="arm"))


def warm_up_drag() -> None:
    """One step of a drag in the studio, and the displays at the tool."""
    world = _arm()
    reach = ReachSolver(world, "arm/flange", q=world.q0)
    reach.step(world.q0, 0.01)
    reach.ellipsoid(world.q0, "dynamic")


def warm_up_solvers() -> None:
    """Searches, steps, closed forms, a workspace and the recursive algorithms, on one arm."""
    world = _arm()
    tool, q, v = "arm/flange", world.q0, np.zeros(world.nv)
    target = Pose.of((0.4, 0.1, 0.6), rpy=(3.1, 0.0, 0.0))
    along = Solver(world, [PoseTask(tool, target)])
    along.solve()
    along.solve_many([target])
    Solver(world, [PositionTask(tool, target.xyz), CenterOfMassTask(weight=(1, 1, 0))]).solve()
    levels = Solver(world, [PositionTask(tool, target.xyz), PostureTask(priority=1)])
    levels.step(q, 0.01)
    levels.step(q, 0.01, scheme="nested")
    arm = SrsArm(world, tool)
    arm.solve(target)
    arm.solve_many([target])
    LegGeometry(0.4, 0.4).solve(Pose((0.0, 0.0, -0.6)))
    workspace(world, tool, count=8)
    workspace(compile_scene(load_scene("mechanisms/four_bar")), "linkage/pen", count=2)
    integrate(world, q, v, 0.01)
    velocities(world, q, v, forward(world, q))
    crba(world, q)
    drift(world, q, v, tool)
    aba(world, q, v, rnea(world, q, v, v))
