"""How full the bus is: bits carried over a sliding window against what the bit rate allows."""

from __future__ import annotations

from collections import deque


class LoadMeter:
    """Adds up bits in short slices of time and answers for the last window.

    Args:
        bitrate: Bit rate of the bus [bit/s].
        window: Length of the window [s].
        slices: In how many slices it moves on.
    """

    def __init__(self, bitrate: int, *, window: float = 1.0, slices: int = 20) -> None:
        self.bitrate = bitrate
        self.window = window
        self.total = 0
        self._slice = window / slices
        self._slices: deque[list[float]] = deque(maxlen=slices + 1)  # [start, bits]
        self._last: list[float] = [float("-inf"), 0.0]

    def add(self, bits: int, now: float) -> None:
        """Counts a frame that ends now."""
        self.total += bits
        self._go_back(now)
        last = self._last
        if now - last[0] < self._slice:
            last[1] += bits
        else:
            self._last = [now, bits]
            self._slices.append(self._last)

    def load(self, now: float) -> float:
        """Share of the window that was filled, 0…1; above 1 where frames came faster than the wire.

        Args:
            now: The same clock as :meth:`add` [s].
        """
        self._go_back(now)
        since = now - self.window
        bits = sum(count for start, count in self._slices if start > since)
        return bits / (self.bitrate * self.window)

    def _go_back(self, now: float) -> None:
        """Forgets what lies ahead: a scene may begin again."""
        while self._slices and self._slices[-1][0] > now:
            self._slices.pop()
            self._last = self._slices[-1] if self._slices else [float("-inf"), 0.0]
