"""Measured: a log of a real machine, columns over time, from comma-separated values."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from linkwork.errors import FormatError, Origin, not_found

_HEADING = re.compile(r"\s*(.*?)\s*(?:\[(.*)\])?\s*\Z")
_TURN = math.pi / 180.0
#: Units that are not SI: the SI unit, and how much of it they are.
_UNITS = {
    "deg": ("rad", _TURN), "°": ("rad", _TURN), "deg/s": ("rad/s", _TURN), "°/s": ("rad/s", _TURN),
    "deg/s²": ("rad/s²", _TURN), "°/s²": ("rad/s²", _TURN), "mm": ("m", 1e-3), "cm": ("m", 1e-2),
    "mm/s": ("m/s", 1e-3), "ms": ("s", 1e-3), "Nm": ("N m", 1.0), "mA": ("A", 1e-3),
}  # fmt: skip
#: Units that a name may end in, ``angle_deg``.
_ENDINGS = ("deg", "rad", "mm", "ms", "s")
#: What --unit takes, for columns that do not say theirs.
ANGLES = ("deg", "rad")
_ANGLES = ("angle", "position", "actual", "measured")
_TIMES = ("time", "t")
_TARGETS = ("target", "reference", "wanted", "goal")


@dataclass(frozen=True)
class Measured:
    """A log.

    Attributes:
        file: Where it came from.
        time: Of each row [s], rising.
        columns: The other columns by name, in SI units.
        units: Their SI units; empty where the heading says none, as written where it is not known.
        line: Of the heading.
        written: Names by how the heading writes them, ``angle_deg`` for ``angle``.
        unsaid: Unit of angles whose heading says none.
    """

    file: Path
    time: np.ndarray
    columns: dict[str, np.ndarray]
    units: dict[str, str]
    line: int = 1
    written: dict[str, str] = field(default_factory=dict)
    unsaid: str = ""

    @property
    def origin(self) -> Origin:
        """Where the heading is."""
        return Origin(str(self.file), self.line)

    def column(self, given: str, words: tuple[str, ...]) -> np.ndarray | None:
        """Angles of the column called ``given``, or the first whose last word is in ``words``.

        Raises:
            NameNotFound: If there is none called ``given``.
            FormatError: If it does not say its unit, or it is none of an angle.
        """
        given = self.written.get(given, given)
        if given and given not in self.columns:
            raise not_found("column", given, self.columns, origin=self.origin)
        for name in [given] if given else self.columns:
            if given or re.split(r"[./ ]", name)[-1].lower() in words:
                return self.of_unit(name, "rad")
        return None

    def of_unit(self, name: str, unit: str) -> np.ndarray:
        """Values of a column whose heading must say that they are of this SI unit.

        Raises:
            FormatError: If it says none, or another.
        """
        found = self.units[name]
        if not found and unit == "rad" and self.unsaid:
            return self.columns[name] * _UNITS.get(self.unsaid, ("", 1.0))[1]
        if found == unit or (not found and not unit):
            return self.columns[name]
        words = [
            word for word, (si, _) in _UNITS.items() if si == unit and not word.startswith("°")
        ]
        allowed = " or ".join([*words, unit])
        said = f"is in {found}" if found else "does not say its unit"
        least = "." if found or unit != "rad" else ", or give --unit deg."
        raise FormatError(
            f"column {name!r} {said}, and it must be in {allowed}.",
            origin=self.origin,
            hint=f"Write it into the heading: {name} [{(words or [unit])[0]}]{least}",
        )

    def angle(self, given: str = "") -> np.ndarray:
        """What was measured [rad].

        Raises:
            FormatError: If no column is an angle.
        """
        found = self.column(given, _ANGLES)
        if found is None:
            raise FormatError(
                f"no column is called {', '.join(_ANGLES)}; there are {', '.join(self.columns)}.",
                origin=self.origin,
                hint="Name the one that was measured with --angle.",
            )
        return found

    def target(self, given: str = "") -> np.ndarray | None:
        """What was wanted [rad], if a column says it."""
        return self.column(given, _TARGETS)


def read_measured(file: Path, unit: str = "") -> Measured:
    """Reads a log: a heading with units, ``angle [deg]`` or ``angle_deg``, and numbers.

    Lines that begin with # are remarks. The time's column is called ``time`` or ``t``, and is in
    seconds where it says nothing.

    Args:
        file: The log.
        unit: Of angles that do not say theirs, "deg" or "rad".

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
    names, units, scales = _heading(rows[0][1])
    first = next((n for n, name in enumerate(names) if name.lower() in _TIMES), None)
    if first is None:
        raise FormatError(
            f"no column is called time; there are {', '.join(names)}.",
            origin=Origin(str(file), rows[0][0]),
            hint="Separate columns by commas." if len(names) == 1 else "",
        )
    _check_heading(rows[0][1], names, units[first], names[first], Origin(str(file), rows[0][0]))
    table = np.array([_numbers(file, line, row, len(names)) for line, row in rows[1:]]) * scales
    time = table[:, first]
    falls = np.flatnonzero(np.diff(time) <= 0.0)
    if len(falls):
        raise FormatError(
            "the time does not rise here.", origin=Origin(str(file), rows[2 + int(falls[0])][0])
        )
    others = [n for n in range(len(names)) if n != first]
    columns = {names[n]: table[:, n] for n in others}
    written = {rows[0][1][n].strip(): names[n] for n in others}
    of = {names[n]: units[n] for n in others}
    return Measured(file, time, columns, of, rows[0][0], written, unit)


def _check_heading(
    cells: list[str], names: list[str], unit: str, time: str, origin: Origin
) -> None:
    """Refuses a time that is none, and two columns of one name."""
    if unit not in ("", "s"):
        raise FormatError(
            f"column {time!r} is in {unit}, and it must be in s or ms.",
            origin=origin,
            hint=f"Write it in seconds: {time} [s].",
        )
    for n, name in enumerate(names):
        if name in names[:n]:
            both = " and ".join(repr(cells[k].strip()) for k in (names.index(name), n))
            raise FormatError(
                f"{both} are both called {name!r}.", origin=origin, hint="Give one another name."
            )


def _heading(cells: list[str]) -> tuple[list[str], list[str], np.ndarray]:
    """Names, SI units and scales of the columns."""
    names, units, scales = [], [], []
    for cell in cells:
        match = _HEADING.match(cell)
        name, unit = match.groups() if match else (cell, "")
        head, _, tail = name.rpartition("_")
        if not unit and head and tail in _ENDINGS:
            name, unit = head, tail
        si, scale = _UNITS.get(unit or "", (unit or "", 1.0))
        names.append(name)
        units.append(si)
        scales.append(scale)
    return names, units, np.array(scales)


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
