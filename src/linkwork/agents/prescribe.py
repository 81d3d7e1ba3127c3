"""Prescription: an agent that knows how what it sets moves, with speeds and accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwork.agents.agent import Agent, Bench
from linkwork.agents.lookup import SeveralFound, dof_signal, find_dof, find_name
from linkwork.errors import FormatError, LinkworkError, NameNotFound, SignalError
from linkwork.parts import Spec
from linkwork.signals import Signal
from linkwork.world import World

#: What a joint's value, or its target, is called behind its name.
_ITS_VALUE = ("angle", "position", "target")


@dataclass(frozen=True)
class Way:
    """What is set: a signal, and the degree of freedom whose target it is (−1 for none)."""

    signal: Signal
    dof: int = -1


class Prescription(Agent):
    """Base of agents that set targets with their speeds and accelerations.

    What is set in a step is what is to be at its end: values are those of the time t + h.
    """

    def __init__(self, world: World, spec: Spec, name: str, scope: str) -> None:
        super().__init__(world, spec, name)
        self.what = f"{spec.type} {spec.name!r}"
        self._scope = scope

    def refused(self, error: LinkworkError) -> LinkworkError:
        """The same error, saying whose it is and where."""
        kind = FormatError if type(error) is LinkworkError else type(error)
        made = kind(
            f"{self.what}: {error.message}", origin=error.origin or self.spec.origin,
            hint=error.hint,
        )  # fmt: skip
        return made

    @property
    def next_time(self) -> float:
        """The time at the end of this step [s]."""
        return self.bench.time + self.world.scene.step

    def find_ways(
        self, bench: Bench, names: Sequence[str], units: Sequence[str | None] = ()
    ) -> list[Way]:
        """What names mean, and that no two mean the same.

        Args:
            bench: What is there.
            names: Of joints or signals.
            units: SI units their values are in; None where they are taken to be the signal's.

        Raises:
            LinkworkError: If a name means nothing that can be set, or has another unit.
        """
        made, known = [], dict[str, str]()
        for n, name in enumerate(names):
            way = self.find_way(bench, name)
            signal, unit = way.signal, units[n] if units else None
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
            made.append(way)
        return made

    def find_way(self, bench: Bench, name: str) -> Way:
        """What a name means: a joint (its target), its value as tables call it, or a signal.

        Raises:
            NameNotFound: If there is nothing of that name.
            SignalError: If it cannot be set.
        """
        spec, world = self.spec, self.world
        base, _, last = name.rpartition(".")
        several: SeveralFound | None = None
        for joint in (base, name) if last in _ITS_VALUE else (name,):
            try:
                dof = find_dof(world, joint, scope=self._scope, origin=spec.origin)
            except SeveralFound as error:
                several = several or error
                continue
            except NameNotFound:
                continue
            return self.joint_way(bench, dof)
        names = {signal.name: None for signal in bench.signals}
        try:
            full = find_name("signal", name, names, scope=self._scope, origin=spec.origin)
        except NameNotFound:
            if several is not None:
                raise several from None
            raise
        if bench.signals[full].direction == "output":
            raise SignalError(
                f"{self.what}: signal {full!r} is measured; it cannot be set.", origin=spec.origin
            )
        return Way(bench.signals[full])

    def joint_way(self, bench: Bench, dof: int) -> Way:
        """The target of a joint.

        Raises:
            NameNotFound: If it has none.
        """
        name = dof_signal(self.world, bench.signals, dof, "target", origin=self.spec.origin)
        return Way(bench.signals[name], dof)

    def put(self, way: Way, course: Sequence[float], *, known: bool = True) -> None:
        """Sets a value, and tells its speed and acceleration where they are known."""
        bench, signal = self.bench, way.signal
        value = float(course[0])
        if not signal.lo <= value <= signal.hi and self._near(value, signal):
            value = min(max(value, signal.lo), signal.hi)
        bench.write(signal.name, value, self.spec.name)
        if known and way.dof >= 0 and bench.signals.owners.get(signal.name) == self.spec.name:
            bench.state.lead[:, way.dof] = 1.0, course[1], course[2]

    @staticmethod
    def _near(value: float, signal: Signal) -> bool:
        """Whether a value is out of range by no more than rounding."""
        return signal.lo - 1e-12 <= value <= signal.hi + 1e-12
