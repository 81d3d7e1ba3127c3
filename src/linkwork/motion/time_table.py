"""Time table: values over time from comma-separated text, with velocities between them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linkwork.core.errors import FormatError, Origin, not_found
from linkwork.core.value_types import split_unit

#: ``name [unit]`` of a heading.
_HEADING = re.compile(r"^(?P<name>[^\[\]]+?)\s*(\[(?P<unit>[^\]]*)\])?$")
_SI = (
    "", "rad", "m", "s", "rad/s", "m/s", "rad/s²", "m/s²", "N", "N m", "N/m", "N m/rad", "N s/m",
    "N m s/rad", "kg", "Hz", "J", "W", "V", "A", "K", "T",
)  # fmt: skip
#: SI unit of each unit, and its factor.
_UNITS = {unit: (unit, 1.0) for unit in _SI} | {
    "deg": ("rad", math.pi / 180.0), "°": ("rad", math.pi / 180.0),
    "deg/s": ("rad/s", math.pi / 180.0), "°/s": ("rad/s", math.pi / 180.0),
    "mm": ("m", 1e-3), "cm": ("m", 1e-2), "ms": ("s", 1e-3), "g": ("kg", 1e-3), "hz": ("Hz", 1.0),
}  # fmt: skip
#: Upper bound of values, velocities and accelerations of a curve.
_MAX_VALUE = 1e300
#: Maximum number of rows.
MAX_ROWS = 1_000_000


class TableSpline:
    """A cubic spline through values in time, with continuous velocity and acceleration.

    At the ends the acceleration is 0. With two values it is a straight line, with one a constant;
    before the first and from the last time on it is constant.
    """

    def __init__(self, time: np.ndarray, values: np.ndarray) -> None:
        self._time, self._values = time, values
        self._bend = np.zeros_like(values)
        n = len(time)
        if n > 2:
            self._solve(n)

    @np.errstate(over="ignore", invalid="ignore")
    def _solve(self, n: int) -> None:
        """Computes the accelerations at the rows."""
        time, values = self._time, self._values
        h = np.diff(time)
        slope = np.diff(values, axis=0) / h[:, None]
        upper, middle = h[1:-1].copy(), 2.0 * (h[:-1] + h[1:])
        right = 6.0 * np.diff(slope, axis=0)
        for k in range(1, n - 2):  # tridiagonal equations
            share = h[k] / middle[k - 1]
            middle[k] -= share * upper[k - 1]
            right[k] -= share * right[k - 1]
        bend = self._bend
        bend[n - 2] = right[-1] / middle[-1]
        for k in range(n - 4, -1, -1):
            bend[k + 1] = (right[k] - upper[k] * bend[k + 2]) / middle[k]

    @property
    def finite(self) -> bool:
        """Returns whether values, velocities and accelerations are finite throughout."""
        h = np.diff(self._time)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.maximum(np.abs(self._bend[1:]), np.abs(self._bend[:-1]))
            sizes = (self._values, np.diff(self._values, axis=0) / h, largest, largest * h * h)
        return all((np.abs(each) < _MAX_VALUE).all() for each in sizes)

    def at(self, time: float) -> np.ndarray:
        """Returns values, velocities and accelerations of all columns, by row."""
        made = np.zeros((3, self._values.shape[1]))
        if time < self._time[0] or len(self._time) == 1:
            made[0] = self._values[0]
            return made
        if time >= self._time[-1]:
            made[0] = self._values[-1]
            return made
        k = int(np.searchsorted(self._time, time, side="right")) - 1
        h = self._time[k + 1] - self._time[k]
        a, b = (self._time[k + 1] - time) / h, (time - self._time[k]) / h
        one, two = self._values[k], self._values[k + 1]
        p, q = self._bend[k], self._bend[k + 1]
        made[0] = a * one + b * two + ((a**3 - a) * p + (b**3 - b) * q) * h * h / 6.0
        made[1] = (two - one) / h + ((1.0 - 3.0 * a * a) * p + (3.0 * b * b - 1.0) * q) * h / 6.0
        made[2] = a * p + b * q
        return made


class TimeTable(NamedTuple):
    """A table's columns: their names, SI units (None if not given) and curves."""

    names: list[str]
    units: list[str | None]
    curves: TableSpline


