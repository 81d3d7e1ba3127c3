"""Build a robot from parts: elements, joints and anchors, snapped together, with a closed loop.

A desk lamp. Its lower arm is a parallelogram: four hinges, of which one closes the loop, so that
the elbow keeps its direction. The shade is a part of its own, attached at an anchor.

python examples/02_build_a_robot.py
"""

import math

import linkwork as lw
from linkwork.model.parts import Spec

ARM, GAP = 0.30, 0.08  # length of the lower arm, distance of its two rods [m]
LIGHT, DARK, BRIGHT = "#d8dde6", "#5b6672", "#e0a54a"
Y = (0.0, 1.0, 0.0)


def rod(name: str, length: float, mass: float) -> lw.Element:
    """A rod from its frame's origin along z."""
    shape = lw.Capsule(0.008, length, at=lw.Pose((0.0, 0.0, length / 2.0)))
    return lw.Element(name, (shape,), mass=mass, color=LIGHT)


def servo(kp: float, kd: float) -> Spec:
    return Spec("actuator", "servo", params={"kp": kp, "kd": kd})


def shade() -> lw.Part:
    """A lamp shade with a hinge of its own; it fits anchors of the kind "stud"."""
    cone = lw.Cone(0.075, 0.10, top_radius=0.025, at=lw.Pose((0.0, 0.0, -0.03)))
    nod = lw.Joint(
        "nod", "hinge", "clip", "cone", axis=Y, range=(-2.5, 0.0), value=-1.5, drive=servo(3, 0.1)
    )
    return lw.Part("shade").add(
        lw.Element("clip", (lw.Sphere(0.014),), mass=0.02, color=DARK),
        lw.Element("cone", (cone,), mass=0.10, color=BRIGHT),
        nod,
        lw.Anchor("mount", "clip", fits="stud"),
    )


def lamp() -> lw.Part:
    """The lamp, with its shade."""
    foot = lw.Cylinder(0.10, 0.03, at=lw.Pose((0.0, 0.0, 0.015)))
    neck = lw.Box((GAP + 0.03, 0.03, 0.05), at=lw.Pose((GAP / 2.0, 0.0, 0.05)))
    elbow = lw.Box((GAP + 0.03, 0.03, 0.05), at=lw.Pose((GAP / 2.0, 0.0, 0.015)))
    lift = lw.Joint(
        "lift", "hinge", "foot", "rod1", at=lw.Pose((0.0, 0.0, 0.06)), axis=Y, range=(-1.0, 1.0),
        value=0.2, max_speed=1.0, max_effort=20.0, drive=servo(200, 8),
    )  # fmt: skip
    reach = lw.Joint(
        "reach", "hinge", "elbow", "upper", at=lw.Pose((GAP / 2.0, 0.0, 0.04)), axis=Y,
        range=(0.0, 1.8), value=1.0, max_speed=1.0, max_effort=10.0, drive=servo(60, 3),
    )  # fmt: skip
    part = lw.Part("lamp").add(
        lw.Element("foot", (foot, neck), mass=3.0, color=DARK),
        rod("rod1", ARM, 0.3),
        rod("rod2", ARM, 0.3),
        lw.Element("elbow", (elbow,), mass=0.2, color=DARK),
        rod("upper", 0.24, 0.1),
        lift,
        reach,
        lw.Joint(
            "rod2_foot", "hinge", "foot", "rod2", at=lw.Pose((GAP, 0.0, 0.06)), axis=Y, value=0.2
        ),
        lw.Joint(
            "rod1_elbow", "hinge", "rod1", "elbow", at=lw.Pose((0.0, 0.0, ARM)), axis=Y, value=-0.2
        ),
        lw.Anchor("rod2_end", "rod2", lw.Pose((0.0, 0.0, ARM))),
        lw.Anchor("pin", "elbow", lw.Pose((GAP, 0.0, 0.0))),
        lw.Anchor("tip", "upper", lw.Pose((0.0, 0.0, 0.24)), fits="stud"),
    )
    part.close("rod2_end", "pin", joint="hinge", axis=Y)
    return part.attach("tip", shade(), name="shade")


def scene() -> lw.Scene:
    made = lw.Scene("desk", step=0.001).place(lamp())
    return made.add(lw.Element("ground", (lw.Plane((4.0, 4.0)),)))


def main() -> None:
    with lw.Session(scene()) as session:
        for finding in session.cycle.findings:  # what the engine does only softly
            print(f"{finding.level}: {finding}")
        session["lamp/lift.target"] = 0.7
        session["lamp/reach.target"] = 1.5
        session.run(2.0)
        arm = session["lamp/lift.angle"]
        elbow = arm + session["lamp/rod1_elbow.angle"]
        print(
            f"The arm leans by {math.degrees(arm):.1f}°, the elbow by {math.degrees(elbow):.2f}°."
        )
        print(f"The loop is open by {session['world.gap']:.1e} m.")
    for line in lw.save(lamp(), "lamp.toml") or ["Wrote lamp.toml, and the shade beside it."]:
        print(line)


if __name__ == "__main__":
    main()
