"""Reading: what the readers of one model share: the compiled model, names, notes, the part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.formats.mjcf.compiled import Compiled
from linkwork.formats.names import NameTable
from linkwork.formats.notes import Notes
from linkwork.mujoco_library import mujoco
from linkwork.parts import Part
from linkwork.parts.names import plain, scoped
from linkwork.scene import Scene

#: The element that stands for MuJoCo's world, to which the part's bodies are joined.
ROOT = "origin"


@dataclass
class Reading:
    """One model being read.

    Attributes:
        model: The compiled model.
        notes: What was left out or changed.
        part: The part with all bodies.
        scene: The scene around it.
        elements: Name of the element of each body.
        joints: Name of each joint.
        anchors: Name of the anchor of each site.
        geoms: Name of each geom that has one in the file.
        scenery: Names of the elements of the world's own geoms, by geom.
    """

    model: Compiled
    notes: Notes
    part: Part
    scene: Scene
    elements: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    geoms: dict[int, str] = field(default_factory=dict)
    scenery: dict[int, str] = field(default_factory=dict)

    @property
    def m(self) -> Any:
        """The MjModel."""
        return self.model.m

    def lost(self, what: str, kind: str, number: int) -> None:
        """Notes that a thing is left out."""
        name = self.model.name(kind, number) or f"{kind} {number}"
        self.notes.about(f"{what}, left out", name)

    def full(self, name: str) -> str:
        """A name of the part as the scene knows it."""
        return scoped(self.part.name, name)

    def name_all(self) -> None:
        """Gives bodies, joints and sites names that are allowed here, and remembers theirs."""
        m, model = self.m, self.model
        bodies = _spelled(model, "body", range(1, m.nbody))
        bodies.insert(0, plain(ROOT, set(bodies)))
        joints = _spelled(model, "joint", range(m.njnt))
        table = NameTable.of(bodies, joints)
        self.elements = [table.links[name] for name in bodies]
        self.joints = [table.joints[name] for name in joints]
        self.part.aliases = table.aliases()
        taken = set(self.elements)
        for number in range(m.nsite):
            name = model.name("site", number) or f"site{number}"
            here = plain(name)
            here = plain(f"{here}_site", taken) if here in taken else here
            taken.add(here)
            self.anchors.append(here)


def _spelled(model: Compiled, kind: str, numbers: range) -> list[str]:
    """Names as the file spells them, made up where it gives none."""
    given = {model.name(kind, n) for n in numbers}
    made = []
    for number in numbers:
        name = model.name(kind, number)
        if not name:
            name = f"{kind}{number}"
            while name in given:
                name += "_"
        made.append(name)
    return made


#: A body with one joint and one geom, all of MuJoCo's own values.
_PLAIN = """<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>"""


def own_values() -> Any:
    """A model in which everything is as MuJoCo has it by itself."""
    return mujoco.MjModel.from_xml_string(_PLAIN)


def numbers(values: np.ndarray) -> tuple[float, ...]:
    """An array as plain numbers."""
    return tuple(float(value) for value in values)
