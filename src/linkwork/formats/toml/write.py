"""Writer of Linkwork's TOML files, which read back bit-exact."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from linkwork.core.atomic import replace_file
from linkwork.core.errors import LinkworkError
from linkwork.formats.lookup import match_format
from linkwork.formats.toml.dofs import find_joint, is_angle
from linkwork.formats.toml.emit import angle, document_text, pose_entry, tidy_number
from linkwork.formats.toml.includes import is_kit_name
from linkwork.formats.toml.write_items import (
    anchor_row,
    coupling_row,
    element_row,
    joint_row,
    loop_row,
    non_default_fields,
    port_row,
    relative_path,
    spec_row,
    spring_row,
)
from linkwork.model.parts import Part, find_kits, kit_part
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Scene

Sections = list[tuple[str, dict[str, Any]]]


@dataclass
class PartReferences:
    """References of a file to its parts.

    A part that is equal to its file or kit is named by it; any other part is written to a file
    beside the one being written, ``robot.hand.toml`` beside ``robot.toml``.
    """

    path: str
    beside: dict[str, Part] = field(default_factory=dict)
    _known: list[tuple[Part, str]] = field(default_factory=list)

    @property
    def folder(self) -> str:
        """Folder of the file being written."""
        return os.path.dirname(os.path.abspath(self.path))

    def name(self, part: Part, source: str) -> str:
        """Returns the reference to ``part``; ``source`` is that of an earlier file."""
        for known, written in self._known:
            if known is part:
                return written
        written = self._own_file(part, source) or self._new_file(part)
        self._known.append((part, written))
        return written

    def _own_file(self, part: Part, source: str) -> str:
        file = part.origin.file
        if not file or not os.path.isfile(file):
            return ""
        try:
            if match_format(file).read(file) != part:
                return ""
            if is_kit_name(source) and os.path.samefile(kit_part(source), file):
                return source
        except LinkworkError:
            return ""
        if kit := self._in_a_kit(file):
            return kit
        made = relative_path(file, self.folder)
        return made if made.startswith(("/", "../")) else f"./{made}"

    def _in_a_kit(self, file: str) -> str:
        """Returns the kit's name of a file, unless the file being written is in the same kit."""
        for kit in find_kits().values():
            if os.path.samefile(kit.folder, os.path.dirname(os.path.abspath(file))):
                inside = os.path.isdir(self.folder) and os.path.samefile(kit.folder, self.folder)
                return "" if inside else f"{kit.name}/{os.path.splitext(os.path.basename(file))[0]}"
        return ""

    def _new_file(self, part: Part) -> str:
        for file, other in self.beside.items():
            if other == part:
                return f"./{file}"
        stem = os.path.splitext(os.path.basename(self.path))[0] or "unnamed"
        taken = {file.removeprefix(f"{stem}.").removesuffix(".toml") for file in self.beside}
        file = f"{stem}.{plain_name(part.name, taken)}.toml"
        self.beside[file] = part
        return f"./{file}"


def write_text(thing: Part | Scene, path: str | os.PathLike[str] = "") -> str:
    """Returns the text of a part or scene for the file ``path``."""
    return _text(thing, PartReferences(os.fspath(path) or f"{thing.name}.toml"))


def write_file(thing: Part | Scene, path: str | os.PathLike[str]) -> None:
    """Writes a part or scene, and beside it its parts without a file."""
    references = PartReferences(os.fspath(path))
    text = _text(thing, references)
    for file, part in references.beside.items():
        write_file(part, os.path.join(references.folder, file))
    replace_file(os.fspath(path), text.encode("utf-8"))


def _text(thing: Part | Scene, references: PartReferences) -> str:
    if isinstance(thing, Part):
        return _part_text(thing, references)
    return _scene_text(thing, references)


