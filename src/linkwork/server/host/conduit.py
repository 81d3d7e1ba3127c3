"""Conduit: the one peer that a studio's session knows, whoever watches it."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.session.link import Joined, Left, SessionEnd


class Conduit:
    """Stands between a session and the studio's link, which outlives it.

    What arrives is handed to the studio at the step boundary where the session asks for it; what
    the session publishes goes out, unless nothing has changed.

    Args:
        link: The studio's link.
        take: Called with everything that arrives.
    """

    def __init__(
        self, link: SessionEnd, take: Callable[[int, bytes | Joined | Left], object]
    ) -> None:
        self._link = link
        self._take = take
        self._greeted = False
        self._last = b""

    def receive(self) -> list[tuple[int, bytes | Joined | Left]]:
        """Hands on what has arrived; the session sees one peer and nothing else."""
        for peer, item in self._link.receive():
            self._take(peer, item)
        if self._greeted:
            return []
        self._greeted = True
        return [(1, Joined())]

    def wait(self, timeout: float) -> bool:
        """Sleeps until something arrives, at most ``timeout`` [s]."""
        return self._link.wait(timeout)

    def publish(self, snapshot: bytes, /) -> None:
        """Passes a picture on if it is a new one."""
        if snapshot != self._last:
            self._last = snapshot
            self._link.publish(snapshot)

    def send(self, peer: int, event: bytes, /) -> None:
        """Does nothing: the studio describes the world in its own words."""

    def emit(self, *events: bytes) -> None:
        """Does nothing: the studio listens to events itself."""

    def close(self) -> None:
        """Does nothing: the link is the studio's."""
