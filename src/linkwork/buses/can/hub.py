"""CanHub: a CAN bus in one process."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from linkwork.buses.can.arbitration import InstantArbiter, TimedArbiter
from linkwork.buses.can.faults import CanFault, CanFaultSet, FaultConfinement
from linkwork.buses.can.frame import CanError, CanFrame, frame_bits
from linkwork.buses.can.monitoring import FrameLog, IdentifierOwners, LoadMeter
from linkwork.buses.can.node import CanNode, Counters, Receive

_tuple = tuple.__new__  # twice as fast as the named tuple's constructor


class HubEvent(NamedTuple):
    """An event for users: a client that connected, left or sent invalid messages."""

    stamp: float
    text: str


class CanHub:
    """A CAN bus in one process. Make it inside a running event loop.

    Args:
        name: Name of the bus, as clients open it.
        bitrate: Bit rate, for the load and for the timing [bit/s].
        timed: Whether frames take as long as on a wire of that bit rate, and are received at their
            end; else they pass at once.
        restart_after: Time after which a bus-off node restarts [s]; manually if None.
        on_event: Called with each :class:`HubEvent`.
        clock: Clock for measuring the load [s], if not the bus's own time: a scene that waits for
            its controller is slower than real time.

    Attributes:
        frames: Number of carried frames.
        load: Measures the bus load.
        log: The last frames.
        events: The last events.
        nodes: Its participants by name.
        wire: Decides which node sends next, and how long that takes.
    """

    def __init__(
        self,
        name: str = "can0",
        *,
        bitrate: int = 1_000_000,
        timed: bool = False,
        restart_after: float | None = None,
        on_event: Callable[[HubEvent], None] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        if not name or len(name) > 16 or not name.isascii() or not name.isalnum():
            raise CanError(f"{name!r} is not a valid bus name: 1 to 16 letters and digits.")
        if not 1_000 <= bitrate <= 10_000_000:
            raise CanError(f"bus {name}: a bit rate of {bitrate} bit/s is not possible.")
        self.name = name
        self.bitrate = bitrate
        self.timed = timed
        self.restart_after = restart_after
        self.load = LoadMeter(bitrate)
        self.log = FrameLog()
        self.events: deque[HubEvent] = deque(maxlen=200)
        self.frames = 0
        self.frame_bytes = 0
        self.nodes: dict[str, CanNode] = {}
        self._listeners: tuple[CanNode, ...] = ()
        self.on_event = on_event
        self._clock = clock
        self.loop = asyncio.get_running_loop()
        self._epoch = time.time() - time.perf_counter()
        self._began = self.now()
        self.wire = TimedArbiter(self) if timed else InstantArbiter(self)
        self._owners = IdentifierOwners(self.emit)
        self._past = Counters()  # of nodes that have left
        self.confinement = FaultConfinement(self)

    def now(self) -> float:
        """Time of the bus: seconds since 1970, monotonic [s]."""
        return self._epoch + time.perf_counter()

    def count_bits(self, bits: int, now: float) -> None:
        """Counts bits that have passed now for the load; called by the wire."""
        self.load.add(bits, now if self._clock is None else self._clock())

    @property
    def load_share(self) -> float:
        """Fraction of the last second that frames have filled."""
        return self.load.load(self.now() if self._clock is None else self._clock())

    @property
    def conflicts(self) -> int:
        """Number of frames whose identifier another node sends, too."""
        return self._owners.conflicts

    @property
    def totals(self) -> Counters:
        """Counters of all nodes since the start, including those that have left."""
        totals = Counters()
        for count in (self._past, *(node.count for node in self.nodes.values())):
            totals.add(count)
        return totals

    @property
    def faults(self) -> CanFaultSet:
        """The active faults."""
        return self.confinement.faults

    @property
    def age(self) -> float:
        """Time since the hub began, in which faults are scheduled [s]."""
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
    ) -> CanNode:
        """Adds a participant.

        Args:
            name: Its name; a number is added if another node has it.
            receive: Called with each received frame, in the event loop; returns False for one that
                it had to drop. Without it frames wait for :meth:`CanNode.take`.
            echo: Whether it also receives its own frames.
            listen_only: Whether it may not send.
            inbox: Maximum number of frames that wait for :meth:`CanNode.take`.
            outbox: Maximum number of frames that wait to be sent.
        """
        unique = name
        for number in itertools.count(2):
            if unique not in self.nodes:
                break
            unique = f"{name} {number}"
        node = CanNode(
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

    def detach(self, node: CanNode) -> None:
        """Removes a participant; its waiting frames are lost."""
        if node.attached:
            node.attached = False
            node.give_up()
            self.nodes.pop(node.name, None)
            self._listeners = tuple(self.nodes.values())
            self.confinement.forget(node)
            self._owners.forget(node)
            self._past.add(node.count)

    def emit(self, text: str, *, once: CanNode | None = None) -> None:
        """Logs an event; with ``once`` only the first of a node's losses."""
        if once is not None and once.count.lost != 1:
            return
        event = HubEvent(self.now(), text)
        self.events.append(event)
        if self.on_event is not None:
            self.on_event(event)

    def inject(self, frame: CanFrame, sender: str = "") -> None:
        """Carries a frame that no node sent: an error frame, or one of a test."""
        self.deliver(frame, None, sender)

    def add_fault(self, fault: CanFault) -> int:
        """Starts a fault and returns its number.

        A bus-off fault of chance 1 applies at its time, whether or not a frame is sent.
        """
        return self.confinement.add(fault)

    def remove_fault(self, number: int) -> None:
        """Ends a fault early, with the same effects as at its end time.

        Nodes that it took off the bus return, unless another fault holds them off, and frames that
        it delays are delivered at once.
        """
        self.confinement.remove(number)

    def bus_off(self, node: CanNode) -> None:
        """Takes a node off the bus: it neither sends nor receives until it is restarted."""
        self.confinement.take_off_bus(node)

    def restart(self, node: CanNode) -> None:
        """Brings a node back from bus off."""
        self.confinement.restart_node(node)

    def close(self) -> None:
        """Ends timers and removes all nodes."""
        self.confinement.close()
        self.wire.close()
        for node in list(self.nodes.values()):
            node.detach()

    # Transport of frames

    def contend(self, node: CanNode) -> None:
        """A node whose queue was empty has a frame now; called by the node."""
        self.wire.contend(node)

    def carry_next(self, node: CanNode) -> None:
        """Carries a node's first frame; called by the wire when it is the node's turn."""
        was_full = len(node.outbox) >= node.most
        frame = node.outbox.popleft()
        if was_full and node.on_room is not None:
            self.loop.call_soon(node.on_room)
        if node.errors.off:
            node.count.refused += 1
            return
        self._owners.note(node, frame)
        if not self.faults.armed or not self.confinement.applies_to(node, frame):
            self.deliver(frame, node, node.name)

    def deliver(self, frame: CanFrame, sender: CanNode | None, name: str, mark: str = "") -> None:
        """Delivers a frame that has won, or that no node sent; called by the hub and its faults.

        Args:
            frame: The frame.
            sender: Node that does not receive it, and counts it as sent.
            name: Name for the log.
            mark: Mark for the log.
        """
        self.wire.carry(frame_bits(frame), lambda now: self._passed(frame, sender, name, mark, now))

    def _passed(
        self, frame: CanFrame, sender: CanNode | None, name: str, mark: str, now: float
    ) -> None:
        id, data, extended, remote, error, dlc, _ = frame
        frame = _tuple(CanFrame, (id, data, extended, remote, error, dlc, now))
        self.log.add(frame, name, mark)
        if not error:
            self.frames += 1
            self.frame_bytes += len(data)
        if sender is not None:
            sender.count.sent += 1
            sender.count.sent_bytes += len(data)
        for node in self._listeners:
            if (node is not sender or node.echo) and not node.errors.off and node.attached:
                node.on_frame(frame)
        if self.confinement.nodes and sender is not None:
            self.confinement.count_success(sender)
