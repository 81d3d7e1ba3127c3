"""Naming in MJCF: names of bodies or joints, native attributes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork.formats.flat import FlatStructure
from linkwork.formats.names import original_names
from linkwork.formats.text_output import number_text, numbers_text

#: The attributes of a joint that MJCF holds as a number: attribute of ``<joint>``, and array of
#: MuJoCo's model. An array begins with what it has a row for: jnt, dof or qpos.
JOINT_NAMES = {
    "damping": ("damping", "dof_damping"),
    "friction": ("frictionloss", "dof_frictionloss"),
    "stiffness": ("stiffness", "jnt_stiffness"),
    "rest": ("springref", "qpos_spring"),
    "armature": ("armature", "dof_armature"),
}
#: Names of the keyframe with initial velocities; the first one with velocities is used.
START_KEYFRAMES = ("start_values", "start")


@dataclass(frozen=True)
class MjcfNames:
    """Names in a written file.

    Attributes:
        engine: Parameters of the scene's Mujoco engine; None without one.
        scope: The part whose names need no scope: the only one of a native MuJoCo scene, if it
            has the scene's name.
        given: Original names of its elements and joints, if they differ.
    """

    engine: Mapping[str, Any] | None = None
    scope: str = ""
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, flat: FlatStructure) -> MjcfNames:
        """Returns the names for ``flat``."""
        scene = flat.scene
        engines = [] if scene is None else [s for s in scene.engines if s.type == "mujoco"]
        if scene is None or len(engines) != 1:
            return cls()
        engine = engines[0].params
        if not engine.get("native") or list(scene.parts) != [scene.name]:
            return cls(engine)
        return cls(engine, scene.name, original_names(scene.parts[scene.name].part))

    @property
    def native(self) -> bool:
        """Whether the scene is a native MuJoCo model, written without additional settings."""
        return bool(self.engine and self.engine.get("native"))

    def bare(self, name: str) -> str:
        """Returns a full name without the omitted scope."""
        return name.removeprefix(f"{self.scope}/") if self.scope else name

    def __call__(self, name: str) -> str:
        """Returns the name in the file of an element or joint."""
        bare = self.bare(name)
        return self.given.get(bare, bare) if bare != name else name


#: MJCF's names of native attributes, where they differ.
ATTRIBUTE_NAMES = {
    "solref_limit": "solreflimit",
    "solimp_limit": "solimplimit",
    "solref_friction": "solreffriction",
    "solimp_friction": "solimpfriction",
    "effort_range": "actuatorfrcrange",
    "gravity_by_drive": "actuatorgravcomp",
    "fluid": "fluidcoef",
}


def set_native_attributes(node: ET.Element, words: Mapping[str, Any]) -> None:
    """Sets native attributes on an MJCF element."""
    for word, value in words.items():
        node.set(ATTRIBUTE_NAMES.get(word, word), _attribute_text(value))
    if "fluid" in words:
        node.set("fluidshape", "ellipsoid")


def _attribute_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return numbers_text(value) if isinstance(value, list | tuple) else number_text(value)
