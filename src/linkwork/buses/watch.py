"""Watch: when something last came for each port of a bus, and which of them are lost."""

from __future__ import annotations

from collections.abc import Container, Iterable

import numpy as np

from linkwork.buses.port import BusPlan

#: Health of a port, with units: each is a signal ``<bus>/<port>.<name>``.
PORT_HEALTH = {"age": "s", "misses": "", "lost": "", "feeds": ""}
AGE, MISSES, LOST, FEEDS = range(len(PORT_HEALTH))


class Watch:
    """Arrivals at the ports of one bus.

    What counts as an arrival is a command, or with a real plant a sensor value; parameters are set
    once and may stay. A port for which nothing ever came is not watched. In lock-step a turn counts
    for every port, and so does whatever comes where one partner commands all of them.

    Args:
        plan: The bus and its ports.
        memory: A row for each port: age [s], misses, whether it is lost, feeds.
        together: Whether one partner at a time commands all ports.
    """

    def __init__(self, plan: BusPlan, memory: np.ndarray, *, together: bool) -> None:
        self._plan, self._memory, self._together = plan, memory, together
        #: The port of each key that is an arrival.
        self._port_of = {
            key: number
            for number, port in enumerate(plan.ports)
            for key in map(port.key, port.signals)
            if key in plan.fed and plan.fed[key].role != "parameter"
        }

    @property
    def heard(self) -> np.ndarray:
        """Whether anything ever came, by port."""
        return self._memory[:, FEEDS] > 0.0

    @property
    def lost(self) -> np.ndarray:
        """Whether the controller is lost, by port."""
        return self._memory[:, LOST] > 0.0

    @property
    def age(self) -> float:
        """Age of the port that has waited longest, of those for which something ever came [s]."""
        return float(self._memory[:, AGE].max()) if len(self._memory) else 0.0

    def arrive(self, keys: Iterable[str], *, turn: bool) -> list[int]:
        """Notes an arrival; returns the ports whose controller is back."""
        memory = self._memory
        found = {self._port_of[key] for key in keys if key in self._port_of}
        came = sorted(found)
        memory[came, AGE] = 0.0
        memory[came, FEEDS] += 1.0
        if turn:
            came = np.flatnonzero(self.heard).tolist()
            memory[:, AGE] = 0.0
        elif self._together and came:
            memory[~self.lost, AGE] = 0.0
        back = [number for number in came if memory[number, LOST]]
        memory[back, LOST] = 0.0
        return back

    def grow(self) -> None:
        """Lets a step pass."""
        self._memory[self.heard, AGE] += self._plan.step

    def miss(self) -> tuple[bool, list[int]]:
        """Whether a deadline has passed just now, and the ports that are lost by that."""
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
        """The controllers of these signals are lost, of all if None; returns the ports."""
        gone = np.zeros(len(self._memory), bool)
        for key, number in self._port_of.items():
            gone[number] |= keys is None or key in keys
        return self._lose(gone & self.heard)

    def _lose(self, ports: np.ndarray) -> list[int]:
        fresh = np.flatnonzero(ports & ~self.lost).tolist()
        self._memory[fresh, LOST] = 1.0
        return fresh

    def words(self, ports: list[int]) -> str:
        """Ports in words; empty for all that were ever heard."""
        names = [self._plan.ports[number].name for number in ports]
        if not names or len(names) == np.count_nonzero(self.heard):
            return ""
        if len(names) > 4:
            names[3:] = [f"{len(names) - 3} others"]
        return ", ".join(names)


def watched(plan: BusPlan) -> list[int]:
    """Numbers of the ports for which something can come that has a deadline."""
    return [
        number for number, port in enumerate(plan.ports)
        if any(port.key(s) in plan.fed and s.role != "parameter" for s in port.signals)
    ]  # fmt: skip
