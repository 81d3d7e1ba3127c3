"""A humanoid of 30 joints made of capsules, for benchmarks."""

from __future__ import annotations

from linkwork import Box, Capsule, Element, Joint, Part, Plane, Pose, Scene, Sphere
from linkwork.model.parts.spec import Spec

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

#: Gains that keep it upright, and that a PD law computed outside the engine survives at 2 ms.
KP, KD = 1500.0, 40.0


def humanoid() -> Part:
    """Torso, waist (2), neck (2), two legs (6 each) and two arms (7 each): 30 servo joints."""
    part = Part("humanoid")
    part.add(Element("pelvis", (Box((0.16, 0.24, 0.14)),), mass=8.0))
    at = _chain(
        part, "pelvis", "waist", (0, 0, 0.10), [("yaw", Z, 0.02, 0.5), ("pitch", Y, 0.40, 18.0)]
    )
    _chain(part, at, "neck", (0, 0, 0.42), [("yaw", Z, 0.05, 0.5), ("pitch", Y, 0.16, 3.0)])
    for side, y in (("left", 0.1), ("right", -0.1)):
        leg = [
            ("hip_yaw", Z, -0.03, 0.8), ("hip_roll", X, -0.03, 0.8), ("hip_pitch", Y, -0.38, 6.0),
            ("knee", Y, -0.38, 4.0), ("ankle_pitch", Y, -0.03, 0.5), ("ankle_roll", X, -0.03, 0.5),
        ]  # fmt: skip
        last = _chain(part, "pelvis", f"{side}_leg", (0, y, -0.08), leg)
        sole = (Box((0.22, 0.10, 0.03), at=Pose((0.03, 0, -0.045))),)
        part.add(Element(f"{side}_sole", sole, on=last, mass=0.6, friction=1.0))
        arm = [
            ("shoulder_pitch", Y, -0.04, 0.8), ("shoulder_roll", X, -0.04, 0.8),
            ("shoulder_yaw", Z, -0.26, 2.0), ("elbow", Y, -0.22, 1.5), ("wrist_yaw", Z, -0.03, 0.3),
            ("wrist_pitch", Y, -0.03, 0.3), ("wrist_roll", X, -0.05, 0.4),
        ]  # fmt: skip
        _chain(part, at, f"{side}_arm", (0, 2.4 * y, 0.34), arm)
    return part


def _chain(part: Part, carrier: str, name: str, start: tuple, joints: list) -> str:
    at = Pose((float(start[0]), float(start[1]), float(start[2])))
    for joint, axis, length, mass in joints:
        link = f"{name}_{joint}"
        radius = 0.035 if mass > 1 else 0.025
        if abs(length) > 0.1:
            middle = Pose((0.0, 0.0, length / 2))
            shape = Capsule(radius, abs(length) - 0.06, at=middle, collide=mass > 1)
        else:
            shape = Sphere(radius, collide=False)
        part.add(
            Element(link, (shape,), mass=mass),
            Joint(
                f"{link}_joint", "hinge", carrier, link, at=at, axis=axis, damping=0.5,
                armature=0.3, range=(-2.5, 2.5), max_effort=500.0,
                drive=Spec("actuator", "servo", "", {"kp": KP, "kd": KD}),
            ),
        )  # fmt: skip
        carrier, at = link, Pose((0.0, 0.0, length))
    return carrier


def standing_scene(*, encoders: int = 20) -> Scene:
    """The humanoid on a floor, with encoders on its first joints."""
    robot = humanoid()
    scene = Scene("humanoid").add(Element("floor", (Plane(),), friction=1.0))
    scene.place(robot, name="robot", at=Pose((0.0, 0.0, 1.02)), base="free")
    for name in list(robot.joints)[:encoders]:
        scene.sensor(f"encoder_{name}", "encoder", joint=f"robot/{name}")
    return scene
