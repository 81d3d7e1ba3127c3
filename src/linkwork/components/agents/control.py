"""Control: the base class of control programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from linkwork.components.agents import AgentContext
from linkwork.components.agents.handles import (
    CameraHandle,
    JointHandle,
    PortHandle,
    SensorHandle,
    SignalHandle,
)
from linkwork.components.agents.lookup import find_dof, find_name, port_names
from linkwork.components.agents.program_state import ProgramMemory, RandomStream, Timer, Timers
from linkwork.core.errors import Origin, SessionError, SignalError
from linkwork.model.blocks import period_in_steps

#: Wraps a call of a program with its watchdog.
Wrap = Callable[[Callable[..., object]], Callable[..., object]]


class ProgramContext:
    """Access of a control program to its session.

    Args:
        context: The session.
        owner: Name under which the program writes and listens.
        scope: Part in which short names are searched first.
        every: Steps of the session per control period.
        wrap: Wraps calls into the program.
        memory, timers, chance: The program's, in the state.
    """

    def __init__(
        self,
        context: AgentContext,
        owner: str,
        *,
        scope: str,
        every: int,
        wrap: Wrap,
        memory: ProgramMemory,
        timers: Timers,
        chance: RandomStream,
    ) -> None:
        self.context, self.owner, self.scope = context, owner, scope
        self.memory, self.chance = memory, chance
        self.period = every * context.world.scene.step
        self._every, self._wrap, self._timers = every, wrap, timers
        self._joints: dict[str, JointHandle] = {}
        self._signals: dict[str, SignalHandle] = {}
        self._sensors: dict[str, SensorHandle] = {}
        self._cameras: dict[str, CameraHandle] = {}
        self._ports: dict[str, PortHandle] = {}
        self._waiting: list[tuple[str, float]] | None = []

    def open(self) -> None:
        """Applies the writes of ``init()``, which were deferred in case it fails."""
        waiting, self._waiting = self._waiting or [], None
        for signal, value in waiting:
            self.write(signal, value)

    def joint(self, name: str) -> JointHandle:
        """Returns the handle of a joint."""
        handle = self._joints.get(name)
        if handle is None:
            dof = find_dof(self.context.world, name, scope=self.scope)
            handle = self._joints[name] = JointHandle(self, dof)
        return handle

    def signal(self, name: str) -> SignalHandle:
        """Returns the handle of a signal."""
        handle = self._signals.get(name)
        if handle is None:
            names = {signal.name: None for signal in self.context.signals}
            full = find_name("signal", name, names, scope=self.scope)
            handle = self._signals[name] = SignalHandle(self, full)
        return handle

    def sensor(self, name: str) -> SensorHandle:
        """Returns the handle of a sensor."""
        handle = self._sensors.get(name)
        if handle is None:
            names = {spec.name: None for spec in self.context.world.sensors}
            full = find_name("sensor", name, names, scope=self.scope)
            handle = self._sensors[name] = SensorHandle(self, full)
        return handle

    def camera(self, name: str) -> CameraHandle:
        """Returns the handle of a camera."""
        handle = self._cameras.get(name)
        if handle is None:
            names = {s.name: None for s in self.context.world.sensors if s.type == "camera"}
            full = find_name("camera", name, names, scope=self.scope)
            handle = self._cameras[name] = CameraHandle(self, full)
        return handle

    def port(self, name: str) -> PortHandle:
        """Returns the handle of a port."""
        handle = self._ports.get(name)
        if handle is None:
            names = port_names(self.context.world, self.context.signals)
            full = find_name("port", name, names, scope=self.scope)
            handle = self._ports[name] = PortHandle(self, full)
        return handle

    def write(self, signal: str, value: float) -> None:
        """Sets a signal as the program."""
        if self._waiting is not None:
            self.context.check(signal, value, self.owner)
            self._waiting.append((signal, value))
            return
        self.context.write(signal, value, self.owner)

    def on_change(self, signal: str, call: Callable[[float], object], by: float) -> None:
        """Adds a listener of the program."""
        _callable(call, f"on_change of {signal!r}")
        if not (isinstance(by, int | float) and math.isfinite(by) and by >= 0.0):
            raise SignalError(f"on_change of {signal!r}: by must be 0 or more, not {by!r}.")
        self.context.on_change(signal, self._wrap(call), by=float(by), owner=self.owner)

    def every(self, period: float, call: Callable[[], object]) -> Timer:
        """Calls each ``period`` [s], a whole multiple of the control period."""
        _callable(call, "every()")
        _duration(period, "every()")
        steps = self._every * period_in_steps(period, self.period, "every()", Origin())
        return self._timers.add(call, self.context.state.step + steps, steps)

    def after(self, delay: float, call: Callable[[], object]) -> Timer:
        """Calls once, at the first control period ``delay`` [s] from now, at least one later."""
        _callable(call, "after()")
        _duration(delay, "after()")
        steps = max(1, math.ceil(delay / self.context.world.scene.step - 1e-6))
        return self._timers.add(call, self.context.state.step + steps, 0)


def _callable(call: object, what: str) -> None:
    if not callable(call):
        raise SessionError(
            f"{what} needs a function to call, not {call!r}.",
            hint="Name the function without calling it: self.follow, not self.follow().",
        )


def _duration(seconds: object, what: str) -> None:
    if not (isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0.0):
        raise SessionError(f"{what} needs a time of 0 s or more, not {seconds!r}.")


#: Methods by their earlier names; a program that uses one is told its new name when it starts.
OLD_METHODS = {"say": "log"}


class Control:
    """Base of a control program: a file with one class of this kind (Rocon §3).

    ::

        class Follow(Control):
            def init(self):
                self.joint("J2").on_change(self.follow)

            def follow(self, angle):
                self.joint("J3").value = angle

    A session that restores an earlier state restores :attr:`memory`, :attr:`random` and the timers,
    which are in its state; plain attributes of the program are not restored. After a reload or a
    live edit of the scene a new object starts with :meth:`init`; only :attr:`memory` is kept.
    """

    _program_context: ProgramContext | None = None

    def init(self) -> None:
        """Called once before the first step, and again after a reload."""

    def loop(self) -> None:
        """Called every control period."""

    def exit(self) -> None:
        """Called when the session ends, and before a reload."""

    def joint(self, name: str) -> JointHandle:
        """The joint ``name``, or one degree of freedom of it (``base.x``).

        Names are looked up in the program's part first, then in the whole scene, and then by their
        last segment if only one joint has it.
        """
        return self._context().joint(name)

    def signal(self, name: str) -> SignalHandle:
        """The signal ``name``, looked up as :meth:`joint` does."""
        return self._context().signal(name)

    def sensor(self, name: str) -> SensorHandle:
        """The sensor ``name``, looked up as :meth:`joint` does; its readings are attributes."""
        return self._context().sensor(name)

    def camera(self, name: str) -> CameraHandle:
        """The camera ``name``, looked up as :meth:`joint` does.

        ``self.camera("eye").color()`` is its newest image, an array; so are ``depth()`` and
        ``segmentation()``.
        """
        return self._context().camera(name)

    def port(self, name: str) -> PortHandle:
        """The port ``name`` of a bus, looked up as :meth:`joint` does.

        Its signals are attributes: ``self.port("elbow").target = 0.5``. A program that uses
        ports only drives the virtual plant or the real one, depending on the scene's ``plant``.
        """
        return self._context().port(name)

    def every(self, period: float, call: Callable[[], object]) -> Timer:
        """Calls each ``period`` [s] from now, before :meth:`loop`.

        The period is a whole multiple of :attr:`step`.
        """
        return self._context().every(period, call)

    def after(self, delay: float, call: Callable[[], object]) -> Timer:
        """Calls once, ``delay`` [s] from now or at the next control period after that."""
        return self._context().after(delay, call)

    def log(self, text: object) -> None:
        """Logs a message."""
        program_context = self._context()
        program_context.context.log(str(text), source=program_context.owner)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._context().context.time

    @property
    def step(self) -> float:
        """The control period [s]."""
        return self._context().period

    @property
    def memory(self) -> ProgramMemory:
        """Named numbers that the session saves, restores and keeps across reloads."""
        return self._context().memory

    @property
    def random(self) -> RandomStream:
        """Random numbers, the same in each run with the same seed."""
        return self._context().chance

    def __getattr__(self, name: str) -> Any:
        """Finds methods by their earlier names: ``say`` is now ``log``."""
        if name in OLD_METHODS:
            return getattr(self, OLD_METHODS[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _context(self) -> ProgramContext:
        if self._program_context is None:
            raise SessionError(
                f"{type(self).__name__} is not part of a session.",
                hint="Name its file in a scene: [[agent]] type = 'program', file = 'control.py'.",
            )
        return self._program_context
