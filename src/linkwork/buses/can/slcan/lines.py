"""Commands out of a stream of bytes: whole ones, never half of one and half of the next."""

from __future__ import annotations

from linkwork.buses.can.slcan.adapter import SlcanAdapter

LONGEST = 64  # of a command; the longest lawful one has 26 characters
TURN = 256


class Lines:
    """Feeds an adapter with the commands of a stream.

    Line feeds are ignored, for some terminals send them behind CR.
    """

    def __init__(self, adapter: SlcanAdapter) -> None:
        self._adapter = adapter
        self._skipping = False

    def consume(self, buffer: bytearray) -> bool:
        """Takes whole commands off the front of the buffer.

        Returns:
            False where it stopped early: the send queue is full, or others should run.
        """
        place, adapter = 0, self._adapter
        for _ in range(TURN):
            if adapter.node.full:
                break
            end = buffer.find(b"\r", place)
            if end < 0:
                del buffer[:place]
                if len(buffer) > LONGEST:
                    buffer.clear()
                    self._skipping = True
                return True
            line = bytes(buffer[place:end]).strip(b"\n")
            place = end + 1
            if self._skipping or len(line) > LONGEST:
                self._skipping = False
                adapter.bell()
            else:
                adapter.command(line)
        del buffer[:place]
        return False

    def begun(self, buffer: bytearray) -> bool:
        """Whether a command has begun and not ended, be it one that is too long to be kept."""
        return bool(buffer) or self._skipping

    def forget(self, buffer: bytearray) -> None:
        """Throws away a command that was begun and not finished in time."""
        if self.begun(buffer):
            buffer.clear()
            self._skipping = False
            self._adapter.node.bad("began a command and did not finish it.")
