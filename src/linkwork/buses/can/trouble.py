"""How frames and nodes suffer: faults strike, counters go up, nodes leave the bus and come back."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from linkwork.buses.can.bits import frame_bits
from linkwork.buses.can.faults import Fate, Fault, Faults, Kind
from linkwork.buses.can.frame import Frame
from linkwork.buses.can.node import Node
from linkwork.buses.can.states import bus_error, state_report
from linkwork.buses.delays import HELD_MOST, Delays

if TYPE_CHECKING:
    from linkwork.buses.can.hub import Hub


class Trouble:
    """The dark side of a hub.

    Args:
        hub: The bus.

    Attributes:
        faults: Those under way.
        nodes: Whose error counters are not at zero.
        delays: Frames that are held back.
        offs: How often a node went off the bus.
    """

    def __init__(self, hub: Hub) -> None:
        self.faults = Faults()
        self.nodes: set[Node] = set()
        self.offs = 0
        self._hub = hub
        self.delays = Delays()
        self._off_by: dict[int, set[Node]] = {}  # the nodes that each fault holds off the bus
        self._timers: dict[int, list[asyncio.TimerHandle]] = {}  # of each fault
        self._returns: dict[Node, asyncio.TimerHandle] = {}

    def add(self, fault: Fault) -> int:
        """Starts a fault; see :meth:`Hub.add_fault`."""
        number = self.faults.add(fault)
        timers = self._timers[number] = []
        if fault.kind is Kind.BUS_OFF and fault.chance == 1.0 and not fault.ids:
            timers.append(self._at(fault.begin, lambda: self._all_off(number, fault)))
        if fault.end < math.inf:
            timers.append(self._at(fault.end, lambda: self.remove(number)))
        return number

    def remove(self, number: int) -> None:
        """Ends a fault; see :meth:`Hub.remove_fault`."""
        self.faults.remove(number)
        for timer in self._timers.pop(number, ()):
            timer.cancel()
        for node in self._off_by.pop(number, ()):
            if not self._held_off(node):
                self.bring_back(node)
        self.delays.end(number)

    def strikes(self, node: Node, frame: Frame) -> bool:
        """Deals with a frame that a fault strikes; False where none does."""
        fate = self.faults.fate(frame, node.name, self._hub.age)
        if fate is None:
            return False
        if fate.destroyed and not fate.off:
            self._destroy(node, frame)
            return True
        for number in fate.off:
            self._hold_off(number, node)
        if fate.dropped:
            node.count.sent += not fate.off  # its sender believes that it went out
            self._hub.log.add(fate.frame._replace(stamp=self._hub.now()), node.name, fate.mark)
            return True
        for _ in range(fate.copies):
            self._later(node, fate)
        return True

    def ease(self, sender: Node) -> None:
        """A frame went well: error counters fall."""
        for node in tuple(self.nodes):
            if node.errors.off:
                continue
            if node is sender:
                node.errors.sent(True)
            else:
                node.errors.heard(True)
            if not node.errors.transmit and not node.errors.receive:
                self.nodes.discard(node)

    def take_off(self, node: Node) -> None:
        """Takes a node off the bus."""
        if not node.errors.off and node.attached:
            node.errors.go_off()
            self._went_off(node)

    def bring_back(self, node: Node) -> None:
        """Brings a node back."""
        was_off = node.errors.off
        self._let_go(node)
        node.errors.restart()
        self.nodes.discard(node)
        if was_off and node.attached:
            self._report(node, state_report(node.errors, restarted=True))
            self._hub.tell(f"{node.name} is back on bus {self._hub.name}.")

    def forget(self, node: Node) -> None:
        """A node has left."""
        self._let_go(node)
        self.nodes.discard(node)

    def close(self) -> None:
        """Ends all timers."""
        for timer in (*itertools.chain(*self._timers.values()), *self._returns.values()):
            timer.cancel()
        self._timers.clear()
        self._returns.clear()
        self.delays.close()

    def _later(self, node: Node, fate: Fate) -> None:
        if not fate.delay:
            self._hub.deliver(fate.frame, node, node.name, fate.mark)
            return
        hub = self._hub
        kept = self.delays.hold(
            fate.held_by, fate.delay, lambda: hub.deliver(fate.frame, node, node.name, fate.mark)
        )
        if not kept and self.delays.lost == 1:
            hub.tell(f"a delay holds {HELD_MOST} frames; the oldest are lost.")

    def _destroy(self, node: Node, frame: Frame) -> None:
        """A frame broken on the wire: all nodes see it, all count it, its sender tries again."""
        self._hub.wire.carry(frame_bits(frame), lambda now: self._destroyed(node, frame, now))

    def _destroyed(self, node: Node, frame: Frame, now: float) -> None:
        hub = self._hub
        hub.log.add(frame._replace(stamp=now), node.name, "destroyed")
        was_off = node.errors.off  # another fault may have taken it off meanwhile
        before = {each: (each.errors.state, each.errors.warning) for each in hub.nodes.values()}
        for each in before:
            if each is node:
                each.errors.sent(False)
            else:
                each.errors.heard(False)
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

    def _went_off(self, node: Node) -> None:
        self.offs += 1
        node.give_up()
        self._report(node, state_report(node.errors))
        self._hub.tell(f"{node.name} went off bus {self._hub.name}.")
        if self._hub.restart_after is not None:
            due = self._hub.age + self._hub.restart_after
            self._returns[node] = self._at(due, lambda: self.bring_back(node))

    def _report(self, node: Node, frame: Frame) -> None:
        """A node learns what has become of itself."""
        node.hear(frame._replace(stamp=self._hub.now()))

    def _meant(self, fault: Fault) -> list[Node]:
        return [each for each in self._hub.nodes.values() if fault.node in ("", each.name)]

    def _all_off(self, number: int, fault: Fault) -> None:
        for node in self._meant(fault):
            if not node.errors.off or self._held_off(node):
                self._hold_off(number, node)

    def _hold_off(self, number: int, node: Node) -> None:
        self._off_by.setdefault(number, set()).add(node)
        self.take_off(node)

    def _held_off(self, node: Node) -> bool:
        """Whether a fault holds a node off the bus."""
        return any(node in nodes for nodes in self._off_by.values())

    def _let_go(self, node: Node) -> None:
        """Nothing holds a node off any more."""
        for nodes in self._off_by.values():
            nodes.discard(node)
        if node in self._returns:
            self._returns.pop(node).cancel()

    def _at(self, age: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return self._hub.loop.call_later(max(0.0, age - self._hub.age), call)
