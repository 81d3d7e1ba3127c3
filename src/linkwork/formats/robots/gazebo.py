"""Gazebo's plugins and surfaces, which URDF and SDF files share."""

from __future__ import annotations

import re

from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.robots.xml import XmlNode, parse_number

#: A word in the name of a plugin that observes, draws or transmits, and moves nothing.
_PASSIVE_WORDS = re.compile(
    r"(?:sensors?|camera|imu|lidar|laser|ray|dvl|altimeter|magnetometer|navsat|gps|pressure|speed"
    r"|contact|bumper|sonar|range|thermal|environmental|forcetorque|kinect|publisher|p3d|monitor"
    r"|broadcaster|comms|endpoint|commands|physics|log|recorder|playback|exporter|label|led|lens"
    r"|particle|shader|visual|video|photo|performer|touchplugin|opticaltactileplugin|actor|preload"
    r"|logicalaudiosensorplugin|linearbatteryplugin)\Z"
)
_PLUGIN_NAME = re.compile(
    r"(?:lib)?(?:(?:gz|ignition)-(?:sim|gazebo)\d*-)?(.*?)(?:-system)?(?:\.so)?"
)


def note_plugin(node: XmlNode, line: str, notes: ConversionNotes) -> None:
    """Notes a plugin, which is left out; one that may move something is a difference in motion.

    Args:
        node: The ``<plugin>``.
        line: Where it stands.
        notes: Receives the note.
    """
    file = node.attributes.get("filename", "").strip()
    found = _PLUGIN_NAME.fullmatch(file)
    name = (found[1] if found else "") or node.attributes.get("name", "").strip() or "plugin"
    if any(_PASSIVE_WORDS.match(word) for word in re.split(r"[-_:]+", name.lower())):
        notes.about("plugins that move nothing, left out", name)
        return
    what = "plugins, left out; what they drive moves freely, their forces do not act"
    notes.about(what, f"{name} ({line})", kind="motion")


def is_false(node: XmlNode | None) -> bool:
    """Whether an element says no."""
    return node is not None and node.text.strip().lower() in ("false", "0")


def is_true(node: XmlNode | None) -> bool:
    """Whether an element says yes."""
    return node is not None and node.text.strip().lower() in ("true", "1")


def is_zero(node: XmlNode) -> bool:
    """Whether an element and all in it hold zeros only."""
    words = [word for each in node.walk() for word in each.text.split()]
    return all(parse_number(word) == 0.0 for word in words)


#: What an element without weight has for the Mujoco engine.
WEIGHTLESS = {"gravcomp": 1.0}


def note_weightless(name: str, notes: ConversionNotes) -> None:
    """Notes a link on which gravity does not act."""
    notes.about("links without gravity, with mujoco only", name)
