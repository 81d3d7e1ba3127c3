"""The scene of ``stream.py``: a hundred bodies that all turn by the same angle."""

from __future__ import annotations

from linkwork.geometry import Pose
from linkwork.model.parts import Box, Coupling, Element, Joint, Part, Spec
from linkwork.model.scene import Scene
from shared.motion import AMPLITUDE, FREQUENCY, PITCH, STEP, positions


def crowd() -> Scene:
    """Blocks on screws, coupled so that all turn and rise by the same angle."""
    part = Part("crowd").add(Element("base", (Box((5.0, 5.0, 0.02)),)))
    for n, at in enumerate(positions().tolist()):
        part.add(
            Element(f"B{n}", (Box((0.3, 0.1, 0.2)),), mass=1.0),
            Joint(
                f"J{n}", "screw", "base", f"B{n}", at=Pose(tuple(at)), axis=(0.0, 0.0, 1.0),
                pitch=PITCH, drive=None if n else Spec("actuator", "servo"),
            ),
        )  # fmt: skip
        if n:
            part.add(Coupling(f"J{n}", "J0"))
    scene = Scene("crowd", step=STEP).place(part).engine("kinematic")
    scene.agent("wave", "wave", joint="crowd/J0", frequency=FREQUENCY, amplitude=AMPLITUDE)
    return scene
