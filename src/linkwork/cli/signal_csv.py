"""Signals over time as comma-separated values, while a session runs."""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.errors import FormatError

if TYPE_CHECKING:
    from linkwork.session.session import Session


class SignalCsv:
    """A table with a row now and every so many steps; all digits, SI units in the heading.

    Args:
        session: The session.
        path: The file, or ``-`` for standard output.
        names: Signals, a column each.
        rate: Rows a simulated second.

    Attributes:
        rows: Rows written.

    Raises:
        FormatError: If the file cannot be written.
    """

    def __init__(self, session: Session, path: Path, names: list[str], rate: float) -> None:
        self._session = session
        self._names = names
        self._path = path
        self._every = max(1, round(1.0 / (rate * session.cycle.h)))
        self.rows = 0
        try:
            to_screen = str(path) == "-"
            self._file = sys.stdout if to_screen else path.open("w", newline="", encoding="utf-8")
        except OSError as error:
            raise FormatError(f"{path} cannot be written: {error.strerror}.") from None
        self._close = not to_screen
        self._table = csv.writer(self._file, lineterminator="\n")
        units = {n: session.signals[n].unit for n in names}
        self._put(["time [s]", *(f"{n} [{units[n]}]" if units[n] else n for n in names)])
        self.row()

    def after_step(self) -> None:
        """Adds a row if one is due."""
        if self._session.state.step % self._every == 0:
            self.row()

    def row(self) -> None:
        """Adds a row; a signal that an edit has removed leaves its cell empty."""
        session = self._session
        digits = max(0, math.ceil(-math.log10(session.cycle.h)) + 3)
        values = [repr(session[n]) if n in session.signals else "" for n in self._names]
        self._put([f"{session.time:.{digits}f}", *values])
        self.rows += 1

    def _put(self, cells: list[str]) -> None:
        try:
            self._table.writerow(cells)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FormatError(f"{self._path} cannot be written: {error.strerror}.") from None

    def close(self) -> None:
        """Writes what is left, and closes the file."""
        try:
            self._file.close() if self._close else self._file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FormatError(f"{self._path} cannot be written: {error.strerror}.") from None
