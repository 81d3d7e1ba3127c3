"""A hundred bodies that move as one, in our own scene."""

from __future__ import annotations

from linkwork.parts import Box, Coupling, Element, Joint, Part, Spec
from linkwork.scene import Scene
from linkwork.spatial import Pose
from shared.motion import AMPLITUDE, FREQUENCY, PITCH, STEP, places


def crowd() -> Scene:
    """A field of blocks on screws: each turns and rises, all by the same angle."""
    part = Part("crowd").add(Element("base", (Box((5.0, 5.0, 0.02)),)))
    for n, place in enumerate(places().tolist()):
        part.add(
            Element(f"B{n}", (Box((0.3, 0.1, 0.2)),), mass=1.0),
            Joint(
                f"J{n}", "screw", "base", f"B{n}", at=Pose(tuple(place)), axis=(0.0, 0.0, 1.0),
                pitch=PITCH, drive=None if n else Spec("actuator", "servo"),
            ),
        )  # fmt: skip
        if n:
            part.add(Coupling(f"J{n}", "J0"))
    scene = Scene("crowd", step=STEP).place(part).engine("kinematic")
    scene.agent("wave", "wave", joint="crowd/J0", frequency=FREQUENCY, amplitude=AMPLITUDE)
    return scene
