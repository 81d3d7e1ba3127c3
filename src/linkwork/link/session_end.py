"""SessionEnd: the end of a link used by the simulation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from linkwork.link.limits import BOOKKEEPING, LinkError, LinkLimits
from linkwork.link.socket_loop import Waker

Block = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class PeerJoined:
    """Precedes the first message of a peer in ``receive``."""


@dataclass(frozen=True, slots=True)
class PeerLeft:
    """Follows the last message of a peer in ``receive``.

    Attributes:
        reason: Why the peer has left, as text.
    """

    reason: str


class PeerTransport(Protocol):
    """Carries data from a session end to one peer. No call may block."""

    @property
    def wants_snapshots(self) -> bool:
        """Whether the peer requested snapshots."""
        ...

    def welcome(self, peer: int) -> None:
        """Sends the peer its id, before anything else."""
        ...

    def put_snapshot(self, snapshot: bytes) -> None:
        """Sends the newest snapshot, replacing a waiting one."""
        ...

    def put_events(self, events: Sequence[bytes]) -> bool:
        """Sends events in order; returns False if more than the backlog waits now."""
        ...

    def resume(self) -> None:
        """Resumes delivery of messages after ``arrived`` returned false."""
        ...

    def end(self, reason: str, *, discard: bool) -> None:
        """Sends a goodbye, after the queue or (``discard``) instead of it."""
        ...


class SessionEnd:
    """The session's side of a link: snapshots and events to every peer, messages from each.

    Every call but ``wait`` and ``close`` returns at once, whatever the peers do. A peer that falls
    behind misses snapshots; one that leaves more than ``limits.backlog`` bytes of events untaken is
    dropped with a reason, and the others do not notice. Order: having taken an event, a peer finds
    a snapshot at least as new as the last one published before that event.

    Methods may be called from any thread; one thread at a time may ``wait``.

    Attributes:
        limits: Limits of buffers.
        address: Where peers in other processes connect; empty for an in-process link.
        key: Key of the peers; empty for an in-process link.
    """

    def __init__(
        self,
        limits: LinkLimits,
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
        self._waker = Waker()
        self._sleep = sleep or self._waker.sleep
        self._lock = threading.Lock()  # for all below; taken before a transport's lock, never after
        self._ports: dict[int, PeerTransport] = {}
        self._count = 0
        self._newest: bytes | None = None
        self._inbox: list[tuple[int, bytes | PeerJoined | PeerLeft]] = []
        self._untaken = 0
        self._paused: set[PeerTransport] = set()
        self._closed = False

    @property
    def peers(self) -> list[int]:
        """Ids of the connected peers, in the order of joining. No id is used twice."""
        with self._lock:
            return list(self._ports)

    def publish(self, snapshot: Block | Sequence[Block]) -> None:
        """Publishes the newest snapshot to every present and future peer.

        Args:
            snapshot: One block, or several to be joined. It is copied unless it is ``bytes``.

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
        """Sends an event to one peer; ignored if the peer has left.

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

    def receive(self) -> list[tuple[int, bytes | PeerJoined | PeerLeft]]:
        """Takes everything since the last call, as (peer, message) in order of arrival."""
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
        """Sleeps until there is data to receive.

        Args:
            timeout: Maximum wait [s].

        Returns:
            Whether there is data.
        """
        return self._sleep(self._has_message, timeout)

    def drop(self, peer: int, reason: str) -> None:
        """Disconnects a peer, after the data already sent to it.

        Args:
            peer: Its id; ignored if it has left already.
            reason: Reason that it receives.

        Raises:
            LinkError: No peer ever had this id.
        """
        with self._lock:
            self._check_id(peer)
            self._drop(peer, reason, discard=False)

    def close(self) -> None:
        """Sends a goodbye to all peers after their queues, and accepts no more.

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

    # Called by a transport, from any thread, while it holds no lock of its own.

    def joined(self, port: PeerTransport) -> int:
        """Adds a peer: from now on it gets events, and the newest snapshot at once.

        Raises:
            LinkError: The session is closed or has the maximum number of peers.
        """
        with self._lock:
            if self._closed:
                raise LinkError("the session was closed.")
            if len(self._ports) >= self.limits.peers:
                raise LinkError(f"the session has its maximum of {self.limits.peers} peers.")
            self._count += 1
            peer = self._count
            self._ports[peer] = port  # first: a welcomed peer counts as connected
            port.welcome(peer)
            if self._newest is not None and port.wants_snapshots:
                port.put_snapshot(self._newest)
            self._inbox.append((peer, PeerJoined()))
        self._waker.notify()
        return peer

    def arrived(self, peer: int, messages: Sequence[bytes], port: PeerTransport) -> bool:
        """Adds messages to the inbox; False if it is full and ``port`` must wait for resume."""
        with self._lock:
            if peer not in self._ports:
                return True
            for message in messages:
                self._inbox.append((peer, message))
                self._untaken += len(message) + BOOKKEEPING
            full = self._untaken > self.limits.backlog
            if full:
                self._paused.add(port)
        self._waker.notify()
        return not full

    def left(self, peer: int, reason: str) -> None:
        """Removes a peer whose transport has ended by itself."""
        with self._lock:
            if self._ports.pop(peer, None) is None:
                return
            self._inbox.append((peer, PeerLeft(reason)))
        self._waker.notify()

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
            self._inbox.append((peer, PeerLeft(reason)))
            port.end(reason, discard=discard)
            self._waker.notify()
