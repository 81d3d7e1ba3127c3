"""A link between threads of one process: the same two ends, joined by handing things over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from linkwork.session.link.limits import Limits
from linkwork.session.link.peer_end import PeerEnd
from linkwork.session.link.session_end import SessionEnd


class Join(Protocol):
    """Makes a new peer of a session in the same process."""

    def __call__(self, *, snapshots: bool = True) -> PeerEnd:
        """Joins the session; without ``snapshots`` the peer gets events only."""
        ...


class _Passage:
    """Hands things from a session end to a peer end (a Port) and back (a Carrier)."""

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
        self._peer.ended(reason)  # what it has not taken is already in its hands

    def post(self, message: bytes) -> None:
        if self._session.full:
            raise self._session.limits.untaken()
        self._session.arrived(self._peer.id, (message,), self)

    def resume(self) -> None:
        """Does nothing: what found no room was refused, so nothing is held back."""

    def lend(self) -> None:
        """Has no sockets."""

    def serve(self) -> None:
        """Does nothing: things are handed over at once."""

    def close(self) -> None:
        self._session.left(self._peer.id, "closed by the peer")


def local_link(limits: Limits | None = None) -> tuple[SessionEnd, Join]:
    """Makes a link inside this process.

    Args:
        limits: Bounds on what is held.

    Returns:
        The session's end, and a function that makes a peer end each time it is called.
    """
    session = SessionEnd(limits or Limits())

    def join(*, snapshots: bool = True) -> PeerEnd:
        peer = PeerEnd(session.limits)
        session.joined(_Passage(session, peer, snapshots=snapshots))
        return peer

    return session, join
