"""Reference agents: one signal as a function of time."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar, Literal

import msgspec

from linkwork.components.agents import Agent, AgentContext
from linkwork.components.agents.lookup import dof_signal, find_dof, find_name
from linkwork.core.errors import FormatError, SignalError
from linkwork.core.signals import Signal
from linkwork.model.blocks import period_in_steps, read_params
from linkwork.model.parts import Spec
from linkwork.model.scene.movement import Track
from linkwork.model.world import World


class ReferenceParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of all agents that write one signal.

    Attributes:
        signal: The signal to write, or
        joint: the joint whose target to write.
        period: Period [s], a whole multiple of the step; 0 for every step.
        ramp: Duration of the transition from the signal's first value [s]; 0 to jump.
    """

    signal: str = ""
    joint: str = ""
    period: float = 0.0
    ramp: float = 0.0


class ReferenceAgent(Agent):
    """Writes ``value(t)`` to one signal.

    During ``ramp`` it writes (1 − s)·first + s·value(t), with s rising linearly from 0 to 1.
    """

    def __init__(self, world: World, spec: Spec, name: str, params: ReferenceParams) -> None:
        super().__init__(world, spec, name)
        self.what = f"{spec.type} {spec.name!r}"
        self.every = period_in_steps(params.period, world.scene.step, self.what, spec.origin)
        if bool(params.signal) == bool(params.joint):
            self._refuse("it needs either a 'signal' or a 'joint'")
        self._check_number("ramp", params.ramp, lowest=0.0)
        self._given = params
        if params.joint:
            find_dof(world, params.joint, scope=spec.scope, origin=spec.origin)

    def _refuse(self, why: str) -> None:
        raise FormatError(f"{self.what}: {why}.", origin=self.spec.origin)

    def _check_number(self, name: str, value: float, lowest: float = -math.inf) -> None:
        if not (math.isfinite(value) and value >= lowest):
            least = f" of {lowest:g} or more" if math.isfinite(lowest) else ""
            self._refuse(f"{name} must be a finite number{least}, not {value:g}")

    def value(self, time: float) -> float:
        """The value at ``time`` [s], in the signal's unit."""
        raise NotImplementedError

    def extent(self) -> tuple[float, float]:
        """Lowest and highest value that will be written."""
        raise NotImplementedError

    def slots(self) -> dict[str, tuple[int, ...]]:
        """The signal's first value, and the step after the first one written (0 before it)."""
        return {"first": (1,), "int:began": (1,)}

    def reset(self) -> None:
        """Starts from the beginning."""
        self.slot("first")[0] = 0.0
        self.slot("began")[0] = 0

    def start(self, context: AgentContext) -> None:
        """Finds the signal.

        Raises:
            NameNotFound: If there is no such signal.
            SignalError: If it cannot be set, or the values leave its range.
        """
        super().start(context)
        given, spec, signals = self._given, self.spec, context.signals
        if given.joint:
            dof = find_dof(self.world, given.joint, scope=spec.scope, origin=spec.origin)
            name = dof_signal(self.world, signals, dof, "target", origin=spec.origin)
        else:
            names = {signal.name: None for signal in signals}
            name = find_name("signal", given.signal, names, scope=spec.scope, origin=spec.origin)
        self.signal = check_settable(context, name, self.extent(), self.what, spec)

    def decide(self, step: int) -> None:
        """Writes the value."""
        context, ramp = self.context, self._given.ramp
        value = self.value(context.time)
        if ramp > 0.0:
            first, began = self.slot("first"), self.slot("began")
            if began[0] == 0:
                began[0] = step + 1
                first[0] = context.state.data[self.signal.address]
            share = (step + 1 - began[0]) * self.world.scene.step / ramp
            if share < 1.0:
                value = first[0] + share * (value - first[0])
        context.write(self.signal.name, float(value), self.spec.name)


