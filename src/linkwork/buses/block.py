"""BusBlock: a bus in the cycle; latches what is fed, applies it, and gives sensor values out."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np

from linkwork.agents.agent import Bench
from linkwork.buses.loss import Loss
from linkwork.buses.rows import BusRows, Row
from linkwork.buses.watch import Watch
from linkwork.errors import SignalError, not_found
from linkwork.state import State


class BusBlock(BusRows):
    """One bus with its ports.

    Commands, parameters and sensors of ports are signals ``<bus>/<port>.<signal>``. What is fed
    becomes theirs in the bus's name; with a virtual plant (or both) owned commands move the
    scene's signals behind them, also in the bus's name, at the step boundary. After the step the
    sensors take the values behind them, as the wire's bits can say them.
    """

    def bind(self, state: State) -> None:
        """Keeps the views that the step will use."""
        super().bind(state)
        self._data = state.data
        self._value, self._override = self.slot("value"), self.slot("override")
        self._fed, self._health = self.slot("fed"), self.slot("health")
        self._counter, self._turn = self.slot("counter"), self.slot("turn")
        self.watch = Watch(self.plan, self.slot("port"), together=self.adapter.together)
        self._loss = Loss(self, self.slot("aside"))

    def reset(self) -> None:
        """Nothing was fed; commands stand where the scene's targets do."""
        for slot in self.slots():
            self.slot(slot.removeprefix("int:"))[...] = 0
        self._turn[0] = -1
        for number, row in enumerate(self.rows.values()):
            if row.bound is not None:
                self._value[number] = self._data[row.bound.address]
            elif not row.signal.lo <= 0.0 <= row.signal.hi:
                self._value[number] = row.signal.lo if row.signal.lo > 0.0 else row.signal.hi
        self._loss.reset()

    def take_over(self, twin: BusBlock) -> None:
        """Takes over what the same bus of an edited scene remembers, signal by signal."""
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
        if not self.plan.lockstep:  # a port that was lost may have gone
            self._health[5] = self.watch.lost.any()
        theirs = {(before(r.port.name), r.signal.name): n for n, r in enumerate(twin.rows.values())}
        for number, row in enumerate(self.rows.values()):
            old = theirs.get((ids(row.port.name), row.signal.name))
            if old is None:
                continue
            lo, hi = row.signal.lo, row.signal.hi
            self._value[number] = min(max(twin._value[old], lo), hi)
            self._override[number] = twin._override[old]
            self._fed[number] = twin._fed[old]
            self.slot("aside")[number] = twin.slot("aside")[old]

    # ---- what comes in -----------------------------------------------------------------------

    def row(self, key: str) -> tuple[int, Row]:
        """Number and row of a key ``<port>.<signal>``.

        Raises:
            NameNotFound: If there is none.
        """
        if key not in self.rows:
            raise not_found(f"signal of bus {self.plan.name!r}", key, self.rows)
        return self._number[key], self.rows[key]

    def feed(self, values: Mapping[str, float], *, turn: bool, bench: Bench) -> None:
        """Takes what the bus process has latched; for ``Feed``.

        Raises:
            LinkworkError: If a key is unknown or not for the bus to feed, or a value is no finite
                number. Nothing changed then.
        """
        for key, value in values.items():
            if key not in self.plan.fed:
                raise not_found(f"fed signal of bus {self.plan.name!r}", key, self.plan.fed)
            if not math.isfinite(value):
                raise SignalError(f"{self.plan.name} feeds {key!r} with {value!r}.")
        health, owners = self._health, bench.signals.owners
        for key, value in values.items():
            number, row = self._number[key], self.rows[key]
            self._fed[number] = 1.0, value
            value = min(max(value, row.signal.lo), row.signal.hi)
            if row.own.direction == "input":
                if owners.setdefault(row.own.name, self.plan.name) != self.plan.name:
                    health[4] += 1.0  # somebody has taken it over
                    continue
            elif self._override[number, 0]:
                continue
            if row.own.direction == "input" or self.plan.closes == "real":
                self._value[number] = value
        if turn:
            self._turn[0] = self.state.step
        if not values and not turn:
            return
        health[3] += 1.0
        back = self.watch.arrive(values, turn=turn)
        health[0] = self.watch.age
        found = bool(health[5]) and (turn or not self.watch.lost.any())
        if found:
            health[5] = 0.0
        if back or found:
            self._loss.end(back, bench)

    def hear(
        self, partners: int, restarts: int, counters: Mapping[str, float], bench: Bench
    ) -> None:
        """Takes the process's health; for ``Health``. The last partner's leaving is a loss."""
        self.note(counters)
        gone = partners == 0 and self._health[6] > 0.0
        self._health[6], self._health[7] = partners, restarts
        if gone and self._health[3] > 0.0:
            self.lose("its partner has left", bench)

    def note(self, counters: Mapping[str, float]) -> None:
        """Takes what the process has counted."""
        names = {name: n for n, name in enumerate(self.adapter.counters)}
        for name, value in counters.items():
            if name in names and math.isfinite(value):
                self._counter[names[name]] = value

    def lose(self, why: str, bench: Bench, keys: Collection[str] = ()) -> None:
        """Begins the policy on loss, for the ports of these signals; for all ports without.

        In lock-step one partner ends the turns, and is lost for all ports, commanded or not.
        """
        whole = not keys or self.plan.lockstep
        ports = self.watch.lose(None if whole else keys)
        if ports or (self.plan.lockstep and not self._health[5]):
            self._begin_loss(why, ports, bench)

    def _begin_loss(self, why: str, ports: list[int], bench: Bench) -> None:
        self._health[5] = 1.0
        self._health[2] += 1.0
        self._loss.begin(why, ports, bench)

    def override(self, key: str, value: float | None, bench: Bench) -> None:
        """Holds a signal at a value, or lets go of it; for ``Override``.

        Raises:
            LinkworkError: If there is no such signal, or the value is not for it.
        """
        number = self.check_override(key, value)
        if value is not None:
            self._override[number] = 1.0, value
            self._value[number] = value
            return
        self._override[number] = 0.0
        if self._fed[number, 0]:
            value, signal = float(self._fed[number, 1]), self.rows[key].signal
            self._value[number] = min(max(value, signal.lo), signal.hi)
        self._sense()

    def check_override(self, key: str, value: float | None) -> int:
        """Number of the row that would be held.

        Raises:
            LinkworkError: If there is no such signal, or the value is not for it.
        """
        number, row = self.row(key)
        lo, hi = row.signal.lo, row.signal.hi
        if value is not None and not (math.isfinite(value) and lo <= value <= hi):
            raise SignalError(
                f"signal {row.own.name!r} takes {lo:g} to {hi:g} {row.signal.unit}, not {value:g}."
            )
        return number

    def was_fed(self, key: str) -> bool:
        """Whether the bus has given this signal a value."""
        return bool(self._fed[self.row(key)[0], 0])

    def overridden(self, key: str) -> bool:
        """Whether a signal is held by a person."""
        return bool(self._override[self._number[key], 0])

    # ---- the step ----------------------------------------------------------------------------

    def act(self, bench: Bench) -> None:
        """Looks at the deadline and moves the scene's signals behind owned commands."""
        health = self._health
        if self.plan.deadline and health[0]:
            missed, ports = self.watch.miss()
            health[1] += missed
            if ports:
                self._begin_loss(f"nothing came for {self.plan.deadline:g} s", ports, bench)
        if health[5]:
            self._loss.act(bench)
        owners, data = bench.signals.owners, self._data
        for number, row in self._applied:
            if row.own.name not in owners:
                continue
            bound = row.bound
            assert bound is not None
            value = float(self._value[number])
            if row.signal.quant is not None:
                value = row.signal.quant.nearest(value)
            value = min(max(value, bound.lo), bound.hi)
            if data[bound.address] != value or bound.name not in owners:
                self._write(bound.name, value, bench)
        for number, row in self._shown:
            if self._fed[number, 0] and row.bound is not None:
                value = min(max(float(self._value[number]), row.bound.lo), row.bound.hi)
                if data[row.bound.address] != value:
                    self._write(row.bound.name, value, bench)

    def _write(self, signal: str, value: float, bench: Bench) -> None:
        try:
            bench.write(signal, value, self.plan.name)
        except SignalError as error:  # it belongs to another: the bus's command is not done
            if not self._health[4]:
                bench.say(str(error), level="warning", source=self.plan.name)
            self._health[4] += 1.0

    def finish(self) -> None:
        """Ends a step: what was fed last is older now, and sensors tell anew."""
        if self._health[3]:
            self.watch.grow()
            self._health[0] = self.watch.age
        self.give_out()

    def give_out(self) -> None:
        """Takes the sensors' values, and where both plants are driven the scene's targets."""
        self._sense()
        if self.plan.plant == "both":
            self._follow()

    def _sense(self) -> None:
        if len(self._sensed):
            read = self._grid.nearest(self._data[self._behind])
            if np.count_nonzero(self._override[:, 0]):
                held = self._override[self._sensed]
                read = np.where(held[:, 0] != 0.0, held[:, 1], read)
            self._value[self._sensed] = read

    def _follow(self) -> None:
        """Commands that nobody gave to the port go out as the scene's own targets."""
        owners = self._signals_of_world.owners
        for number, row in self._applied:
            if row.own.name not in owners and row.bound is not None:
                value = self._data[row.bound.address]
                self._value[number] = min(max(value, row.signal.lo), row.signal.hi)

    # ---- what others ask ---------------------------------------------------------------------

    @property
    def outgoing(self) -> list[float]:
        """Values of ``plan.given``, in its order; NaN for commands that nobody has given yet.

        A machine on the bus must not jump to where the scene happens to begin.
        """
        values = self._value[self._given].tolist() if self._given else []
        if self.plan.plant != "virtual":
            owners = self._signals_of_world.owners
            for place, row in enumerate(self._commands):
                bound = row.bound is not None and self.plan.plant == "both"
                if row.own.name not in owners and not (bound and row.bound.name in owners):  # type: ignore[union-attr]
                    values[place] = math.nan
        return values

    @property
    def lost(self) -> bool:
        """Whether the policy on loss is at work, for one port at least."""
        return bool(self._health[5])

    def waits(self, step: int) -> bool:
        """Whether the partner's turn comes before this step and was not had, in lock-step."""
        return self.plan.lockstep and step % self.every == 0 and int(self._turn[0]) != step

    @property
    def has_fed(self) -> bool:
        """Whether anything ever came over the bus."""
        return bool(self._health[3])
