"""Faults on a TCP part: lines that are lost, late, wrong or doubled."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec

KINDS = ("drop", "delay", "corrupt", "duplicate")

Values = list[float | None]


class LineFaultOrder(msgspec.Struct, forbid_unknown_fields=True):
    """What the order ``fault`` takes of a TCP part; ``clear`` ends those of a name.

    Attributes:
        kind: What happens to a line of values.
        name: By which it is ended.
        node: Whose lines: the "part"'s, which tell, or the "controller"'s; both if empty.
        chance: Probability for each line, 0 to 1.
        times: At most so often; no limit at 0.
        delay: How late a delayed line comes [s].
        seed: Of the chance.
    """

    kind: Literal["drop", "delay", "corrupt", "duplicate"]
    name: str = ""
    node: Literal["", "part", "controller"] = ""
    chance: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1.0
    times: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0
    delay: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] = 0.01
    seed: int = 0


@dataclass
class _Running:
    order: LineFaultOrder
    chance: random.Random = field(init=False)
    hits: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.order.seed)

    def strikes(self, node: str) -> bool:
        order = self.order
        if order.node not in ("", node) or (order.times and self.hits >= order.times):
            return False
        if self.chance.random() >= order.chance:
            return False
        self.hits += 1
        return True


class LineFaults:
    """The faults of one part, applied in the order in which they were added."""

    def __init__(self) -> None:
        self._running: list[_Running] = []

    def add(self, order: LineFaultOrder) -> None:
        """Starts a fault."""
        self._running.append(_Running(order))

    def clear(self, name: str) -> None:
        """Ends the faults of a name; all where it is empty."""
        self._running = [each for each in self._running if name not in ("", each.order.name)]

    def pass_on(self, values: Values, node: str, send: Callable[[Values], object]) -> str:
        """Sends values as often, as late and as wrong as the faults want.

        Args:
            values: Of one line.
            node: Whose line it is, "part" or "controller".
            send: Called with what arrives.

        Returns:
            What struck, for the log; empty if nothing did.
        """
        copies, delay, marks = 1, 0.0, []
        for each in self._running:
            if not each.strikes(node):
                continue
            marks.append(each.order.kind)
            match each.order.kind:
                case "drop":
                    copies = 0
                case "delay":
                    delay += each.order.delay
                case "duplicate":
                    copies += copies > 0
                case "corrupt":
                    values = _corrupted(values, each.chance)
        for _ in range(copies):
            if delay:
                asyncio.get_running_loop().call_later(delay, send, values)
            else:
                send(values)
        return " ".join(marks)


def _corrupted(values: Values, chance: random.Random) -> Values:
    """One value with its sign or one of its leading bits turned; it stays a finite number."""
    places = [place for place, value in enumerate(values) if value is not None]
    if not places:
        return values
    place, bit = chance.choice(places), chance.choice((63, *range(44, 52)))
    (code,) = struct.unpack("<Q", struct.pack("<d", values[place]))
    (value,) = struct.unpack("<d", struct.pack("<Q", code ^ (1 << bit)))
    return [*values[:place], value, *values[place + 1 :]]
