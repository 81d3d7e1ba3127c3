"""Memory: a program's named numbers, kept in the state so that copies and replays keep them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from linkwork.errors import SessionError, not_found


class Memory:
    """Named float slots of one program.

    ``self.memory("integral", 0.0)`` makes the slot if it is new (a reload keeps its value) and
    returns what it holds; ``self.memory.integral += error`` reads and writes it.

    Args:
        values: Slots (n) in the state.
        keys: Which name each slot belongs to (n, int64): a hash of it, 0 where free.
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
        """Makes the slot ``name`` with ``initial`` if there is none; returns its value."""
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
                f"there is no room for memory slot {name!r}: a program has {len(self._keys)}.",
                hint="Names of earlier versions of the program count until the session restarts.",
            )
        slot, key = int(free[0]), _key(name)
        self._keys[slot] = key
        self._index[name] = (slot, key)
        return slot


def _key(name: str) -> int:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1
