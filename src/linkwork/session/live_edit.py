"""Live edit: an edited scene, compiled in the background."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from queue import SimpleQueue

import numpy as np

from linkwork.components.agents.program import Program
from linkwork.core.errors import LinkworkError, SceneError
from linkwork.core.signals import Signals
from linkwork.core.state import State
from linkwork.model.scene import Scene
from linkwork.model.scene.archive import pack
from linkwork.model.world import World, compile_scene
from linkwork.session.cycle import Cycle
from linkwork.session.transfer import keep_sources


class DryRunContext:
    """An AgentContext on which agents resolve their signals without any effect."""

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
        """The initial state."""
        return self._cycle.state

    @property
    def time(self) -> float:
        """The initial time [s]."""
        return 0.0

    def array(self, sensor: str, name: str) -> np.ndarray:
        """An array reading in the initial state."""
        block, number = self._cycle.sensor(sensor)
        return block.array(number, name)

    def follows_exactly(self, dof: int) -> bool:
        """Whether an engine follows a prescribed motion of this degree of freedom exactly."""
        return self._cycle.follows_exactly(dof)

    def write(self, signal: str, value: float, owner: str) -> None:
        """Checks a write without writing."""
        self.signals.check(signal, value, owner)

    check = write

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float, owner: str
    ) -> None:
        """Checks that a signal exists, and adds no listener."""
        self.signals[signal]

    def forget(self, owner: str) -> None:
        """Does nothing: there are no listeners or owners."""

    def log(self, text: str, *, level: str = "info", source: str = "") -> None:
        """Discards the message."""

    def log_error(self, error: LinkworkError, *, level: str = "error", source: str = "") -> None:
        """Discards the error."""


def dry_run(cycle: Cycle) -> None:
    """Starts every agent but the programs, whose ``init()`` may do anything.

    Raises:
        LinkworkError: If one cannot start, for example because its signal no longer exists.
    """
    context = DryRunContext(cycle)
    for agent in cycle.agents:
        if not isinstance(agent, Program):
            agent.start(context)
    cycle.restore(cycle.first)


def compile_mode(running: Cycle, mode: str) -> Cycle:
    """Compiles the running scene for another mode.

    Raises:
        LinkworkError: If the scene cannot be used in it.
    """
    world = running.world
    cycle = Cycle(compile_scene(replace(world.scene, mode=mode), ids=world.ids))
    dry_run(cycle)
    keep_sources(running, cycle)
    return cycle


class _CompileWorkers:
    """Threads that compile edits, kept for the next one.

    The allocator gives each new thread another arena: with a thread for each edit, all of them
    would fill with remains of worlds.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Forgets the threads, which a forked process does not inherit."""
        self._idle: list[SimpleQueue[Callable[[], None]]] = []

    def run(self, work: Callable[[], None]) -> None:
        """Runs ``work`` in an idle thread, or in a new one."""
        try:
            tasks = self._idle.pop()
        except IndexError:
            tasks = SimpleQueue[Callable[[], None]]()
            threading.Thread(
                target=self._serve, args=(tasks,), name="linkwork-compile", daemon=True
            ).start()
        tasks.put(work)

    def _serve(self, tasks: SimpleQueue[Callable[[], None]]) -> None:
        while True:
            tasks.get()()
            self._idle.append(tasks)


_workers = _CompileWorkers()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_workers.renew)

_NUMBERS = itertools.count(1)


class LiveEdit(Future[Cycle]):
    """An edited scene being compiled for a session: done when compiled.

    Its exception is a LinkworkError if the scene cannot be used.

    Args:
        scene: The scene after the edit.
        ids: Stable ids by full name.
        packed: Whether the recording needs the scene as bytes.

    Attributes:
        number: Number of the edit, from 1, by which events refer to it.
        archive: The scene as bytes, if ``packed``.
    """

    def __init__(self, scene: Scene, ids: dict[str, str] | None, *, packed: bool) -> None:
        super().__init__()
        self.number = next(_NUMBERS)
        self.archive = b""
        self._scene, self._ids, self._packed = scene, ids, packed
        _workers.run(self._work)

    def _work(self) -> None:
        try:
            cycle = Cycle(compile_scene(self._scene, ids=self._ids))
            dry_run(cycle)
            if self._packed:
                self.archive = pack(self._scene)
        except LinkworkError as error:
            self.set_exception(error)
        except BaseException as error:  # raised where the result is awaited
            failure = SceneError(f"it cannot be compiled: {type(error).__name__}: {error}.")
            failure.__cause__ = error
            self.set_exception(failure)
        else:
            self.set_result(cycle)