def check_settable(
    context: AgentContext, name: str, extent: tuple[float, float], what: str, spec: Spec
) -> Signal:
    """The signal ``name``, which must accept every value of ``extent``.

    Raises:
        SignalError: If it cannot be set, or the values leave its range.
    """
    signal, (lo, hi) = context.signals[name], extent
    if signal.direction == "output":
        raise SignalError(
            f"{what}: signal {name!r} is measured; it cannot be set.", origin=spec.origin
        )
    slack = 1e-12 * max(abs(lo), abs(hi))  # rounding may miss the end of a range by a few bits
    if lo < signal.lo - slack or hi > signal.hi + slack:
        raise SignalError(
            f"{what} goes from {lo:g} to {hi:g} {signal.unit}, but signal {name!r} takes "
            f"{signal.lo:g} to {signal.hi:g}.",
            origin=spec.origin,
        )
    return signal


class WaveParams(ReferenceParams, forbid_unknown_fields=True):
    """Parameters of ``Wave``.

    Attributes:
        shape: "sine", "square" or "triangle".
        frequency: [Hz].
        amplitude: [the signal's unit].
        offset: Mean value [the signal's unit].
        phase: [rad].
    """

    shape: Literal["sine", "square", "triangle"] = "sine"
    frequency: float = 1.0
    amplitude: float = 1.0
    offset: float = 0.0
    phase: float = 0.0


class Wave(ReferenceAgent):
    """Writes offset + amplitude·w(2π·frequency·t + phase).

    w is the sine, its sign (1 at 0), or the triangle that equals the sine at its zeros and peaks.
    """

    type: ClassVar[str] = "wave"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, WaveParams)
        super().__init__(world, spec, name, params)
        for each in ("amplitude", "offset", "phase"):
            self._check_number(each, getattr(params, each))
        self._check_number("frequency", params.frequency, lowest=0.0)
        self._params = params

    def value(self, time: float) -> float:
        """The value at ``time`` [s]."""
        p = self._params
        turns = p.frequency * time + p.phase / (2.0 * math.pi)
        return p.offset + p.amplitude * _wave(p.shape, turns - math.floor(turns))

    def extent(self) -> tuple[float, float]:
        """From one peak to the other."""
        p = self._params
        return p.offset - abs(p.amplitude), p.offset + abs(p.amplitude)


def _wave(shape: str, part: float) -> float:
    """The wave at ``part`` of its period, 0 ≤ part < 1."""
    if shape == "sine":
        return math.sin(2.0 * math.pi * part)
    if shape == "square":
        return 1.0 if part < 0.5 else -1.0
    return 1.0 - abs(4.0 * ((part + 0.25) % 1.0) - 2.0)


class SequenceParams(ReferenceParams, forbid_unknown_fields=True):
    """Parameters of ``Sequence``.

    Attributes:
        times: Increasing times [s].
        values: Value at each time [the signal's unit].
        hold: Whether to hold each value until the next time, instead of interpolating.
        smooth: Whether to interpolate with continuous speed, at rest at both ends, without
            overshoot.
        repeat: Whether to repeat after the last time, at which the first value replaces the last.
    """

    times: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    hold: bool = False
    smooth: bool = False
    repeat: bool = False


class Sequence(ReferenceAgent):
    """Writes values at times: held, or interpolated linearly or smoothly.

    Before the first time it writes the first value; after the last time the last, unless it
    repeats.
    """

    type: ClassVar[str] = "sequence"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, SequenceParams)
        super().__init__(world, spec, name, params)
        times, values = params.times, params.values
        if not times or len(times) != len(values):
            self._refuse(
                f"it needs as many values as times, not {len(values)} values at {len(times)} times"
            )
        for each in (*times, *values):
            self._check_number("each time and value", each)
        for before, after in pairwise(times):
            if after <= before:
                self._refuse(f"times must rise, but {after:g} s comes after {before:g} s")
        if params.repeat and len(times) < 2:
            self._refuse("to repeat, it needs at least two times")
        if params.hold and params.smooth:
            self._refuse("hold and smooth are both given; one is enough")
        interpolation = "hold" if params.hold else "smooth" if params.smooth else "linear"
        self._track, self._repeat = Track(times, values, interpolation), params.repeat

    def value(self, time: float) -> float:
        """The value at ``time`` [s]."""
        times = self._track.times
        if self._repeat and time >= times[-1]:
            time = times[0] + (time - times[0]) % (times[-1] - times[0])
        return self._track.value(time)

    def extent(self) -> tuple[float, float]:
        """Lowest and highest of the values."""
        return self._track.extent()
