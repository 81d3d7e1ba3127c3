"""Values in SDF elements: words, numbers, vectors and poses, checked with file and line."""

from __future__ import annotations

import math
import re

from linkwork.errors import FormatError
from linkwork.formats.xml_tree import Node
from linkwork.spatial.pose import IDENTITY, Pose, Vec3

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?\Z", re.IGNORECASE)

#: Larger numbers [any SI unit] are taken for mistakes; products of them would overflow.
LARGEST = 1e30
#: A limit this large or larger limits nothing [rad, m, N m, …].
NO_LIMIT = 1e9


def refuse(node: Node, found: str, allowed: str) -> FormatError:
    """An error about the text of an element."""
    return FormatError(f"<{node.tag}> is {found!r}, which is not {allowed}.", origin=node.origin)


def text_of(node: Node, tag: str, default: str = "") -> str:
    """The text of the child ``tag``."""
    child = node.first(tag)
    return child.text.strip() if child is not None and child.text.strip() else default


def needed(node: Node, tag: str) -> str:
    """The text of the child ``tag``, which must be there."""
    text = text_of(node, tag)
    if not text:
        raise FormatError(f"<{node.tag}> needs a <{tag}>.", origin=node.origin)
    return text


def name_of(node: Node) -> str:
    """The attribute ``name``, which must be there."""
    name = node.attributes.get("name", "").strip()
    if not name:
        raise FormatError(f"<{node.tag}> needs the attribute 'name'.", origin=node.origin)
    return name


def numbers(node: Node, count: int) -> tuple[float, ...]:
    """The numbers in an element."""
    words = node.text.split()
    if len(words) != count:
        what = "a number" if count == 1 else f"{count} numbers"
        raise refuse(node, node.text.strip()[:80], what)
    values = tuple(float(w) if _NUMBER.match(w) else math.nan for w in words)
    if not all(abs(value) <= LARGEST for value in values):
        raise refuse(node, node.text.strip()[:80], "made of finite numbers in decimal notation")
    return values


def number(node: Node, tag: str, default: float) -> float:
    """The number in the child ``tag``."""
    child = node.first(tag)
    return default if child is None else numbers(child, 1)[0]


def vector(node: Node, tag: str, default: Vec3) -> Vec3:
    """The three numbers in the child ``tag``."""
    child = node.first(tag)
    if child is None:
        return default
    x, y, z = numbers(child, 3)
    return (x, y, z)


def limit(node: Node, tag: str, default: float) -> float:
    """A number cut to ±1e9; here, and only here, infinity is a number too."""
    child = node.first(tag)
    if child is None:
        return default
    text = child.text.strip()
    if not (_NUMBER.match(text) or _INFINITE.match(text)):
        raise refuse(child, text[:80], "a number")
    return max(-NO_LIMIT, min(NO_LIMIT, float(text)))


def flag(node: Node, tag: str, default: bool = False) -> bool:
    """Whether the child ``tag`` says true."""
    text = text_of(node, tag, "true" if default else "false").lower()
    if text not in ("true", "false", "1", "0"):
        child = node.first(tag)
        raise refuse(child or node, text[:80], "true or false")
    return text in ("true", "1")


def pose_of(node: Node) -> Pose:
    """The pose that the child ``<pose>`` gives [m, rad], identity without one."""
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


def frame_of(node: Node) -> str:
    """Name of the frame in which the child ``<pose>`` stands; empty for the usual one."""
    child = node.first("pose")
    if child is None:
        return ""
    given = child.attributes
    return given.get("relative_to", given.get("frame", "")).strip()
