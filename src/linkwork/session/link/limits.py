"""What a link may hold, and the errors that say so."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.errors import LinkworkError

#: Bytes that each waiting message counts beyond its own, so that empty ones do not pile up either.
BOOKKEEPING = 64


class LinkError(LinkworkError):
    """A link that cannot be made, or a message that cannot cross it."""


class LinkClosed(LinkError):
    """The other end is gone and nothing of it is left to take."""


class LinkFull(LinkError):
    """The session has not taken its messages for long; this one was not sent."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep the memory of both ends flat, whatever the other end does.

    Attributes:
        message: Largest message, event or snapshot [byte].
        backlog: Most that may wait untaken at either end of a link, per peer [byte]. Each message
            counts 64 bytes more than it has.
        peers: Most peers connected at a time.
        patience: Time in which a new connection must prove that it has the key [s].
        linger: Time that closing spends on handing over what was already sent [s].
    """

    message: int = 16 * 2**20
    backlog: int = 32 * 2**20
    peers: int = 64
    patience: float = 5.0
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
        """Refuses what is too large to cross.

        Args:
            size: Its length [byte].
            what: What it is, with an article.

        Raises:
            LinkError: It is larger than ``message``.
        """
        if size > self.message:
            raise LinkError(self.oversize(size, what), hint="Split it, or raise Limits.message.")

    def oversize(self, size: int, what: str) -> str:
        """The sentence that refuses what is too large."""
        return (
            f"{what} of {size} bytes is larger than the {self.message} bytes allowed on the link."
        )

    def unread(self) -> str:
        """The reason for which a peer that does not take its events is dropped."""
        return f"more than {self.backlog} bytes of events waited for this peer to take them"

    def untaken(self) -> LinkFull:
        """The error for a message that finds the session's inbox full."""
        return LinkFull(
            f"the session has not taken the {self.backlog} bytes of messages that wait already; "
            "this one was not sent.",
            hint="Send it again when the session goes on.",
        )
