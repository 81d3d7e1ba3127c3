"""Measured: a log of a real machine, columns over time, from comma-separated values."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwork.errors import FormatError, Origin, not_found

_HEADING = re.compile(r"\s*(.*?)\s*(?:\[(.*)\])?\s*\Z")
_UNITS = {"deg": math.pi / 180.0, "°": math.pi / 180.0, "deg/s": math.pi / 180.0, "ms": 1e-3}
_ANGLES = ("angle", "position", "actual", "measured")
_TARGETS = ("target", "reference", "wanted", "goal")


@dataclass(frozen=True)
class Measured:
    """A log.

    Attributes:
        file: Where it came from.
        time: Of each row [s], rising.
        columns: The other columns by name, in SI units.
    """

    file: Path
    time: np.ndarray
    columns: dict[str, np.ndarray]

    def column(self, given: str, words: tuple[str, ...]) -> np.ndarray | None:
        """The column called ``given``, or the first whose last word is one of ``words``.

        Raises:
            NameNotFound: If there is none called ``given``.
        """
        if given:
            if given not in self.columns:
                raise not_found("column", given, self.columns, origin=Origin(str(self.file), 1))
            return self.columns[given]
        for name, values in self.columns.items():
            if re.split(r"[./ ]", name)[-1].lower() in words:
                return values
        return None

    def angle(self, given: str = "") -> np.ndarray:
        """What was measured [rad].

        Raises:
            FormatError: If no column is an angle.
        """
        found = self.column(given, _ANGLES)
        if found is None:
            raise FormatError(
                f"no column is called {', '.join(_ANGLES)}; there are {', '.join(self.columns)}.",
                origin=Origin(str(self.file), 1),
                hint="Name the one that was measured with --angle.",
            )
        return found

    def target(self, given: str = "") -> np.ndarray | None:
        """What was wanted [rad], if a column says it."""
        return self.column(given, _TARGETS)


def read_measured(file: Path) -> Measured:
    """Reads a log: a heading with units in brackets, ``angle [deg]``, and numbers.

    Lines that begin with # are remarks. The time's column is called ``time`` or ``t``.

    Raises:
        FormatError: Naming the line and what is wrong with it.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise FormatError(f"{file}: {getattr(error, 'strerror', None) or error}.") from None
    rows = [(n, row) for n, row in enumerate(csv.reader(lines), 1)
            if row and not row[0].lstrip().startswith("#")]  # fmt: skip
    if len(rows) < 3:
        raise FormatError(f"{file}: a log needs a heading and at least two rows.")
    names, scales = _heading(rows[0][1])
    first = next((n for n, name in enumerate(names) if name.lower() in ("time", "t")), None)
    if first is None:
        raise FormatError(
            f"no column is called time; there are {', '.join(names)}.",
            origin=Origin(str(file), rows[0][0]),
        )
    table = np.array([_numbers(file, line, row, len(names)) for line, row in rows[1:]]) * scales
    time = table[:, first]
    falls = np.flatnonzero(np.diff(time) <= 0.0)
    if len(falls):
        raise FormatError(
            "the time does not rise here.", origin=Origin(str(file), rows[2 + int(falls[0])][0])
        )
    columns = {name: table[:, n] for n, name in enumerate(names) if n != first}
    return Measured(file, time, columns)


def _heading(cells: list[str]) -> tuple[list[str], np.ndarray]:
    names, scales = [], []
    for cell in cells:
        match = _HEADING.match(cell)
        name, unit = match.groups() if match else (cell, "")
        names.append(name)
        scales.append(_UNITS.get(unit or "", 1.0))
    return names, np.array(scales)


def _numbers(file: Path, line: int, row: list[str], count: int) -> list[float]:
    try:
        values = [float(cell) for cell in row]
        if len(values) == count and all(map(math.isfinite, values)):
            return values
    except ValueError:
        pass
    raise FormatError(
        f"{count} numbers are expected here, not {', '.join(row)!r}.",
        origin=Origin(str(file), line),
    )
