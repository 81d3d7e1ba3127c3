"""SDF surfaces: friction, restitution, and the contact properties that are not read."""

from __future__ import annotations

from linkwork.formats.robots.gazebo import is_true, is_zero
from linkwork.formats.robots.links import clamp_surface
from linkwork.formats.robots.sdf.context import SdfReadContext
from linkwork.formats.robots.sdf.values import limit, number
from linkwork.formats.robots.xml import XmlNode
from linkwork.model.parts import Element

#: Elements of ``<contact>`` that are not read, with the consequence.
CONTACT = {
    "collide_bitmask": "these shapes collide with all others",
    "category_bitmask": "these shapes collide with all others",
    "collide_without_contact": "these shapes collide",
    "kp": "contacts are as stiff as the engine's",
    "kd": "contacts are damped as the engine's",
    "soft_cfm": "contacts are as stiff as the engine's",
    "soft_erp": "contacts are as stiff as the engine's",
    "poissons_ratio": "contacts are as stiff as the engine's",
    "elastic_modulus": "contacts are as stiff as the engine's",
}
#: Those of friction, with the consequence; one that is 0 has none.
FRICTION = {
    "slip": "wheels slip as the engine's contacts do",
    "slip1": "wheels slip as the engine's contacts do",
    "slip2": "wheels slip as the engine's contacts do",
    "rolling_friction": "these shapes roll without loss",
    "torsional": "these shapes turn on the spot without loss",
}
#: Masks with which shapes collide with all others.
ALL_BITS = ("65535", "0xffff", "255", "0xff")
#: Sizes of friction in the second direction.
SECOND = {"mu2": "mu", "friction2": "friction"}


def read_surface(link: XmlNode, name: str, reading: SdfReadContext) -> tuple[float, float]:
    """Returns friction and restitution of the first collision that has any.

    Args:
        link: The link.
        name: Its name in the part.
        reading: The file being read.

    Raises:
        FormatError: If a value is not a number.
    """
    found: list[tuple[float, float]] = []
    for collision in link.all("collision"):
        surface = collision.first("surface")
        if surface is None:
            continue
        reading.unread_but(surface, {"friction", "bounce", "contact"})
        _note_contact(surface, name, reading)
        friction, restitution = _friction(surface, name, reading), None
        if (node := surface.first("bounce")) is not None:
            restitution = number(node, "restitution_coefficient", 0.0)
        if friction is not None or restitution is not None:
            pair = (
                Element.friction if friction is None else friction,
                Element.restitution if restitution is None else restitution,
            )
            found.append(pair)
    if len(set(found)) > 1:
        what = "links whose collisions differ in surface, the first one counts"
        reading.notes.about(what, name, kind="motion")
    friction, restitution = found[0] if found else (Element.friction, Element.restitution)
    return clamp_surface(friction, restitution, name, reading.notes)


def _friction(surface: XmlNode, name: str, reading: SdfReadContext) -> float | None:
    """Returns the friction that ODE and DART read, else that of Bullet; None without one."""
    node = surface.first("friction")
    if node is None:
        return None
    ode, bullet = node.first("ode"), node.first("bullet")
    size: float | None = None
    if ode is not None:
        size = limit(ode, "mu", 1.0)
    elif bullet is not None:
        size = limit(bullet, "friction", 1.0)
    for each in (ode or bullet, node):
        for child in each.children if each is not None else ():
            first = SECOND.get(child.tag, "")
            if first and each is not None and size != limit(each, child.tag, 1.0):
                why = "friction is the same in all directions"
            elif child.tag in FRICTION and not is_zero(child):
                why = FRICTION[child.tag]
            else:
                continue
            what = f"<{child.tag}> of friction, left out; {why}"
            reading.notes.about(what, name, kind="motion")
    return size


def _note_contact(surface: XmlNode, name: str, reading: SdfReadContext) -> None:
    contact = surface.first("contact")
    for node in contact.walk() if contact is not None else ():
        idle = node.tag.endswith("_bitmask") and node.text.strip().lower() in ALL_BITS
        idle = idle or (node.tag == "collide_without_contact" and not is_true(node))
        if node.tag in CONTACT and not idle:
            what = f"<{node.tag}> of contacts, left out; {CONTACT[node.tag]}"
            reading.notes.about(what, name, kind="motion")
