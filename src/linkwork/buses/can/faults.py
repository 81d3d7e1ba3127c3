"""Faults on the wire: what is lost, late, wrong, doubled or destroyed, and when."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from linkwork.buses.can.frame import CanError, Frame

MOST = 256  # faults at a time


class Kind(StrEnum):
    """What a fault does to a frame."""

    DROP = "drop"  # nobody hears it
    DELAY = "delay"  # it comes late
    CORRUPT = "corrupt"  # a bit of its data is turned, and nobody notices (a bad gateway)
    DUPLICATE = "duplicate"  # it comes twice
    ERROR = "error"  # destroyed on the wire: error frame, counters, sent again
    BUS_OFF = "bus_off"  # its sender leaves the bus


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        kind: What happens.
        chance: Probability for each frame that fits, 0…1.
        ids: Only frames with these identifiers; all where empty.
        node: Only frames of this node; all where empty.
        begin: Start [s since the hub began].
        end: End [s since the hub began].
        times: At most so often; no limit at 0.
        delay: How late a delayed frame comes [s].
        seed: Of the chance: the same frames with the same seed meet the same fate.
    """

    kind: Kind
    chance: float = 1.0
    ids: frozenset[int] = frozenset()
    node: str = ""
    begin: float = 0.0
    end: float = math.inf
    times: int = 0
    delay: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.chance <= 1.0:
            raise CanError(f"a fault's chance is 0 to 1, not {self.chance!r}.")
        if not self.begin <= self.end or self.begin < 0.0:
            raise CanError(f"a fault cannot last from {self.begin!r} s to {self.end!r} s.")
        if not 0.0 <= self.delay < math.inf:
            raise CanError(f"a fault's delay is a time in seconds, not {self.delay!r}.")
        if self.times < 0:
            raise CanError(f"a fault happens at most {self.times!r} times: give 0 for no limit.")


@dataclass(slots=True)
class _Running:
    fault: Fault
    chance: random.Random = field(init=False)
    hits: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.fault.seed)

    def strikes(self, frame: Frame, sender: str, t: float) -> bool:
        fault = self.fault
        if (
            not fault.begin <= t < fault.end
            or (fault.ids and frame.id not in fault.ids)
            or (fault.node and fault.node != sender)
        ):
            return False
        # A draw for each frame that fits, so that a change of the chance moves no other draw.
        if self.chance.random() >= fault.chance:
            return False
        self.hits += 1
        return True


@dataclass(slots=True)
class Fate:
    """What becomes of one frame.

    Attributes:
        frame: As it arrives.
        dropped: Nobody hears it.
        destroyed: It is broken on the wire.
        off: Numbers of the faults that take its sender off the bus.
        copies: How often it arrives.
        delay: How late [s].
        held_by: Number of the fault that holds it back.
        mark: For the log.
    """

    frame: Frame
    dropped: bool = False
    destroyed: bool = False
    off: tuple[int, ...] = ()
    copies: int = 1
    delay: float = 0.0
    held_by: int = 0
    mark: str = ""


class Faults:
    """The faults of a bus, applied in the order in which they were added.

    Attributes:
        running: Those that were added and not removed, by number.
        armed: Those of them that may still strike.
    """

    def __init__(self) -> None:
        self.running: dict[int, _Running] = {}
        self.armed: dict[int, _Running] = {}
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self.running)

    def __iter__(self) -> Iterator[tuple[int, Fault, int]]:
        """Gives number, fault and how often it has struck."""
        return ((n, each.fault, each.hits) for n, each in self.running.items())

    def add(self, fault: Fault) -> int:
        """Starts a fault and returns its number.

        Raises:
            CanError: There are too many.
        """
        if len(self.running) >= MOST:
            raise CanError(f"{MOST} faults are at work; end some of them first.")
        number = next(self._numbers)
        self.running[number] = self.armed[number] = _Running(fault)
        return number

    def __contains__(self, number: int) -> bool:
        return number in self.running

    def remove(self, number: int) -> Fault | None:
        """Ends a fault and returns it; None where it is gone already."""
        running = self.running.pop(number, None)
        self.armed.pop(number, None)
        return None if running is None else running.fault

    def clear(self) -> None:
        """Ends all faults."""
        self.running.clear()
        self.armed.clear()

    def fate(self, frame: Frame, sender: str, t: float) -> Fate | None:
        """What becomes of a frame; None where nothing strikes it.

        Args:
            frame: The frame.
            sender: Name of its node.
            t: Time since the hub began [s].
        """
        fate: Fate | None = None
        spent = []
        for number, each in self.armed.items():
            if each.strikes(frame, sender, t):
                fate = fate or Fate(frame)
                _apply(number, each, fate)
                if each.hits == each.fault.times:
                    spent.append(number)
        for number in spent:
            del self.armed[number]
        return fate


def _apply(number: int, running: _Running, fate: Fate) -> None:
    fault = running.fault
    if fault.kind is Kind.DROP:
        fate.dropped, fate.mark = True, "dropped"
    elif fault.kind is Kind.DELAY:
        fate.delay += fault.delay
        fate.held_by = number
        fate.mark = fate.mark or "delayed"
    elif fault.kind is Kind.DUPLICATE:
        fate.copies += 1
        fate.mark = fate.mark or "duplicate"
    elif fault.kind is Kind.ERROR:
        fate.destroyed, fate.mark = True, "destroyed"
    elif fault.kind is Kind.BUS_OFF:
        fate.off, fate.dropped = (*fate.off, number), True
        fate.mark = "dropped"
    elif fate.frame.data:
        place = running.chance.randrange(8 * len(fate.frame.data))
        data = bytearray(fate.frame.data)
        data[place >> 3] ^= 1 << (place & 7)
        fate.frame = fate.frame._replace(data=bytes(data))
        fate.mark = "corrupted"
