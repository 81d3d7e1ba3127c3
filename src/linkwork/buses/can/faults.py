"""Faults on a CAN bus, with the fault confinement that follows."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from linkwork.buses.can.frame import CanError, CanFrame, frame_bits
from linkwork.buses.can.node import CanNode, bus_error, state_report
from linkwork.buses.delay_queue import MAX_HELD, DelayQueue

if TYPE_CHECKING:
    from linkwork.buses.can.hub import CanHub


MAX_FAULTS = 256  # maximum number of faults at a time


class CanFaultKind(StrEnum):
    """The effect of a fault on a frame."""

    DROP = "drop"  # nobody receives it
    DELAY = "delay"  # it comes late
    CORRUPT = "corrupt"  # a bit of its data is flipped without an error (a bad gateway)
    DUPLICATE = "duplicate"  # it comes twice
    ERROR = "error"  # destroyed on the wire: error frame, counters, sent again
    BUS_OFF = "bus_off"  # its sender leaves the bus


@dataclass(frozen=True, slots=True)
class CanFault:
    """One fault.

    Attributes:
        kind: The effect.
        chance: Probability for each matching frame, 0…1.
        ids: Only frames with these identifiers; all if empty.
        node: Only frames of this node; all if empty.
        begin: Start [s since the hub began].
        end: End [s since the hub began].
        times: Maximum number of hits; 0 for no limit.
        delay: Delay of a delayed frame [s].
        seed: Seed of the random numbers.
    """

    kind: CanFaultKind
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
    fault: CanFault
    chance: random.Random = field(init=False)
    hits: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.fault.seed)

    def applies_to(self, frame: CanFrame, sender: str, t: float) -> bool:
        fault = self.fault
        if (
            not fault.begin <= t < fault.end
            or (fault.ids and frame.id not in fault.ids)
            or (fault.node and fault.node != sender)
        ):
            return False
        # One draw for each matching frame, so that the chance does not change other draws.
        if self.chance.random() >= fault.chance:
            return False
        self.hits += 1
        return True


@dataclass(slots=True)
class FrameOutcome:
    """Outcome of the faults for one frame.

    Attributes:
        frame: The frame as received.
        dropped: Whether no node receives it.
        destroyed: Whether it is destroyed on the wire.
        off: Numbers of the faults that take its sender off the bus.
        copies: Number of copies.
        delay: Delay [s].
        held_by: Number of the fault that delays it.
        mark: Mark for the log.
    """

    frame: CanFrame
    dropped: bool = False
    destroyed: bool = False
    off: tuple[int, ...] = ()
    copies: int = 1
    delay: float = 0.0
    held_by: int = 0
    mark: str = ""


class CanFaultSet:
    """The faults of a bus, applied in the order in which they were added.

    Attributes:
        running: Faults that were added and not removed, by number.
        armed: Those that may still apply.
    """

    def __init__(self) -> None:
        self.running: dict[int, _Running] = {}
        self.armed: dict[int, _Running] = {}
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self.running)

    def __iter__(self) -> Iterator[tuple[int, CanFault, int]]:
        """Yields number, fault and hits."""
        return ((n, each.fault, each.hits) for n, each in self.running.items())

    def add(self, fault: CanFault) -> int:
        """Starts a fault and returns its number.

        Raises:
            CanError: There are too many.
        """
        if len(self.running) >= MAX_FAULTS:
            raise CanError(f"{MAX_FAULTS} faults are active; end some of them first.")
        number = next(self._numbers)
        self.running[number] = self.armed[number] = _Running(fault)
        return number

    def __contains__(self, number: int) -> bool:
        return number in self.running

    def remove(self, number: int) -> CanFault | None:
        """Ends a fault and returns it; None if it has ended already."""
        running = self.running.pop(number, None)
        self.armed.pop(number, None)
        return None if running is None else running.fault

    def clear(self) -> None:
        """Ends all faults."""
        self.running.clear()
        self.armed.clear()

    def outcome(self, frame: CanFrame, sender: str, t: float) -> FrameOutcome | None:
        """Returns the outcome of the faults for a frame; None if no fault applies.

        Args:
            frame: The frame.
            sender: Name of its node.
            t: Time since the hub began [s].
        """
        outcome: FrameOutcome | None = None
        spent = []
        for number, each in self.armed.items():
            if each.applies_to(frame, sender, t):
                outcome = outcome or FrameOutcome(frame)
                _apply(number, each, outcome)
                if each.hits == each.fault.times:
                    spent.append(number)
        for number in spent:
            del self.armed[number]
        return outcome


def _apply(number: int, running: _Running, outcome: FrameOutcome) -> None:
    fault = running.fault
    if fault.kind is CanFaultKind.DROP:
        outcome.dropped, outcome.mark = True, "dropped"
    elif fault.kind is CanFaultKind.DELAY:
        outcome.delay += fault.delay
        outcome.held_by = number
        outcome.mark = outcome.mark or "delayed"
    elif fault.kind is CanFaultKind.DUPLICATE:
        outcome.copies += 1
        outcome.mark = outcome.mark or "duplicate"
    elif fault.kind is CanFaultKind.ERROR:
        outcome.destroyed, outcome.mark = True, "destroyed"
    elif fault.kind is CanFaultKind.BUS_OFF:
        outcome.off, outcome.dropped = (*outcome.off, number), True
        outcome.mark = "dropped"
    elif outcome.frame.data:
        place = running.chance.randrange(8 * len(outcome.frame.data))
        data = bytearray(outcome.frame.data)
        data[place >> 3] ^= 1 << (place & 7)
        outcome.frame = outcome.frame._replace(data=bytes(data))
        outcome.mark = "corrupted"


class FaultConfinement:
    """Applies faults to a hub and tracks the error states of its nodes.

    Args:
        hub: The bus.

    Attributes:
        faults: The active faults.
        nodes: Nodes whose error counters are not zero.
        delays: Delayed frames.
        offs: Number of times that a node went off the bus.
    """

    def __init__(self, hub: CanHub) -> None:
        self.faults = CanFaultSet()
        self.nodes: set[CanNode] = set()
        self.offs = 0
        self._hub = hub
        self.delays = DelayQueue()
        self._off_by: dict[int, set[CanNode]] = {}  # the nodes that each fault holds off the bus
        self._timers: dict[int, list[asyncio.TimerHandle]] = {}  # of each fault
        self._returns: dict[CanNode, asyncio.TimerHandle] = {}

    def add(self, fault: CanFault) -> int:
        """Starts a fault; see :meth:`CanHub.add_fault`."""
        number = self.faults.add(fault)
        timers = self._timers[number] = []
        if fault.kind is CanFaultKind.BUS_OFF and fault.chance == 1.0 and not fault.ids:
            timers.append(self._at(fault.begin, lambda: self._all_off(number, fault)))
        if fault.end < math.inf:
            timers.append(self._at(fault.end, lambda: self.remove(number)))
        return number

    def remove(self, number: int) -> None:
        """Ends a fault; see :meth:`CanHub.remove_fault`."""
        self.faults.remove(number)
        for timer in self._timers.pop(number, ()):
            timer.cancel()
        for node in self._off_by.pop(number, ()):
            if not self._held_off(node):
                self.restart_node(node)
        self.delays.end(number)

    def applies_to(self, node: CanNode, frame: CanFrame) -> bool:
        """Handles a frame to which a fault applies; returns False if none does."""
        outcome = self.faults.outcome(frame, node.name, self._hub.age)
        if outcome is None:
            return False
        if outcome.destroyed and not outcome.off:
            self._destroy(node, frame)
            return True
        for number in outcome.off:
            self._hold_off(number, node)
        if outcome.dropped:
            node.count.sent += not outcome.off  # its sender counts it as sent
            self._hub.log.add(
                outcome.frame._replace(stamp=self._hub.now()), node.name, outcome.mark
            )
            return True
        for _ in range(outcome.copies):
            self._later(node, outcome)
        return True

    def count_success(self, sender: CanNode) -> None:
        """Decrements the error counters after a successful frame."""
        for node in tuple(self.nodes):
            if node.errors.off:
                continue
            if node is sender:
                node.errors.sent(True)
            else:
                node.errors.received(True)
            if not node.errors.transmit and not node.errors.receive:
                self.nodes.discard(node)

    def take_off_bus(self, node: CanNode) -> None:
        """Takes a node off the bus."""
        if not node.errors.off and node.attached:
            node.errors.go_off()
            self._went_off(node)

    def restart_node(self, node: CanNode) -> None:
        """Restarts a node that is off the bus."""
        was_off = node.errors.off
        self._let_go(node)
        node.errors.restart()
        self.nodes.discard(node)
        if was_off and node.attached:
            self._report(node, state_report(node.errors, restarted=True))
            self._hub.emit(f"{node.name} is back on bus {self._hub.name}.")

    def forget(self, node: CanNode) -> None:
        """Removes a node that has left."""
        self._let_go(node)
        self.nodes.discard(node)

    def close(self) -> None:
        """Ends all timers."""
        for timer in (*itertools.chain(*self._timers.values()), *self._returns.values()):
            timer.cancel()
        self._timers.clear()
        self._returns.clear()
        self.delays.close()

    def _later(self, node: CanNode, outcome: FrameOutcome) -> None:
        if not outcome.delay:
            self._hub.deliver(outcome.frame, node, node.name, outcome.mark)
            return
        hub = self._hub
        kept = self.delays.hold(
            outcome.held_by,
            outcome.delay,
            lambda: hub.deliver(outcome.frame, node, node.name, outcome.mark),
        )
        if not kept and self.delays.lost == 1:
            hub.emit(f"a delay holds {MAX_HELD} frames; the oldest are lost.")

    def _destroy(self, node: CanNode, frame: CanFrame) -> None:
        """Destroys a frame on the wire: all nodes count the error, and its sender sends again."""
        self._hub.wire.carry(frame_bits(frame), lambda now: self._destroyed(node, frame, now))

    def _destroyed(self, node: CanNode, frame: CanFrame, now: float) -> None:
        hub = self._hub
        hub.log.add(frame._replace(stamp=now), node.name, "destroyed")
        was_off = node.errors.off  # another fault may have taken it off the bus meanwhile
        before = {each: (each.errors.state, each.errors.warning) for each in hub.nodes.values()}
        for each in before:
            if each is node:
                each.errors.sent(False)
            else:
                each.errors.received(False)
            self.nodes.add(each)
        hub.deliver(bus_error(node.errors), None, "")
        for each, state in before.items():
            if (each.errors.state, each.errors.warning) != state and not each.errors.off:
                self._report(each, state_report(each.errors))
        if node.errors.off:
            if not was_off:
                self._went_off(node)
        elif node.attached:
            hub.wire.put_back(node, frame)

    def _went_off(self, node: CanNode) -> None:
        self.offs += 1
        node.give_up()
        self._report(node, state_report(node.errors))
        self._hub.emit(f"{node.name} went off bus {self._hub.name}.")
        if self._hub.restart_after is not None:
            due = self._hub.age + self._hub.restart_after
            self._returns[node] = self._at(due, lambda: self.restart_node(node))

    def _report(self, node: CanNode, frame: CanFrame) -> None:
        """Reports its own error state to a node."""
        node.on_frame(frame._replace(stamp=self._hub.now()))

    def _meant(self, fault: CanFault) -> list[CanNode]:
        return [each for each in self._hub.nodes.values() if fault.node in ("", each.name)]

    def _all_off(self, number: int, fault: CanFault) -> None:
        for node in self._meant(fault):
            if not node.errors.off or self._held_off(node):
                self._hold_off(number, node)

    def _hold_off(self, number: int, node: CanNode) -> None:
        self._off_by.setdefault(number, set()).add(node)
        self.take_off_bus(node)

    def _held_off(self, node: CanNode) -> bool:
        """Whether a fault holds a node off the bus."""
        return any(node in nodes for nodes in self._off_by.values())

    def _let_go(self, node: CanNode) -> None:
        """Releases a node from everything that holds it off the bus."""
        for nodes in self._off_by.values():
            nodes.discard(node)
        if node in self._returns:
            self._returns.pop(node).cancel()

    def _at(self, age: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return self._hub.loop.call_later(max(0.0, age - self._hub.age), call)
