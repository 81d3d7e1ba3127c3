"""PeerEnd: the end of a link used by a viewer, a server or a bus."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from linkwork.link.limits import BOOKKEEPING, LinkClosed, LinkLimits
from linkwork.link.socket_loop import Waker


class SessionTransport(Protocol):
    """Carries messages from a peer end to its session."""

    def post(self, message: bytes) -> None:
        """Sends a message; raises ``LinkFull`` if the backlog is reached."""
        ...

    def resume(self) -> None:
        """Resumes delivery of events after ``arrived`` returned false."""
        ...

    def detach_loop(self) -> int | None:
        """Leaves its sockets to an event loop that calls ``serve``; None if it has none."""
        ...

    def serve(self) -> None:
        """Serves the ready sockets after ``detach_loop``."""
        ...

    def close(self) -> None:
        """Sends a goodbye after the queue."""
        ...


class PeerEnd:
    """A peer's side of a link: the newest snapshot and all events in, messages out.

    Methods may be called from any thread; one thread at a time may wait.

    Attributes:
        id: Number of this peer in the session.
        limits: Limits of buffers, as set by the session.
    """

    def __init__(
        self,
        limits: LinkLimits,
        *,
        sleep: Callable[[Callable[[], bool], float], bool] | None = None,
    ) -> None:
        self.id = 0
        self.limits = limits
        self._transport: SessionTransport | None = None
        self._waker = Waker()
        self._sleep = sleep or self._waker.sleep
        self._lock = threading.Lock()
        self._snapshot: deque[bytes] = deque(maxlen=1)
        self._events: list[bytes] = []
        self._untaken = 0
        self._paused = False
        self._reason: str | None = None

    @property
    def closed(self) -> str | None:
        """Why the link has ended; None while it is open."""
        return self._reason

    def send(self, message: bytes) -> None:
        """Sends a message to the session; messages arrive in order and none is lost.

        Raises:
            LinkError: The message is larger than ``limits.message``.
            LinkFull: The session has left ``limits.backlog`` bytes untaken; try again later.
            LinkClosed: The link has ended.
        """
        self.limits.check(len(message), "a message")
        if self._reason is not None or self._transport is None:
            raise self._ended()
        self._transport.post(message)

    def snapshot(self) -> bytes | None:
        """Takes the newest snapshot, or nothing if it was taken before."""
        self._waker.clear()
        try:
            return self._snapshot.pop()
        except IndexError:
            return None

    def events(self, timeout: float = 0.0) -> list[bytes]:
        """Takes the events that have arrived.

        Args:
            timeout: Maximum wait for the first [s].

        Raises:
            LinkClosed: The link has ended and every event was taken.
        """
        if not self._events and timeout > 0.0:
            self._sleep(self._has_event_or_end, timeout)
        self._waker.clear()
        if not self._events and self._reason is None:
            return []
        with self._lock:
            taken, self._events = self._events, []
            self._untaken = 0
            paused, self._paused = self._paused, False
            ended = self._reason is not None
        if paused and self._transport is not None:
            self._transport.resume()
        if ended and not taken:
            raise self._ended()
        return taken

    def wait(self, timeout: float) -> bool:
        """Sleeps until there is an event, an untaken snapshot or the end of the link.

        Args:
            timeout: Maximum wait [s].

        Returns:
            Whether there is one.
        """
        return self._sleep(self._has_anything, timeout)

    def fileno(self) -> int:
        """A descriptor for ``select`` or ``loop.add_reader``; do not read from it.

        It becomes readable when something arrives and unreadable when ``events`` or ``snapshot`` is
        called; so take both on each wake-up.
        """
        return self._waker.fileno()

    def detach_loop(self) -> int:
        """A descriptor for ``loop.add_reader``, with which the loop replaces the thread.

        It avoids the transfer from that thread to the loop. Call :meth:`serve` whenever the
        descriptor is readable, then take events and snapshot; wait for nothing else.
        """
        descriptor = self._transport.detach_loop() if self._transport is not None else None
        return self._waker.fileno() if descriptor is None else descriptor

    def serve(self) -> None:
        """Receives arrived data, after :meth:`detach_loop`."""
        if self._transport is not None:
            self._transport.serve()

    def close(self) -> None:
        """Leaves the session after delivering sent messages. May be called twice."""
        transport, self._transport = self._transport, None
        if transport is not None:
            self.ended("this end was closed")
            transport.close()
            with self._lock:
                self._events = []
                self._snapshot.clear()
        self._waker.close()

    def __enter__(self) -> PeerEnd:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PeerEnd({self.id}, {'open' if self._reason is None else self._reason})"

    # Called by a transport, from any thread.

    def opened(self, transport: SessionTransport, peer: int) -> None:
        """Sets the transport to the session, and the id that the session assigned."""
        self._transport = transport
        self.id = peer

    def snapshot_arrived(self, snapshot: bytes) -> None:
        """Replaces the snapshot by the newest one."""
        self._snapshot.append(snapshot)
        self._waker.notify()

    def arrived(self, events: Sequence[bytes]) -> bool:
        """Adds events to the inbox; False if it is full and the transport must wait for resume."""
        with self._lock:
            self._events += events
            self._untaken += sum(map(len, events)) + BOOKKEEPING * len(events)
            self._paused = self._untaken > self.limits.backlog
            full = self._paused
        self._waker.notify()
        return not full

    def ended(self, reason: str) -> None:
        """Records the end of the link; arrived data can still be taken."""
        with self._lock:
            if self._reason is None:
                self._reason = reason
        self._waker.notify()

    def _has_event_or_end(self) -> bool:
        return bool(self._events) or self._reason is not None

    def _has_anything(self) -> bool:
        return bool(self._events) or bool(self._snapshot) or self._reason is not None

    def _ended(self) -> LinkClosed:
        return LinkClosed(f"the link to the session has ended: {self._reason}.")
