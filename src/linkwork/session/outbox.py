"""Outbox: events and snapshots of a session."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from linkwork.session.messages import SessionEvent

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: Maximum rate of snapshots [1/s].
SNAPSHOT_RATE = 60.0


class SessionViewer(Protocol):
    """A program that shows a running session and forwards requests to it: the studio's host."""

    @property
    def connected(self) -> bool:
        """Whether a client is connected that could resume a paused session."""
        ...

    def poll(self) -> None:
        """Handles arrived requests; called between two steps."""
        ...

    def wait(self, timeout: float) -> bool:
        """Sleeps until a request arrives, at most ``timeout`` [s]."""
        ...

    def publish(self, session: Session, /) -> None:
        """Publishes a snapshot; only the newest matters."""
        ...


class Outbox:
    """Events and snapshots of a session.

    Args:
        viewer: The viewer of the session, or None.

    Attributes:
        events: The last thousand events.
        listeners: Called with each event.
        viewer: Who shows the session.
    """

    def __init__(self, viewer: SessionViewer | None = None) -> None:
        self.viewer = viewer
        self.events: deque[SessionEvent] = deque(maxlen=1000)
        self.listeners: list[Callable[[SessionEvent], object]] = []
        self._due = 0.0

    @property
    def connected(self) -> bool:
        """Whether a client is connected that could resume a paused session."""
        return self.viewer is not None and self.viewer.connected

    def event(self, event: SessionEvent) -> None:
        """Keeps an event and passes it to the listeners."""
        self.events.append(event)
        for call in self.listeners:
            call(event)

    def publish(self, session: Session, *, at_once: bool = False) -> None:
        """Publishes a snapshot if the last one is old enough, or ``at_once``."""
        now = time.perf_counter()
        if self.viewer is None or not (at_once or now >= self._due):
            return
        period = 1.0 / SNAPSHOT_RATE
        # On a grid: a step that ends a little late does not delay those that follow.
        self._due = self._due + period if now < self._due + period else now + period
        self.viewer.publish(session)
