"""Prescriptions: agents that also know the derivatives of the values they set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from linkwork.components.agents import Agent, AgentContext
from linkwork.components.agents.lookup import (
    AmbiguousName,
    dof_signal,
    find_dof,
    find_name,
    find_scope,
)
from linkwork.components.agents.program_source import ProgramFile
from linkwork.core.errors import FormatError, LinkworkError, NameNotFound, SignalError
from linkwork.core.signals import Signal
from linkwork.core.value_types import NonNegative
from linkwork.model.blocks import read_params
from linkwork.model.parts import Spec
from linkwork.model.world import World
from linkwork.motion.formula import Formula
from linkwork.motion.time_table import read_time_table

#: Suffixes of a joint's value, or of its target.
_VALUE_SUFFIXES = ("angle", "position", "target")


@dataclass(frozen=True)
class PrescribedSignal:
    """A signal to set, and the degree of freedom whose target it is (−1 for none)."""

    signal: Signal
    dof: int = -1


class Prescription(Agent):
    """Base of agents that set targets with their speeds and accelerations.

    Values set in a step are those of its end, at the time t + h. Before the first step, engines
    that follow exactly move joints to the motion at t = 0.

    Args:
        world: The compiled scene.
        spec: The agent's spec.
        name: Prefix of its fields in the state.
        scope: Part in which names are looked up first.
        start: Start time [s].
    """

    def __init__(self, world: World, spec: Spec, name: str, scope: str, start: float = 0.0) -> None:
        super().__init__(world, spec, name)
        self._start = start
        self._placing = False
        self.what = f"{spec.type} {spec.name!r}"
        self._scope = scope

    def refused(self, error: LinkworkError) -> LinkworkError:
        """The same error with the agent's name and origin."""
        kind = FormatError if type(error) is LinkworkError else type(error)
        made = kind(
            f"{self.what}: {error.message}", origin=error.origin or self.spec.origin,
            hint=error.hint,
        )  # fmt: skip
        return made

    @property
    def next_time(self) -> float:
        """The time at the end of this step [s]; at the start, before the first, that time."""
        h = self.world.scene.step
        return (round(self.context.time / h) + (0 if self._placing else 1)) * h

    @property
    def elapsed(self) -> float:
        """The time from its start to the end of this step [s]; negative before."""
        passed = self.next_time - self._start
        return 0.0 if abs(passed) < 1e-6 * self.world.scene.step else passed

    def place_start(self) -> None:
        """Prescribes the motion at t = 0."""
        self._placing = True
        try:
            self.decide(0)
        finally:
            self._placing = False

    def find_signals(
        self, context: AgentContext, names: Sequence[str], units: Sequence[str | None] = ()
    ) -> list[PrescribedSignal]:
        """Resolves names, and checks that no two refer to the same signal.

        Args:
            context: The session.
            names: Names of joints or signals.
            units: SI units of their values; None if they are assumed to be the signal's.

        Raises:
            LinkworkError: If a name does not refer to a settable signal, or has another unit.
        """
        made, known = [], dict[str, str]()
        for n, name in enumerate(names):
            prescribed = self.find_signal(context, name)
            signal, unit = prescribed.signal, units[n] if units else None
            if signal.name in known:
                raise FormatError(
                    f"{self.what}: {known[signal.name]!r} and {name!r} both set {signal.name!r}.",
                    origin=self.spec.origin, hint="Leave one of them out.",
                )  # fmt: skip
            if unit is not None and unit != signal.unit:
                has = f"in {signal.unit}" if signal.unit else "without a unit"
                raise FormatError(
                    f"{self.what}: {name!r} is given in {unit or 'no unit'}; "
                    f"{signal.name!r} is {has}.",
                    origin=self.spec.origin,
                )  # fmt: skip
            known[signal.name] = name
            made.append(prescribed)
        return made

    def find_signal(self, context: AgentContext, name: str) -> PrescribedSignal:
        """Resolves a name: a joint (its target), its value as tables name it, or a signal.

        Raises:
            NameNotFound: If there is no such name.
            SignalError: If it cannot be set.
        """
        spec, world = self.spec, self.world
        base, _, last = name.rpartition(".")
        several: AmbiguousName | None = None
        for joint in (base, name) if last in _VALUE_SUFFIXES else (name,):
            try:
                dof = find_dof(world, joint, scope=self._scope, origin=spec.origin)
            except AmbiguousName as error:
                several = several or error
                continue
            except NameNotFound:
                continue
            return self.joint_signal(context, dof)
        names = {signal.name: None for signal in context.signals}
        try:
            full = find_name("signal", name, names, scope=self._scope, origin=spec.origin)
        except NameNotFound:
            if several is not None:
                raise several from None
            raise
        if context.signals[full].direction == "output":
            raise SignalError(
                f"{self.what}: signal {full!r} is measured; it cannot be set.", origin=spec.origin
            )
        return PrescribedSignal(context.signals[full])

    def joint_signal(self, context: AgentContext, dof: int) -> PrescribedSignal:
        """The target of a joint.

        Raises:
            NameNotFound: If it has no target.
        """
        name = dof_signal(self.world, context.signals, dof, "target", origin=self.spec.origin)
        return PrescribedSignal(context.signals[name], dof)

    def write_course(
        self, prescribed: PrescribedSignal, course: Sequence[float], *, known: bool = True
    ) -> None:
        """Sets a value, with its speed and acceleration if they are known."""
        context, signal, dof = self.context, prescribed.signal, prescribed.dof
        value = written = float(course[0])
        known = known and dof >= 0
        if (known and context.follows_exactly(dof)) or self._near(value, signal):
            written = min(max(value, signal.lo), signal.hi)  # the engine follows ``value``
        owner = context.signals.owners.get(signal.name, self.spec.name)
        if not self._placing:
            context.write(signal.name, written, self.spec.name)
            owner = context.signals.owners.get(signal.name)
        if known and owner == self.spec.name:
            context.state.lead[:, dof] = 1.0, course[1], course[2], value

    @staticmethod
    def _near(value: float, signal: Signal) -> bool:
        """Whether a value is within the range up to rounding."""
        return signal.lo - 1e-12 <= value <= signal.hi + 1e-12


class FormulaPlayerParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``FormulaPlayer``.

    Attributes:
        formulas: Formula of the time t [s] by joint or signal, in SI units:
            ``{ "robot/right_knee" = "-0.5 + 0.3*sin(2*pi*t)" }``.
        on: Part in which the names are looked up first.
        start: Start time [s], which is its t = 0; until then it sets nothing.
    """

    formulas: dict[str, str]
    on: str = ""
    start: NonNegative = 0.0


class FormulaPlayer(Prescription):
    """Sets joints' targets and other inputs to formulas of time.

    Speeds and accelerations are the formulas' derivatives, so that in the modes ``kinematic`` and
    ``emulation`` joints have them exactly, and servos receive the speed of their target.
    """

    type: ClassVar[str] = "formula"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, FormulaPlayerParams)
        super().__init__(world, spec, name, find_scope(world, spec, params.on), params.start)
        if not params.formulas:
            raise FormatError(f"{self.what}: it needs at least one formula.", origin=spec.origin)
        self._formulas: dict[str, Formula] = {}
        for target, text in params.formulas.items():
            try:
                formula = self._formulas[target] = Formula(text, origin=spec.at("formulas"))
                formula.at(0.0)
            except FormatError as error:
                raise self.refused(error) from None

    def start(self, context: AgentContext) -> None:
        """Resolves the signals to set.

        Raises:
            LinkworkError: If a name does not refer to a settable signal.
        """
        super().start(context)
        signals_set = self.find_signals(context, list(self._formulas))
        self._signals_set = list(zip(signals_set, self._formulas.values(), strict=True))

    def decide(self, step: int) -> None:
        """Sets the values at the end of this step."""
        time = self.elapsed
        if time < 0.0:
            return
        for prescribed, formula in self._signals_set:
            try:
                made = formula.at(time)
            except FormatError as error:
                raise self.refused(error) from None
            self.write_course(prescribed, (made.value, made.speed, made.change))


class TablePlayerParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``TablePlayer``.

    Attributes:
        file: A file of comma-separated values, relative to the file that names it. Its heading
            begins with ``time`` and names joints or signals, with the unit if it is not SI: ``time
            [s],elbow [deg]``.
        columns: The columns to play; all if absent. The others may contain anything.
        on: Part in which the names are looked up first.
        start: Start time [s].
    """

    file: str
    columns: list[str] = []
    on: str = ""
    start: NonNegative = 0.0


class TablePlayer(Prescription):
    """Sets joints' targets and other inputs to the values of a table, smoothly interpolated.

    Speeds and accelerations are those of the interpolation (cubic splines). Output of ``linkwork
    run --csv`` and ``--tables`` can be played: a joint's ``angle`` or ``position`` becomes its
    target; ``columns`` selects them, since measured values cannot be set.
    """

    type: ClassVar[str] = "table"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, TablePlayerParams)
        super().__init__(world, spec, name, find_scope(world, spec, params.on), params.start)
        text = ProgramFile(params.file, spec.name, spec.origin).read()
        try:
            self._table = read_time_table(text, params.columns, origin=spec.at("file"))
        except LinkworkError as error:
            raise self.refused(error) from None

    def start(self, context: AgentContext) -> None:
        """Resolves the signals to set.

        Raises:
            LinkworkError: If a column does not refer to a settable signal.
        """
        super().start(context)
        table = self._table
        self._signals_set = self.find_signals(context, table.names, table.units)

    def decide(self, step: int) -> None:
        """Sets the values at the end of this step."""
        time = self.elapsed
        if time < 0.0:
            return
        made = self._table.curves.at(time)
        for k, prescribed in enumerate(self._signals_set):
            self.write_course(prescribed, made[:, k].tolist())
