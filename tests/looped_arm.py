"""An arm that carries a parallelogram: joints before a loop with one drive."""

import math

from kinematics.test_inverse import arm
from linkwork.geometry import Pose
from linkwork.model.parts import Anchor, Element, Joint, Loop, Part, Spec, Sphere
from mechanisms import bar

BARS = 0.08


def looped_arm() -> Part:
    """Returns the arm of seven hinges with a parallelogram on its last link, the only drive."""
    part, axis = arm(), (0, -1, 0)
    part.add(bar("crank", BARS, 0.1), bar("rod", BARS, 0.1), bar("rocker", BARS, 0.1))
    up = math.pi / 3
    part.add(
        Joint("grip", "hinge", "l6", "crank", at=Pose((0.0, 0.0, 0.1)), axis=axis, value=up,
              drive=Spec("actuator", "servo")),
        Joint("knee", "hinge", "crank", "rod", at=Pose((BARS, 0, 0)), axis=axis, value=-up),
        Joint("back", "hinge", "l6", "rocker", at=Pose((BARS, 0.0, 0.1)), axis=axis, value=up),
        Anchor("end", "rod", Pose((BARS, 0, 0))),
        Anchor("tip", "rocker", Pose((BARS, 0, 0))),
        Loop("closed", "end", "tip", "hinge", axis=axis),
    )  # fmt: skip
    return part


def sliding_ball() -> Part:
    """Returns a ball on a rail along y."""
    return Part("ball").add(
        Element("rail", mass=1.0),
        Element("ball", (Sphere(radius=0.06),), mass=1.0),
        Joint("slide", "slider", "rail", "ball", axis=(0, 1, 0)),
    )
