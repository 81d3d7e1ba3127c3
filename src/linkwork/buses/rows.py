"""Rows: what a bus has on its ports, found in the scene and laid out for the cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import msgspec
import numpy as np

from linkwork.blocks import Block
from linkwork.buses.draft import Draft, drafts
from linkwork.buses.grid import Grid
from linkwork.buses.plan import adapter_of, join_port, read_bus
from linkwork.buses.port import BusPlan, Port, PortSignal
from linkwork.buses.watch import PORT_HEALTH, watched
from linkwork.errors import Origin, SceneError
from linkwork.parts import Spec
from linkwork.signals import Signal, Signals
from linkwork.state import State
from linkwork.world import World

#: Health of a bus, with units: each is a signal ``<bus>.<name>``.
HEALTH = {
    "age": "s", "misses": "", "losses": "", "feeds": "", "refused": "", "lost": "", "partners": "",
    "restarts": "",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One signal of a port, as the block holds it.

    Attributes:
        port: Its port.
        signal: The signal.
        own: The signal by which the scene shows it, ``can0/arm/elbow.target``.
        bound: The signal of the scene behind it, or None.
    """

    port: Port
    signal: PortSignal
    own: Signal
    bound: Signal | None


class BusRows(Block):
    """What a bus has: its plan, a row for each signal of its ports, and who does what with them.

    Args:
        world: The world.
        spec: The bus.
        drafts: Its ports.
        name: Of its fields in the state.

    Attributes:
        plan: The bus and its ports; complete after :meth:`join`.
        every: Control period in whole steps.
        rows: Everything on the bus, by key ``<port>.<signal>``.
        port_of: Number of the port of each row.
        wants_pause: Set where the policy on loss is to stop time.
    """

    kind: ClassVar[str] = "bus"

    def __init__(self, world: World, spec: Spec, drafts: list[Draft], name: str) -> None:
        super().__init__(world, [spec], name)
        self.spec = spec
        self.adapter = adapter_of(spec)
        self.plan: BusPlan = read_bus(world, spec)
        self.every = max(1, round(self.plan.period / world.scene.step))
        self._drafts = [draft for draft in drafts if draft.bus == spec.name]
        self._size = sum(len(draft.items) for draft in self._drafts)
        self.rows: dict[str, Row] = {}
        self.wants_pause = False

    @classmethod
    def build(cls, world: World) -> list[Self]:
        """A block for each bus of a world.

        Raises:
            LinkworkError: If a bus or a port cannot be as it is said.
        """
        names: dict[str, Spec] = {}
        agents = {spec.name: spec for spec in world.agents}
        for spec in world.buses:
            other = names.setdefault(spec.name, spec)
            if other is spec:
                other = agents.get(spec.name, spec)
            if not spec.name or spec.name == "user":
                raise SceneError(
                    f"a bus needs a name, other than {spec.name!r}.", origin=spec.origin
                )
            if other is not spec:
                raise SceneError(
                    f"a {other.kind} and a bus are named {spec.name!r}.",
                    origin=spec.origin,
                    hint=f"The other is at {other.origin}.",
                )
        ports = drafts(world, names)
        return [cls(world, spec, ports, f"bus/{spec.name}") for spec in world.buses]

    @property
    def type(self) -> str:  # type: ignore[override] - one class serves every type
        """The registered type."""
        return self.spec.type

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Values; overrides (active, value); what was fed last; what a loss put aside; health.

        Health is the bus's, and that of each port.
        """
        size = self._size
        return {
            "value": (size,),
            "override": (size, 2),
            "fed": (size, 2),
            "aside": (size, 4),
            "health": (len(HEALTH),),
            "port": (len(self._drafts), len(PORT_HEALTH)),
            "counter": (len(self.adapter.counters),),
            "int:turn": (1,),
        }

    # ---- building ----------------------------------------------------------------------------

    def join(self, signals: Signals, state: State) -> None:
        """Finds the signals behind the ports and offers the bus's own.

        Raises:
            LinkworkError: If a signal does not exist or cannot do what is asked, or the type
                cannot serve the ports.
        """
        ports = tuple(
            join_port(draft, signals, self.adapter, self.plan.params) for draft in self._drafts
        )
        plan = self.plan = msgspec.structs.replace(self.plan, ports=ports)
        self._check_commands(ports)
        for problem in self.adapter.check(plan):
            raise SceneError(f"bus {plan.name!r}: {problem}", origin=self._blamed(problem))
        self._signals_of_world = signals
        for number, (name, unit) in enumerate(HEALTH.items()):
            self._offer(signals, state, f"{plan.name}.{name}", "health", (number,), unit)
        for number, (name, unit) in enumerate(self.adapter.counters.items()):
            self._offer(signals, state, f"{plan.name}.{name}", "counter", (number,), unit)
        for port in ports:
            for signal in port.signals:
                self._add_row(signals, state, port, signal)
        self._offer_health(signals, state)
        self._tabulate()

    def _check_commands(self, ports: tuple[Port, ...]) -> None:
        """One bus commands a signal of the scene once: two values for it cannot both be done."""
        taken: dict[str, tuple[Port, Draft]] = {}
        for draft, port in zip(self._drafts, ports, strict=True):
            for behind in (s.signal for s in port.signals if s.signal and s.role == "command"):
                other, there = taken.setdefault(behind, (port, draft))
                if other is not port:
                    raise SceneError(
                        f"ports {other.name!r} and {port.name!r} of bus {self.plan.name!r} both "
                        f"command {behind!r}.",
                        origin=draft.origin,
                        hint=f"The other is at {there.origin}. Leave it to one of them.",
                    )

    def _blamed(self, problem: str) -> Origin:
        """The port whose signal a sentence begins with, else the bus."""
        word = problem.partition(" ")[0].rstrip(":")
        for draft, port in zip(self._drafts, self.plan.ports, strict=True):
            if word in (port.key(signal) for signal in port.signals):
                return draft.origin
        return self.spec.origin

    def _offer_health(self, signals: Signals, state: State) -> None:
        """Age, misses and the like of each port that can be commanded."""
        for number in watched(self.plan):
            port, draft = self.plan.ports[number], self._drafts[number]
            for place, (name, unit) in enumerate(PORT_HEALTH.items()):
                if any(signal.name == name for signal in port.signals):
                    raise SceneError(
                        f"port {port.name!r}: {name!r} is the name of its own health.",
                        origin=draft.origin,
                        hint=f"Every port has {', '.join(PORT_HEALTH)}. Name the signal otherwise.",
                    )
                full = f"{self.plan.name}/{port.name}.{name}"
                self._offer(signals, state, full, "port", (number, place), unit)

    def _offer(
        self, signals: Signals, state: State, name: str, slot: str, place: tuple[int, ...],
        unit: str,
    ) -> None:  # fmt: skip
        if name in signals:
            raise SceneError(
                f"bus {self.plan.name!r}: the scene has a signal {name!r} already.",
                origin=self.spec.origin, hint="Give the bus another name.",
            )  # fmt: skip
        signals.add(name, state.address(self.field(slot), *place), unit=unit)

    def _add_row(self, signals: Signals, state: State, port: Port, signal: PortSignal) -> None:
        name = f"{self.plan.name}/{port.key(signal)}"
        if name in signals:
            raise SceneError(
                f"the scene has a signal {name!r} already.", origin=self.spec.origin,
                hint="Give the bus or the port another name.",
            )  # fmt: skip
        measured = signal.role == "sensor" and (self.plan.plant != "virtual" or signal.signal)
        own = signals.add(
            name, state.address(self.field("value"), len(self.rows)), unit=signal.unit,
            lo=signal.lo, hi=signal.hi, direction="output" if measured else "input",
        )  # fmt: skip
        bound = signals[signal.signal] if signal.signal else None
        self.rows[port.key(signal)] = Row(port, signal, own, bound)

    def _tabulate(self) -> None:
        """Numbers of the rows by what is done with them."""
        rows, plan = list(self.rows.values()), self.plan
        self._number = {key: number for number, key in enumerate(self.rows)}
        places = {port.name: number for number, port in enumerate(plan.ports)}
        self.port_of = [places[row.port.name] for row in rows]
        self._given = [self._number[key] for key in plan.given]
        self._commands = [self.rows[key] for key in plan.given]
        moves = plan.plant != "real"
        self._applied = [
            (number, row) for number, row in enumerate(rows)
            if row.signal.role != "sensor" and row.bound is not None and moves
        ]  # fmt: skip
        from_scene = plan.closes == "virtual"
        self._sensed = np.array([
            number for number, row in enumerate(rows)
            if row.signal.role == "sensor" and row.bound is not None and from_scene
        ], np.int64)  # fmt: skip
        behind = [rows[n].bound for n in self._sensed.tolist()]
        self._behind = np.array([b.address for b in behind if b is not None], np.int64)
        self._grid = Grid([rows[n].signal for n in self._sensed.tolist()])
        #: With a real plant the scene's joints show what the hardware's sensors say.
        self._shown = self._mirrors() if plan.plant == "real" else []

    def _mirrors(self) -> list[tuple[int, Row]]:
        """Sensors of a real plant, by the command behind whose signal the scene shows them."""
        made = []
        for number, row in enumerate(self.rows.values()):
            if row.signal.role != "sensor" or row.bound is None:
                continue
            joint = row.bound.name.rpartition(".")[0]
            target = f"{joint}.target"
            signals = self._signals_of_world
            fits = target in signals and signals[target].unit == row.bound.unit
            if fits and row.bound.name.endswith((".angle", ".position")):
                made.append((number, Row(row.port, row.signal, row.own, signals[target])))
        return made
