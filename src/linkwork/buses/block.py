"""BusBlock: a bus as a block of the cycle."""

from __future__ import annotations

import builtins
import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork.buses.adapter import Adapter
from linkwork.buses.bus_signals import (
    AGE,
    CLIENTS,
    INPUTS,
    LOSSES,
    LOST,
    MISSES,
    REFUSED,
    RESTARTS,
    BusSignals,
    PortRow,
)
from linkwork.buses.controller_loss import DeadlineMonitor, LossPolicy
from linkwork.buses.port import BusPlan
from linkwork.components.agents import AgentContext
from linkwork.core.errors import SignalError, not_found
from linkwork.core.signals import Signals
from linkwork.core.state import State
from linkwork.model.parts import Spec
from linkwork.model.world import World
from linkwork.session.bus_interface import SessionBus

if TYPE_CHECKING:
    from linkwork.session.cycle import Cycle


class BusBlock(SessionBus):
    """One bus with its ports.

    Commands, parameters and sensors of ports are signals ``<bus>/<port>.<signal>``. The bus owns
    the commands that it has received. With a virtual plant (or both), owned commands are written
    to the signals of the scene behind them at the step boundary, also in the name of the bus.
    After the step, sensors take the values behind them, quantized as on the wire.

    Args:
        world: The world.
        spec: The bus.

    Attributes:
        table: The signals of its ports.
        every: Control period in whole steps.
    """

    def __init__(self, world: World, spec: Spec) -> None:
        super().__init__(world, [spec], f"bus/{spec.name}")
        self.spec = spec
        self.table = BusSignals(world, spec)
        self.every = max(1, round(self.plan.period / world.scene.step))
        self.pause_requested = False

    @property
    def type(self) -> str:  # type: ignore[override] - one class serves every type
        """The registered type."""
        return self.spec.type

    @property
    def adapter(self) -> builtins.type[Adapter]:
        """The registered class."""
        return self.table.adapter

    @property
    def plan(self) -> BusPlan:
        """The bus and its ports; complete after :meth:`join`."""
        return self.table.plan

    @property
    def rows(self) -> dict[str, PortRow]:
        """Every signal of the ports, by key ``<port>.<signal>``."""
        return self.table.rows

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Memory of the bus."""
        return self.table.slots()

    def join(self, signals: Signals, state: State) -> None:
        """Resolves the signals behind the ports and adds the signals of the bus.

        Raises:
            LinkworkError: If a signal does not exist or has the wrong direction, or the adapter
                cannot serve the ports.
        """
        self._signals_of_world = signals
        self.table.join(signals, lambda slot, *place: state.address(self.field(slot), *place))

    def bind(self, state: State) -> None:
        """Keeps the views that the step uses."""
        super().bind(state)
        self._data = state.data
        self._value, self._override = self.slot("value"), self.slot("override")
        self._inputs, self._health = self.slot("inputs"), self.slot("health")
        self._counter, self._turn = self.slot("counter"), self.slot("turn")
        self.deadline_monitor = DeadlineMonitor(
            self.plan, self.slot("port"), single_controller=self.adapter.single_controller
        )
        self._loss = LossPolicy(self, self.slot("saved"))

    def reset(self) -> None:
        """Clears the inputs; commands take the values of the scene's targets."""
        for slot in self.slots():
            self.slot(slot.removeprefix("int:"))[...] = 0
        self._turn[0] = -1
        for number, row in enumerate(self.rows.values()):
            if row.bound is not None:
                self._value[number] = self._data[row.bound.address]
            elif not row.signal.lo <= 0.0 <= row.signal.hi:
                self._value[number] = row.signal.lo if row.signal.lo > 0.0 else row.signal.hi
        self._loss.reset()

    def transfer_from(self, twin: SessionBus) -> None:
        """Copies the memory of the same bus before an edit of the scene, signal by signal."""
        assert isinstance(twin, BusBlock)
        for slot in ("health", "turn"):
            self.slot(slot)[...] = twin.slot(slot)
        names = {name: n for n, name in enumerate(twin.adapter.counters)}
        for number, name in enumerate(self.adapter.counters):
            if name in names:
                self._counter[number] = twin._counter[names[name]]
        ids, before = self.world.id_of, twin.world.id_of
        ports = {before(port.name): n for n, port in enumerate(twin.plan.ports)}
        for number, port in enumerate(self.plan.ports):
            if ids(port.name) in ports:
                self.slot("port")[number] = twin.slot("port")[ports[ids(port.name)]]
        if not self.plan.lockstep:  # a lost port may no longer exist
            self._health[LOST] = self.deadline_monitor.lost.any()
        theirs = {(before(r.port.name), r.signal.name): n for n, r in enumerate(twin.rows.values())}
        for number, row in enumerate(self.rows.values()):
            old = theirs.get((ids(row.port.name), row.signal.name))
            if old is None:
                continue
            lo, hi = row.signal.lo, row.signal.hi
            self._value[number] = min(max(twin._value[old], lo), hi)
            self._override[number] = twin._override[old]
            self._inputs[number] = twin._inputs[old]
            self.slot("saved")[number] = twin.slot("saved")[old]

    # ---- inputs ------------------------------------------------------------------------------

    def row(self, key: str) -> tuple[int, PortRow]:
        """Returns number and row of a key ``<port>.<signal>``.

        Raises:
            NameNotFound: If there is none.
        """
        if key not in self.rows:
            raise not_found(f"signal of bus {self.plan.name!r}", key, self.rows)
        return self.table.number[key], self.rows[key]

    def feed(self, values: Mapping[str, float], *, turn: bool, context: AgentContext) -> None:
        """Applies values that the bus process has received; for ``BusInputs``.

        Raises:
            LinkworkError: If a key is not an input of the bus, or a value is not finite. Nothing
                has changed then.
        """
        for key, value in values.items():
            if key not in self.plan.inputs:
                raise not_found(f"input of bus {self.plan.name!r}", key, self.plan.inputs)
            if not math.isfinite(value):
                raise SignalError(f"{self.plan.name} received {value!r} for {key!r}.")
        health, owners = self._health, context.signals.owners
        for key, value in values.items():
            number, row = self.table.number[key], self.rows[key]
            self._inputs[number] = 1.0, value
            value = min(max(value, row.signal.lo), row.signal.hi)
            if row.own.direction == "input":
                if owners.setdefault(row.own.name, self.plan.name) != self.plan.name:
                    health[REFUSED] += 1.0  # it was taken over
                    continue
            elif self._override[number, 0]:
                continue
            if row.own.direction == "input" or self.plan.closes == "real":
                self._value[number] = value
        if turn:
            self._turn[0] = self.state.step
        if not values and not turn:
            return
        health[INPUTS] += 1.0
        back = self.deadline_monitor.arrive(values, turn=turn)
        health[AGE] = self.deadline_monitor.age
        found = bool(health[LOST]) and (turn or not self.deadline_monitor.lost.any())
        if found:
            health[LOST] = 0.0
        if back or found:
            self._loss.end(back, context)

    def on_health(
        self, clients: int, restarts: int, counters: Mapping[str, float], context: AgentContext
    ) -> None:
        """Applies the status of the bus process; for ``BusHealth``.

        When the last client disconnects, the controller is lost.
        """
        self.set_counters(counters)
        gone = clients == 0 and self._health[CLIENTS] > 0.0
        self._health[CLIENTS], self._health[RESTARTS] = clients, restarts
        if gone and self._health[INPUTS] > 0.0:
            self.on_controller_lost("its client has left", context)

    def set_counters(self, counters: Mapping[str, float]) -> None:
        """Applies the counters of the bus process."""
        names = {name: n for n, name in enumerate(self.adapter.counters)}
        for name, value in counters.items():
            if name in names and math.isfinite(value):
                self._counter[names[name]] = value

    def on_controller_lost(
        self, why: str, context: AgentContext, keys: Collection[str] = ()
    ) -> None:
        """Starts the loss policy for the ports of these signals; for all ports without.

        In lock-step one client ends the turns, and is lost for all ports, commanded or not.
        """
        whole = not keys or self.plan.lockstep
        ports = self.deadline_monitor.lose(None if whole else keys)
        if ports or (self.plan.lockstep and not self._health[LOST]):
            self._begin_loss(why, ports, context)

    def _begin_loss(self, why: str, ports: list[int], context: AgentContext) -> None:
        self._health[LOST] = 1.0
        self._health[LOSSES] += 1.0
        self._loss.begin(why, ports, context)

    def override(self, key: str, value: float | None) -> None:
        """Overrides a signal with a value; None ends the override. For ``OverrideSignal``.

        Raises:
            LinkworkError: If there is no such signal, or the value is out of range.
        """
        number = self.check_override(key, value)
        if value is not None:
            self._override[number] = 1.0, value
            self._value[number] = value
            return
        self._override[number] = 0.0
        if self._inputs[number, 0]:
            value, signal = float(self._inputs[number, 1]), self.rows[key].signal
            self._value[number] = min(max(value, signal.lo), signal.hi)
        self._sense()

    def check_override(self, key: str, value: float | None) -> int:
        """Returns the number of a row that can be overridden.

        Raises:
            LinkworkError: If there is no such signal, or the value is out of range.
        """
        number, row = self.row(key)
        lo, hi = row.signal.lo, row.signal.hi
        if value is not None and not (math.isfinite(value) and lo <= value <= hi):
            raise SignalError(
                f"signal {row.own.name!r} takes {lo:g} to {hi:g} {row.signal.unit}, not {value:g}."
            )
        return number

    def has_received(self, key: str) -> bool:
        """Returns whether the bus has received a value for a signal."""
        return bool(self._inputs[self.row(key)[0], 0])

    def last_input(self, key: str) -> float | None:
        """Returns the last value received for a signal; None if none is, or its port is lost."""
        number = self.row(key)[0]
        if not self._inputs[number, 0] or self.deadline_monitor.lost[self.table.port_of[number]]:
            return None
        return float(self._inputs[number, 1])

    def overridden(self, key: str) -> bool:
        """Returns whether a signal is overridden."""
        return bool(self._override[self.table.number[key], 0])

    # ---- the step ----------------------------------------------------------------------------

    def act(self, context: AgentContext) -> None:
        """Checks the deadlines and writes owned commands to the scene."""
        health = self._health
        if self.plan.deadline and health[AGE]:
            missed, ports = self.deadline_monitor.miss()
            health[MISSES] += missed
            if ports:
                why = f"nothing was received for {self.plan.deadline:g} s"
                self._begin_loss(why, ports, context)
        if health[LOST]:
            self._loss.act(context)
        owners, data = context.signals.owners, self._data
        for number, row in self.table.applied:
            if row.own.name not in owners:
                continue
            bound = row.bound
            assert bound is not None
            value = float(self._value[number])
            if row.signal.quant is not None:
                value = row.signal.quant.nearest(value)
            value = min(max(value, bound.lo), bound.hi)
            if data[bound.address] != value or bound.name not in owners:
                self._write(bound.name, value, context)
        for number, row in self.table.shown:
            if self._inputs[number, 0] and row.bound is not None:
                value = min(max(float(self._value[number]), row.bound.lo), row.bound.hi)
                if data[row.bound.address] != value:
                    self._write(row.bound.name, value, context)

    def _write(self, signal: str, value: float, context: AgentContext) -> None:
        try:
            context.write(signal, value, self.plan.name)
        except SignalError as error:  # another owner: the command is refused
            if not self._health[REFUSED]:
                context.log_error(error, level="warning", source=self.plan.name)
            self._health[REFUSED] += 1.0

    def finish(self) -> None:
        """Ends a step: ages the inputs and publishes the outputs."""
        if self._health[INPUTS]:
            self.deadline_monitor.grow()
            self._health[AGE] = self.deadline_monitor.age
        self.publish_outputs()

    def publish_outputs(self) -> None:
        """Copies sensor values to the ports, and with both plants the scene's targets."""
        self._sense()
        if self.plan.plant == "both":
            self._follow()

    def _sense(self) -> None:
        if len(self.table.sensed):
            read = self.table.grid.nearest(self._data[self.table.sources])
            if np.count_nonzero(self._override[:, 0]):
                held = self._override[self.table.sensed]
                read = np.where(held[:, 0] != 0.0, held[:, 1], read)
            self._value[self.table.sensed] = read

    def _follow(self) -> None:
        """Copies the scene's targets to commands that have no owner."""
        owners = self._signals_of_world.owners
        for number, row in self.table.applied:
            if row.own.name not in owners and row.bound is not None:
                value = self._data[row.bound.address]
                self._value[number] = min(max(value, row.signal.lo), row.signal.hi)

    # ---- status ------------------------------------------------------------------------------

    @property
    def outgoing(self) -> list[float]:
        """Values of ``plan.outputs``, in order; NaN for commands without an owner.

        A machine on the bus must not jump to the first posture of the scene.
        """
        values = self._value[self.table.output_rows].tolist() if self.table.output_rows else []
        if self.plan.plant != "virtual":
            owners = self._signals_of_world.owners
            for place, row in enumerate(self.table.outputs):
                bound = row.bound is not None and self.plan.plant == "both"
                if row.own.name not in owners and not (bound and row.bound.name in owners):  # type: ignore[union-attr]
                    values[place] = math.nan
        return values

    @property
    def lost(self) -> bool:
        """Whether the loss policy is active for at least one port."""
        return bool(self._health[LOST])

    def waits(self, step: int) -> bool:
        """Returns whether a lock-step client must still take its turn before a step."""
        return self.plan.lockstep and step % self.every == 0 and int(self._turn[0]) != step

    @property
    def has_any_input(self) -> bool:
        """Whether the bus has ever received anything."""
        return bool(self._health[INPUTS])


def bus_blocks(cycle: Cycle) -> list[BusBlock]:
    """Returns the buses of a cycle."""
    return [bus for bus in cycle.buses if isinstance(bus, BusBlock)]
