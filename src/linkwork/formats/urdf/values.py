"""Attributes of URDF elements: words, numbers, vectors and poses, checked with file and line."""

from __future__ import annotations

import math
import re

from linkwork.errors import FormatError, listing
from linkwork.formats.xml_tree import Node
from linkwork.spatial.pose import IDENTITY, Pose, Vec3

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?\Z", re.IGNORECASE)

#: Larger numbers [any SI unit] are taken for mistakes; products of them would overflow.
LARGEST = 1e30


def word(node: Node, name: str) -> str:
    """The attribute ``name``, which must be there and not be empty."""
    value = node.attributes.get(name, "").strip()
    if not value:
        found = listing(node.attributes)
        raise FormatError(
            f"<{node.tag}> needs the attribute {name!r}.",
            origin=node.origin,
            hint=f"It has: {found}.",
        )
    return value


def _refuse(node: Node, name: str, found: str, allowed: str) -> FormatError:
    return FormatError(f"{name}={found!r} of <{node.tag}> is not {allowed}.", origin=node.origin)


def _parse(node: Node, name: str, text: str) -> float:
    value = float(text) if _NUMBER.match(text) else math.nan
    if not abs(value) <= LARGEST:
        raise _refuse(node, name, text, "a finite number in decimal notation")
    return value


def number(node: Node, name: str, default: float | None = None) -> float:
    """A finite number; without ``default`` the attribute must be there."""
    if default is not None and name not in node.attributes:
        return default
    return _parse(node, name, word(node, name))


def limit(node: Node, name: str, default: float, *, most: float) -> float:
    """A number cut to ±``most``; here, and only here, infinity is a number too."""
    text = node.attributes.get(name, "").strip()
    if not text:
        return default
    if not (_NUMBER.match(text) or _INFINITE.match(text)):
        raise _refuse(node, name, text, "a number")
    return max(-most, min(most, float(text)))


def numbers(node: Node, name: str, count: int) -> tuple[float, ...]:
    """``count`` numbers separated by spaces."""
    text = word(node, name)
    parts = text.split()
    if len(parts) != count:
        raise _refuse(node, name, text, f"{count} numbers separated by spaces")
    return tuple(_parse(node, name, part) for part in parts)


def vector(node: Node, name: str, default: Vec3 | None = None) -> Vec3:
    """Three numbers; without ``default`` the attribute must be there."""
    if default is not None and name not in node.attributes:
        return default
    x, y, z = numbers(node, name, 3)
    return (x, y, z)


def origin_pose(node: Node) -> Pose:
    """The pose that the child ``<origin>`` gives [m, rad], identity without one."""
    origin = node.first("origin")
    if origin is None:
        return IDENTITY
    xyz = vector(origin, "xyz", (0.0, 0.0, 0.0))
    if "quat_xyzw" in origin.attributes:
        x, y, z, w = numbers(origin, "quat_xyzw", 4)
        if max(abs(c) for c in (x, y, z, w)) < 1e-6:
            raise _refuse(origin, "quat_xyzw", origin.attributes["quat_xyzw"], "a rotation")
        return Pose.of(xyz, quat=(w, x, y, z))
    return Pose.of(xyz, rpy=vector(origin, "rpy", (0.0, 0.0, 0.0)))
