"""Desk: one program's place at the bench; its handles, memory, timers and random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from linkwork.agents.agent import Bench
from linkwork.agents.chance import Chance
from linkwork.agents.handles import (
    CameraHandle,
    JointHandle,
    PortHandle,
    SensorHandle,
    SignalHandle,
)
from linkwork.agents.lookup import find_dof, find_name, port_names
from linkwork.agents.memory import Memory
from linkwork.agents.timers import Timer, Timers
from linkwork.blocks import whole_steps
from linkwork.errors import Origin, SessionError, SignalError

#: Makes a guarded call out of one that a program gave.
Wrap = Callable[[Callable[..., object]], Callable[..., object]]


class Desk:
    """What a control program can reach.

    Args:
        bench: The session's bench.
        owner: Name under which the program writes and listens.
        scope: Part that short names are looked up in first.
        every: Steps of the session in one control period.
        wrap: How calls into the program are made.
        memory, timers, chance: The program's, in the state.
    """

    def __init__(
        self,
        bench: Bench,
        owner: str,
        *,
        scope: str,
        every: int,
        wrap: Wrap,
        memory: Memory,
        timers: Timers,
        chance: Chance,
    ) -> None:
        self.bench, self.owner, self.scope = bench, owner, scope
        self.memory, self.chance = memory, chance
        self.period = every * bench.world.scene.step
        self._every, self._wrap, self._timers = every, wrap, timers
        self._joints: dict[str, JointHandle] = {}
        self._signals: dict[str, SignalHandle] = {}
        self._sensors: dict[str, SensorHandle] = {}
        self._cameras: dict[str, CameraHandle] = {}
        self._ports: dict[str, PortHandle] = {}
        self._waiting: list[tuple[str, float]] | None = []

    def open(self) -> None:
        """Lets writes through, those of ``init()`` first: one that fails has set nothing."""
        waiting, self._waiting = self._waiting or [], None
        for signal, value in waiting:
            self.write(signal, value)

    def joint(self, name: str) -> JointHandle:
        """The handle of a joint."""
        handle = self._joints.get(name)
        if handle is None:
            dof = find_dof(self.bench.world, name, scope=self.scope)
            handle = self._joints[name] = JointHandle(self, dof)
        return handle

    def signal(self, name: str) -> SignalHandle:
        """The handle of a signal."""
        handle = self._signals.get(name)
        if handle is None:
            names = {signal.name: None for signal in self.bench.signals}
            full = find_name("signal", name, names, scope=self.scope)
            handle = self._signals[name] = SignalHandle(self, full)
        return handle

    def sensor(self, name: str) -> SensorHandle:
        """The handle of a sensor."""
        handle = self._sensors.get(name)
        if handle is None:
            names = {spec.name: None for spec in self.bench.world.sensors}
            full = find_name("sensor", name, names, scope=self.scope)
            handle = self._sensors[name] = SensorHandle(self, full)
        return handle

    def camera(self, name: str) -> CameraHandle:
        """The handle of a camera."""
        handle = self._cameras.get(name)
        if handle is None:
            names = {s.name: None for s in self.bench.world.sensors if s.type == "camera"}
            full = find_name("camera", name, names, scope=self.scope)
            handle = self._cameras[name] = CameraHandle(self, full)
        return handle

    def port(self, name: str) -> PortHandle:
        """The handle of a port."""
        handle = self._ports.get(name)
        if handle is None:
            names = port_names(self.bench.world, self.bench.signals)
            full = find_name("port", name, names, scope=self.scope)
            handle = self._ports[name] = PortHandle(self, full)
        return handle

    def write(self, signal: str, value: float) -> None:
        """Sets a signal in the program's name."""
        if self._waiting is not None:
            self.bench.check(signal, value, self.owner)
            self._waiting.append((signal, value))
            return
        self.bench.write(signal, value, self.owner)

    def on_change(self, signal: str, call: Callable[[float], object], by: float) -> None:
        """Adds a listener in the program's name."""
        _callable(call, f"on_change of {signal!r}")
        if not (isinstance(by, int | float) and math.isfinite(by) and by >= 0.0):
            raise SignalError(f"on_change of {signal!r}: by must be 0 or more, not {by!r}.")
        self.bench.on_change(signal, self._wrap(call), by=float(by), owner=self.owner)

    def every(self, period: float, call: Callable[[], object]) -> Timer:
        """Calls each ``period`` [s], a whole multiple of the control period."""
        _callable(call, "every()")
        _duration(period, "every()")
        steps = self._every * whole_steps(period, self.period, "every()", Origin())
        return self._timers.add(call, self.bench.state.step + steps, steps)

    def after(self, delay: float, call: Callable[[], object]) -> Timer:
        """Calls once, at the first control period ``delay`` [s] from now, at least one later."""
        _callable(call, "after()")
        _duration(delay, "after()")
        steps = max(1, math.ceil(delay / self.bench.world.scene.step - 1e-6))
        return self._timers.add(call, self.bench.state.step + steps, 0)


def _callable(call: object, what: str) -> None:
    if not callable(call):
        raise SessionError(
            f"{what} needs a function to call, not {call!r}.",
            hint="Name the function without calling it: self.follow, not self.follow().",
        )


def _duration(seconds: object, what: str) -> None:
    if not (isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0.0):
        raise SessionError(f"{what} needs a time of 0 s or more, not {seconds!r}.")