def _part_text(part: Part, references: PartReferences) -> str:
    top = {"format": "linkwork/part 1", "name": part.name}
    top |= non_default_fields(part, "title", "labels", "aliases", "self_collision")
    folder = references.folder
    sections: Sections = [
        *(("[[element]]", element_row(e, folder)) for e in part.elements.values()),
        *(("[[joint]]", joint_row(j)) for j in part.joints.values()),
        *(("[[anchor]]", anchor_row(a)) for a in part.anchors.values()),
    ]
    for attachment in part.attachments.values():
        row = {"name": attachment.name}
        row |= {"part": references.name(attachment.part, attachment.source)}
        row |= {"to": attachment.anchor} | non_default_fields(attachment, "by")
        row |= angle("turn", attachment.turn) if attachment.turn else {}
        sections.append(("[[attach]]", row))
    sections += [("[[loop]]", loop_row(loop)) for loop in part.loops.values()]
    for coupling in part.couplings:
        joint = find_joint(part, coupling.joint)
        turning = joint is not None and joint.kind.nv == 1 and joint.kind.is_angle(0)
        sections.append(("[[coupling]]", coupling_row(coupling, turning)))
    sections += [("[[spring]]", spring_row(spring)) for spring in part.springs.values()]
    sections += [("[[sensor]]", spec_row(spec, folder)) for spec in part.sensors]
    sections += [("[[port]]", port_row(spec)) for spec in part.ports]
    return document_text(top, sections)


def _scene_text(scene: Scene, references: PartReferences) -> str:
    top = {"format": "linkwork/scene 1", "name": scene.name}
    top |= non_default_fields(
        scene, "title", "background", "gravity", "step", "seed", "start", "mode"
    )
    folder = references.folder
    sections: Sections = []
    for placement in scene.parts.values():
        row: dict[str, Any] = {"name": placement.name}
        row |= {"part": references.name(placement.part, placement.source)}
        row |= pose_entry("at", placement.at) | non_default_fields(placement, "base", "on", "by")
        if placement.drives:
            drives = placement.drives.items()
            row["drives"] = {name: spec_row(spec, folder) for name, spec in drives}
        sections.append(("[[part]]", row))
    sections += [("[[element]]", element_row(e, folder)) for e in scene.scenery.values()]
    sections += [("[[loop]]", loop_row(loop)) for loop in scene.loops.values()]
    for coupling in scene.couplings:
        turning = bool(is_angle(scene, coupling.joint))
        sections.append(("[[coupling]]", coupling_row(coupling, turning)))
    sections += [("[[spring]]", spring_row(spring)) for spring in scene.springs.values()]
    for kind in ("engine", "sensor", "actuator", "agent"):
        specs = getattr(scene, f"{kind}s")
        sections += [(f"[[{kind}]]", spec_row(spec, folder)) for spec in specs]
    sections += [("[[bus]]", spec_row(spec, folder)) for spec in scene.buses]
    sections += [("[[port]]", port_row(spec)) for spec in scene.ports]
    sections += [("[[fault]]", spec_row(spec, folder)) for spec in scene.faults]
    for name, joints in scene.postures.items():
        sections.append(("[[posture]]", {"name": name} | _posture(scene, joints)))
    for light in scene.lights:
        row = {"name": light.name}
        row |= non_default_fields(light, "kind", "xyz", "look_at", "color", "strength", "shadows")
        sections.append(("[[light]]", row))
    for view in scene.viewpoints:
        row = {"name": view.name} | non_default_fields(view, "xyz", "look_at")
        row |= angle("opening", view.opening) if non_default_fields(view, "opening") else {}
        sections.append(("[[viewpoint]]", row))
    if collide := non_default_fields(scene.collide, "never", "always", "joined"):
        sections.append(("[collide]", collide))
    return document_text(top, sections)


def _posture(scene: Scene, joints: dict[str, float]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in joints.items():
        row = angle("joints", value) if is_angle(scene, name) else {"joints": tidy_number(value)}
        for key, number in row.items():
            made.setdefault(key, {})[name] = number
    return made or {"joints": {}}
