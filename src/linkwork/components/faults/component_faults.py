"""Component faults: stuck, offset, noisy readings or dead drives."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from linkwork.components.faults import (
    COUNT,
    MAX_SIGNALS,
    Fault,
    FaultParams,
    FaultTargets,
    Phase,
)
from linkwork.core.errors import not_found
from linkwork.core.signals import Signal
from linkwork.model.blocks import scoped_name

Finite = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]

#: Row of a faulty signal: whether the fault is applied, the true value, the false one, the one kept
#: since the fault began, and which beginning that was.
APPLIED, TRUE_VALUE, FAULTY_VALUE, FROZEN_VALUE, START_TIME = range(5)


class ReadingFaultParams(FaultParams, kw_only=True):
    """Parameters of faults of readings; one of ``sensor`` and ``signal`` is needed.

    Attributes:
        sensor: A sensor, with all its readings.
        signal: One signal of a sensor, or a sensor's signal of a port, ``can0/tilt.x``.
    """

    sensor: str = ""
    signal: str = ""


class ReadingFault(Fault):
    """Base of faults of readings, seen by programs, ports, charts and recordings.

    The true value returns at once when the fault ends. Joints themselves cannot be faulty: their
    values are not readings.
    """

    form = ReadingFaultParams
    what: ClassVar[str] = "sensor"

    @property
    def about(self) -> str:  # noqa: D102
        return self.params.sensor or self.params.signal

    def join(self, targets: FaultTargets) -> None:  # noqa: D102
        origin = self.spec.origin
        sensor, signal = self.params.sensor, self.params.signal
        if bool(sensor) == bool(signal):
            raise self.wrong("it needs one of sensor and signal.", 'For example sensor = "tilt".')
        if sensor:
            if sensor not in targets.sensors:
                raise not_found("sensor", sensor, targets.sensors, origin=origin)
            self._affected = targets.sensors[sensor]
        else:
            if signal not in targets.signals:
                raise not_found("measured signal", signal, targets.signals, origin=origin)
            self._affected = [targets.signals[signal]]
        if len(self._affected) > MAX_SIGNALS:
            raise self.wrong(
                f"{sensor!r} reads {len(self._affected)} signals, more than {MAX_SIGNALS}.",
                "Name them one by one: signal = …",
            )

    def value(self, number: int, true: float, kept: float) -> float:
        """Returns the value that replaces the true one.

        Args:
            number: Index of the signal.
            true: The true value.
            kept: The true value when the fault began.
        """
        raise NotImplementedError

    def apply(self, phase: Phase) -> None:  # noqa: D102
        if not self.active:
            return
        data = self.state.data
        for number, (signal, where) in enumerate(self._affected):
            if where is not phase:
                continue
            row, true = self.rows[number], float(data[signal.address])
            if row[START_TIME] != self._clock[COUNT]:
                row[FROZEN_VALUE], row[START_TIME] = true, self._clock[COUNT]
            false = _within(signal, self.value(number, true, float(row[FROZEN_VALUE])))
            row[APPLIED], row[TRUE_VALUE], row[FAULTY_VALUE] = 1.0, true, false
            data[signal.address] = false

    def revert(self, phase: Phase) -> None:  # noqa: D102
        data = self.state.data
        for (signal, where), row in zip(self._affected, self.rows, strict=False):
            if where is phase and row[APPLIED] and self.owns_memory:
                if data[signal.address] == row[FAULTY_VALUE]:  # otherwise it was written again
                    data[signal.address] = row[TRUE_VALUE]
                row[APPLIED] = 0.0

    def stale(self, phase: Phase) -> bool:  # noqa: D102
        return any(
            where is phase and bool(row[APPLIED]) != self.active
            for (_, where), row in zip(self._affected, self.rows, strict=False)
        )


def _within(signal: Signal, value: float) -> float:
    return min(max(value, signal.lo), signal.hi)


class StuckParams(ReadingFaultParams, kw_only=True):
    """Parameters of ``StuckReading``.

    Attributes:
        value: Value at which it is stuck [the reading's unit]; that at the beginning of the fault
            if absent.
    """

    value: Finite | None = None


class StuckReading(ReadingFault):
    """A reading that no longer changes."""

    type: ClassVar[str] = "stuck"
    form = StuckParams

    def value(self, number: int, true: float, kept: float) -> float:  # noqa: D102
        return kept if self.params.value is None else self.params.value


class OffsetParams(ReadingFaultParams, kw_only=True):
    """Parameters of ``OffsetReading``.

    Attributes:
        by: Offset added to the reading [its unit].
    """

    by: Finite


class OffsetReading(ReadingFault):
    """A reading with an offset."""

    type: ClassVar[str] = "offset"
    form = OffsetParams

    def value(self, number: int, true: float, kept: float) -> float:  # noqa: D102
        return true + self.params.by


class NoiseParams(ReadingFaultParams, kw_only=True):
    """Parameters of ``NoisyReading``.

    Attributes:
        deviation: Standard deviation of the noise in each step [the reading's unit].
    """

    deviation: Annotated[float, msgspec.Meta(ge=0.0, le=1e12)]


class NoisyReading(ReadingFault):
    """A reading with additional noise."""

    type: ClassVar[str] = "noise"
    form = NoiseParams

    def value(self, number: int, true: float, kept: float) -> float:  # noqa: D102
        return true + self.chance.normal(0.0, self.params.deviation)


class DeadDriveParams(FaultParams, kw_only=True):
    """Parameters of ``DeadDrive``.

    Attributes:
        joint: The joint of the drive, or ``joint.dof``.
    """

    joint: str


class DeadDrive(Fault):
    """A drive without torque; its target still changes.

    If Kinematic moves the joint there is no effort; the joint does not move then.
    """

    type: ClassVar[str] = "dead"
    form = DeadDriveParams
    what: ClassVar[str] = "joint"

    def join(self, targets: FaultTargets) -> None:  # noqa: D102
        origin = self.spec.origin
        dofs = self.world.dofs(scoped_name(self.spec, self.params.joint), origin=origin)
        self._driven_dofs = [d for d in dofs if d in targets.driven and d not in targets.prescribed]
        self._still = [d for d in dofs if d in targets.prescribed]
        if not self._driven_dofs and not self._still:
            raise self.wrong(
                f"joint {self.params.joint!r} has no drive that could fail.",
                "Name a joint with a drive or an actuator.",
            )

    def apply(self, phase: Phase) -> None:  # noqa: D102
        if phase is not Phase.MOVE or not self.active:
            return
        state = self.state
        state.drive[:, self._driven_dofs] = 0.0
        for row, dof in zip(self.rows, self._still, strict=False):
            row[:2] = 1.0, state.target_speed[dof]
            state.target_speed[dof] = 0.0

    def revert(self, phase: Phase) -> None:  # noqa: D102
        if phase is not Phase.MOVE or not self.owns_memory:
            return
        for row, dof in zip(self.rows, self._still, strict=False):
            if row[0]:
                self.state.target_speed[dof] = row[1]
                row[:2] = 0.0
