"""Links: an SDF link becomes an element with its shapes, surface and mass properties."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from linkwork.errors import FormatError, LinkworkError
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.geometry import read_shape
from linkwork.formats.sdf.model import ModelLink
from linkwork.formats.sdf.values import number
from linkwork.formats.urdf.inertial import MASSLESS, repaired
from linkwork.formats.xml_tree import Node
from linkwork.parts import Element, Shape
from linkwork.spatial.inertia import Inertia

#: Children of a link that are read; others are noted.
LINK_TAGS = {"pose", "inertial", "visual", "collision", "frame"}
#: Density of links whose inertia is to be computed, where the file gives none [kg/m³].
WATER = 1000.0


def read_link(link: ModelLink, name: str, reading: Reading) -> Element:
    """The element that ``link`` describes, under the name ``name``.

    Raises:
        LinkworkError: If something is missing or not a number.
    """
    node = link.node
    reading.unread_but(node, LINK_TAGS)
    visuals = _shapes(link, "visual", reading)
    collisions = Counter(_shapes(link, "collision", reading))
    shapes: list[Shape] = []
    for visual in visuals:
        bare = replace(visual, color="", texture="")
        touches = collisions[bare] > 0
        collisions[bare] -= touches
        shapes.append(replace(visual, collide=touches))
    shapes.extend(replace(c, visible=False) for c in collisions.elements())
    friction, restitution = _surface(node, name, reading)
    inertial = node.first("inertial")
    automatic = inertial is not None and inertial.attributes.get("auto", "") in ("true", "1")
    density = inertia = None
    if automatic and inertial is not None:
        density = max(number(inertial, "density", WATER), 0.0)
        reading.notes.about("inertias to be computed, taken from all shapes of the link", name)
    elif link.static and inertial is None:
        inertia = MASSLESS
    else:
        inertia = _inertial(link, name, reading)
    try:
        return Element(
            name,
            tuple(shapes),
            density=density,
            inertia=inertia,
            friction=friction,
            restitution=restitution,
            origin=node.origin,
        )
    except LinkworkError as error:
        raise error.at(node.origin) from None


def _shapes(link: ModelLink, tag: str, reading: Reading) -> list[Shape]:
    found = (read_shape(node, link.inside(node), reading) for node in link.node.all(tag))
    return [shape for shape in found if shape is not None]


def _inertial(link: ModelLink, name: str, reading: Reading) -> Inertia:
    """Mass properties in the link's frame; a link without any weighs 1 kg in SDF."""
    node = link.node.first("inertial")
    if node is None:
        reading.notes.about("links without <inertial>, given SDF's 1 kg and 1 kg m²", name)
        return Inertia.of(1.0, matrix=np.eye(3))
    reading.unread_but(node, {"mass", "inertia", "pose", "density", "frame"})
    mass = number(node, "mass", 1.0)
    if mass < 0.0:
        raise FormatError(
            f"the mass of link {name!r} is negative ({mass:g} kg).", origin=node.origin
        )
    given = node.first("inertia")
    matrix = np.eye(3)
    if given is not None:
        xx, yy, zz = (number(given, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
        xy, xz, yz = (number(given, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    own = Inertia.of(mass, matrix=matrix)
    if why := own.problem():
        own = Inertia.of(mass, matrix=repaired(matrix))
        reading.notes.say(
            f"{node.origin}: link {name!r}: {why}. Principal inertias raised, mass and centre of "
            "mass kept."
        )
    moved = own.moved(link.inside(node))
    return Inertia(moved.mass, moved.com, (moved.matrix + moved.matrix.T) / 2.0)


def _surface(link: Node, name: str, reading: Reading) -> tuple[float, float]:
    """Friction and restitution of the collisions; the first that says any counts."""
    found: list[tuple[float, float]] = []
    for collision in link.all("collision"):
        surface = collision.first("surface")
        if surface is None:
            continue
        reading.unread_but(surface, {"friction", "bounce"})
        friction = restitution = None
        if (node := surface.first("friction")) is not None:
            if (ode := node.first("ode")) is not None:
                friction = number(ode, "mu", 1.0)
            elif (bullet := node.first("bullet")) is not None:
                friction = number(bullet, "friction", 1.0)
        if (node := surface.first("bounce")) is not None:
            restitution = number(node, "restitution_coefficient", 0.0)
        if friction is not None or restitution is not None:
            pair = (
                Element.friction if friction is None else friction,
                Element.restitution if restitution is None else restitution,
            )
            found.append(pair)
    if len(set(found)) > 1:
        reading.notes.about("links whose collisions differ in surface, the first one counts", name)
    friction, restitution = found[0] if found else (Element.friction, Element.restitution)
    if friction < 0.0 or not 0.0 <= restitution <= 1.0:
        reading.notes.about("surface values out of range, cut", name)
    return (max(friction, 0.0) if math.isfinite(friction) else 0.0, min(max(restitution, 0.0), 1.0))