def read_time_table(
    text: str, columns: Sequence[str] = (), *, origin: Origin | None = None
) -> TimeTable:
    """Reads names and curves from a table: first the time, then a column for each name.

    The heading gives names, with the unit in brackets if it is not SI: ``time [s],elbow [deg]``.

    Args:
        text: Text of the file.
        columns: Wanted columns, in order; all if empty. Others may have any content.
        origin: Origin of the file name.

    Raises:
        FormatError: With the line and the reason.
        NameNotFound: If there is no such column.
    """

    def wrong(line: int, why: str) -> FormatError:
        return FormatError(f"line {line} of the table: {why}.", origin=origin)

    rows, lines = [], csv.reader(io.StringIO(text))
    try:
        rows = [(lines.line_num, row) for row in lines if any(row)]
    except csv.Error as error:
        raise wrong(lines.line_num, f"it cannot be read ({error})") from None
    if len(rows) < 2:
        raise FormatError(
            "the table needs a heading and at least one row of numbers.", origin=origin
        )
    if len(rows) > MAX_ROWS:
        raise FormatError(f"the table has more than {MAX_ROWS} rows.", origin=origin)
    line, heading = rows[0]
    names, units = [], []
    for cell in heading:
        found = _HEADING.match(cell.strip().removeprefix("\ufeff"))
        if found is None:
            raise wrong(line, f"{cell!r} is not a heading such as 'time [s]' or 'elbow [deg]'")
        name, unit = found["name"].strip(), found["unit"]
        if unit is None and split_unit(name)[1] != 1.0:
            plain = split_unit(name)[0]
            name, unit = plain, name[len(plain) + 1 :]
        names.append(name)
        units.append(unit or None)
    if names[0] != "time" or len(names) < 2:
        raise wrong(line, f"it must begin with time, then name what follows, not {heading[0]!r}")
    for column in columns:
        if column not in names[1:]:
            raise not_found("column", column, names[1:], origin=origin)
    wanted = [0, *(names.index(c) for c in columns)] if columns else list(range(len(names)))
    chosen = [names[k] for k in wanted]
    twice = next((name for name in chosen if names.count(name) > 1), "")
    if twice:
        raise wrong(line, f"{twice!r} is there twice")
    for k in wanted:
        if (units[k] or "") not in _UNITS:
            raise wrong(
                line,
                f"the unit {units[k]!r} of {names[k]!r} is not known, such as rad, deg, m, mm or s",
            )
    if _UNITS[units[0] or "s"][0] != "s":
        raise wrong(line, f"time is in s or ms, not in {units[0]}")
    numbers = np.zeros((len(rows) - 1, len(wanted)))
    factors = [_UNITS[units[k] or ""][1] for k in wanted]
    for n, (line, row) in enumerate(rows[1:]):
        if len(row) != len(names):
            raise wrong(line, f"it has {len(row)} cells, the heading {len(names)}")
        for c, k in enumerate(wanted):
            try:
                numbers[n, c] = float(row[k]) * factors[c]
            except ValueError:
                what = f"{row[k]!r} under {names[k]!r} is not a number"
                empty = f"the cell under {names[k]!r} is empty"
                raise wrong(line, what if row[k].strip() else empty) from None
        if not np.isfinite(numbers[n]).all():
            raise wrong(line, "all numbers must be finite")
        if n and numbers[n, 0] <= numbers[n - 1, 0]:
            raise wrong(line, "the times must rise from line to line")
    made = TableSpline(numbers[:, 0], numbers[:, 1:])
    if not made.finite:
        raise FormatError(
            "the table's values are too large, or its times too close, for finite speeds and "
            "accelerations.",
            origin=origin,
        )
    given = [None if units[k] is None else _UNITS[units[k]][0] for k in wanted[1:]]
    return TimeTable(chosen[1:], given, made)
