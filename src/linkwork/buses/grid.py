"""Grid: quantises all sensors of a bus at once."""

from __future__ import annotations

import numpy as np

from linkwork.buses.port import PortSignal


class Grid:
    """Quantises many values at once, exactly as :class:`Quant` does one."""

    def __init__(self, signals: list[PortSignal]) -> None:
        quants = [(n, s.quant) for n, s in enumerate(signals) if s.quant is not None]
        self._where: np.ndarray | slice = np.array([n for n, _ in quants], np.int64)
        self._some = bool(quants)
        if len(quants) == len(signals):
            self._where = slice(None)  # no copying about
        self._scale, self._offset, self._first, self._last = (
            np.array(column, np.float64)
            for column in (
                [q.scale for _, q in quants],
                [q.offset for _, q in quants],
                [q.code_lo for _, q in quants],
                [q.code_hi for _, q in quants],
            )
        )
        #: A quantised signal's range is its quantisation's.
        self._lo = np.array([s.lo if s.quant is None else s.quant.lo for s in signals])
        self._hi = np.array([s.hi if s.quant is None else s.quant.hi for s in signals])

    def nearest(self, values: np.ndarray) -> np.ndarray:
        """The values, in place, as the other end of the wire reads them, within their ranges."""
        np.maximum(values, self._lo, out=values)
        np.minimum(values, self._hi, out=values)
        if self._some:
            code = values[self._where] - self._offset
            code /= self._scale
            np.rint(code, out=code)
            np.maximum(code, self._first, out=code)
            np.minimum(code, self._last, out=code)
            code *= self._scale
            code += self._offset
            values[self._where] = code
        return values
