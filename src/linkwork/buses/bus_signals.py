"""Table of the signals of a bus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import numpy as np

from linkwork.buses.controller_loss import PORT_HEALTH, monitored_ports
from linkwork.buses.plan_builder import adapter_of, join_port, read_bus
from linkwork.buses.port import BusPlan, Port, PortSignal
from linkwork.buses.port_spec import PortSpec, port_specs
from linkwork.core.errors import Origin, SceneError
from linkwork.core.signals import Signal, Signals
from linkwork.model.parts import Spec
from linkwork.model.world import World

Address = Callable[..., int]

#: Health of a bus, with units: each is a signal ``<bus>.<name>``.
HEALTH_COLUMNS = {
    "age": "s", "misses": "", "losses": "", "inputs": "", "refused": "", "lost": "", "clients": "",
    "restarts": "",
}  # fmt: skip
AGE, MISSES, LOSSES, INPUTS, REFUSED, LOST, CLIENTS, RESTARTS = range(len(HEALTH_COLUMNS))
#: Earlier names of bus signals, by their present names; still accepted.
OLD_NAMES = {"inputs": "feeds", "clients": "partners"}


@dataclass(frozen=True)
class PortRow:
    """One signal of a port, as the block holds it.

    Attributes:
        port: Its port.
        signal: The signal.
        own: The signal of the scene that shows it, ``can0/arm/elbow.target``.
        bound: The signal of the scene behind it, or None.
    """

    port: Port
    signal: PortSignal
    own: Signal
    bound: Signal | None


class QuantGrid:
    """Quantizes many values at once, exactly as :class:`Quant` does one."""

    def __init__(self, signals: list[PortSignal]) -> None:
        quants = [(n, s.quant) for n, s in enumerate(signals) if s.quant is not None]
        self._where: np.ndarray | slice = np.array([n for n, _ in quants], np.int64)
        self._some = bool(quants)
        if len(quants) == len(signals):
            self._where = slice(None)  # a view, not a copy
        self._scale, self._offset, self._first, self._last = (
            np.array(column, np.float64)
            for column in (
                [q.scale for _, q in quants],
                [q.offset for _, q in quants],
                [q.code_lo for _, q in quants],
                [q.code_hi for _, q in quants],
            )
        )
        # The range of a quantized signal is that of its quantization.
        self._lo = np.array([s.lo if s.quant is None else s.quant.lo for s in signals])
        self._hi = np.array([s.hi if s.quant is None else s.quant.hi for s in signals])

    def nearest(self, values: np.ndarray) -> np.ndarray:
        """Replaces values by the nearest ones that the wire can carry, within their ranges."""
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


class BusSignals:
    """The signals of a bus's ports, one row each, and which of them are applied or published.

    Args:
        world: The world.
        spec: The bus.

    Attributes:
        adapter: The registered class.
        plan: The bus and its ports; complete after :meth:`join`.
        size: Number of rows.
        rows: Every signal, by key ``<port>.<signal>``.
        number: Number of the row of each key.
        port_of: Number of the port of each row.
        applied: Commands and parameters that move signals of the scene.
        shown: With a real plant, sensors that the scene's joints follow.
        sensed: Numbers of the rows that take values of the scene.
        sources: Addresses of those values in the state.
        grid: Quantizes them.
        output_rows: Numbers of the rows of ``plan.outputs``.
        outputs: The rows of ``plan.outputs``.
    """

    def __init__(self, world: World, spec: Spec) -> None:
        self._spec = spec
        self.adapter = adapter_of(spec)
        self.plan: BusPlan = read_bus(world, spec)
        self._drafts = [port for port in port_specs(world) if port.bus == spec.name]
        self.size = sum(len(draft.items) for draft in self._drafts)
        self.rows: dict[str, PortRow] = {}

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Memory: values; overrides (active, value); last inputs; state of the loss policy; health.

        Health is that of the bus and that of each port.
        """
        return {
            "value": (self.size,),
            "override": (self.size, 2),
            "inputs": (self.size, 2),
            "saved": (self.size, 4),
            "health": (len(HEALTH_COLUMNS),),
            "port": (len(self._drafts), len(PORT_HEALTH)),
            "counter": (len(self.adapter.counters),),
            "int:turn": (1,),
        }

    # ---- building ----------------------------------------------------------------------------

    def join(self, signals: Signals, address: Address) -> None:
        """Resolves the signals behind the ports and adds the signals of the bus.

        Args:
            signals: Signals of the scene.
            address: Returns the address in the state of one number of a slot.

        Raises:
            LinkworkError: If a signal does not exist or has the wrong direction, or the adapter
                cannot serve the ports.
        """
        ports = tuple(
            join_port(draft, signals, self.adapter, self.plan.params) for draft in self._drafts
        )
        plan = self.plan = msgspec.structs.replace(self.plan, ports=ports)
        self._check_commands(ports)
        for error in self.adapter.check(plan):
            raise SceneError(
                f"bus {plan.name!r}: {error.message}", origin=self._origin_of(error.key),
                hint=error.hint,
            ) from error  # fmt: skip
        self._signals, self._address = signals, address
        for number, (name, unit) in enumerate(HEALTH_COLUMNS.items()):
            self._offer(f"{plan.name}.{name}", "health", (number,), unit)
            if name in OLD_NAMES:
                signals.alias(f"{plan.name}.{OLD_NAMES[name]}", f"{plan.name}.{name}")
        for number, (name, unit) in enumerate(self.adapter.counters.items()):
            self._offer(f"{plan.name}.{name}", "counter", (number,), unit)
        for port in ports:
            for signal in port.signals:
                self._add_row(port, signal)
        self._offer_health()
        self._tabulate()

    def _check_commands(self, ports: tuple[Port, ...]) -> None:
        """Refuses two ports that command the same signal of the scene."""
        taken: dict[str, tuple[Port, PortSpec]] = {}
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

    def _origin_of(self, key: str) -> Origin:
        """Returns the origin of the port of a signal; that of the bus if there is none."""
        for draft, port in zip(self._drafts, self.plan.ports, strict=True):
            if key in (port.key(signal) for signal in port.signals):
                return draft.origin
        return self._spec.origin

    def _offer_health(self) -> None:
        """Adds age, misses, losses and inputs of each port that can be commanded."""
        for number in monitored_ports(self.plan):
            port, draft = self.plan.ports[number], self._drafts[number]
            for place, (name, unit) in enumerate(PORT_HEALTH.items()):
                if any(signal.name == name for signal in port.signals):
                    raise SceneError(
                        f"port {port.name!r}: {name!r} is the name of its own health.",
                        origin=draft.origin,
                        hint=f"Every port has {', '.join(PORT_HEALTH)}. Name the signal otherwise.",
                    )
                full = f"{self.plan.name}/{port.name}.{name}"
                self._offer(full, "port", (number, place), unit)
                if name in OLD_NAMES:
                    old = f"{self.plan.name}/{port.name}.{OLD_NAMES[name]}"
                    if old not in self._signals:
                        self._signals.alias(old, full)

    def _offer(self, name: str, slot: str, place: tuple[int, ...], unit: str) -> None:
        if name in self._signals:
            raise SceneError(
                f"bus {self.plan.name!r}: the scene has a signal {name!r} already.",
                origin=self._spec.origin, hint="Give the bus another name.",
            )  # fmt: skip
        self._signals.add(name, self._address(slot, *place), unit=unit)

    def _add_row(self, port: Port, signal: PortSignal) -> None:
        signals = self._signals
        name = f"{self.plan.name}/{port.key(signal)}"
        if name in signals:
            raise SceneError(
                f"the scene has a signal {name!r} already.", origin=self._spec.origin,
                hint="Give the bus or the port another name.",
            )  # fmt: skip
        measured = signal.role == "sensor" and (self.plan.plant != "virtual" or signal.signal)
        own = signals.add(
            name, self._address("value", len(self.rows)), unit=signal.unit,
            lo=signal.lo, hi=signal.hi, direction="output" if measured else "input",
        )  # fmt: skip
        bound = signals[signal.signal] if signal.signal else None
        self.rows[port.key(signal)] = PortRow(port, signal, own, bound)

    def _tabulate(self) -> None:
        """Builds the tables of rows by use."""
        rows, plan = list(self.rows.values()), self.plan
        self.number = {key: number for number, key in enumerate(self.rows)}
        port_numbers = {port.name: number for number, port in enumerate(plan.ports)}
        self.port_of = [port_numbers[row.port.name] for row in rows]
        self.output_rows = [self.number[key] for key in plan.outputs]
        self.outputs = [self.rows[key] for key in plan.outputs]
        moves = plan.plant != "real"
        self.applied = [
            (number, row) for number, row in enumerate(rows)
            if row.signal.role != "sensor" and row.bound is not None and moves
        ]  # fmt: skip
        from_scene = plan.closes == "virtual"
        self.sensed = np.array([
            number for number, row in enumerate(rows)
            if row.signal.role == "sensor" and row.bound is not None and from_scene
        ], np.int64)  # fmt: skip
        behind = [rows[n].bound for n in self.sensed.tolist()]
        self.sources = np.array([b.address for b in behind if b is not None], np.int64)
        self.grid = QuantGrid([rows[n].signal for n in self.sensed.tolist()])
        self.shown = self._mirrors() if plan.plant == "real" else []

    def _mirrors(self) -> list[tuple[int, PortRow]]:
        """Returns the position sensors of a real plant, bound to the target of their joint."""
        made = []
        for number, row in enumerate(self.rows.values()):
            if row.signal.role != "sensor" or row.bound is None:
                continue
            joint = row.bound.name.rpartition(".")[0]
            target = f"{joint}.target"
            signals = self._signals
            fits = target in signals and signals[target].unit == row.bound.unit
            if fits and row.bound.name.endswith((".angle", ".position")):
                made.append((number, PortRow(row.port, row.signal, row.own, signals[target])))
        return made
