"""Faults of what is measured: a reading that is stuck, off or noisy."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from linkwork.errors import not_found
from linkwork.faults.fault import COUNT, ROWS, Fault, FaultParams, Phase, Targets
from linkwork.signals import Signal

Finite = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]

#: A struck signal's row: whether it is struck now, the true value, the false one, the one kept
#: since the fault began, and which beginning that was.
STRUCK, TRUE, FALSE, KEPT, SINCE = range(5)


class ReadingFaultParams(FaultParams, kw_only=True):
    """Parameters of faults of readings; one of ``sensor`` and ``signal`` is needed.

    Attributes:
        sensor: A sensor, with all it reads.
        signal: One signal of a sensor, or a sensor's signal of a port, ``can0/tilt.x``.
    """

    sensor: str = ""
    signal: str = ""


class ReadingFault(Fault):
    """Base of faults that everybody sees who reads: programs, ports, charts and recordings.

    The true value comes back at once when the fault ends. Joints themselves cannot be struck: what
    they do is no reading.
    """

    form = ReadingFaultParams
    what: ClassVar[str] = "sensor"

    @property
    def about(self) -> str:  # noqa: D102
        return self.params.sensor or self.params.signal

    def join(self, targets: Targets) -> None:  # noqa: D102
        origin = self.spec.origin
        sensor, signal = self.params.sensor, self.params.signal
        if bool(sensor) == bool(signal):
            raise self.wrong("it needs one of sensor and signal.", 'For example sensor = "tilt".')
        if sensor:
            if sensor not in targets.sensors:
                raise not_found("sensor", sensor, targets.sensors, origin=origin)
            self._struck = targets.sensors[sensor]
        else:
            if signal not in targets.signals:
                raise not_found("measured signal", signal, targets.signals, origin=origin)
            self._struck = [targets.signals[signal]]
        if len(self._struck) > ROWS:
            raise self.wrong(
                f"{sensor!r} reads {len(self._struck)} signals, more than {ROWS}.",
                "Name them one by one: signal = …",
            )

    def value(self, number: int, true: float, kept: float) -> float:
        """What is read in place of the true value.

        Args:
            number: Of the signal.
            true: What would be read.
            kept: What would have been read when the fault began.
        """
        raise NotImplementedError

    def strike(self, phase: Phase) -> None:  # noqa: D102
        if not self.active:
            return
        data = self.state.data
        for number, (signal, where) in enumerate(self._struck):
            if where is not phase:
                continue
            row, true = self.rows[number], float(data[signal.address])
            if row[SINCE] != self._clock[COUNT]:
                row[KEPT], row[SINCE] = true, self._clock[COUNT]
            false = _within(signal, self.value(number, true, float(row[KEPT])))
            row[STRUCK], row[TRUE], row[FALSE] = 1.0, true, false
            data[signal.address] = false

    def lift(self, phase: Phase) -> None:  # noqa: D102
        data = self.state.data
        for (signal, where), row in zip(self._struck, self.rows, strict=False):
            if where is phase and row[STRUCK] and self.mine:
                if data[signal.address] == row[FALSE]:  # else it was written anew meanwhile
                    data[signal.address] = row[TRUE]
                row[STRUCK] = 0.0

    def stale(self, phase: Phase) -> bool:  # noqa: D102
        return any(
            where is phase and bool(row[STRUCK]) != self.active
            for (_, where), row in zip(self._struck, self.rows, strict=False)
        )


def _within(signal: Signal, value: float) -> float:
    return min(max(value, signal.lo), signal.hi)


class StuckParams(ReadingFaultParams, kw_only=True):
    """Parameters of ``Stuck``.

    Attributes:
        value: Where it is stuck [the reading's unit]; where it was when the fault began if absent.
    """

    value: Finite | None = None


class Stuck(ReadingFault):
    """A reading that no longer changes."""

    type: ClassVar[str] = "stuck"
    form = StuckParams

    def value(self, number: int, true: float, kept: float) -> float:  # noqa: D102
        return kept if self.params.value is None else self.params.value


class OffsetParams(ReadingFaultParams, kw_only=True):
    """Parameters of ``Offset``.

    Attributes:
        by: Added to the reading [its unit].
    """

    by: Finite


class Offset(ReadingFault):
    """A reading that is off by so much."""

    type: ClassVar[str] = "offset"
    form = OffsetParams

    def value(self, number: int, true: float, kept: float) -> float:  # noqa: D102
        return true + self.params.by


class NoiseParams(ReadingFaultParams, kw_only=True):
    """Parameters of ``Noise``.

    Attributes:
        deviation: Standard deviation of what is added in each step [the reading's unit].
    """

    deviation: Annotated[float, msgspec.Meta(ge=0.0, le=1e12)]


class Noise(ReadingFault):
    """A reading with more noise than it should have."""

    type: ClassVar[str] = "noise"
    form = NoiseParams

    def value(self, number: int, true: float, kept: float) -> float:  # noqa: D102
        return true + self.chance.normal(0.0, self.params.deviation)
