"""Scenes that hold one of each kind, so that running them compiles every kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linkwork.formats import load_scene
from linkwork.parts import Anchor, Box, Element, Joint, Part, Plane, Sphere
from linkwork.scene import Scene
from linkwork.spatial import Pose

#: Sensors by type, on the arm below.
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
ACTUATORS = ("servo", "smart_servo", "motor", "effort", "general")


def arm() -> Part:
    """Links in a row, a joint for each kind of actuator."""
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
    """Every sensor and actuator."""
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


def shipped() -> Iterator[Scene]:
    """Two engines side by side, a listener, a program; a walk in two modes."""
    yield load_scene("tripod/level")
    yield load_scene("gripper/follow")
    yield load_scene("bart_uh/walk")
    yield replace(load_scene("bart_uh/walk"), mode="emulation")


def exact() -> Iterator[Scene]:
    """The methods of the engine ``impulse``, the usual one first."""
    yield Scene("exact_direct").place(arm()).engine("impulse", order=4)
    yield Scene("exact_forces").place(arm()).engine("impulse", order=4, method="forces")
    yield Scene("exact_anytime").place(arm()).engine("impulse", order=2, solver="anytime")


def tree() -> Scene:
    """The engine ``lagrange``, with a contact point."""
    scene = Scene("tree").add(Element("ground", (Plane(),))).place(arm())
    return scene.engine("lagrange", contacts=["arm/tip"])
