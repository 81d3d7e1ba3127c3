"""Losses: what a part says that URDF has no words for, or has words for only in part."""

from __future__ import annotations

from linkwork.formats.flat import Flat
from linkwork.formats.losses import note_losses
from linkwork.formats.notes import Notes
from linkwork.parts import Element, Joint, Shape

#: What URDF has words for, or is told by the functions below; the rest is told.
SAYS = {
    "couplings", "elements: masses", "elements: friction", "elements: restitution",
    "elements: textures", "joints: largest speeds", "joints: largest efforts", "joints: damping",
    "joints: friction", "joints: springs", "joints: rotor inertias", "joints: initial values",
}  # fmt: skip


def note_all(flat: Flat, notes: Notes) -> None:
    """Notes everything that is there and that URDF does not say."""
    note_losses(flat, SAYS, notes)
    for link in flat.links:
        if link.element is not None:
            _note_element(link.element, link.name, notes)
        if link.joint is not None and link.carrier:
            _note_joint(link.joint, link.joint_name, notes)


def _note_element(element: Element, name: str, notes: Notes) -> None:
    if any(s.texture and s.texture_repeat != Shape.texture_repeat for s in element.shapes):
        notes.about("how often textures of elements repeat, left out", name)


def _note_joint(joint: Joint, name: str, notes: Notes) -> None:
    limited = any(r is not None for r in joint.ranges)
    start = tuple(0.0 if r is None else min(max(0.0, r[0]), r[1]) for r in joint.ranges)
    drops = joint.type in ("screw", "rail", "fixed")
    for what, given in (
        ("ranges of joints", limited and joint.type in ("ball", "planar", "free")),
        ("springs of joints", joint.stiffness and not drops),
        ("rotor inertias of joints", joint.armature and not drops),
        ("initial values of joints", joint.values != start),
    ):
        if given:
            notes.about(f"{what}, left out", name)
