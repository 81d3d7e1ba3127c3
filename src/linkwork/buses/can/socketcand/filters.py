"""Which frames of one identifier reach a client: all, or those whose masked content changed."""

from __future__ import annotations

import asyncio

from linkwork.buses.can.frame import Frame
from linkwork.buses.can.node import Node
from linkwork.buses.can.socketcand.mode import Write
from linkwork.buses.can.socketcand.text import frame_text


class ContentFilter:
    """Passes frames on as the kernel's broadcast manager does, throttled to an interval.

    Without a mask every frame passes. With one mask a frame passes when a bit under the mask
    differs from the last frame that passed. With several, the first says which bits are the
    multiplex identifier; each other one holds such an identifier and, in the remaining bits, the
    mask for frames of that kind.

    Within the interval after a frame was written, only the newest of each kind is kept; it is
    written when the interval has passed.

    Args:
        node: The client's node.
        write: Writes to the client.
        throttle: Shortest time between two writes [s]; 0 for none.
        masks: None, one, or the multiplex mask and its tuples, 8 bytes each.
    """

    def __init__(self, node: Node, write: Write, throttle: float, masks: list[bytes]) -> None:
        self._node = node
        self._write = write
        self._throttle = throttle
        self._masks = [int.from_bytes(mask, "big") for mask in masks]
        self._last: dict[int, int] = {}
        self._waiting: dict[int, Frame] = {}
        self._timer: asyncio.TimerHandle | None = None

    def hear(self, frame: Frame) -> bool | None:
        """Takes a frame of the identifier."""
        content = int.from_bytes(frame.data.ljust(8, b"\0"), "big")
        kind = self._kind(content)
        if kind is None:
            return None
        if self._masks:
            masked = content & self._masks[kind]
            if self._last.get(kind) == masked:
                return None
            self._last[kind] = masked
        if not self._throttle:
            return self._write(frame_text(frame))
        if self._timer is not None:
            self._waiting[kind] = frame
            return None
        self._rest()
        return self._write(frame_text(frame))

    def close(self) -> None:
        """Ends the throttle's timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _kind(self, content: int) -> int | None:
        masks = self._masks
        if len(masks) < 2:
            return 0
        selector = masks[0]
        for number in range(1, len(masks)):
            if content & selector == masks[number] & selector:
                return number
        return None

    def _rest(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._throttle, self._flush)

    def _flush(self) -> None:
        self._timer = None
        waiting, self._waiting = self._waiting, {}
        if waiting:
            self._rest()
        for frame in waiting.values():
            if not self._write(frame_text(frame)):
                self._node.count.lost += 1
