"""The end of a link that a viewer, a server or a bus holds."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from linkwork.session.link.bell import Bell
from linkwork.session.link.limits import BOOKKEEPING, Limits, LinkClosed


class Carrier(Protocol):
    """What carries things from a peer end to its session."""

    def post(self, message: bytes) -> None:
        """Takes a message; raises ``LinkFull`` if the backlog is reached."""
        ...

    def resume(self) -> None:
        """Goes on with bringing events after ``arrived`` returned false."""
        ...

    def lend(self) -> int | None:
        """Leaves its sockets to an event loop that calls ``serve``; None if it has none to lend."""
        ...

    def serve(self) -> None:
        """Serves lent sockets that are ready."""
        ...

    def close(self) -> None:
        """Says goodbye and hands over what was posted."""
        ...


class PeerEnd:
    """A peer's side of a link: the newest snapshot and all events in, messages out.

    Calls may come from any thread; one thread at a time may wait for something.

    Attributes:
        id: The number by which the session knows this peer.
        limits: Bounds on what is held, as set by the session.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        sleep: Callable[[Callable[[], bool], float], bool] | None = None,
    ) -> None:
        self.id = 0
        self.limits = limits
        self._carrier: Carrier | None = None
        self._bell = Bell()
        self._sleep = sleep or self._bell.sleep
        self._lock = threading.Lock()
        self._snapshot: deque[bytes] = deque(maxlen=1)
        self._events: list[bytes] = []
        self._untaken = 0
        self._paused = False
        self._reason: str | None = None

    @property
    def closed(self) -> str | None:
        """Why the link has ended, or nothing while it stands."""
        return self._reason

    def send(self, message: bytes) -> None:
        """Sends a message to the session; messages arrive in order and none is lost.

        Raises:
            LinkError: The message is larger than ``limits.message``.
            LinkFull: The session has left ``limits.backlog`` bytes untaken; try again later.
            LinkClosed: The link has ended.
        """
        self.limits.check(len(message), "a message")
        if self._reason is not None or self._carrier is None:
            raise self._ended()
        self._carrier.post(message)

    def snapshot(self) -> bytes | None:
        """Takes the newest snapshot, or nothing if it was taken before."""
        self._bell.hush()
        try:
            return self._snapshot.pop()
        except IndexError:
            return None

    def events(self, timeout: float = 0.0) -> list[bytes]:
        """Takes the events that have arrived.

        Args:
            timeout: Longest wait for the first [s].

        Raises:
            LinkClosed: The link has ended and every event was taken.
        """
        if not self._events and timeout > 0.0:
            self._sleep(self._has_event_or_end, timeout)
        self._bell.hush()
        if not self._events and self._reason is None:
            return []
        with self._lock:
            taken, self._events = self._events, []
            self._untaken = 0
            paused, self._paused = self._paused, False
            ended = self._reason is not None
        if paused and self._carrier is not None:
            self._carrier.resume()
        if ended and not taken:
            raise self._ended()
        return taken

    def wait(self, timeout: float) -> bool:
        """Sleeps until there is an event, an untaken snapshot or the end of the link.

        Args:
            timeout: Longest wait [s].

        Returns:
            Whether there is one.
        """
        return self._sleep(self._has_anything, timeout)

    def fileno(self) -> int:
        """A descriptor for ``select`` or ``loop.add_reader``, to read no bytes from.

        It turns readable when something arrives and back when ``events`` or ``snapshot`` is
        called; so take both on each wake-up.
        """
        return self._bell.fileno()

    def lend(self) -> int:
        """A descriptor for ``loop.add_reader``, with which the loop takes over what a thread did.

        It spares the way from that thread to the loop. Call :meth:`serve` whenever the descriptor
        is readable, then take events and snapshot; wait for nothing else.
        """
        lent = self._carrier.lend() if self._carrier is not None else None
        return self._bell.fileno() if lent is None else lent

    def serve(self) -> None:
        """Brings in what has arrived, after :meth:`lend`."""
        if self._carrier is not None:
            self._carrier.serve()

    def close(self) -> None:
        """Leaves the session, handing over what was sent. May be called twice."""
        carrier, self._carrier = self._carrier, None
        if carrier is not None:
            self.ended("this end was closed")
            carrier.close()
            with self._lock:
                self._events = []
                self._snapshot.clear()
        self._bell.close()

    def __enter__(self) -> PeerEnd:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PeerEnd({self.id}, {'open' if self._reason is None else self._reason})"

    # What a carrier calls, from any thread.

    def opened(self, carrier: Carrier, peer: int) -> None:
        """Sets what carries messages to the session, and the id it gave."""
        self._carrier = carrier
        self.id = peer

    def snapshot_arrived(self, snapshot: bytes) -> None:
        """Puts the newest snapshot in place of the one before."""
        self._snapshot.append(snapshot)
        self._bell.ring()

    def arrived(self, events: Sequence[bytes]) -> bool:
        """Puts events into the inbox; false if it is full and the carrier is to wait for resume."""
        with self._lock:
            self._events += events
            self._untaken += sum(map(len, events)) + BOOKKEEPING * len(events)
            self._paused = self._untaken > self.limits.backlog
            full = self._paused
        self._bell.ring()
        return not full

    def ended(self, reason: str) -> None:
        """Notes the end of the link; what arrived before can still be taken."""
        with self._lock:
            if self._reason is None:
                self._reason = reason
        self._bell.ring()

    def _has_event_or_end(self) -> bool:
        return bool(self._events) or self._reason is not None

    def _has_anything(self) -> bool:
        return bool(self._events) or bool(self._snapshot) or self._reason is not None

    def _ended(self) -> LinkClosed:
        return LinkClosed(f"the link to the session has ended: {self._reason}.")
