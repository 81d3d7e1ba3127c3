"""Timers: calls at later steps; when they are due is kept in the state."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from linkwork.errors import SessionError

Call = Callable[[], object]

#: Calls remembered after their timer ended, for a session that goes back to an earlier state.
REMEMBERED = 1024


class Timer:
    """A timer that was set; :meth:`stop` ends it."""

    def __init__(self, timers: Timers, number: int) -> None:
        self._timers, self._number = timers, number

    @property
    def running(self) -> bool:
        """Whether it will call (again)."""
        return self._timers.row(self._number) is not None

    def stop(self) -> None:
        """Ends it; ending it twice does no harm."""
        row = self._timers.row(self._number)
        if row is not None:
            row[:] = 0


class Timers:
    """The timers of one program.

    Args:
        table: In the state, one row each (n×3, int64): step at which it is due (0 for a free
            row), its number, its period in steps (0 for once).
        count: In the state (1, int64): how many were set so far.
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
        """Sets a timer for step ``due`` and, if ``period`` is not 0, every so many steps after.

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
        if len(self._calls) > 2 * REMEMBERED:
            self._prune(number)
        return Timer(self, number)

    def _prune(self, newest: int) -> None:
        active = set(self._table[:, 1].tolist())
        oldest = newest - REMEMBERED
        self._calls = {n: call for n, call in self._calls.items() if n > oldest or n in active}

    def row(self, number: int) -> np.ndarray | None:
        """The row of a timer that is set."""
        found = np.flatnonzero((self._table[:, 1] == number) & (self._table[:, 0] > 0))
        return self._table[found[0]] if len(found) else None

    def due(self, step: int) -> Iterator[Call]:
        """Calls that are due at ``step``, earliest first, then in the order they were set."""
        if not self._calls:
            return
        due = self._table[:, 0]
        if not ((due > 0) & (due <= step)).any():
            return
        ready = sorted((when, n) for when, n, _ in self._table.tolist() if 0 < when <= step)
        for when, number in ready:
            row = self.row(number)
            if row is None:  # a call before this one stopped it
                continue
            period = int(row[2])
            if period:
                row[0] = max(when + period, step + 1)
            else:
                row[:] = 0
            call = self._calls.get(number)
            if call is not None:
                yield call
