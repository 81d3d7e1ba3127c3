"""Limits of a link."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.core.errors import LinkworkError

#: Bytes added to the size of each waiting message, so that empty ones are limited, too.
BOOKKEEPING = 64


class LinkError(LinkworkError):
    """A link that cannot be established, or a message that cannot be sent over it."""


class LinkClosed(LinkError):
    """The other end has disconnected and all its data was taken."""


class LinkFull(LinkError):
    """The session has not taken its messages for a long time; this one was not sent."""


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """Bounds on the memory of both ends, whatever the other end does.

    Attributes:
        message: Largest message, event or snapshot [byte].
        backlog: Maximum size of untaken data at either end of a link, per peer [byte]. Each message
            counts 64 bytes more than its length.
        peers: Maximum number of connected peers.
        handshake_timeout: Timeout for the authentication of a new connection [s].
        linger: Maximum time that closing spends on delivering sent data [s].
    """

    message: int = 16 * 2**20
    backlog: int = 32 * 2**20
    peers: int = 64
    handshake_timeout: float = 5.0
    linger: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.message < 2**32:
            raise LinkError(
                f"Limits.message is {self.message}; it must be from 1 to {2**32 - 1} bytes."
            )
        if self.backlog < self.message + BOOKKEEPING:
            raise LinkError(
                f"Limits.backlog is {self.backlog} bytes, too few for one message of "
                f"{self.message} bytes.",
                hint=f"Let it be at least {self.message + BOOKKEEPING}.",
            )

    def check(self, size: int, what: str) -> None:
        """Checks the size of a message.

        Args:
            size: Its length [byte].
            what: Its kind, with an article.

        Raises:
            LinkError: It is larger than ``message``.
        """
        if size > self.message:
            raise LinkError(
                self.oversize(size, what), hint="Split it, or raise LinkLimits.message."
            )

    def oversize(self, size: int, what: str) -> str:
        """Returns the error text for a message that is too large."""
        return (
            f"{what} of {size} bytes is larger than the {self.message} bytes allowed on the link."
        )

    def unread(self) -> str:
        """The reason for dropping a peer that does not take its events."""
        return f"more than {self.backlog} bytes of events waited for this peer to take them"

    def unsent(self) -> LinkFull:
        """The error for a message that finds the session's inbox full."""
        return LinkFull(
            f"the session has not taken the {self.backlog} bytes of messages that wait already; "
            "this one was not sent.",
            hint="Send it again when the session continues.",
        )
