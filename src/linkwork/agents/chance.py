"""Chance: random numbers whose generator lives in the state."""

from __future__ import annotations

import hashlib
import math

import numpy as np

_MASK = (1 << 64) - 1


class Chance:
    """Random numbers of one program, the same in each run with the same seed.

    The generator is SplitMix64 (Steele, Lea, Flood 2014): its whole memory is one 64-bit counter.

    Args:
        counter: One int64 in the state.
    """

    def __init__(self, counter: np.ndarray) -> None:
        self._counter = counter

    def seed(self, seed: int, name: str) -> None:
        """Starts the generator from the scene's seed and the program's name."""
        digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
        self._counter[0] = int.from_bytes(digest, "little", signed=True)

    def bits(self) -> int:
        """The next 64 bits."""
        z = (int(self._counter[0]) + 0x9E3779B97F4A7C15) & _MASK
        self._counter[0] = z - (1 << 64) if z >> 63 else z
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def uniform(self, lo: float = 0.0, hi: float = 1.0) -> float:
        """A number evenly spread from ``lo`` to below ``hi``."""
        return lo + (hi - lo) * ((self.bits() >> 11) * 2.0**-53)

    def normal(self, mean: float = 0.0, deviation: float = 1.0) -> float:
        """A normally distributed number (Box and Muller)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return mean + deviation * radius * math.cos(2.0 * math.pi * self.uniform())

    def integer(self, lo: int, hi: int) -> int:
        """A whole number from ``lo`` to ``hi``, both included."""
        return lo + (self.bits() * (hi - lo + 1) >> 64)
