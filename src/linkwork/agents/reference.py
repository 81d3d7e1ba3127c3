"""Reference: base of agents that write one signal as a function of time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

from linkwork.agents.agent import Agent, Bench
from linkwork.agents.lookup import dof_signal, find_dof, find_name
from linkwork.blocks import whole_steps
from linkwork.errors import FormatError, SignalError
from linkwork.parts import Spec
from linkwork.scene.track import Course
from linkwork.signals import Signal
from linkwork.world import World


class ReferenceParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of all that write one signal.

    Attributes:
        signal: The signal to write, or
        joint: the joint whose target to write.
        period: [s], a whole multiple of the step; 0 for every step.
        ramp: Time in which the signal goes over from its first value [s]; 0 to jump.
    """

    signal: str = ""
    joint: str = ""
    period: float = 0.0
    ramp: float = 0.0


class Reference(Agent):
    """Writes ``value(t)`` to one signal.

    While ``ramp`` lasts, it writes (1 − s)·first + s·value(t), s rising evenly from 0 to 1.
    """

    def __init__(self, world: World, spec: Spec, name: str, params: ReferenceParams) -> None:
        super().__init__(world, spec, name)
        self.what = f"{spec.type} {spec.name!r}"
        self.every = whole_steps(params.period, world.scene.step, self.what, spec.origin)
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
        """Begins anew."""
        self.slot("first")[0] = 0.0
        self.slot("began")[0] = 0

    def start(self, bench: Bench) -> None:
        """Finds the signal.

        Raises:
            NameNotFound: If there is no such signal.
            SignalError: If it cannot be set, or its range does not hold all that is to come.
        """
        super().start(bench)
        given, spec, signals = self._given, self.spec, bench.signals
        if given.joint:
            dof = find_dof(self.world, given.joint, scope=spec.scope, origin=spec.origin)
            name = dof_signal(self.world, signals, dof, "target", origin=spec.origin)
        else:
            names = {signal.name: None for signal in signals}
            name = find_name("signal", given.signal, names, scope=spec.scope, origin=spec.origin)
        self.signal = settable(bench, name, self.extent(), self.what, spec)

    def decide(self, step: int) -> None:
        """Writes the value."""
        bench, ramp = self.bench, self._given.ramp
        value = self.value(bench.time)
        if ramp > 0.0:
            first, began = self.slot("first"), self.slot("began")
            if began[0] == 0:
                began[0] = step + 1
                first[0] = bench.state.data[self.signal.address]
            share = (step + 1 - began[0]) * self.world.scene.step / ramp
            if share < 1.0:
                value = first[0] + share * (value - first[0])
        bench.write(self.signal.name, float(value), self.spec.name)


def settable(bench: Bench, name: str, extent: tuple[float, float], what: str, spec: Spec) -> Signal:
    """The signal ``name``, which must take every value of ``extent``.

    Raises:
        SignalError: If it cannot be set, or its range does not hold all that is to come.
    """
    signal, (lo, hi) = bench.signals[name], extent
    if signal.direction == "output":
        raise SignalError(
            f"{what}: signal {name!r} is measured; it cannot be set.", origin=spec.origin
        )
    slack = 1e-12 * max(abs(lo), abs(hi))  # sums may miss the end of a range by a few bits
    if lo < signal.lo - slack or hi > signal.hi + slack:
        raise SignalError(
            f"{what} goes from {lo:g} to {hi:g} {signal.unit}, but signal {name!r} takes "
            f"{signal.lo:g} to {signal.hi:g}.",
            origin=spec.origin,
        )
    return signal


@dataclass(frozen=True)
class Way:
    """A signal and the way that its value takes."""

    signal: Signal
    track: Course

    @classmethod
    def of_joint(cls, agent: Agent, bench: Bench, dof: int, track: Course) -> Way:
        """The way of a joint's target.

        Raises:
            NameNotFound: If the joint has no target.
            SignalError: If its range does not hold all that is to come.
        """
        spec = agent.spec
        name = dof_signal(agent.world, bench.signals, dof, "target", origin=spec.origin)
        what = f"{spec.type} {spec.name!r}"
        return cls(settable(bench, name, track.extent(), what, spec), track)
