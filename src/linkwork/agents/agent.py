"""Agent: decides targets; the session hands it a bench to read and write signals on."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np

from linkwork.blocks import Block
from linkwork.parts import Spec
from linkwork.signals import Signals
from linkwork.state import State
from linkwork.world import World


class Bench(Protocol):
    """What a session offers to its agents."""

    @property
    def signals(self) -> Signals:
        """Every signal."""
        ...

    @property
    def world(self) -> World:
        """The world as compiled."""
        ...

    @property
    def state(self) -> State:
        """The state; agents read it and write only their own slots."""
        ...

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        ...

    def array(self, sensor: str, name: str) -> np.ndarray:
        """A copy of a reading that is an array."""
        ...

    def write(self, signal: str, value: float, owner: str) -> None:
        """Sets an input or parameter: at once while deciding, else at the next step."""
        ...

    def check(self, signal: str, value: float, owner: str) -> None:
        """Refuses what :meth:`write` would refuse."""
        ...

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float, owner: str
    ) -> None:
        """Calls ``call(value)`` after each step in which the signal moved by more than ``by``."""
        ...

    def forget(self, owner: str) -> None:
        """Ends all listeners and ownerships of ``owner``."""
        ...

    def say(self, text: str, *, level: str = "info", source: str = "") -> None:
        """Puts a message into the outbox."""
        ...


class Agent(Block):
    """Base of all agents: one block each.

    Attributes:
        every: Period in whole steps.
    """

    kind: ClassVar[str] = "agent"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        super().__init__(world, [spec], name)
        self.spec = spec
        self.every = 1

    def start(self, bench: Bench) -> None:
        """Called once when the session is ready, and again after a live edit."""
        self.bench = bench

    def decide(self, step: int) -> None:
        """Writes targets; called at every ``every``-th step."""
        raise NotImplementedError
