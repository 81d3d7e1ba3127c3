"""Lights: SDF's suns and lamps."""

from __future__ import annotations

from linkwork.formats.colors import hex_color
from linkwork.formats.sdf.context import Reading
from linkwork.formats.sdf.scope import MODEL, Scope
from linkwork.formats.sdf.values import flag, name_of, number, numbers, vector
from linkwork.formats.xml_tree import Node
from linkwork.parts.names import plain
from linkwork.scene import Light

LIGHT_TAGS = {"pose", "diffuse", "direction", "intensity", "cast_shadows"}
#: What a world looks like that says nothing; one that says its background must say these too.
USUAL_LOOK = {"ambient": "0.4 0.4 0.4 1", "shadows": "true"}


def color_of(node: Node) -> str:
    """The colour that ``node`` says, without its opacity."""
    count = 3 if len(node.text.split()) == 3 else 4
    return hex_color(numbers(node, count)[:3])


def read_light(node: Node, scope: Scope, taken: set[str], reading: Reading) -> Light:
    """The light that ``node`` describes, in the frame of the world ``scope``.

    Raises:
        FormatError: If it stands in a frame that does not exist, or something is not a number.
    """
    reading.unread_but(node, LIGHT_TAGS)
    pose = scope.inside(MODEL, node)
    way = pose.rotate(vector(node, "direction", (0.0, 0.0, -1.0)))
    diffuse = node.first("diffuse")
    color = color_of(diffuse) if diffuse is not None else "#ffffff"
    x, y, z = (a + b for a, b in zip(pose.xyz, way, strict=True))
    return Light(
        plain(name_of(node), taken),
        "sun" if node.attributes.get("type", "") == "directional" else "lamp",
        pose.xyz,
        (x, y, z),
        color,
        max(number(node, "intensity", 1.0), 0.0),
        shadows=flag(node, "cast_shadows"),
        origin=node.origin,
    )
