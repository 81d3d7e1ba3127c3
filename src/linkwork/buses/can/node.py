"""One participant of the bus: what it sends, what it hears, and how it fares."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from linkwork.buses.can.frame import Frame
from linkwork.buses.can.states import ErrorCounters, State

if TYPE_CHECKING:
    from linkwork.buses.can.hub import Hub

Receive = Callable[[Frame], bool | None]


@dataclass(slots=True)
class Counters:
    """Health of one node.

    Attributes:
        sent: Frames that the bus carried for it.
        sent_bytes: Their data.
        received: Frames that it heard.
        lost: Frames that came while it did not read.
        refused: Frames of its own that the bus did not take (queue full, bus off, listen only).
        bad: Messages that its client wrote and that follow no rule.
        errors: Error frames that it was told.
    """

    sent: int = 0
    sent_bytes: int = 0
    received: int = 0
    lost: int = 0
    refused: int = 0
    bad: int = 0
    errors: int = 0

    def add(self, other: Counters) -> None:
        """Adds another node's."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class Node:
    """A participant, made by :meth:`Hub.attach`.

    Attributes:
        name: Shown in the log; unique on its hub.
        count: Health counters.
        errors: Error counters and state.
        echo: Also hears its own frames.
        listen_only: May not send.
        most: How many frames may wait to be sent.
        accept: Hears only frames for which this is true; all where None. Error frames pass.
        present: Whether somebody is behind it: an adapter may be there that nobody has opened.
        on_room: Called once when the send queue, having been full, has room again.
    """

    def __init__(
        self,
        hub: Hub,
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
        self.accept: Callable[[Frame], bool] | None = None
        self.present: Callable[[], bool] = lambda: True
        self.on_room: Callable[[], None] | None = None
        self.attached = True
        self.outbox: deque[Frame] = deque()
        self.most = outbox
        self._receive = receive
        self._inbox: deque[Frame] = deque(maxlen=inbox)

    @property
    def state(self) -> State:
        """Error active, error passive or bus off."""
        return self.errors.state

    @property
    def full(self) -> bool:
        """The send queue takes no more for now."""
        return len(self.outbox) >= self.most

    def send(self, frame: Frame) -> bool:
        """Queues a frame for the bus.

        Returns:
            False where the bus did not take it, which :attr:`count` then tells.
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
        """Throws away what waits to be sent."""
        self.count.refused += len(self.outbox)
        self.outbox.clear()
        if self.on_room is not None:
            self.hub.loop.call_soon(self.on_room)

    def take(self) -> list[Frame]:
        """Gives what was heard since the last call, for a node without a receive callback."""
        frames = list(self._inbox)
        self._inbox.clear()
        return frames

    def hear(self, frame: Frame) -> None:
        """Takes a frame from the bus; called by the hub."""
        count = self.count
        if frame.error:
            count.errors += 1
        elif self.accept is not None and not self.accept(frame):
            return
        if self._receive is None:
            if len(self._inbox) == self._inbox.maxlen:
                count.lost += 1  # the oldest goes
            self._inbox.append(frame)
        else:
            try:
                if self._receive(frame) is False:
                    count.lost += 1
                    return
            except Exception as error:  # one node's mistake is not the bus's
                count.lost += 1
                self.hub.tell(f"{self.name}: a frame could not be taken: {error!r}.", once=self)
                return
        if frame.error:
            return
        count.received += 1

    def bad(self, what: str) -> None:
        """Counts a message that follows no rule, and tells of the first."""
        self.count.bad += 1
        if self.count.bad == 1:
            self.hub.tell(f"{self.name}: {what}")

    def restart(self) -> None:
        """Comes back from bus off."""
        self.hub.restart(self)

    def detach(self) -> None:
        """Leaves the bus; frames that wait are lost."""
        self.hub.detach(self)
