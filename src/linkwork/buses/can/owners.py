"""Who sends which identifier: two senders of one are a mistake on a real bus."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.buses.can.frame import Frame
from linkwork.buses.can.node import Node

OWNERS_MOST = 8192  # identifiers of which the sender is remembered
DISPUTES_MOST = 64  # identifiers of which a second sender is told


class Owners:
    """Remembers the first sender of each identifier.

    Args:
        tell: Called once for each identifier that has two senders.

    Attributes:
        conflicts: Frames whose identifier another node sends, too.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.conflicts = 0
        self._tell = tell
        self._owners: dict[int, Node] = {}
        self._disputed: set[int] = set()

    def note(self, node: Node, frame: Frame) -> None:
        """A node sends a frame."""
        key = frame.id | frame.extended << 31 | frame.remote << 30
        owner = self._owners.get(key)
        if owner is node:
            return
        if owner is None:
            if len(self._owners) >= OWNERS_MOST:
                self._owners.clear()
            if node.attached:
                self._owners[key] = node
            return
        self.conflicts += 1
        if key not in self._disputed and len(self._disputed) < DISPUTES_MOST:
            self._disputed.add(key)
            self._tell(f"{node.name} and {owner.name} both send {str(frame).partition('#')[0]}.")

    def forget(self, node: Node) -> None:
        """A node has left."""
        for key in [key for key, owner in self._owners.items() if owner is node]:
            del self._owners[key]
