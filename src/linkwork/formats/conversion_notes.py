"""Notes of a conversion: changes, assumptions and omissions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal

from linkwork.core.errors import listing
from linkwork.formats.flat import FlatStructure
from linkwork.formats.text_output import numbers_text
from linkwork.model.parts import Element, Joint, Part
from linkwork.model.parts.joint import JOINT_ATTRIBUTES
from linkwork.model.parts.joint_attribute import JointAttribute
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.scene import CollisionRules, Scene

#: What a note is about: an assumed length unit or density that the file does not give, or an
#: omission that changes the motion; else empty.
NoteKind = Literal["", "unit", "density", "motion"]


class NoteLines(list[str]):
    """Notes as lines of text, with the kind of each.

    Args:
        lines: Text and kind of each note.
    """

    def __init__(self, lines: Iterable[tuple[str, NoteKind]]) -> None:
        self._lines = tuple(lines)
        super().__init__(text for text, _ in self._lines)

    def without(self, *kinds: NoteKind) -> list[str]:
        """Returns the lines of other kinds."""
        return [text for text, kind in self._lines if kind not in kinds]

    def of(self, *kinds: NoteKind) -> list[str]:
        """Returns the lines of these kinds."""
        return [text for text, kind in self._lines if kind in kinds]


class ConversionNotes:
    """Collects notes; notes that differ only in a name become one line."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, NoteKind], dict[str, None]] = {}

    def add(self, text: str, *, kind: NoteKind = "") -> None:
        """Adds a line."""
        self._groups.setdefault((text, kind), {})

    def about(self, text: str, name: str, *, kind: NoteKind = "") -> None:
        """Adds ``name`` to the line that begins with ``text``."""
        self._groups.setdefault((text, kind), {})[name] = None

    def lines(self) -> NoteLines:
        """Returns the lines, in order of first mention."""
        return NoteLines(
            (f"{text}: {listing(names)}." if names else text, kind)
            for (text, kind), names in self._groups.items()
        )


def _has(name: str, attribute: JointAttribute) -> Callable[[Joint], bool]:
    """Returns whether a joint has an attribute; a fixed joint has none of its motion."""
    return lambda joint: (
        getattr(joint, name) != attribute.default and (joint.kind.nv > 0 or not attribute.array)
    )


#: Fields of a part beside elements and joints, with the names of their entries.
_PART_FIELDS: dict[str, Callable[[Part], Iterable[str]]] = {
    "anchors": lambda part: part.anchors,
    "loops": lambda part: part.loops,
    "couplings": lambda part: [c.joint for c in part.couplings],
    "springs": lambda part: part.springs,
    "sensors": lambda part: [s.name or s.type for s in part.sensors],
    "ports": lambda part: [s.name for s in part.ports],
}
_ELEMENT_FIELDS: dict[str, Callable[[Element], Any]] = {
    "masses": lambda e: e.mass or e.density,
    "friction": lambda e: e.friction != Element.friction,
    "restitution": lambda e: e.restitution,
    "collision groups": lambda e: e.group,
    "initial motion": lambda e: any((*e.velocity, *e.spin)),
    "labels": lambda e: e.labels,
    "textures": lambda e: any(s.texture for s in e.shapes),
    "engine words": lambda e: e.mujoco or any(s.mujoco for s in e.shapes),
}
_JOINT_FIELDS: dict[str, Callable[[Joint], Any]] = {
    **{
        attribute.plural: _has(name, attribute)
        for name, attribute in JOINT_ATTRIBUTES.items()
        if attribute.plural
    },
    "initial values": lambda j: any(j.values),
    "initial speeds": lambda j: any(j.speeds),
    "drives": lambda j: j.drive is not None,
    "bus settings": lambda j: j.bus is not None,
    "labels": lambda j: j.labels,
    "engine words": lambda j: j.mujoco,
}
_SCENE_FIELDS: dict[str, Callable[[Scene], Iterable[str]]] = {
    "loops": lambda scene: scene.loops,
    "couplings": lambda scene: [c.joint for c in scene.couplings],
    "springs": lambda scene: scene.springs,
    "postures": lambda scene: scene.postures,
    "engines": lambda scene: [s.type for s in scene.engines],
    "sensors": lambda scene: [s.name for s in scene.sensors],
    "actuators": lambda scene: [s.name for s in scene.actuators],
    "agents": lambda scene: [s.name for s in scene.agents],
    "buses": lambda scene: [s.name for s in scene.buses],
    "ports": lambda scene: [s.name for s in scene.ports],
    "faults": lambda scene: [s.name for s in scene.faults],
    "lights": lambda scene: [light.name for light in scene.lights],
    "lights without shadows": lambda scene: [x.name for x in scene.lights if not x.shadows],
    "viewpoints": lambda scene: [view.name for view in scene.viewpoints],
    "background": lambda scene: [scene.background] if scene.background else [],
    "gravity": lambda scene: (
        [numbers_text(scene.gravity)] if scene.gravity != Scene.gravity else []
    ),
    "time step": lambda scene: [f"{scene.step:g} s"] if scene.step != Scene.step else [],
    "seed": lambda scene: [str(scene.seed)] if scene.seed != Scene.seed else [],
    "collision rules": lambda scene: ["collide"] if scene.collide != CollisionRules() else [],
}


def note_unsupported(
    flat: FlatStructure, supported: Collection[str], notes: ConversionNotes
) -> None:
    """Notes every field in use that a format does not hold.

    Args:
        flat: The structure to write.
        supported: Fields of the format, of the tables above: ``"anchors"``, ``"joints: damping"``.
        notes: Receives the notes.
    """
    if flat.scene is not None:
        for what, names in _SCENE_FIELDS.items():
            for name in names(flat.scene) if what not in supported else ():
                notes.about(f"{what}, left out", name)
    for scope, part in flat.parts:
        for what, names in _PART_FIELDS.items():
            for name in names(part) if what not in supported else ():
                notes.about(f"{what}, left out", scoped_name_of(scope, name))
        if part.labels and "labels" not in supported:
            notes.about("labels, left out", scope or part.name)
    for link in flat.links:
        if link.element is not None:
            _note("elements", _ELEMENT_FIELDS, link.element, link.name, supported, notes)
        if link.joint is not None:
            _note("joints", _JOINT_FIELDS, link.joint, link.joint_name, supported, notes)


def _note(
    kind: str,
    table: dict[str, Callable[[Any], Any]],
    thing: Element | Joint,
    name: str,
    supported: Collection[str],
    notes: ConversionNotes,
) -> None:
    for what, given in table.items():
        if f"{kind}: {what}" not in supported and given(thing):
            notes.about(f"{what} of {kind}, left out", name)
