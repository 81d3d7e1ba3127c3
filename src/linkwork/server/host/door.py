"""Door: the way into a running session at once, and the way out to its clients."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.errors import SessionError
from linkwork.server import messages as m
from linkwork.session import messages as inbox
from linkwork.session.session import Session

#: Called with a client's name (empty for all) and what it is told.
Tell = Callable[[str, m.FromServer], object]


class Door:
    """Puts messages into a session at once.

    Args:
        session: The session.

    Attributes:
        asking: Whether a message is going in now; who asked is told of a refusal.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.asking = False

    def apply(self, message: inbox.Message) -> None:
        """Puts a message in.

        Raises:
            SessionError: If it is refused; the text says why.
        """
        self.asking = True
        try:
            if not self._session.apply(inbox.checked(message)):
                raise SessionError(self._session.outbox.events[-1].text)
        finally:
            self.asking = False
