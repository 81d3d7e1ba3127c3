"""Build a robot from parts: elements, joints and anchors, snapped together, with a closed loop.

A desk lamp: its lower arm is a parallelogram (four hinges, one of them closing the loop), so that
the elbow bracket keeps its direction; the shade is a part of its own, attached at an anchor.

python examples/02_build_a_robot.py
"""

import math

import linkwork as lw
from linkwork.parts import Spec

ARM, GAP = 0.30, 0.05  # length of the lower arm, distance of its two rods [m]
LIGHT, DARK = "#d8dde6", "#5b6672"


def rod(name: str, length: float) -> lw.Element:
    """A rod from its frame's origin along z."""
    shape = lw.Capsule(0.008, length, at=lw.Pose((0.0, 0.0, length / 2.0)))
    return lw.Element(name, (shape,), mass=0.15, color=LIGHT)


def shade() -> lw.Part:
    """A lamp shade with a hinge of its own; it fits anchors of the kind "stud"."""
    cone = lw.Cone(0.075, 0.10, top_radius=0.025, at=lw.Pose((0.0, 0.0, -0.03)))
    return lw.Part("shade").add(
        lw.Element("clip", (lw.Sphere(0.014),), mass=0.02, color=DARK),
        lw.Element("cone", (cone,), mass=0.12, color="#e0a54a"),
        lw.Joint("nod", "hinge", "clip", "cone", axis=(0, 1, 0), range=(-1.5, 1.0), value=-0.6,
                 drive=Spec("actuator", "servo", params={"kp": 3.0, "kd": 0.1})),
        lw.Anchor("mount", "clip", fits="stud"),
    )  # fmt: skip


def lamp() -> lw.Part:
    """The lamp without its shade."""
    foot = lw.Cylinder(0.10, 0.03, at=lw.Pose((0.0, 0.0, 0.015)))
    neck = lw.Box((GAP + 0.03, 0.03, 0.05), at=lw.Pose((GAP / 2.0, 0.0, 0.05)))
    elbow = lw.Box((GAP + 0.03, 0.03, 0.03), at=lw.Pose((GAP / 2.0, 0.0, 0.0)))
    servo = Spec("actuator", "servo", params={"kp": 60.0, "kd": 3.0})
    part = lw.Part("lamp").add(
        lw.Element("foot", (foot, neck), mass=3.0, color=DARK),
        rod("rod1", ARM), rod("rod2", ARM), rod("upper", 0.26),
        lw.Element("elbow", (elbow,), mass=0.1, color=DARK),
        lw.Joint("lift", "hinge", "foot", "rod1", at=lw.Pose((0.0, 0.0, 0.06)), axis=(0, 1, 0),
                 range=(-1.0, 1.0), value=0.35, max_effort=20.0, drive=servo),
        lw.Joint("follow", "hinge", "foot", "rod2", at=lw.Pose((GAP, 0.0, 0.06)), axis=(0, 1, 0),
                 value=0.35),
        lw.Joint("bracket", "hinge", "rod1", "elbow", at=lw.Pose((0.0, 0.0, ARM)), axis=(0, 1, 0),
                 value=-0.35),
        lw.Joint("reach", "hinge", "elbow", "upper", at=lw.Pose((GAP, 0.0, 0.0)), axis=(0, 1, 0),
                 range=(0.0, 2.2), value=1.2, max_effort=10.0, drive=servo),
        lw.Anchor("rod_end", "rod2", lw.Pose((0.0, 0.0, ARM))),
        lw.Anchor("pin", "elbow", lw.Pose((GAP, 0.0, 0.0))),
        lw.Anchor("tip", "upper", lw.Pose((0.0, 0.0, 0.26)), fits="stud"),
    )  # fmt: skip
    part.close("rod_end", "pin", joint="hinge", axis=(0, 1, 0))
    return part.attach("tip", shade(), name="shade")


def scene() -> lw.Scene:
    made = lw.Scene("desk").place(lamp())
    return made.add(lw.Element("ground", (lw.Plane((4.0, 4.0)),)))


def main() -> None:
    with lw.Session(scene()) as session:
        for finding in session.cycle.findings:  # what the engine does only softly
            print(f"{finding.level}: {finding}")
        session["lamp/lift.target"] = 0.9
        session["lamp/reach.target"] = 1.9
        session.run(2.0)
        turn = session["lamp/lift.angle"] + session["lamp/bracket.angle"]
        print(f"The arm leans by {math.degrees(session['lamp/lift.angle']):.1f}°,")
        print(f"its bracket by {math.degrees(turn):.2f}°: the parallelogram holds it.")
        print(f"The loop is open by {session['world.gap'] * 1e6:.0f} µm.")
    for line in lw.save(lamp(), "lamp.toml") or ["Wrote lamp.toml, and the shade beside it."]:
        print(line)


if __name__ == "__main__":
    main()
