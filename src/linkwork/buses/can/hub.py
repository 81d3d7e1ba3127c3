"""The bus itself: every node hears what the others send, in the order of arbitration."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from linkwork.buses.can.bits import frame_bits
from linkwork.buses.can.faults import Fault, Faults
from linkwork.buses.can.frame import CanError, Frame
from linkwork.buses.can.load import LoadMeter
from linkwork.buses.can.log import FrameLog
from linkwork.buses.can.node import Node, Receive
from linkwork.buses.can.trouble import Trouble

_tuple = tuple.__new__  # a named tuple's own way in costs twice as much
LEAD = 0.001  # how far a timed bus may run ahead of the clock, for timers are not finer [s]


OWNERS_MOST = 8192  # identifiers of which the sender is remembered
DISPUTES_MOST = 64  # identifiers of which a second sender is told


class Event(NamedTuple):
    """Something worth telling a person: a client that came, went or misbehaved."""

    stamp: float
    text: str


class Hub:
    """A CAN bus in one process. Make it inside a running event loop.

    Args:
        name: Name of the bus, as clients open it.
        bitrate: Bit rate, for the load and for the timing [bit/s].
        timed: Frames take as long as on a wire of that bit rate; else they pass at once.
        restart_after: A node that went bus off comes back after this time [s]; by hand where None.
        on_event: Called with each :class:`Event`.

    Attributes:
        frames: How many it has carried.
        conflicts: How many had an identifier that another node sends, too.
        load: Measures how full it is.
        log: The last frames.
        events: The last events.
        nodes: Its participants by name.
    """

    def __init__(
        self,
        name: str = "can0",
        *,
        bitrate: int = 1_000_000,
        timed: bool = False,
        restart_after: float | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        if not name or len(name) > 16 or not name.isascii() or not name.isalnum():
            raise CanError(f"{name!r} is no name of a bus: 1 to 16 letters and digits.")
        if not 1_000 <= bitrate <= 10_000_000:
            raise CanError(f"bus {name}: a bit rate of {bitrate} bit/s is not possible.")
        self.name = name
        self.bitrate = bitrate
        self.timed = timed
        self.restart_after = restart_after
        self.load = LoadMeter(bitrate)
        self.log = FrameLog()
        self.events: deque[Event] = deque(maxlen=200)
        self.frames = 0
        self.conflicts = 0
        self.frame_bytes = 0
        self.nodes: dict[str, Node] = {}
        self._listeners: tuple[Node, ...] = ()
        self.on_event = on_event
        self.loop = asyncio.get_running_loop()
        self._epoch = time.time() - time.perf_counter()
        self._began = self.now()
        self._heads: list[tuple[int, int, Node]] = []  # of each node that wants to send
        self._order = itertools.count()
        self._free_at = 0.0
        self._turn_due = False
        self._owners: dict[int, Node] = {}  # who sends which identifier
        self._disputed: set[int] = set()
        self.trouble = Trouble(self)

    def now(self) -> float:
        """Time of the bus: seconds since 1970, never going back [s]."""
        return self._epoch + time.perf_counter()

    @property
    def faults(self) -> Faults:
        """The faults that are under way."""
        return self.trouble.faults

    @property
    def age(self) -> float:
        """Time since the hub began, in which faults are planned [s]."""
        return self.now() - self._began

    def attach(
        self,
        name: str,
        receive: Receive | None = None,
        *,
        echo: bool = False,
        listen_only: bool = False,
        inbox: int = 4096,
        outbox: int = 256,
    ) -> Node:
        """Adds a participant.

        Args:
            name: Its name; a number is added where another node has it.
            receive: Called with each frame that it hears, in the event loop; returns False for
                one that it had to lose. Without it frames wait for :meth:`Node.take`.
            echo: It also hears its own frames.
            listen_only: It may not send.
            inbox: Most frames that wait for :meth:`Node.take`.
            outbox: Most frames that wait to be sent.
        """
        unique = name
        for number in itertools.count(2):
            if unique not in self.nodes:
                break
            unique = f"{name} {number}"
        node = Node(
            self,
            unique,
            receive,
            echo=echo,
            listen_only=listen_only,
            inbox=inbox,
            outbox=outbox,
        )
        self.nodes[unique] = node
        self._listeners = tuple(self.nodes.values())
        return node

    def detach(self, node: Node) -> None:
        """Removes a participant; what it still had to send is lost."""
        if node.attached:
            node.attached = False
            node.give_up()
            self.nodes.pop(node.name, None)
            self._listeners = tuple(self.nodes.values())
            self.trouble.forget(node)
            for key in [key for key, owner in self._owners.items() if owner is node]:
                del self._owners[key]

    def tell(self, text: str, *, once: Node | None = None) -> None:
        """Notes an event; with ``once`` only the first of a node's losses."""
        if once is not None and once.count.lost != 1:
            return
        event = Event(self.now(), text)
        self.events.append(event)
        if self.on_event is not None:
            self.on_event(event)

    def contend(self, node: Node) -> None:
        """Enters a node's first frame for arbitration; called by the node."""
        heapq.heappush(self._heads, self._entry(node))
        self._turn_again()

    def inject(self, frame: Frame, sender: str = "") -> None:
        """Carries a frame that no node sent, to all: an error frame, or a test's own."""
        self.deliver(frame, None, sender)

    def add_fault(self, fault: Fault) -> int:
        """Starts a fault and returns its number.

        A bus-off fault that is certain strikes at its time, whether or not a frame is sent, and
        the node comes back at its end.
        """
        return self.trouble.add(fault)

    def remove_fault(self, number: int) -> None:
        """Ends a fault; nodes that it took off the bus come back."""
        self.trouble.remove(number)

    def bus_off(self, node: Node) -> None:
        """Takes a node off the bus: it neither sends nor hears until it is restarted."""
        self.trouble.take_off(node)

    def restart(self, node: Node) -> None:
        """Brings a node back from bus off."""
        self.trouble.bring_back(node)

    def close(self) -> None:
        """Ends timers and removes all nodes."""
        self.trouble.close()
        for node in list(self.nodes.values()):
            node.detach()

    # How frames travel

    def _turn(self) -> None:
        """Carries what waits, the lowest identifier first.

        A timed bus is as unfair as a wire: who has the lower identifier always goes first. One
        that takes no time carries all frames of an instant and only then those that came
        meanwhile, so that a flood does not shut others out.
        """
        self._turn_due = False
        if self.timed:
            self._turn_on_the_wire()
            return
        heads, self._heads = self._heads, []
        left = {node: len(node.outbox) for _, _, node in heads}
        while heads:
            node = heapq.heappop(heads)[2]
            if not node.outbox:
                continue
            self._carry_next(node)
            left[node] -= 1
            if node.outbox:
                heapq.heappush(heads if left[node] else self._heads, self._entry(node))
        self._turn_again()

    def _turn_on_the_wire(self) -> None:
        while self._heads:
            if (ahead := self._free_at - self.now()) > LEAD:
                self._turn_due = True
                self.loop.call_later(ahead, self._turn)
                return
            node = heapq.heappop(self._heads)[2]
            if not node.outbox:
                continue
            self._carry_next(node)
            if node.outbox:
                heapq.heappush(self._heads, self._entry(node))

    def _turn_again(self) -> None:
        if self._heads and not self._turn_due:
            self._turn_due = True
            self.loop.call_soon(self._turn)

    def _entry(self, node: Node) -> tuple[int, int, Node]:
        return node.outbox[0].key, next(self._order), node

    def _carry_next(self, node: Node) -> None:
        was_full = len(node.outbox) >= node.most
        self._carry(node, node.outbox.popleft())
        if was_full and node.on_room is not None:
            self.loop.call_soon(node.on_room)

    def _carry(self, node: Node, frame: Frame) -> None:
        if node.errors.off:
            node.count.refused += 1
            return
        key = frame.id | frame.extended << 31 | frame.remote << 30
        if self._owners.get(key) is not node:
            self._claim(key, node, frame)
        if not self.faults.running or not self.trouble.strikes(node, frame):
            self.deliver(frame, node, node.name)

    def _claim(self, key: int, node: Node, frame: Frame) -> None:
        """Remembers who sends an identifier; a second one is a mistake on a real bus, and told."""
        owner = self._owners.get(key)
        if owner is None:
            if len(self._owners) >= OWNERS_MOST:
                self._owners.clear()
            self._owners[key] = node
            return
        self.conflicts += 1
        if key not in self._disputed and len(self._disputed) < DISPUTES_MOST:
            self._disputed.add(key)
            self.tell(f"{node.name} and {owner.name} both send {str(frame).partition('#')[0]}.")

    def deliver(self, frame: Frame, sender: Node | None, name: str, mark: str = "") -> None:
        """Lets all nodes hear a frame now; called by the hub and by its faults.

        Args:
            frame: The frame.
            sender: Does not hear it, and counts it as sent.
            name: For the log.
            mark: For the log.
        """
        bits = frame_bits(frame)
        now = self.occupy(bits)
        id, data, extended, remote, error, dlc, _ = frame
        frame = _tuple(Frame, (id, data, extended, remote, error, dlc, now))
        self.log.add(frame, name, mark)
        if not error:
            self.frames += 1
            self.frame_bytes += len(data)
        if sender is not None:
            sender.count.sent += 1
            sender.count.sent_bytes += len(data)
        for node in self._listeners:
            if (node is not sender or node.echo) and not node.errors.off and node.attached:
                node.hear(frame)
        if self.trouble.nodes and sender is not None:
            self.trouble.ease(sender)

    def occupy(self, bits: int) -> float:
        """Counts bits on the wire, and gives the time at which they have passed [s]."""
        now = self.now()
        if self.timed:
            self._free_at = now = max(now, self._free_at) + bits / self.bitrate
        self.load.add(bits, now)
        return now
