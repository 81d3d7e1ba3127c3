"""Table: values over time from a file of comma-separated values, with speeds between them."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np

from linkwork.errors import FormatError, Origin
from linkwork.units import split_unit

#: ``name [unit]`` of a heading.
_HEADING = re.compile(r"^(?P<name>[^\[\]]+?)\s*(\[(?P<unit>[^\]]*)\])?$")
_SI = ("", "rad", "m", "s", "rad/s", "m/s", "rad/s²", "m/s²", "N", "N m", "J", "W", "V", "A", "K")
_FACTORS = dict.fromkeys(_SI, 1.0) | {
    "deg": math.pi / 180.0, "°": math.pi / 180.0, "deg/s": math.pi / 180.0, "mm": 1e-3, "cm": 1e-2,
    "ms": 1e-3,
}  # fmt: skip
#: More rows than this are refused.
MOST_ROWS = 1_000_000


class Spline:
    """A curve through values in time whose speed and acceleration are continuous.

    A cubic piece between each two times; at the ends the acceleration is 0. With two values it is
    a straight line, with one a constant; before the first and after the last time it rests there.
    """

    def __init__(self, time: np.ndarray, values: np.ndarray) -> None:
        self._time, self._values = time, values
        self._bend = np.zeros_like(values)
        n = len(time)
        if n > 2:
            h = np.diff(time)
            slope = np.diff(values, axis=0) / h[:, None]
            upper, middle = h[1:-1].copy(), 2.0 * (h[:-1] + h[1:])
            right = 6.0 * np.diff(slope, axis=0)
            for k in range(1, n - 2):  # the equations have three diagonals
                share = h[k] / middle[k - 1]
                middle[k] -= share * upper[k - 1]
                right[k] -= share * right[k - 1]
            bend = self._bend
            bend[n - 2] = right[-1] / middle[-1]
            for k in range(n - 4, -1, -1):
                bend[k + 1] = (right[k] - upper[k] * bend[k + 2]) / middle[k]

    def at(self, time: float) -> np.ndarray:
        """Values, speeds and accelerations of all columns, by row."""
        made = np.zeros((3, self._values.shape[1]))
        if time <= self._time[0] or len(self._time) == 1:
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


def read_table(text: str, *, origin: Origin | None = None) -> tuple[list[str], Spline]:
    """Names and curves from a table: first the time, then a column for each name.

    The heading gives names, with the unit in brackets where it is not SI: ``time [s],elbow [deg]``.

    Raises:
        FormatError: Naming the line and what is wrong with it.
    """
    rows = [(n, row) for n, row in enumerate(csv.reader(io.StringIO(text)), 1) if any(row)]

    def wrong(line: int, why: str) -> FormatError:
        return FormatError(f"line {line} of the table: {why}.", origin=origin)

    if len(rows) < 2:
        raise FormatError(
            "the table needs a heading and at least one row of numbers.", origin=origin
        )
    if len(rows) > MOST_ROWS:
        raise FormatError(f"the table has more than {MOST_ROWS} rows.", origin=origin)
    line, heading = rows[0]
    names, factors = [], []
    for cell in heading:
        found = _HEADING.match(cell.strip().removeprefix("\ufeff"))
        if found is None:
            raise wrong(line, f"{cell!r} is no heading such as 'time [s]' or 'elbow [deg]'")
        name, unit = found["name"].strip(), found["unit"] or ""
        if unit not in _FACTORS:
            raise wrong(
                line, f"the unit {unit!r} of {name!r} is not known, such as rad, deg, m, mm or s"
            )
        factor = _FACTORS[unit]
        if found["unit"] is None and split_unit(name)[1] != 1.0:
            name, factor = split_unit(name)
        names.append(name)
        factors.append(factor)
    if names[0] != "time" or len(names) < 2:
        raise wrong(line, f"it must begin with time, then name what follows, not {heading[0]!r}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise wrong(line, f"{twice!r} stands there twice")
    numbers = np.zeros((len(rows) - 1, len(names)))
    for n, (line, row) in enumerate(rows[1:]):
        if len(row) != len(names):
            raise wrong(line, f"it has {len(row)} cells, the heading {len(names)}")
        for k, cell in enumerate(row):
            try:
                numbers[n, k] = float(cell) * factors[k]
            except ValueError:
                raise wrong(line, f"{cell!r} under {names[k]!r} is no number") from None
        if not np.isfinite(numbers[n]).all():
            raise wrong(line, "all numbers must be finite")
        if n and numbers[n, 0] <= numbers[n - 1, 0]:
            raise wrong(line, "the times must rise from line to line")
    return names[1:], Spline(numbers[:, 0], numbers[:, 1:])
