"""People: one drives, many watch, and the wheel is handed over on request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from string import ascii_uppercase


class People:
    """Who is in the studio.

    Whoever comes while nobody drives, drives, but for who watched before the line broke: the
    driver may be on the way back. When the driver leaves, the one who asked follows; else nobody
    drives until somebody asks.

    Attributes:
        names: Everyone, in the order of coming.
        driver: Who drives, or None.
        asks: Who asks to drive, or None.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.driver: str | None = None
        self.asks: str | None = None

    def join(self, was: str = "", *, watched: bool = False) -> str:
        """Lets somebody in and returns the name given.

        Args:
            was: The name that somebody who comes back had; given again where it is free.
            watched: Whether that one watched.
        """
        free = was in _few_letters() and was not in self.names
        name = was if free else next(each for each in _letters() if each not in self.names)
        self.names.append(name)
        if self.driver is None and not watched:
            self.driver = name
        return name

    def leave(self, name: str) -> None:
        """Somebody is gone."""
        self.names.remove(name)
        if self.asks == name:
            self.asks = None
        if self.driver == name:
            self.driver, self.asks = self.asks, None

    def ask(self, name: str) -> None:
        """Somebody asks to drive; where nobody does, that one drives at once."""
        if self.driver is None:
            self.driver = name
        elif self.driver != name:
            self.asks = name

    def grant(self, to: str) -> bool:
        """Hands over to somebody, or says no to who asks by naming the driver; False if unknown."""
        if to not in self.names:
            return False
        self.driver, self.asks = to, None
        return True


def _few_letters() -> set[str]:
    """Names that may be asked for."""
    return set(islice(_letters(), 4 * len(ascii_uppercase)))


def _letters() -> Iterator[str]:
    for round_ in count(1):
        for letter in ascii_uppercase:
            yield letter if round_ == 1 else f"{letter}{round_}"
