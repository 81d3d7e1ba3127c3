"""Sizes: what a model would make MuJoCo ask memory and time for, counted before it does."""

from __future__ import annotations

import math
import re

from linkwork.errors import FormatError, Origin
from linkwork.formats.xml_tree import Node

#: A number as XML files write it.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
#: Largest values of attributes that size MuJoCo's arrays or searches.
_MOST = {
    "actdim": 1000, "nsample": 1000, "num": 1000, "dim": 1000, "resolution": 16_384,
    "sdf_initpoints": 1000, "sdf_iterations": 1000, "ccd_iterations": 10_000,
    "iterations": 10_000, "ls_iterations": 10_000, "noslip_iterations": 10_000,
    "maxhullvert": 100_000, "group": 1000,
}  # fmt: skip
#: Most numbers that all sensors and actuators, and all keyframes, may hold.
_MOST_NUMBERS, _MOST_OF_KEYS = 1_000_000, 200_000
#: Coordinates and speeds of a joint by its type.
_PER_KEY = {"free": 13, "ball": 7}


class Sizes:
    """Counts what MuJoCo would ask memory for, before it does."""

    def __init__(self, root: Node) -> None:
        self.numbers = self.per_key = 0
        self.keys: list[Origin] = []
        self.pixels, self.inherited, self.joint = 1, 1, 2
        stack = [(root, False)]
        while stack:
            node, default = stack.pop()
            default = default or node.tag == "default"
            stack += [(child, default) for child in node.children]
            for word in node.attributes.keys() & _MOST.keys():
                _check_count(node, word)
            if node.tag == "camera":
                self.pixels = max(self.pixels, math.prod(_counts(node, "resolution")))
            if default and node.tag == "joint":
                kind = node.attributes.get("type", "").strip()
                self.joint = max(self.joint, _PER_KEY.get(kind, 2))
            elif default:
                self.inherited = max(self.inherited, _size(node))

    def add(self, node: Node, inside: str, default: bool, times: int) -> None:
        """Counts an element.

        Raises:
            FormatError: If there are too many numbers now.
        """
        if default:
            return
        if node.tag in ("joint", "freejoint") and inside not in ("fixed", "equality"):
            given = node.attributes.get("type", "").strip()
            kind = "free" if node.tag == "freejoint" else given
            self.per_key += times * (_PER_KEY.get(kind, 2) if kind else self.joint)
        elif node.attributes.get("mocap", "").strip() == "true":
            self.per_key += 7 * times
        elif node.tag == "key" and inside == "keyframe":
            self.keys.append(node.origin)
        elif inside in ("sensor", "actuator"):
            size = _size(node) * (self.inherited if inside == "actuator" else 1)
            self.per_key += 2 * size if inside == "actuator" else 0
            self.numbers += size * (self.pixels if "camera" in node.attributes else 1)
        if self.numbers > _MOST_NUMBERS:
            raise FormatError(
                f"sensors and actuators hold more than {_MOST_NUMBERS} numbers.",
                origin=node.origin,
                hint="Give smaller nsample, num, actdim or resolution.",
            )

    def check_keys(self) -> None:
        """Looks at the keyframes, when all is counted.

        Raises:
            FormatError: If they hold too many numbers.
        """
        if len(self.keys) * self.per_key > _MOST_OF_KEYS:
            raise FormatError(
                f"{len(self.keys)} keyframes of {self.per_key} numbers each are more than the "
                f"{_MOST_OF_KEYS} numbers that are read.",
                origin=self.keys[0],
                hint="Keep fewer keyframes in the file.",
            )


def _size(node: Node) -> int:
    """How many numbers an element holds by its own words."""
    return math.prod(max(1, *_counts(node, word)) for word in ("actdim", "nsample", "num", "dim"))


def _counts(node: Node, name: str) -> list[int]:
    words = node.attributes.get(name, "").split() or ["1"]
    return [int(float(word)) if NUMBER.match(word) else 1 for word in words]


def _check_count(node: Node, name: str) -> None:
    for word in node.attributes[name].split():
        if NUMBER.match(word) and not abs(float(word)) <= _MOST[name]:
            raise FormatError(
                f"{name}={word!r} of <{node.tag}> is beyond {_MOST[name]}, the largest that is "
                "read.",
                origin=node.origin,
            )
