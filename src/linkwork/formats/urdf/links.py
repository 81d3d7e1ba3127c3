"""Links: a URDF link becomes an element with its shapes, surface and mass properties."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from linkwork.errors import FormatError, LinkworkError, MeshNotFound, listing
from linkwork.formats.urdf.context import Reading
from linkwork.formats.urdf.inertial import read_inertial
from linkwork.formats.urdf.materials import material_of
from linkwork.formats.urdf.values import number, origin_pose, vector, word
from linkwork.formats.xml_tree import Node
from linkwork.parts import Box, Capsule, Cylinder, Element, Mesh, Shape, Sphere

GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")
#: Children of a link that are read; others are noted.
LINK_TAGS = {"inertial", "visual", "collision", "contact"}


def read_link(node: Node, name: str, reading: Reading) -> Element:
    """The element that ``node`` describes, under the name ``name``.

    Raises:
        FormatError: If something is missing or not a number.
        MeshNotFound: If a mesh file is missing; the hint lists every place tried.
    """
    visuals = _shapes(node, "visual", reading)
    collisions = Counter(_shapes(node, "collision", reading))
    shapes: list[Shape] = []
    for visual in visuals:
        bare = replace(visual, color="", texture="")
        touches = collisions[bare] > 0
        collisions[bare] -= touches
        shapes.append(replace(visual, collide=touches))
    shapes.extend(replace(c, visible=False) for c in collisions.elements())
    friction, restitution = _surface(node, reading)
    try:
        return Element(
            name,
            tuple(shapes),
            inertia=read_inertial(node, name, reading),
            friction=friction,
            restitution=restitution,
            origin=node.origin,
        )
    except LinkworkError as error:
        raise error.at(node.origin) from None


def _shapes(link: Node, tag: str, reading: Reading) -> list[Shape]:
    found = (_shape(node, reading) for node in link.all(tag))
    return [shape for shape in found if shape is not None]


def _shape(node: Node, reading: Reading) -> Shape | None:
    """The shape of a visual or collision; None where it is left out with a note."""
    geometry = node.first("geometry")
    known = [] if geometry is None else [c for c in geometry.children if c.tag in GEOMETRIES]
    if not known:
        found = listing(c.tag for c in geometry.children) if geometry is not None else "none"
        raise FormatError(
            f"<{node.tag}> needs a <geometry> with one of {', '.join(GEOMETRIES)}.",
            origin=(geometry or node).origin,
            hint=f"Found inside: {found}.",
        )
    try:
        shape = _geometry(known[0], reading)
    except LinkworkError as error:
        raise error.at(known[0].origin) from None
    if shape is None:
        return None
    look = material_of(node, reading)
    color, texture = (look.color, look.texture) if node.tag == "visual" else ("", "")
    return replace(shape, at=origin_pose(node), color=color, texture=texture)


def _geometry(node: Node, reading: Reading) -> Shape | None:
    if node.tag == "mesh":
        return _mesh(node, reading)
    if node.tag == "box":
        sizes = vector(node, "size")
    elif node.tag == "sphere":
        sizes = (number(node, "radius"),)
    else:
        sizes = (number(node, "radius"), number(node, "length"))
    if 0.0 in sizes:
        reading.notes.about("shapes of size 0, left out", f"{node.tag} at {node.origin}")
        return None
    match node.tag, sizes:
        case "box", (x, y, z):
            return Box((x, y, z))
        case "sphere", (radius,):
            return Sphere(radius)
        case "cylinder", (radius, length):
            return Cylinder(radius, length)
        case _, (radius, length):
            return Capsule(radius, length)
    return None


def _mesh(node: Node, reading: Reading) -> Mesh | None:
    reference = word(node, "filename")
    scale = vector(node, "scale", (1.0, 1.0, 1.0))
    file, tried = reading.locator.find(reference)
    if file is not None:
        return Mesh(str(file), scale)
    places = "".join(f"\n  {place}" for place in tried) or " nowhere"
    if reading.skip_missing:
        reading.notes.say(
            f"{node.origin}: mesh {reference!r} not found, shape left out. Looked at:{places}"
        )
        return None
    raise MeshNotFound(
        f"mesh {reference!r} not found.",
        origin=node.origin,
        hint=f"Looked at:{places}\n{_how_to_find(reference)}",
    )


def _how_to_find(reference: str) -> str:
    scheme, separator, _ = reference.partition("://")
    if separator and scheme in ("package", "model"):
        what = "Name the folder that holds the package in ROS_PACKAGE_PATH"
    elif separator and scheme != "file":
        what = "Use a path, file://, package:// or model://"
    else:
        what = "Put the mesh there"
    return f"{what}, or leave it out: UrdfFormat(missing_meshes='skip') in Python."


def _surface(link: Node, reading: Reading) -> tuple[float, float]:
    """Friction and restitution of ``<contact>``, as Bullet writes them, else the defaults."""
    friction, restitution = Element.friction, Element.restitution
    contact = link.first("contact")
    if contact is None:
        return friction, restitution
    if (node := contact.first("lateral_friction")) is not None:
        friction = number(node, "value")
    if (node := contact.first("restitution")) is not None:
        restitution = number(node, "value")
    if friction < 0.0 or not 0.0 <= restitution <= 1.0:
        reading.notes.about("contact values out of range, cut", f"{contact.origin}")
    return max(friction, 0.0), min(max(restitution, 0.0), 1.0)
