"""A link between processes: one stream socket per peer, served by a thread at either end."""

from __future__ import annotations

import secrets
import socket
import time

from linkwork.session.link.address import dial, listen
from linkwork.session.link.connection import Connection
from linkwork.session.link.door import Door
from linkwork.session.link.frames import GOODBYE, HEADER, WELCOME, Batch
from linkwork.session.link.handshake import HELLO_SIZE, WELCOME_SIZE, PeerHandshake
from linkwork.session.link.limits import Limits, LinkError
from linkwork.session.link.peer_end import PeerEnd
from linkwork.session.link.pump import Pump
from linkwork.session.link.session_end import SessionEnd

_LONGEST_REFUSAL = 4096  # [byte]


def serve(
    address: str | None = None,
    *,
    key: str | None = None,
    limits: Limits | None = None,
    beyond_loopback: bool = False,
) -> SessionEnd:
    """Opens a link that other processes can connect to.

    Args:
        address: ``unix:/path`` or ``tcp:host:port`` (port 0 takes a free one); nothing for a fresh
            one that only this user can reach.
        key: What peers must know; nothing for a random one.
        limits: Bounds on what is held.
        beyond_loopback: Whether other machines may connect. What crosses is not encrypted.

    Returns:
        The session's end; hand its ``address`` and ``key`` to the peers.

    Raises:
        LinkError: The address is wrong, taken or not allowed, or the key is empty.
    """
    if key is not None and not key:
        raise LinkError("the key of a link is empty.", hint="Leave it out for a random one.")
    sock, address, remove = listen(address, beyond_loopback=beyond_loopback)
    door = Door(sock, remove)
    session = SessionEnd(
        limits or Limits(),
        address=address,
        key=key or secrets.token_urlsafe(32),
        sleep=door.pump.attend,
        shut=door.close,
    )
    door.open(session)
    return session


def connect(address: str, key: str, *, snapshots: bool = True, timeout: float = 5.0) -> PeerEnd:
    """Joins a session in another process.

    Args:
        address: The session's ``address``.
        key: The session's ``key``.
        snapshots: Whether to get snapshots; without, the peer gets events only.
        timeout: Longest wait for the session to answer [s].

    Returns:
        The peer's end.

    Raises:
        LinkError: Nobody answers, it is no session, or the key is wrong.
    """
    end = time.monotonic() + timeout
    sock = dial(address, timeout)
    try:
        shake = PeerHandshake(key, _read(sock, HELLO_SIZE, end))
        sock.sendall(shake.answer(snapshots=snapshots))
        size, kind = HEADER.unpack(_read(sock, HEADER.size, end))
        if kind == GOODBYE and size <= _LONGEST_REFUSAL:
            raise LinkError(_read(sock, size, end).decode(errors="replace"))
        if kind != WELCOME or size != WELCOME_SIZE:
            raise LinkError("what answers is not a Linkwork session.")
        peer_id, limits = shake.check(_read(sock, size, end))
    except (LinkError, OSError) as error:
        sock.close()
        raise LinkError(f"cannot join the session at {address}: {error}") from error
    pump = Pump()
    peer = PeerEnd(limits, sleep=pump.attend)
    _Host(peer, peer_id, sock, pump)
    return peer


class _Host(Connection):
    """The connection of a peer end to its session (a Carrier)."""

    def __init__(self, peer: PeerEnd, peer_id: int, sock: socket.socket, pump: Pump) -> None:
        super().__init__(sock, pump, peer.limits)
        self._peer = peer
        self._behind = False
        peer.opened(self, peer_id)
        self.pump.call(self.start)

    def post(self, message: bytes) -> None:
        if self.full:
            raise self.limits.untaken()
        self.put_events((message,))

    def lend(self) -> int | None:
        return self.pump.lend()

    def serve(self) -> None:
        self.pump.serve()

    def close(self) -> None:
        self.pump.reclaim()
        self.end("closed by the peer", discard=False)
        self.finished.wait(self.limits.linger)
        self.pump.close()

    def take(self, batch: Batch) -> bool:
        if batch.snapshot is not None:  # before the events, which may have followed it
            self._peer.snapshot_arrived(batch.snapshot)
        fits = self._peer.arrived(batch.messages) if batch.messages else True
        self._behind = self._behind or not fits
        return fits

    def lost(self, reason: str) -> None:
        if self._behind:  # the session's goodbye may have found no room in the socket
            reason += f" (this end had left more than {self.limits.backlog} bytes untaken)"
        self._peer.ended(reason)


def _read(sock: socket.socket, size: int, end: float) -> bytes:
    """Reads exactly ``size`` bytes before the time ``end``."""
    data = b""
    while len(data) < size:
        sock.settimeout(max(1e-3, end - time.monotonic()))
        part = sock.recv(size - len(data))
        if not part:
            raise LinkError("it hung up during the greeting.")
        data += part
    return data
