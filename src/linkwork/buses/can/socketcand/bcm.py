"""BCM mode: cyclic sending, and reception filtered by identifier and by change of content."""

from __future__ import annotations

from linkwork.buses.can.frame import CanError, Frame
from linkwork.buses.can.node import Node
from linkwork.buses.can.socketcand.filters import ContentFilter
from linkwork.buses.can.socketcand.jobs import Key, SendJobs
from linkwork.buses.can.socketcand.mode import Silent, Write
from linkwork.buses.can.socketcand.text import (
    frame_of,
    frame_text,
    hex_byte,
    identifier,
    interval,
    whole,
)

MOST = 1024  # filters of one client


class Bcm(Silent):
    """The broadcast manager, as the Linux kernel's, of one client."""

    def __init__(self, node: Node, write: Write) -> None:
        super().__init__(node, write)
        self._jobs = SendJobs(node)
        self._filters: dict[Key, ContentFilter] = {}

    def command(self, name: str, words: list[str]) -> bool:
        """Understands the commands for transmission and for reception."""
        command = getattr(self, f"_{name}", None) if name in _COMMANDS else None
        if command is None:
            return False
        try:
            command(words)
        except CanError as error:
            raise CanError(f"{name}: {error}") from None
        except IndexError:
            raise CanError(f"{name}: something is missing") from None
        return True

    def wants(self, frame: Frame) -> bool:
        """What is subscribed."""
        return not frame.remote and (frame.id, frame.extended) in self._filters

    def hear(self, frame: Frame) -> bool | None:
        """Gives the frame to the filter of its identifier; error frames come unasked."""
        if frame.error:
            return self.write(frame_text(frame))
        return self._filters[frame.id, frame.extended].hear(frame)

    def close(self) -> None:
        """Ends all jobs and filters."""
        self._jobs.close()
        for each in self._filters.values():
            each.close()
        self._filters.clear()

    def _send(self, words: list[str]) -> None:
        self.node.send(frame_of(words))

    def _add(self, words: list[str]) -> None:
        period = interval(words[0], words[1])
        self._jobs.add(frame_of(words[2:]), period)

    def _update(self, words: list[str]) -> None:
        if not self._jobs.update(frame_of(words)):
            raise CanError(f"there is no send job for {words[0]}")

    def _delete(self, words: list[str]) -> None:
        _only(words, 1)
        if not self._jobs.delete(identifier(words[0])):
            raise CanError(f"there is no send job for {words[0]}")

    def _filter(self, words: list[str]) -> None:
        throttle = interval(words[0], words[1])
        mask = frame_of(words[2:])
        if mask.remote:
            raise CanError(f"a mask of {mask.dlc} bytes is needed")
        self._listen((mask.id, mask.extended), throttle, [mask.data.ljust(8, b"\0")])

    def _muxfilter(self, words: list[str]) -> None:
        throttle = interval(words[0], words[1])
        key, count = identifier(words[2]), whole(words[3], 257)
        if count < 2 or len(words) != 4 + 8 * count:
            raise CanError("give 2 to 257 tuples of 8 bytes, and their number before them")
        content = bytes(hex_byte(word) for word in words[4:])
        self._listen(key, throttle, [content[8 * n : 8 * n + 8] for n in range(count)])

    def _subscribe(self, words: list[str]) -> None:
        _only(words, 3)
        self._listen(identifier(words[2]), interval(words[0], words[1]), [])

    def _unsubscribe(self, words: list[str]) -> None:
        _only(words, 1)
        chosen = self._filters.pop(identifier(words[0]), None)
        if chosen is None:
            raise CanError(f"there is no subscription for {words[0]}")
        chosen.close()

    def _listen(self, key: Key, throttle: float, masks: list[bytes]) -> None:
        old = self._filters.pop(key, None)
        if old is not None:
            old.close()
        elif len(self._filters) >= MOST:
            raise CanError(f"there are {MOST} already")
        self._filters[key] = ContentFilter(self.node, self.write, throttle, masks)


_COMMANDS = frozenset(
    ("send", "add", "update", "delete", "filter", "muxfilter", "subscribe", "unsubscribe")
)


def _only(words: list[str], count: int) -> None:
    if len(words) != count:
        raise CanError(f"{count} value{'s' if count > 1 else ''} expected, {len(words)} found")
