"""Acceptor of peers from other processes."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable

from linkwork.link.address import undelayed
from linkwork.link.connection import LinkConnection
from linkwork.link.framing import GOODBYE, WELCOME, FrameBatch, frame
from linkwork.link.handshake import ANSWER_SIZE, SessionHandshake
from linkwork.link.limits import LinkError
from linkwork.link.session_end import SessionEnd
from linkwork.link.socket_loop import READ, SocketLoop

_MAX_PENDING = 32  # maximum number of unauthenticated connections
_REST = 0.2  # pause after the system refused to accept, for lack of descriptors [s]


class Acceptor:
    """The listening socket of a session and the peers that connected to it.

    Args:
        sock: The listening socket.
        remove: Removes the address's files.
    """

    def __init__(self, sock: socket.socket, remove: Callable[[], None]) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.loop = SocketLoop()
        self.pending: set[PendingPeer] = set()
        self.connections: set[PeerConnection] = set()
        self._remove = remove
        self._session: SessionEnd | None = None

    def open(self, session: SessionEnd) -> None:
        """Starts accepting peers."""
        self._session = session
        self.loop.call(self._watch)

    def ready(self, mask: int) -> None:
        """Accepts one connection; called by the loop."""
        try:
            sock, _ = self.sock.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:
            self.loop.watch(self, 0)
            self.loop.later(_REST, self._watch)
            return
        if self._session is None or len(self.pending) >= _MAX_PENDING:
            sock.close()
        else:
            PendingPeer(self, self._session, sock)

    def fail(self, reason: str) -> None:
        """Continues: only one connection failed."""

    def close(self) -> None:
        """Stops accepting peers and waits until the connected ones have read their last events."""
        if self._session is None:
            return
        self.loop.call(lambda: self.loop.watch(self, 0))
        end = time.monotonic() + self._session.limits.linger
        for connection in list(self.connections):
            connection.finished.wait(max(0.0, end - time.monotonic()))
        self.loop.close()
        self.sock.close()
        self._remove()

    def _watch(self) -> None:
        self.loop.watch(self, READ)


class PendingPeer:
    """An unauthenticated connection; buffers at most one answer."""

    def __init__(self, acceptor: Acceptor, session: SessionEnd, sock: socket.socket) -> None:
        sock.setblocking(False)
        undelayed(sock)
        self.sock = sock
        self._acceptor = acceptor
        self._session = session
        self._shake = SessionHandshake(session.key)
        self._answer = bytearray()
        acceptor.pending.add(self)
        acceptor.loop.watch(self, READ)
        acceptor.loop.later(session.limits.handshake_timeout, self._reject)
        with contextlib.suppress(OSError):  # if this fails, the socket closes by itself
            sock.send(self._shake.hello)

    def ready(self, mask: int) -> None:
        """Reads the answer; called by the loop."""
        try:
            part = self.sock.recv(ANSWER_SIZE - len(self._answer))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            part = b""
        self._answer += part
        if not part or not self._shake.plausible(self._answer):
            self._reject()
        elif len(self._answer) == ANSWER_SIZE:
            try:
                wants = self._shake.check(bytes(self._answer))
                connection = PeerConnection(
                    self._acceptor, self._session, self.sock, self._shake, wants
                )
                self._session.joined(connection)
            except LinkError as error:
                self._reject(str(error))
                return
            self._leave()
            connection.start()

    def fail(self, reason: str) -> None:
        """Closes this connection."""
        self._reject(reason)

    def _reject(self, reason: str = "") -> None:
        if self not in self._acceptor.pending:
            return
        self._leave()
        with contextlib.suppress(OSError):
            if reason:
                self.sock.send(frame(GOODBYE, reason.encode()))
        self.sock.close()

    def _leave(self) -> None:
        self._acceptor.pending.discard(self)
        self._acceptor.loop.watch(self, 0)


class PeerConnection(LinkConnection):
    """The connection of a session end to an authenticated peer (a PeerTransport)."""

    def __init__(
        self,
        acceptor: Acceptor,
        session: SessionEnd,
        sock: socket.socket,
        shake: SessionHandshake,
        wants_snapshots: bool,
    ) -> None:
        super().__init__(sock, acceptor.loop, session.limits)
        self.wants_snapshots = wants_snapshots
        self._acceptor = acceptor
        self._session = session
        self._shake = shake
        self._peer = 0

    def welcome(self, peer: int) -> None:
        """Sends the peer its id and the session's limits."""
        self._peer = peer
        self._acceptor.connections.add(self)
        self.put(WELCOME, (self._shake.welcome(peer, self.limits),))

    def take(self, batch: FrameBatch) -> bool:
        """Puts messages into the session's inbox."""
        wanted = self._session.arrived(self._peer, batch.messages, self)
        if batch.snapshot is not None:
            raise LinkError("a peer may send messages only, not a snapshot.")
        return wanted

    def lost(self, reason: str) -> None:
        """Removes the peer from the session's list."""
        self._session.left(self._peer, reason)
        if self.finished.is_set():
            self._acceptor.connections.discard(self)
