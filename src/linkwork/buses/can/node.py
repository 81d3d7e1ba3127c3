"""CanNode: one participant of a CAN bus with its error counters."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from linkwork.buses.can.frame import CanFrame, error_frame

if TYPE_CHECKING:
    from linkwork.buses.can.hub import CanHub


WARNING_AT = 96
PASSIVE_AT = 128
BUS_OFF_AT = 256

# Classes and details of SocketCAN's error frames (linux/can/error.h).
CLASS_CONTROLLER = 0x004
CLASS_PROTOCOL = 0x008
CLASS_BUS_OFF = 0x040
CLASS_BUS_ERROR = 0x080
CLASS_RESTARTED = 0x100
CLASS_COUNTERS = 0x200
_RECEIVE_PASSIVE, _TRANSMIT_PASSIVE = 0x10, 0x20
_RECEIVE_WARNING, _TRANSMIT_WARNING = 0x04, 0x08
_ACTIVE_AGAIN = 0x40
_BIT_ERROR, _AT_CHECKSUM = 0x01, 0x08


class NodeState(StrEnum):
    """Error state of a node."""

    ACTIVE = "error active"
    PASSIVE = "error passive"
    OFF = "bus off"


@dataclass(slots=True)
class ErrorCounters:
    """Transmit and receive error counters of one node.

    A failed transmission costs 8, a failed reception 1; each success gives 1 back. From 128 the
    node is error passive, from 256 transmit errors it is off the bus until it is restarted.
    """

    transmit: int = 0
    receive: int = 0
    off: bool = False

    @property
    def state(self) -> NodeState:
        """The state that follows from the counters."""
        if self.off:
            return NodeState.OFF
        return (
            NodeState.PASSIVE
            if max(self.transmit, self.receive) >= PASSIVE_AT
            else NodeState.ACTIVE
        )

    @property
    def warning(self) -> bool:
        """Whether one of the counters has reached 96."""
        return self.off or max(self.transmit, self.receive) >= WARNING_AT

    def sent(self, ok: bool) -> None:
        """Counts a transmission."""
        if ok:
            self.transmit = max(0, self.transmit - 1)
            return
        self.transmit += 8
        if self.transmit >= BUS_OFF_AT:
            self.go_off()

    def received(self, ok: bool) -> None:
        """Counts a reception; an error-passive node returns to 119…127 with its first good one."""
        if not ok:
            self.receive = min(self.receive + 1, 255)
        else:
            self.receive = min(max(0, self.receive - 1), PASSIVE_AT - 1)

    def go_off(self) -> None:
        """Takes the node off the bus."""
        self.off, self.transmit = True, BUS_OFF_AT

    def restart(self) -> None:
        """Restarts the node, with both counters at zero."""
        self.off, self.transmit, self.receive = False, 0, 0


def bus_error(counters: ErrorCounters) -> CanFrame:
    """The error frame that a node receives when a frame was destroyed on the wire."""
    data = bytes((0, 0, _BIT_ERROR, _AT_CHECKSUM, 0, 0, *_shown(counters)))
    return error_frame(CLASS_PROTOCOL | CLASS_BUS_ERROR | CLASS_COUNTERS, data)


def state_report(counters: ErrorCounters, *, restarted: bool = False) -> CanFrame:
    """The error frame that a node receives when its own state has changed."""
    shown = _shown(counters)
    if restarted:
        return error_frame(CLASS_RESTARTED | CLASS_COUNTERS, bytes((0,) * 6 + shown))
    if counters.off:
        return error_frame(CLASS_BUS_OFF | CLASS_COUNTERS, bytes((0,) * 6 + shown))
    detail = _ACTIVE_AGAIN
    if counters.state is NodeState.PASSIVE:
        detail = (_TRANSMIT_PASSIVE if counters.transmit >= PASSIVE_AT else 0) | (
            _RECEIVE_PASSIVE if counters.receive >= PASSIVE_AT else 0
        )
    elif counters.warning:
        detail = (_TRANSMIT_WARNING if counters.transmit >= WARNING_AT else 0) | (
            _RECEIVE_WARNING if counters.receive >= WARNING_AT else 0
        )
    return error_frame(CLASS_CONTROLLER | CLASS_COUNTERS, bytes((0, detail, 0, 0, 0, 0, *shown)))


def _shown(counters: ErrorCounters) -> tuple[int, int]:
    return min(counters.transmit, 255), min(counters.receive, 255)


Receive = Callable[[CanFrame], bool | None]


@dataclass(slots=True)
class Counters:
    """Health of one node.

    Attributes:
        sent: Frames that the bus carried for it.
        sent_bytes: Number of their data bytes.
        received: Received frames.
        lost: Frames that arrived while it did not read.
        refused: Its frames that the bus did not accept (queue full, bus off, listen only).
        bad: Invalid messages of its client.
        errors: Received error frames.
    """

    sent: int = 0
    sent_bytes: int = 0
    received: int = 0
    lost: int = 0
    refused: int = 0
    bad: int = 0
    errors: int = 0

    def add(self, other: Counters) -> None:
        """Adds the counters of another node."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class CanNode:
    """A participant, made by :meth:`CanHub.attach`.

    Attributes:
        name: Shown in the log; unique on its hub.
        count: Health counters.
        errors: Error counters and state.
        echo: Whether it also receives its own frames.
        listen_only: Whether it may not send.
        most: Maximum number of frames that wait to be sent.
        accept: Filter of received frames; None for all. Error frames always pass.
        present: Whether a client uses it: an adapter may exist without a client.
        on_room: Called once when the send queue, having been full, has room again.
    """

    def __init__(
        self,
        hub: CanHub,
        name: str,
        receive: Receive | None,
        *,
        echo: bool,
        listen_only: bool,
        inbox: int,
        outbox: int,
    ) -> None:
        self.hub = hub
        self.name = name
        self.count = Counters()
        self.errors = ErrorCounters()
        self.echo = echo
        self.listen_only = listen_only
        self.accept: Callable[[CanFrame], bool] | None = None
        self.present: Callable[[], bool] = lambda: True
        self.on_room: Callable[[], None] | None = None
        self.attached = True
        self.outbox: deque[CanFrame] = deque()
        self.most = outbox
        self._receive = receive
        self._inbox: deque[CanFrame] = deque(maxlen=inbox)

    @property
    def state(self) -> NodeState:
        """Error active, error passive or bus off."""
        return self.errors.state

    @property
    def full(self) -> bool:
        """Whether the send queue is full."""
        return len(self.outbox) >= self.most

    def send(self, frame: CanFrame) -> bool:
        """Queues a frame for the bus.

        Returns:
            False if the bus did not accept it; :attr:`count` has the reason.
        """
        outbox = self.outbox
        if len(outbox) >= self.most or self.errors.off or self.listen_only or not self.attached:
            self.count.refused += 1
            return False
        if self.hub.timed:
            frame = frame._replace(stamp=self.hub.now())  # it cannot have begun before
        outbox.append(frame)
        if len(outbox) == 1:
            self.hub.contend(self)
        return True

    def give_up(self) -> None:
        """Discards the waiting frames."""
        self.count.refused += len(self.outbox)
        self.outbox.clear()
        if self.on_room is not None:
            self.hub.loop.call_soon(self.on_room)

    def take(self) -> list[CanFrame]:
        """Returns the frames since the last call, for a node without a receive callback."""
        frames = list(self._inbox)
        self._inbox.clear()
        return frames

    def on_frame(self, frame: CanFrame) -> None:
        """Handles a frame from the bus; called by the hub."""
        count = self.count
        if frame.error:
            count.errors += 1
        elif self.accept is not None and not self.accept(frame):
            return
        if self._receive is None:
            if len(self._inbox) == self._inbox.maxlen:
                count.lost += 1  # the oldest is dropped
            self._inbox.append(frame)
        else:
            try:
                if self._receive(frame) is False:
                    count.lost += 1
                    return
            except Exception as error:  # an error of one node must not stop the bus
                count.lost += 1
                self.hub.emit(f"{self.name}: a frame could not be received: {error!r}.", once=self)
                return
        if frame.error:
            return
        count.received += 1

    def bad(self, what: str) -> None:
        """Counts an invalid message, and logs the first."""
        self.count.bad += 1
        if self.count.bad == 1:
            self.hub.emit(f"{self.name}: {what}")

    def restart(self) -> None:
        """Restarts after bus off."""
        self.hub.restart(self)

    def detach(self) -> None:
        """Leaves the bus; frames that wait are lost."""
        self.hub.detach(self)
