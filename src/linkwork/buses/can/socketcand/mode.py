"""What the modes of a socketcand connection share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from linkwork.buses.can.frame import Frame
from linkwork.buses.can.node import Node


class Mode(Protocol):
    """One mode of a connection: it understands commands and hears frames."""

    def command(self, name: str, words: list[str]) -> bool:
        """Carries out a command; False where the mode has no such command.

        Raises:
            CanError: The command is wrong; the text goes to the client.
        """
        ...

    def wants(self, frame: Frame) -> bool:
        """Whether a frame is for the client at all."""
        ...

    def hear(self, frame: Frame) -> bool | None:
        """Takes a frame that it wants, or an error frame; False where it was lost."""
        ...

    def close(self) -> None:
        """Leaves the mode: timers and jobs end."""
        ...


Write = Callable[[bytes], bool]


class Silent:
    """A mode that hears nothing; base of those that do not show frames."""

    def __init__(self, node: Node, write: Write) -> None:
        self.node = node
        self.write = write

    def command(self, name: str, words: list[str]) -> bool:
        """See :class:`Mode`."""
        return False

    def wants(self, frame: Frame) -> bool:
        """See :class:`Mode`."""
        return False

    def hear(self, frame: Frame) -> bool | None:
        """See :class:`Mode`."""
        return None

    def close(self) -> None:
        """See :class:`Mode`."""
