"""Transports: a link between threads or over sockets."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Sequence
from typing import Protocol

from linkwork.link.acceptor import Acceptor
from linkwork.link.address import dial, listen
from linkwork.link.connection import LinkConnection
from linkwork.link.framing import GOODBYE, HEADER, WELCOME, FrameBatch
from linkwork.link.handshake import HELLO_SIZE, WELCOME_SIZE, PeerHandshake
from linkwork.link.limits import LinkError, LinkLimits
from linkwork.link.peer_end import PeerEnd
from linkwork.link.session_end import SessionEnd
from linkwork.link.socket_loop import SocketLoop

_MAX_REFUSAL = 4096  # [byte]


def serve(
    address: str | None = None,
    *,
    key: str | None = None,
    limits: LinkLimits | None = None,
    beyond_loopback: bool = False,
) -> SessionEnd:
    """Opens a link that other processes can connect to.

    Args:
        address: ``unix:/path`` or ``tcp:host:port`` (port 0 takes a free one); empty for a new one
            that only this user can reach.
        key: Key of the peers; None for a random one.
        limits: Limits of buffers.
        beyond_loopback: Whether other machines may connect. Data is not encrypted.

    Returns:
        The session's end; peers need its ``address`` and ``key``.

    Raises:
        LinkError: The address is wrong, taken or not allowed, or the key is empty.
    """
    if key is not None and not key:
        raise LinkError("the key of a link is empty.", hint="Leave it out for a random one.")
    sock, address, remove = listen(address, beyond_loopback=beyond_loopback)
    acceptor = Acceptor(sock, remove)
    session = SessionEnd(
        limits or LinkLimits(),
        address=address,
        key=key or secrets.token_urlsafe(32),
        sleep=acceptor.loop.wait_until,
        shut=acceptor.close,
    )
    acceptor.open(session)
    return session


def connect(address: str, key: str, *, snapshots: bool = True, timeout: float = 5.0) -> PeerEnd:
    """Connects to a session in another process.

    Args:
        address: The session's ``address``.
        key: The session's ``key``.
        snapshots: Whether to receive snapshots; if not, the peer gets events only.
        timeout: Timeout for the session's answer [s].

    Returns:
        The peer's end.

    Raises:
        LinkError: If nothing answers, the answer is not a session's, or the key is wrong.
    """
    end = time.monotonic() + timeout
    sock = dial(address, timeout)
    try:
        shake = PeerHandshake(key, _read(sock, HELLO_SIZE, end))
        sock.sendall(shake.answer(snapshots=snapshots))
        size, kind = HEADER.unpack(_read(sock, HEADER.size, end))
        if kind == GOODBYE and size <= _MAX_REFUSAL:
            raise LinkError(_read(sock, size, end).decode(errors="replace"))
        if kind != WELCOME or size != WELCOME_SIZE:
            raise LinkError("the other end is not a Linkwork session.")
        peer_id, limits = shake.check(_read(sock, size, end))
    except (LinkError, OSError) as error:
        sock.close()
        raise LinkError(f"cannot join the session at {address}: {error}") from error
    loop = SocketLoop()
    peer = PeerEnd(limits, sleep=loop.wait_until)
    _SessionConnection(peer, peer_id, sock, loop)
    return peer


class _SessionConnection(LinkConnection):
    """The connection of a peer end to its session (a SessionTransport)."""

    def __init__(self, peer: PeerEnd, peer_id: int, sock: socket.socket, loop: SocketLoop) -> None:
        super().__init__(sock, loop, peer.limits)
        self._peer = peer
        self._behind = False
        peer.opened(self, peer_id)
        self.loop.call(self.start)

    def post(self, message: bytes) -> None:
        if self.full:
            raise self.limits.unsent()
        self.put_events((message,))

    def detach_loop(self) -> int | None:
        return self.loop.detach_loop()

    def serve(self) -> None:
        self.loop.serve()

    def close(self) -> None:
        self.loop.attach_loop()
        self.end("closed by the peer", discard=False)
        self.finished.wait(self.limits.linger)
        self.loop.close()

    def take(self, batch: FrameBatch) -> bool:
        if batch.snapshot is not None:  # before the events, which may be later
            self._peer.snapshot_arrived(batch.snapshot)
        fits = self._peer.arrived(batch.messages) if batch.messages else True
        self._behind = self._behind or not fits
        return fits

    def lost(self, reason: str) -> None:
        if self._behind:  # the session's goodbye may not have fit into the socket
            reason += f" (this end had left more than {self.limits.backlog} bytes untaken)"
        self._peer.ended(reason)


def _read(sock: socket.socket, size: int, end: float) -> bytes:
    """Reads exactly ``size`` bytes before the time ``end``."""
    data = b""
    while len(data) < size:
        sock.settimeout(max(1e-3, end - time.monotonic()))
        part = sock.recv(size - len(data))
        if not part:
            raise LinkError("it closed the connection during the handshake.")
        data += part
    return data


class LocalConnector(Protocol):
    """Makes a new peer of a session in the same process."""

    def __call__(self, *, snapshots: bool = True) -> PeerEnd:
        """Connects to the session; without ``snapshots`` the peer gets events only."""
        ...


class _LocalTransport:
    """Passes data from a session end to a peer end and back, in one process."""

    def __init__(self, session: SessionEnd, peer: PeerEnd, *, snapshots: bool) -> None:
        self._session = session
        self._peer = peer
        self.wants_snapshots = snapshots

    def welcome(self, peer: int) -> None:
        self._peer.opened(self, peer)

    def put_snapshot(self, snapshot: bytes) -> None:
        self._peer.snapshot_arrived(snapshot)

    def put_events(self, events: Sequence[bytes]) -> bool:
        return self._peer.arrived(events)

    def end(self, reason: str, *, discard: bool) -> None:
        self._peer.ended(reason)  # untaken data is already at the peer end

    def post(self, message: bytes) -> None:
        if self._session.full:
            raise self._session.limits.unsent()
        self._session.arrived(self._peer.id, (message,), self)

    def resume(self) -> None:
        """Does nothing: data is refused when full, so nothing is held back."""

    def detach_loop(self) -> None:
        """Has no sockets."""

    def serve(self) -> None:
        """Does nothing: messages are delivered at once."""

    def close(self) -> None:
        self._session.left(self._peer.id, "closed by the peer")


def local_link(limits: LinkLimits | None = None) -> tuple[SessionEnd, LocalConnector]:
    """Makes a link inside this process.

    Args:
        limits: Limits of buffers.

    Returns:
        The session's end, and a function that makes a peer end each time it is called.
    """
    session = SessionEnd(limits or LinkLimits())

    def join(*, snapshots: bool = True) -> PeerEnd:
        peer = PeerEnd(session.limits)
        session.joined(_LocalTransport(session, peer, snapshots=snapshots))
        return peer

    return session, join
