"""Rehearsal: finds out whether the agents of an edited scene could start, before it is used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.agents.program import Program
from linkwork.session.cycle import Cycle
from linkwork.signals import Signals
from linkwork.state import State
from linkwork.world import World


class Rehearsal:
    """A bench on which agents find their signals and nothing happens (a ``Bench``)."""

    def __init__(self, cycle: Cycle) -> None:
        self._cycle = cycle

    @property
    def signals(self) -> Signals:
        """Every signal."""
        return self._cycle.signals

    @property
    def world(self) -> World:
        """The world as compiled."""
        return self._cycle.world

    @property
    def state(self) -> State:
        """The first state."""
        return self._cycle.state

    @property
    def time(self) -> float:
        """The start [s]."""
        return 0.0

    def array(self, sensor: str, name: str) -> np.ndarray:
        """A reading that is an array, of the first state."""
        block, number = self._cycle.sensor(sensor)
        return block.array(number, name)

    def write(self, signal: str, value: float, owner: str) -> None:
        """Refuses what cannot be written, and writes nothing."""
        self.signals.check(signal, value, owner)

    check = write

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float, owner: str
    ) -> None:
        """Refuses signals that do not exist, and listens to nothing."""
        self.signals[signal]

    def forget(self, owner: str) -> None:
        """Does nothing: nobody listens or owns."""

    def say(self, text: str, *, level: str = "info", source: str = "") -> None:
        """Says nothing."""


def rehearse(cycle: Cycle) -> None:
    """Starts every agent but the programs, whose ``init()`` may do anything.

    Raises:
        LinkworkError: If one cannot start, for example because its signal is gone.
    """
    bench = Rehearsal(cycle)
    for agent in cycle.agents:
        if not isinstance(agent, Program):
            agent.start(bench)
    cycle.restore(cycle.first)
