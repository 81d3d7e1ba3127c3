"""Partners: what a session asks of those who serve its buses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from linkwork.session.messages import Message


class Partners(Protocol):
    """The processes of a session's buses. Only :meth:`wait` and :meth:`meet` may take time."""

    def __getitem__(self, bus: str, /) -> Any:
        """The process of a bus."""
        ...

    def meet(self, *, wait: bool = False) -> None:
        """Starts, tells or ends processes, as the scene has its buses now.

        Args:
            wait: Whether to wait until those that were started serve.
        """
        ...

    def unserved(self) -> dict[str, str]:
        """Why buses cannot be served, by their names."""
        ...

    def recall(self) -> None:
        """Says anew who is connected, after the session went back in time."""
        ...

    def receive(self) -> list[Message]:
        """Takes what the buses say, and starts anew what has ended."""
        ...

    def give_out(self) -> None:
        """Hands the values after a step to the buses."""
        ...

    def lagging(self) -> bool:
        """Whether a partner in lock-step has not had its turn; it is asked for it."""
        ...

    def wait(self, timeout: float) -> None:
        """Sleeps until a bus says something, at most ``timeout`` [s]."""
        ...

    def order(self, bus: str, name: str, args: Mapping[str, object]) -> None:
        """Tells a bus's process something."""
        ...

    def close(self) -> None:
        """Ends the processes."""
        ...
