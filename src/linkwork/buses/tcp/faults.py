"""Faults on a TCP part."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal

import msgspec

from linkwork.buses.delay_queue import DelayQueue
from linkwork.buses.messages import ActiveFault
from linkwork.core.errors import SignalError

KINDS = ("drop", "delay", "corrupt", "duplicate")

#: Maximum number of faults at a time.
MAX_FAULTS = 256

Values = list[float | None]


class LineFaultOrder(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of the order ``fault`` of a TCP part; ``clear`` ends those of a name.

    Attributes:
        kind: Effect on a line of values.
        name: Name for ending it.
        node: Sender of the lines: "part" or "controller"; both if empty.
        chance: Probability for each line, 0 to 1.
        times: Maximum number of hits; 0 for no limit.
        delay: Delay of a delayed line [s].
        seed: Seed of the random numbers.
    """

    kind: Literal["drop", "delay", "corrupt", "duplicate"]
    name: Annotated[str, msgspec.Meta(max_length=200)] = ""
    node: Literal["", "part", "controller"] = ""
    chance: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1.0
    times: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0
    delay: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] = 0.01
    seed: int = 0

    def __str__(self) -> str:
        """Returns a description: ``drop, of the controller, 50 %, seed 7``."""
        words = [self.kind]
        if self.node:
            words.append(f"of the {self.node}")
        if self.kind == "delay":
            words.append(f"by {1000 * self.delay:g} ms")
        if self.chance < 1.0:
            words.append(f"{100 * self.chance:g} %, seed {self.seed}")
        if self.times:
            words.append(f"{self.times} times")
        return ", ".join(words)


@dataclass
class _Running:
    order: LineFaultOrder
    chance: random.Random = field(init=False)
    hits: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.order.seed)

    def applies_to(self, node: str) -> bool:
        order = self.order
        if order.node not in ("", node) or (order.times and self.hits >= order.times):
            return False
        if self.chance.random() >= order.chance:
            return False
        self.hits += 1
        return True


class LineFaults:
    """The faults of one part, applied in the order in which they were added.

    Attributes:
        delays: Delayed lines.
    """

    def __init__(self) -> None:
        self.delays = DelayQueue()
        self._running: dict[int, _Running] = {}
        self._numbers = itertools.count(1)

    def add(self, order: LineFaultOrder) -> None:
        """Starts a fault.

        Raises:
            SignalError: There are too many.
        """
        if len(self._running) >= MAX_FAULTS:
            raise SignalError(f"{MAX_FAULTS} faults are active; end some of them first.")
        self._running[next(self._numbers)] = _Running(order)

    def clear(self, name: str) -> None:
        """Ends the faults of a name, all if it is empty; lines they delay are delivered at once."""
        for number, each in list(self._running.items()):
            if name in ("", each.order.name):
                del self._running[number]
                self.delays.end(number)

    def active_faults(self) -> list[ActiveFault]:
        """Returns the active faults with the number of lines that each has affected."""
        return [
            ActiveFault(
                number, order.name, str(order), each.hits, order.kind, order.chance, order.seed
            )
            for number, each in self._running.items()
            for order in (each.order,)
        ]

    def apply_faults(self, values: Values, node: str, send: Callable[[Values], object]) -> str:
        """Sends values with the faults applied.

        Args:
            values: Values of one line.
            node: Sender of the line, "part" or "controller".
            send: Called with the values that arrive.

        Returns:
            The kinds of the applied faults, for the log; empty if there are none.
        """
        copies, delay, holder, marks = 1, 0.0, 0, []
        for number, each in self._running.items():
            if not each.applies_to(node):
                continue
            marks.append(each.order.kind)
            match each.order.kind:
                case "drop":
                    copies = 0
                case "delay":
                    delay += each.order.delay
                    holder = number
                case "duplicate":
                    copies += copies > 0
                case "corrupt":
                    values = _corrupted(values, each.chance)
        for _ in range(copies):
            if delay:
                if not self.delays.hold(holder, delay, partial(send, values)):
                    marks.append("lost the oldest")
            else:
                send(values)
        return " ".join(marks)


def _corrupted(values: Values, chance: random.Random) -> Values:
    """Flips the sign or one of the leading bits of a value, which stays finite."""
    indices = [index for index, value in enumerate(values) if value is not None]
    if not indices:
        return values
    index, bit = chance.choice(indices), chance.choice((63, *range(44, 52)))
    (code,) = struct.unpack("<Q", struct.pack("<d", values[index]))
    (value,) = struct.unpack("<d", struct.pack("<Q", code ^ (1 << bit)))
    return [*values[:index], value, *values[index + 1 :]]
