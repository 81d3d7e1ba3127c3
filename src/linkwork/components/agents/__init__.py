"""Agents: base class of blocks that set targets, each with its own period."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np

from linkwork.core.errors import LinkworkError
from linkwork.core.signals import Signals
from linkwork.core.state import State
from linkwork.model.blocks import Block
from linkwork.model.parts import Spec
from linkwork.model.world import World


class AgentContext(Protocol):
    """Interface of a session for its agents."""

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
        """A copy of an array reading."""
        ...

    def follows_exactly(self, dof: int) -> bool:
        """Whether a prescribed motion of this degree of freedom is followed, beyond limits too."""
        ...

    def write(self, signal: str, value: float, owner: str) -> None:
        """Sets an input or parameter: at once while deciding, else at the next step."""
        ...

    def check(self, signal: str, value: float, owner: str) -> None:
        """Raises the errors that :meth:`write` would raise."""
        ...

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float, owner: str
    ) -> None:
        """Calls ``call(value)`` after each step in which the signal changed by more than ``by``."""
        ...

    def forget(self, owner: str) -> None:
        """Ends all listeners and ownerships of ``owner``."""
        ...

    def log(self, text: str, *, level: str = "info", source: str = "") -> None:
        """Puts a message into the outbox."""
        ...

    def log_error(self, error: LinkworkError, *, level: str = "error", source: str = "") -> None:
        """Puts an error into the outbox, with its origin and hint as data."""
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

    def start(self, context: AgentContext) -> None:
        """Called once when the session is ready, and again after a live edit."""
        self.context = context

    def place_start(self) -> None:
        """Prescribes the motion at t = 0 in ``state.lead``, of agents that know it."""

    def decide(self, step: int) -> None:
        """Writes targets; called at every ``every``-th step."""
        raise NotImplementedError


__all__ = ["Agent", "AgentContext"]
