"""State of a control program."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from linkwork.core.errors import SessionError, not_found


class ProgramMemory:
    """Named float slots of one program.

    ``self.memory("integral", 0.0)`` creates the slot if it is new (a reload keeps its value) and
    returns its value; ``self.memory.integral += error`` reads and writes it.

    Args:
        values: Slots (n) in the state.
        keys: Name of each slot (n, int64) as a hash, 0 if it is free.
    """

    __slots__ = ("_index", "_keys", "_values")
    _index: dict[str, tuple[int, int]]
    _keys: np.ndarray
    _values: np.ndarray

    def __init__(self, values: np.ndarray, keys: np.ndarray) -> None:
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_keys", keys)
        object.__setattr__(self, "_index", {})

    def __call__(self, name: str, initial: float = 0.0) -> float:
        """Creates the slot ``name`` with ``initial`` if there is none; returns its value."""
        slot = self._find(name)
        if slot is None:
            setattr(self, name, initial)
            return float(initial)
        return self._values.item(slot)

    def __getattr__(self, name: str) -> float:
        known = self._index.get(name)
        if known is not None and self._keys.item(known[0]) == known[1]:
            return self._values.item(known[0])
        if name.startswith("__"):
            raise AttributeError(name)
        slot = self._find(name)
        if slot is None:
            made = [each for each in self._index if self._find(each) is not None]
            error = not_found("memory slot", name, made)
            error.hint += f' Make it in init(): self.memory("{name}", 0.0).'
            raise error
        return self._values.item(slot)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise SessionError(f"memory slot {name!r} keeps a number, not {value!r}.") from None
        slot = self._find(name)
        self._values[self._make(name) if slot is None else slot] = number

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def _find(self, name: str) -> int | None:
        known = self._index.get(name)
        if known is not None and self._keys.item(known[0]) == known[1]:
            return known[0]
        key = _key(name)
        for slot in np.flatnonzero(self._keys == key).tolist():
            self._index[name] = (slot, key)
            return slot
        return None

    def _make(self, name: str) -> int:
        if name.startswith("_"):
            raise SessionError(f"a memory slot cannot be named {name!r}.", hint="Drop the '_'.")
        free = np.flatnonzero(self._keys == 0)
        if not len(free):
            raise SessionError(
                f"there is no free slot for memory {name!r}: a program has {len(self._keys)}.",
                hint="Names of earlier versions of the program count until the session restarts.",
            )
        slot, key = int(free[0]), _key(name)
        self._keys[slot] = key
        self._index[name] = (slot, key)
        return slot


def _key(name: str) -> int:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


Call = Callable[[], object]

#: Number of calls kept after their timer ended, for a session that restores an earlier state.
KEPT_CALLS = 1024


class Timer:
    """A timer that was set; :meth:`stop` ends it."""

    def __init__(self, timers: Timers, number: int) -> None:
        self._timers, self._number = timers, number

    @property
    def running(self) -> bool:
        """Whether it is active."""
        return self._timers.row(self._number) is not None

    def stop(self) -> None:
        """Stops it; calling it again has no effect."""
        row = self._timers.row(self._number)
        if row is not None:
            row[:] = 0


class Timers:
    """The timers of one program.

    Args:
        table: In the state, one row each (n×3, int64): step at which it is due (0 for a free
            row), its number, its period in steps (0 for once).
        count: In the state (1, int64): number of timers set so far.
    """

    def __init__(self, table: np.ndarray, count: np.ndarray) -> None:
        self._table, self._count = table, count
        self._calls: dict[int, Call] = {}

    def clear(self) -> None:
        """Ends all."""
        self._table[:] = 0
        self._count[0] = 0
        self._calls.clear()

    def add(self, call: Call, due: int, period: int) -> Timer:
        """Sets a timer for step ``due`` and, if ``period`` is not 0, every ``period`` steps after.

        Raises:
            SessionError: If all rows are taken.
        """
        free = np.flatnonzero(self._table[:, 0] == 0)
        if not len(free):
            raise SessionError(
                f"a program can have {len(self._table)} timers at once, not one more.",
                hint="Set repeating timers once, in init(), and stop those that are done.",
            )
        number = int(self._count[0]) + 1
        self._count[0] = number
        self._table[free[0]] = (due, number, period)
        self._calls[number] = call
        if len(self._calls) > 2 * KEPT_CALLS:
            self._prune(number)
        return Timer(self, number)

    def _prune(self, newest: int) -> None:
        active = set(self._table[:, 1].tolist())
        oldest = newest - KEPT_CALLS
        self._calls = {n: call for n, call in self._calls.items() if n > oldest or n in active}

    def row(self, number: int) -> np.ndarray | None:
        """The row of an active timer."""
        found = np.flatnonzero((self._table[:, 1] == number) & (self._table[:, 0] > 0))
        return self._table[found[0]] if len(found) else None

    def due(self, step: int) -> Iterator[Call]:
        """Yields the calls due at ``step``, earliest first, then in order of setting."""
        if not self._calls:
            return
        due = self._table[:, 0]
        if not ((due > 0) & (due <= step)).any():
            return
        ready = sorted((when, n) for when, n, _ in self._table.tolist() if 0 < when <= step)
        for when, number in ready:
            row = self.row(number)
            if row is None:  # an earlier call stopped it
                continue
            period = int(row[2])
            if period:
                row[0] = max(when + period, step + 1)
            else:
                row[:] = 0
            call = self._calls.get(number)
            if call is not None:
                yield call


_MASK = (1 << 64) - 1


class RandomStream:
    """Random numbers of one program, the same in each run with the same seed.

    The generator is SplitMix64 (Steele, Lea, Flood 2014): its whole memory is one 64-bit counter.

    Args:
        counter: One int64 in the state.
    """

    def __init__(self, counter: np.ndarray) -> None:
        self._counter = counter

    def seed(self, seed: int, name: str) -> None:
        """Seeds the generator with the scene's seed and the program's name."""
        digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
        self._counter[0] = int.from_bytes(digest, "little", signed=True)

    def bits(self) -> int:
        """Returns the next 64 bits."""
        z = (int(self._counter[0]) + 0x9E3779B97F4A7C15) & _MASK
        self._counter[0] = z - (1 << 64) if z >> 63 else z
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def uniform(self, lo: float = 0.0, hi: float = 1.0) -> float:
        """Returns a uniformly distributed number from ``lo`` to below ``hi``."""
        return lo + (hi - lo) * ((self.bits() >> 11) * 2.0**-53)

    def normal(self, mean: float = 0.0, deviation: float = 1.0) -> float:
        """Returns a normally distributed number (Box and Muller)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return mean + deviation * radius * math.cos(2.0 * math.pi * self.uniform())

    def integer(self, lo: int, hi: int) -> int:
        """Returns an integer from ``lo`` to ``hi``, both included."""
        return lo + (self.bits() * (hi - lo + 1) >> 64)
