"""Where peers from other processes come in: accepting, checking the key, letting in."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable

from linkwork.session.link.address import undelayed
from linkwork.session.link.connection import Connection
from linkwork.session.link.frames import GOODBYE, WELCOME, Batch, frame
from linkwork.session.link.handshake import ANSWER_SIZE, SessionHandshake
from linkwork.session.link.limits import LinkError
from linkwork.session.link.pump import READ, Pump
from linkwork.session.link.session_end import SessionEnd

_MOST_APPLICANTS = 32  # connections at a time that have not proved their key
_REST = 0.2  # pause after the system refused to accept, for want of descriptors [s]


class Door:
    """The listening socket of a session and the peers that came in by it.

    Args:
        sock: The listening socket.
        remove: Removes what the address has left in the file system.
    """

    def __init__(self, sock: socket.socket, remove: Callable[[], None]) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.pump = Pump()
        self.applicants: set[Applicant] = set()
        self.visitors: set[Visitor] = set()
        self._remove = remove
        self._session: SessionEnd | None = None

    def open(self, session: SessionEnd) -> None:
        """Begins to let peers in."""
        self._session = session
        self.pump.call(self._watch)

    def ready(self, mask: int) -> None:
        """Accepts one connection; called by the pump."""
        try:
            sock, _ = self.sock.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:
            self.pump.watch(self, 0)
            self.pump.later(_REST, self._watch)
            return
        if self._session is None or len(self.applicants) >= _MOST_APPLICANTS:
            sock.close()
        else:
            Applicant(self, self._session, sock)

    def fail(self, reason: str) -> None:
        """Goes on: what failed was one connection."""

    def close(self) -> None:
        """Lets nobody in any more and waits until the peers have read their last events."""
        if self._session is None:
            return
        self.pump.call(lambda: self.pump.watch(self, 0))
        end = time.monotonic() + self._session.limits.linger
        for visitor in list(self.visitors):
            visitor.finished.wait(max(0.0, end - time.monotonic()))
        self.pump.close()
        self.sock.close()
        self._remove()

    def _watch(self) -> None:
        self.pump.watch(self, READ)


class Applicant:
    """A connection that has not yet proved that it has the key; holds at most one answer."""

    def __init__(self, door: Door, session: SessionEnd, sock: socket.socket) -> None:
        sock.setblocking(False)
        undelayed(sock)
        self.sock = sock
        self._door = door
        self._session = session
        self._shake = SessionHandshake(session.key)
        self._answer = bytearray()
        door.applicants.add(self)
        door.pump.watch(self, READ)
        door.pump.later(session.limits.patience, self._turn_away)
        with contextlib.suppress(OSError):  # a socket that takes no greeting ends by itself
            sock.send(self._shake.hello)

    def ready(self, mask: int) -> None:
        """Reads the answer; called by the pump."""
        try:
            part = self.sock.recv(ANSWER_SIZE - len(self._answer))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            part = b""
        self._answer += part
        if not part or not self._shake.plausible(self._answer):
            self._turn_away()
        elif len(self._answer) == ANSWER_SIZE:
            try:
                wants = self._shake.check(bytes(self._answer))
                visitor = Visitor(self._door, self._session, self.sock, self._shake, wants)
                self._session.joined(visitor)
            except LinkError as error:
                self._turn_away(str(error))
                return
            self._leave()
            visitor.start()

    def fail(self, reason: str) -> None:
        """Gives up on this connection."""
        self._turn_away(reason)

    def _turn_away(self, reason: str = "") -> None:
        if self not in self._door.applicants:
            return
        self._leave()
        with contextlib.suppress(OSError):
            if reason:
                self.sock.send(frame(GOODBYE, reason.encode()))
        self.sock.close()

    def _leave(self) -> None:
        self._door.applicants.discard(self)
        self._door.pump.watch(self, 0)


class Visitor(Connection):
    """The connection of a session end to a peer that has the key (a Port)."""

    def __init__(
        self,
        door: Door,
        session: SessionEnd,
        sock: socket.socket,
        shake: SessionHandshake,
        wants_snapshots: bool,
    ) -> None:
        super().__init__(sock, door.pump, session.limits)
        self.wants_snapshots = wants_snapshots
        self._door = door
        self._session = session
        self._shake = shake
        self._peer = 0

    def welcome(self, peer: int) -> None:
        """Tells the peer its id and the session's limits."""
        self._peer = peer
        self._door.visitors.add(self)
        self.put(WELCOME, (self._shake.welcome(peer, self.limits),))

    def take(self, batch: Batch) -> bool:
        """Puts messages into the session's inbox."""
        wanted = self._session.arrived(self._peer, batch.messages, self)
        if batch.snapshot is not None:
            raise LinkError("a peer may send messages only, and this one sent a snapshot.")
        return wanted

    def lost(self, reason: str) -> None:
        """Takes the peer off the session's list."""
        self._session.left(self._peer, reason)
        if self.finished.is_set():
            self._door.visitors.discard(self)
