"""The end of a link that the simulation holds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from linkwork.session.link.bell import Bell
from linkwork.session.link.limits import BOOKKEEPING, Limits, LinkError

Block = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class Joined:
    """Stands in ``receive`` before the first message of a peer."""


@dataclass(frozen=True, slots=True)
class Left:
    """Stands in ``receive`` after the last message of a peer.

    Attributes:
        reason: Why the peer is gone, for a person to read.
    """

    reason: str


class Port(Protocol):
    """What carries things from a session end to one peer. No call may block."""

    @property
    def wants_snapshots(self) -> bool:
        """Whether the peer asked for snapshots."""
        ...

    def welcome(self, peer: int) -> None:
        """Tells the peer its id, before anything else."""
        ...

    def put_snapshot(self, snapshot: bytes) -> None:
        """Takes the newest snapshot, in place of one that still waits."""
        ...

    def put_events(self, events: Sequence[bytes]) -> bool:
        """Takes events in order; false if more than the backlog waits now."""
        ...

    def resume(self) -> None:
        """Goes on with bringing messages after ``arrived`` returned false."""
        ...

    def end(self, reason: str, *, discard: bool) -> None:
        """Says goodbye, after what waits to be sent or (``discard``) instead of it."""
        ...


class SessionEnd:
    """The session's side of a link: snapshots and events to every peer, messages from each.

    Every call but ``wait`` and ``close`` returns at once, whatever the peers do. A peer that falls
    behind misses snapshots; one that leaves more than ``limits.backlog`` bytes of events untaken is
    dropped with a reason, and the others do not notice. Order: having taken an event, a peer finds
    a snapshot at least as new as the last one published before that event.

    Calls may come from any thread; one thread at a time may ``wait``.

    Attributes:
        limits: Bounds on what is held.
        address: Where peers in other processes connect; empty for an in-process link.
        key: What they must know to be let in; empty for an in-process link.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        address: str = "",
        key: str = "",
        sleep: Callable[[Callable[[], bool], float], bool] | None = None,
        shut: Callable[[], None] | None = None,
    ) -> None:
        self.limits = limits
        self.address = address
        self.key = key
        self._shut = shut
        self._bell = Bell()
        self._sleep = sleep or self._bell.sleep
        self._lock = threading.Lock()  # of all below; taken before a port's own lock, never after
        self._ports: dict[int, Port] = {}
        self._count = 0
        self._newest: bytes | None = None
        self._inbox: list[tuple[int, bytes | Joined | Left]] = []
        self._untaken = 0
        self._paused: set[Port] = set()
        self._closed = False

    @property
    def peers(self) -> list[int]:
        """Ids of the connected peers, in the order of joining. No id is used twice."""
        with self._lock:
            return list(self._ports)

    def publish(self, snapshot: Block | Sequence[Block]) -> None:
        """Puts the newest snapshot before every peer, present and still to come.

        Args:
            snapshot: One block, or several that are joined. It is copied unless it is ``bytes``.

        Raises:
            LinkError: It is larger than ``limits.message``.
        """
        if isinstance(snapshot, bytes):
            data = snapshot
        elif isinstance(snapshot, (bytearray, memoryview)):
            data = bytes(snapshot)
        else:
            data = b"".join(snapshot)
        self.limits.check(len(data), "a snapshot")
        with self._lock:
            if self._closed:
                return
            self._newest = data
            for port in self._ports.values():
                if port.wants_snapshots:
                    port.put_snapshot(data)

    def emit(self, *events: bytes) -> None:
        """Sends events to every peer that is connected now, in order and without loss.

        Several events in one call reach all peers together and cost little more than one.

        Raises:
            LinkError: One is larger than ``limits.message``; none was sent.
        """
        if not self._ports:
            return
        for event in events:
            self.limits.check(len(event), "an event")
        with self._lock:
            late = [peer for peer, port in self._ports.items() if not port.put_events(events)]
            for peer in late:
                self._drop(peer, self.limits.unread())

    def send(self, peer: int, event: bytes) -> None:
        """Sends an event to one peer. To one that has left, nothing is sent.

        Raises:
            LinkError: The event is larger than ``limits.message``, or no peer ever had this id.
        """
        self.limits.check(len(event), "an event")
        with self._lock:
            port = self._ports.get(peer)
            if port is None:
                self._check_id(peer)
            elif not port.put_events((event,)):
                self._drop(peer, self.limits.unread())

    def receive(self) -> list[tuple[int, bytes | Joined | Left]]:
        """Takes what has arrived since the last call, as (peer, message) in order of arrival."""
        if not self._inbox:
            return []
        with self._lock:
            taken, self._inbox = self._inbox, []
            self._untaken = 0
            paused, self._paused = self._paused, set()
        for port in paused:
            port.resume()
        return taken

    def wait(self, timeout: float) -> bool:
        """Sleeps until there is something to receive.

        Args:
            timeout: Longest wait [s].

        Returns:
            Whether there is something.
        """
        return self._sleep(self._has_message, timeout)

    def drop(self, peer: int, reason: str) -> None:
        """Sends a peer away, after what was already sent to it.

        Args:
            peer: Its id; one that has left already is left alone.
            reason: What it is told.

        Raises:
            LinkError: No peer ever had this id.
        """
        with self._lock:
            self._check_id(peer)
            self._drop(peer, reason, discard=False)

    def close(self) -> None:
        """Says goodbye to all peers, handing over what was sent, and lets nobody in any more.

        Waits up to ``limits.linger`` for peers that are slow to read. May be called twice.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for peer in list(self._ports):
                self._drop(peer, "the session was closed", discard=False)
        if self._shut is not None:
            self._shut()

    def __enter__(self) -> SessionEnd:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SessionEnd({self.address or 'in-process'}, peers={self.peers})"

    # What a port calls, from any thread, while it holds no lock of its own.

    def joined(self, port: Port) -> int:
        """Lets a peer in: from here on it gets events, and the newest snapshot at once.

        Raises:
            LinkError: The session is closed or has as many peers as it may have.
        """
        with self._lock:
            if self._closed:
                raise LinkError("the session was closed.")
            if len(self._ports) >= self.limits.peers:
                raise LinkError(f"the session has all the {self.limits.peers} peers it may have.")
            self._count += 1
            peer = self._count
            self._ports[peer] = port  # first: who is welcomed counts as connected
            port.welcome(peer)
            if self._newest is not None and port.wants_snapshots:
                port.put_snapshot(self._newest)
            self._inbox.append((peer, Joined()))
        self._bell.ring()
        return peer

    def arrived(self, peer: int, messages: Sequence[bytes], port: Port) -> bool:
        """Puts messages into the inbox; false if it is full and ``port`` is to wait for resume."""
        with self._lock:
            if peer not in self._ports:
                return True
            for message in messages:
                self._inbox.append((peer, message))
                self._untaken += len(message) + BOOKKEEPING
            full = self._untaken > self.limits.backlog
            if full:
                self._paused.add(port)
        self._bell.ring()
        return not full

    def left(self, peer: int, reason: str) -> None:
        """Takes a peer off the list; its port has ended by itself."""
        with self._lock:
            if self._ports.pop(peer, None) is None:
                return
            self._inbox.append((peer, Left(reason)))
        self._bell.ring()

    @property
    def full(self) -> bool:
        """Whether more messages wait than the backlog allows."""
        return self._untaken > self.limits.backlog

    def _has_message(self) -> bool:
        return bool(self._inbox)

    def _check_id(self, peer: int) -> None:
        if not 0 < peer <= self._count:
            known = ", ".join(map(str, self._ports)) or "none"
            raise LinkError(f"the link has no peer {peer}.", hint=f"Connected peers: {known}.")

    def _drop(self, peer: int, reason: str, *, discard: bool = True) -> None:
        port = self._ports.pop(peer, None)
        if port is not None:
            self._inbox.append((peer, Left(reason)))
            port.end(reason, discard=discard)
            self._bell.ring()
