"""Controller loss: detection by deadline, and the policies."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

import numpy as np

from linkwork.buses.port import BusPlan
from linkwork.components.agents import AgentContext

if TYPE_CHECKING:
    from linkwork.buses.block import BusBlock
    from linkwork.buses.bus_signals import PortRow


#: Health of a port, with units: each is a signal ``<bus>/<port>.<name>``.
PORT_HEALTH = {"age": "s", "misses": "", "lost": "", "inputs": ""}
AGE, MISSES, LOST, INPUTS = range(len(PORT_HEALTH))


class DeadlineMonitor:
    """Watches the inputs of the ports of one bus.

    Commands count as inputs, or with a real plant sensor values, but not parameters, which are set
    once. A port that never received anything is not watched. In lock-step a turn counts
    for every port, and so does any input where one client commands all ports.

    Args:
        plan: The bus and its ports.
        memory: A row for each port: age [s], misses, whether it is lost, number of inputs.
        single_controller: Whether one client at a time commands all ports.
    """

    def __init__(self, plan: BusPlan, memory: np.ndarray, *, single_controller: bool) -> None:
        self._plan, self._memory, self._together = plan, memory, single_controller
        #: The port of each watched key.
        self._port_of = {
            key: number
            for number, port in enumerate(plan.ports)
            for key in map(port.key, port.signals)
            if key in plan.inputs and plan.inputs[key].role != "parameter"
        }

    @property
    def received(self) -> np.ndarray:
        """Whether anything was ever received, by port."""
        return self._memory[:, INPUTS] > 0.0

    @property
    def lost(self) -> np.ndarray:
        """Whether the controller is lost, by port."""
        return self._memory[:, LOST] > 0.0

    @property
    def age(self) -> float:
        """Largest age of the ports that ever received something [s]."""
        return float(self._memory[:, AGE].max()) if len(self._memory) else 0.0

    def arrive(self, keys: Iterable[str], *, turn: bool) -> list[int]:
        """Records inputs; returns the ports whose controller is back."""
        memory = self._memory
        found = {self._port_of[key] for key in keys if key in self._port_of}
        came = sorted(found)
        memory[came, AGE] = 0.0
        memory[came, INPUTS] += 1.0
        if turn:
            came = np.flatnonzero(self.received).tolist()
            memory[:, AGE] = 0.0
        elif self._together and came:
            memory[~self.lost, AGE] = 0.0
        back = [number for number in came if memory[number, LOST]]
        memory[back, LOST] = 0.0
        return back

    def grow(self) -> None:
        """Ages the inputs by one step."""
        self._memory[self.received, AGE] += self._plan.step

    def miss(self) -> tuple[bool, list[int]]:
        """Returns whether a deadline has just passed, and the ports lost thereby."""
        memory, deadline = self._memory, self._plan.deadline
        age = memory[:, AGE]
        passed = np.trunc(age / deadline + 1e-9) > np.trunc(
            (age - self._plan.step) / deadline + 1e-9
        )
        if not passed.any():
            return False, []
        memory[passed, MISSES] += 1.0
        return True, self._lose(passed)

    def lose(self, keys: Container[str] | None = None) -> list[int]:
        """Marks the controllers of signals as lost, all if None; returns the ports."""
        gone = np.zeros(len(self._memory), bool)
        for key, number in self._port_of.items():
            gone[number] |= keys is None or key in keys
        return self._lose(gone & self.received)

    def _lose(self, ports: np.ndarray) -> list[int]:
        fresh = np.flatnonzero(ports & ~self.lost).tolist()
        self._memory[fresh, LOST] = 1.0
        return fresh

    def words(self, ports: list[int]) -> str:
        """Returns the names of ports; empty for all that ever received something."""
        names = [self._plan.ports[number].name for number in ports]
        if not names or len(names) == np.count_nonzero(self.received):
            return ""
        if len(names) > 4:
            names[3:] = [f"{len(names) - 3} others"]
        return ", ".join(names)


def monitored_ports(plan: BusPlan) -> list[int]:
    """Returns the numbers of the ports that can miss a deadline."""
    return [
        number for number, port in enumerate(plan.ports)
        if any(port.key(s) in plan.inputs and s.role != "parameter" for s in port.signals)
    ]  # fmt: skip


#: Log text of each policy.
POLICY_TEXTS = {
    "hold": "commands are held",
    "ramp": "commands ramp to their safe values",
    "torque_off": "its joints get no torque",
    "stop": "its joints stop where they are",
    "pause": "the session is paused",
}


class LossPolicy:
    """The policy of a bus for each port whose controller is lost.

    ``hold`` keeps the commands; ``ramp`` moves them linearly to their safe values; ``torque_off``
    sets the maximum effort of the driven joints to 0 until the controller is back; ``stop`` holds
    positions at their present values and sets speeds and efforts to 0; ``pause`` pauses the
    session.

    Args:
        block: The bus.
        saved: Memory by row: the command when the loss began, time of the ramp [s],
            whether the torque is off, and the maximum effort before.
    """

    def __init__(self, block: BusBlock, saved: np.ndarray) -> None:
        self._block, self._saved = block, saved

    def reset(self) -> None:
        """Sets the safe values: by default the initial target of a position, and 0 for others."""
        self._safe: dict[int, float] = {}
        for number, row in enumerate(self._block.rows.values()):
            signal = row.signal
            safe = signal.safe
            if safe is None:
                place = signal.unit in ("rad", "m")
                safe = float(self._block.slot("value")[number]) if place else 0.0
            self._safe[number] = min(max(safe, signal.lo), signal.hi)

    def _owned_commands(
        self, context: AgentContext, ports: Container[int]
    ) -> list[tuple[int, PortRow]]:
        """Returns the commands of these ports that the bus owns."""
        name, owners = self._block.plan.name, context.signals.owners
        return [
            (number, row) for number, row in enumerate(self._block.rows.values())
            if row.signal.role == "command" and owners.get(row.own.name) == name
            and self._block.table.port_of[number] in ports
        ]  # fmt: skip

    def _log(self, text: str, ports: list[int], context: AgentContext, level: str = "info") -> None:
        which = self._block.deadline_monitor.words(ports)
        text = f"{which}: {text}" if which else text
        context.log(text, level=level, source=self._block.plan.name)

    def begin(self, why: str, ports: list[int], context: AgentContext) -> None:
        """Begins the policy for the ports whose controller is lost."""
        block, policy = self._block, self._block.plan.on_loss
        level = "error" if policy == "pause" else "warning"
        self._log(f"{why}: {POLICY_TEXTS[policy]}.", ports, context, level)
        value = block.slot("value")
        for number, row in self._owned_commands(context, ports):
            self._saved[number, :2] = value[number], 0.0
            if policy == "stop":
                stay = self._actual(row, context)
                value[number] = min(max(stay, row.signal.lo), row.signal.hi)
            elif policy == "torque_off":
                self._torque_off(number, row, context)
        if policy == "pause":
            block.pause_requested = True

    def _actual(self, row: PortRow, context: AgentContext) -> float:
        """Returns the position of the joint behind a position command; 0 for speeds and efforts."""
        signals = context.signals
        if row.bound is None or row.signal.unit not in ("rad", "m"):
            return 0.0
        joint = row.bound.name.rpartition(".")[0]
        for name in (f"{joint}.angle", f"{joint}.position", joint):
            if name in signals and signals[name].unit == row.signal.unit:
                return signals.value(name)
        return float(self._block.slot("value")[self._block.row(row.port.key(row.signal))[0]])

    def _torque_off(self, number: int, row: PortRow, context: AgentContext) -> None:
        effort = self._effort(row)
        if effort in context.signals and not self._saved[number, 2]:
            allowed = self._torque_off_elsewhere(effort)
            if allowed is None:
                allowed = context.signals.value(effort)
            self._saved[number, 2:] = 1.0, allowed
            self._set(effort, 0.0, context)

    def _torque_off_elsewhere(self, effort: str) -> float | None:
        """Returns the maximum effort that another command saved for the same joint, or None."""
        for number, row in enumerate(self._block.rows.values()):
            if self._saved[number, 2] and self._effort(row) == effort:
                return float(self._saved[number, 3])
        return None

    @staticmethod
    def _effort(row: PortRow) -> str:
        return f"{row.bound.name.rpartition('.')[0]}.max_effort" if row.bound is not None else ""

    @staticmethod
    def _set(signal: str, value: float, context: AgentContext) -> None:
        context.state.data[context.signals[signal].address] = value

    def act(self, context: AgentContext) -> None:
        """Continues the policy while the controller is lost."""
        if self._block.plan.on_loss != "ramp":
            return
        h, whole, value = self._block.plan.step, self._block.plan.ramp, self._block.slot("value")
        lost = np.flatnonzero(self._block.deadline_monitor.lost)
        for number, _ in self._owned_commands(context, lost.tolist()):
            start, done = self._saved[number, :2]
            done = min(done + h, whole)
            self._saved[number, 1] = done
            share = done / whole if whole else 1.0
            safe = self._safe[number]
            value[number] = safe if share == 1.0 else start + share * (safe - start)

    def end(self, ports: list[int], context: AgentContext) -> None:
        """Ends the policy for the ports whose controller is back."""
        for number, row in enumerate(self._block.rows.values()):
            if self._saved[number, 2] and self._block.table.port_of[number] in ports:
                self._saved[number, 2] = 0.0
                if self._torque_off_elsewhere(self._effort(row)) is None:
                    self._set(self._effort(row), float(self._saved[number, 3]), context)
        self._log("its controller is back.", ports, context)
