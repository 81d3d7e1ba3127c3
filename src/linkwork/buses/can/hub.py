"""The bus itself: every node hears what the others send, in the order of arbitration."""

from __future__ import annotations

import asyncio
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
from linkwork.buses.can.node import Counters, Node, Receive
from linkwork.buses.can.owners import Owners
from linkwork.buses.can.trouble import Trouble
from linkwork.buses.can.wire import InstantWire, TimedWire

_tuple = tuple.__new__  # a named tuple's own way in costs twice as much


class Event(NamedTuple):
    """Something worth telling a person: a client that came, went or misbehaved."""

    stamp: float
    text: str


class Hub:
    """A CAN bus in one process. Make it inside a running event loop.

    Args:
        name: Name of the bus, as clients open it.
        bitrate: Bit rate, for the load and for the timing [bit/s].
        timed: Frames take as long as on a wire of that bit rate, and are heard once they passed;
            else they pass at once.
        restart_after: A node that went bus off comes back after this time [s]; by hand where None.
        on_event: Called with each :class:`Event`.
        clock: What the load is measured over [s], where that is not the bus's own time: a scene
            that waits for its controller is slower than the clock on the wall.

    Attributes:
        frames: How many it has carried.
        load: Measures how full it is.
        log: The last frames.
        events: The last events.
        nodes: Its participants by name.
        wire: Decides who sends next, and how long that takes.
    """

    def __init__(
        self,
        name: str = "can0",
        *,
        bitrate: int = 1_000_000,
        timed: bool = False,
        restart_after: float | None = None,
        on_event: Callable[[Event], None] | None = None,
        clock: Callable[[], float] | None = None,
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
        self.frame_bytes = 0
        self.nodes: dict[str, Node] = {}
        self._listeners: tuple[Node, ...] = ()
        self.on_event = on_event
        self._clock = clock
        self.loop = asyncio.get_running_loop()
        self._epoch = time.time() - time.perf_counter()
        self._began = self.now()
        self.wire = TimedWire(self) if timed else InstantWire(self)
        self._owners = Owners(self.tell)
        self._past = Counters()  # of nodes that have left
        self.trouble = Trouble(self)

    def now(self) -> float:
        """Time of the bus: seconds since 1970, never going back [s]."""
        return self._epoch + time.perf_counter()

    def weigh(self, bits: int, now: float) -> None:
        """Counts bits that have passed now for the load; called by the wire."""
        self.load.add(bits, now if self._clock is None else self._clock())

    @property
    def fullness(self) -> float:
        """Share of the last second that frames have filled."""
        return self.load.load(self.now() if self._clock is None else self._clock())

    @property
    def conflicts(self) -> int:
        """How many frames had an identifier that another node sends, too."""
        return self._owners.conflicts

    @property
    def totals(self) -> Counters:
        """What all nodes have counted since the beginning, also those that have left."""
        totals = Counters()
        for count in (self._past, *(node.count for node in self.nodes.values())):
            totals.add(count)
        return totals

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
            self._owners.forget(node)
            self._past.add(node.count)

    def tell(self, text: str, *, once: Node | None = None) -> None:
        """Notes an event; with ``once`` only the first of a node's losses."""
        if once is not None and once.count.lost != 1:
            return
        event = Event(self.now(), text)
        self.events.append(event)
        if self.on_event is not None:
            self.on_event(event)

    def inject(self, frame: Frame, sender: str = "") -> None:
        """Carries a frame that no node sent, to all: an error frame, or a test's own."""
        self.deliver(frame, None, sender)

    def add_fault(self, fault: Fault) -> int:
        """Starts a fault and returns its number.

        A bus-off fault that is certain strikes at its time, whether or not a frame is sent.
        """
        return self.trouble.add(fault)

    def remove_fault(self, number: int) -> None:
        """Ends a fault before its time, or as its time does.

        Nodes that it took off the bus come back, unless another fault holds them off, and frames
        that it holds back come at once.
        """
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
        self.wire.close()
        for node in list(self.nodes.values()):
            node.detach()

    # How frames travel

    def contend(self, node: Node) -> None:
        """A node that had nothing to send has a frame now; called by the node."""
        self.wire.contend(node)

    def carry_next(self, node: Node) -> None:
        """Carries a node's first frame; called by the wire when it is the node's turn."""
        was_full = len(node.outbox) >= node.most
        frame = node.outbox.popleft()
        if was_full and node.on_room is not None:
            self.loop.call_soon(node.on_room)
        if node.errors.off:
            node.count.refused += 1
            return
        self._owners.note(node, frame)
        if not self.faults.armed or not self.trouble.strikes(node, frame):
            self.deliver(frame, node, node.name)

    def deliver(self, frame: Frame, sender: Node | None, name: str, mark: str = "") -> None:
        """Lets a frame pass that has won, or that no node sent; called by the hub and its faults.

        Args:
            frame: The frame.
            sender: Does not hear it, and counts it as sent.
            name: For the log.
            mark: For the log.
        """
        self.wire.carry(frame_bits(frame), lambda now: self._passed(frame, sender, name, mark, now))

    def _passed(self, frame: Frame, sender: Node | None, name: str, mark: str, now: float) -> None:
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
