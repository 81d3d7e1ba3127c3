"""Values of SDF elements, checked with file and line."""

from __future__ import annotations

import math

from linkwork.core.errors import FormatError
from linkwork.formats.robots.xml import XmlNode, parse_limit, parse_number
from linkwork.geometry.pose import IDENTITY, Pose, Vec3


def refuse(node: XmlNode, found: str, allowed: str) -> FormatError:
    """Returns the error of an element whose text is not ``allowed``."""
    return FormatError(f"<{node.tag}> is {found!r}, which is not {allowed}.", origin=node.origin)


def text_of(node: XmlNode, tag: str, default: str = "") -> str:
    """Returns the text of the child ``tag``."""
    child = node.first(tag)
    return child.text.strip() if child is not None and child.text.strip() else default


def required_child(node: XmlNode, tag: str) -> str:
    """Returns the text of the child ``tag``, which is required."""
    text = text_of(node, tag)
    if not text:
        raise FormatError(f"<{node.tag}> needs a <{tag}>.", origin=node.origin)
    return text


def name_of(node: XmlNode) -> str:
    """Returns the attribute ``name``, which is required."""
    name = node.attributes.get("name", "").strip()
    if not name:
        raise FormatError(f"<{node.tag}> needs the attribute 'name'.", origin=node.origin)
    return name


def numbers(node: XmlNode, count: int) -> tuple[float, ...]:
    """Returns the numbers in an element."""
    words = node.text.split()
    if len(words) != count:
        what = "a number" if count == 1 else f"{count} numbers"
        raise refuse(node, node.text.strip()[:80], what)
    values = tuple(parse_number(word) for word in words)
    if any(math.isnan(value) for value in values):
        raise refuse(node, node.text.strip()[:80], "made of finite numbers in decimal notation")
    return values


def number(node: XmlNode, tag: str, default: float) -> float:
    """Returns the number in the child ``tag``."""
    child = node.first(tag)
    return default if child is None else numbers(child, 1)[0]


def vector(node: XmlNode, tag: str, default: Vec3) -> Vec3:
    """Returns the three numbers in the child ``tag``."""
    child = node.first(tag)
    if child is None:
        return default
    x, y, z = numbers(child, 3)
    return (x, y, z)


def limit(node: XmlNode, tag: str, default: float) -> float:
    """Returns a limit, clamped to ±``NO_LIMIT``; infinity is allowed."""
    child = node.first(tag)
    if child is None:
        return default
    value = parse_limit(child.text.strip())
    if math.isnan(value):
        raise refuse(child, child.text.strip()[:80], "a number")
    return value


def flag(node: XmlNode, tag: str, default: bool = False) -> bool:
    """Whether the child ``tag`` is true."""
    text = text_of(node, tag, "true" if default else "false").lower()
    if text not in ("true", "false", "1", "0"):
        child = node.first(tag)
        raise refuse(child or node, text[:80], "true or false")
    return text in ("true", "1")


def pose_of(node: XmlNode) -> Pose:
    """Returns the pose of the child ``<pose>`` [m, rad]; the identity without one."""
    child = node.first("pose")
    if child is None or not child.text.strip():
        return IDENTITY
    if child.attributes.get("rotation_format", "euler_rpy") == "quat_xyzw":
        x, y, z, qx, qy, qz, qw = numbers(child, 7)
        if max(abs(c) for c in (qx, qy, qz, qw)) < 1e-6:
            raise refuse(child, child.text.strip()[:80], "a position and a rotation")
        return Pose.of((x, y, z), quat=(qw, qx, qy, qz))
    x, y, z, *angles = numbers(child, 6)
    if child.attributes.get("degrees", "").strip().lower() in ("true", "1"):
        angles = [math.radians(angle) for angle in angles]
    return Pose.of((x, y, z), rpy=angles)


def frame_of(node: XmlNode) -> str:
    """Returns the name of the frame of the child ``<pose>``; empty for the default one."""
    child = node.first("pose")
    if child is None:
        return ""
    given = child.attributes
    return given.get("relative_to", given.get("frame", "")).strip()
