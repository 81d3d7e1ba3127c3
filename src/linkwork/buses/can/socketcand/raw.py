"""RAW mode: every frame of the bus goes to the client at once."""

from __future__ import annotations

import asyncio

from linkwork.buses.can.frame import Frame
from linkwork.buses.can.node import Node
from linkwork.buses.can.socketcand.mode import Silent, Write
from linkwork.buses.can.socketcand.text import frame_of, frame_text

HOLD = 0.1  # a client that is late to read expects "< ok >" alone [s]
HELD_MOST = 4096


class Raw(Silent):
    """Sends and hears everything; frames of the first moment wait, then come in order."""

    def __init__(self, node: Node, write: Write, *, hold: float = HOLD) -> None:
        super().__init__(node, write)
        self._held: list[bytes] | None = []
        self._timer = asyncio.get_running_loop().call_later(hold, self._release)

    def command(self, name: str, words: list[str]) -> bool:
        """Understands ``send``."""
        if name != "send":
            return False
        self.node.send(frame_of(words))
        return True

    def wants(self, frame: Frame) -> bool:
        """All that the protocol has a form for."""
        return not frame.remote

    def hear(self, frame: Frame) -> bool | None:
        """Writes the frame out."""
        text = frame_text(frame)
        if self._held is None:
            return self.write(text)
        if len(self._held) >= HELD_MOST:
            return False
        self._held.append(text)
        return None

    def close(self) -> None:
        """Ends the wait."""
        self._timer.cancel()
        self._held = None

    def _release(self) -> None:
        held, self._held = self._held or [], None
        for text in held:
            if not self.write(text):
                self.node.count.lost += 1
