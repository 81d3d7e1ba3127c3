"""Faults on a TCP part: lines that are lost, late, wrong or doubled."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal

import msgspec

from linkwork.buses.delays import Delays
from linkwork.errors import SignalError

KINDS = ("drop", "delay", "corrupt", "duplicate")

#: Faults at a time.
MOST = 256

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
    name: Annotated[str, msgspec.Meta(max_length=200)] = ""
    node: Literal["", "part", "controller"] = ""
    chance: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1.0
    times: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0
    delay: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] = 0.01
    seed: int = 0

    def __str__(self) -> str:
        """The fault in words: ``drop, of the controller, 50 %, seed 7``."""
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

    def strikes(self, node: str) -> bool:
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
        delays: Lines that are held back.
    """

    def __init__(self) -> None:
        self.delays = Delays()
        self._running: dict[int, _Running] = {}
        self._numbers = itertools.count(1)

    def add(self, order: LineFaultOrder) -> None:
        """Starts a fault.

        Raises:
            SignalError: There are too many.
        """
        if len(self._running) >= MOST:
            raise SignalError(f"{MOST} faults are at work; end some of them first.")
        self._running[next(self._numbers)] = _Running(order)

    def clear(self, name: str) -> None:
        """Ends the faults of a name, all where it is empty; lines they hold back come at once."""
        for number, each in list(self._running.items()):
            if name in ("", each.order.name):
                del self._running[number]
                self.delays.end(number)

    def struck(self) -> dict[str, float]:
        """Faults at work, and how often each has struck; see :meth:`Adapter.struck`."""
        return {
            f"fault.{number}.{each.order.name}.{each.order}": float(each.hits)
            for number, each in self._running.items()
        }

    def pass_on(self, values: Values, node: str, send: Callable[[Values], object]) -> str:
        """Sends values as often, as late and as wrong as the faults want.

        Args:
            values: Of one line.
            node: Whose line it is, "part" or "controller".
            send: Called with what arrives.

        Returns:
            What struck, for the log; empty if nothing did.
        """
        copies, delay, holder, marks = 1, 0.0, 0, []
        for number, each in self._running.items():
            if not each.strikes(node):
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
    """One value with its sign or one of its leading bits turned; it stays a finite number."""
    places = [place for place, value in enumerate(values) if value is not None]
    if not places:
        return values
    place, bit = chance.choice(places), chance.choice((63, *range(44, 52)))
    (code,) = struct.unpack("<Q", struct.pack("<d", values[place]))
    (value,) = struct.unpack("<d", struct.pack("<Q", code ^ (1 << bit)))
    return [*values[:place], value, *values[place + 1 :]]
