"""Losses: what a part says that URDF has no words for; each is named in the writer's notes."""

from __future__ import annotations

from linkwork.formats.notes import Notes
from linkwork.parts import Element, Joint, Part, Shape
from linkwork.parts.names import scoped


def note_part(part: Part, scope: str, notes: Notes) -> None:
    """Notes what of the part itself is left out."""
    for what, names in (
        ("anchors", part.anchors),
        ("loops", part.loops),
        ("sensors", [s.name or s.type for s in part.sensors]),
        ("ports", [s.name for s in part.ports]),
    ):
        for name in names:
            notes.about(f"{what}, left out", scoped(scope, name))
    if part.labels:
        notes.about("labels, left out", scope or part.name)


def note_element(element: Element, name: str, notes: Notes) -> None:
    """Notes what of an element is left out."""
    repeated = [s.texture and s.texture_repeat != Shape.texture_repeat for s in element.shapes]
    for what, given in (
        ("collision groups of elements", element.group),
        ("initial motion of elements", any((*element.velocity, *element.spin))),
        ("labels of elements", element.labels),
        ("how often textures of elements repeat", any(repeated)),
        ("engine words of elements", element.mujoco or any(s.mujoco for s in element.shapes)),
    ):
        if given:
            notes.about(f"{what}, left out", name)


def note_joint(joint: Joint, name: str, notes: Notes) -> None:
    """Notes what of a joint is left out."""
    limited = any(r is not None for r in joint.ranges)
    start = tuple(0.0 if r is None else min(max(0.0, r[0]), r[1]) for r in joint.ranges)
    drops = joint.type in ("screw", "rail", "fixed")
    for what, given in (
        ("ranges of joints", limited and joint.type in ("ball", "planar", "free")),
        ("springs of joints", joint.stiffness and not drops),
        ("rotor inertias of joints", joint.armature and not drops),
        ("initial values of joints", joint.values != start),
        ("initial speeds of joints", any(joint.speeds)),
        ("drives of joints", joint.drive is not None),
        ("bus settings of joints", joint.bus),
        ("labels of joints", joint.labels),
        ("engine words of joints", joint.mujoco),
    ):
        if given:
            notes.about(f"{what}, left out", name)
