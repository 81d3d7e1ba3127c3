"""Session inbox: passes messages of the studio's host to its session."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.link import PeerJoined, PeerLeft, SessionEnd
from linkwork.session import messages as inbox
from linkwork.session.session import Session
from linkwork.studio import protocol as m

#: Called with a client's name (empty for all) and a message.
SendMessage = Callable[[str, m.FromServer], object]


class SessionInbox:
    """Applies messages to a session immediately.

    Args:
        session: The session.

    Attributes:
        applying: Whether a message is being applied; a refusal then goes to the requesting client.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.applying = False

    def apply(self, message: inbox.Message) -> None:
        """Applies a message.

        Raises:
            LinkworkError: If it is refused.
        """
        self.applying = True
        try:
            self._session.apply_or_raise(inbox.checked(message))
        finally:
            self.applying = False


class LinkAdapter:
    """Connects a session or recording to the studio's link, which outlives it.

    Messages of the server are handled at step boundaries, when the session polls. A snapshot that
    equals the last one is not sent again.

    Args:
        link: The studio's link.
        take: Called with every item that arrives.
        has_clients: Whether a client is connected that could resume a paused session.

    Attributes:
        build_snapshot: Builds the snapshot of a session.
    """

    def __init__(
        self,
        link: SessionEnd,
        take: Callable[[int, bytes | PeerJoined | PeerLeft], object],
        *,
        has_clients: Callable[[], bool] = lambda: True,
    ) -> None:
        self._link = link
        self._take = take
        self._last = b""
        self.build_snapshot: Callable[[Session], bytes] | None = None
        self._has_clients = has_clients

    @property
    def connected(self) -> bool:
        """Whether a client is connected that could resume a paused session."""
        return self._has_clients()

    def poll(self) -> None:
        """Handles arrived messages."""
        for peer, item in self._link.receive():
            self._take(peer, item)

    def wait(self, timeout: float) -> bool:
        """Sleeps until a message arrives, at most ``timeout`` [s]."""
        return self._link.wait(timeout)

    def publish(self, session: Session, /) -> None:
        """Publishes a snapshot of a session if it has changed."""
        if self.build_snapshot is not None:
            self.publish_snapshot(self.build_snapshot(session))

    def publish_snapshot(self, snapshot: bytes) -> None:
        """Publishes a snapshot if it has changed."""
        if snapshot != self._last:
            self._last = snapshot
            self._link.publish(snapshot)
