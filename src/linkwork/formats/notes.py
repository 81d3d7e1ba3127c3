"""Notes: what a conversion left out or changed, grouped so that a person can read them."""

from __future__ import annotations

from linkwork.errors import listing


class Notes:
    """Collects remarks; those that differ only in a name become one line."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, None]] = {}

    def say(self, text: str) -> None:
        """Adds a line of its own."""
        self._groups.setdefault(text, {})

    def about(self, text: str, name: str) -> None:
        """Adds ``name`` to the line that begins with ``text``."""
        self._groups.setdefault(text, {})[name] = None

    def lines(self) -> list[str]:
        """One line per remark, in the order of their first mention."""
        return [
            f"{text}: {listing(names)}." if names else text for text, names in self._groups.items()
        ]
