"""Session: the clock and the cycle, with inbox, outbox and recorder."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Self

from linkwork.agents.program import Program
from linkwork.errors import LinkworkError
from linkwork.scene import Scene
from linkwork.session import messages
from linkwork.session.apply import apply
from linkwork.session.clock import Clock
from linkwork.session.cycle import Cycle
from linkwork.session.link import SessionEnd
from linkwork.session.listeners import Listener, Listeners
from linkwork.session.messages import Event, Message
from linkwork.session.outbox import Outbox
from linkwork.session.tape import Tape
from linkwork.session.transfer import transfer
from linkwork.signals import Signals
from linkwork.state import State
from linkwork.world import World, compile_scene

#: How often program files are looked at for changes [s].
WATCH_PERIOD = 0.5


class Session:
    """A running scene.

    Args:
        scene: A scene, or a file or kit name of one (``tripod/level``).
        record: Where to record to; None records nothing.
        link: A session end from ``linkwork.session.link`` for other threads and processes.
        watch: Whether programs are reloaded when their files change.

    Use it as a context manager, or call :meth:`close`. All calls but :meth:`send`, :meth:`stop`
    and :meth:`swap` belong to the thread that runs the session.

    Attributes:
        version: Scene version; goes up with each live edit.
        running: Whether time runs.
        clock: Paces :meth:`run`.
        outbox: Events and peers.
        after_step: Called after each step; reads only.
        at_close: Called when the session closes.
    """

    def __init__(
        self,
        scene: Scene | str | Path,
        *,
        record: str | Path | None = None,
        link: SessionEnd | None = None,
        watch: bool = True,
    ) -> None:
        if not isinstance(scene, Scene):
            scene = _load(scene)
        self.version = 1
        self.running = True
        self.clock = Clock()
        self._deciding = False
        self._pending: deque[Message] = deque()
        self._writes: list[tuple[str, float, str]] = []
        self._stopping = False
        self._watch = watch
        self._watched_at = 0.0
        self._swap: Future[Cycle] | None = None
        self._tape: Tape | None = None
        self.after_step: list[Callable[[], object]] = []
        self.at_close: list[Callable[[], object]] = []
        self.outbox = Outbox(link)
        self._use(Cycle(compile_scene(scene)))
        self._start_agents()
        if record is not None:
            self._tape = Tape(Path(record), self.cycle)

    # ---- what agents and users see -------------------------------------------------------

    @property
    def world(self) -> World:
        """The world as compiled."""
        return self.cycle.world

    @property
    def state(self) -> State:
        """The state. Write only through :meth:`send`; what you keep must be a copy."""
        return self.cycle.state

    @property
    def signals(self) -> Signals:
        """Every signal."""
        return self.cycle.signals

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.cycle.state.step * self.cycle.h

    def __getitem__(self, signal: str) -> float:
        """Value of a signal: ``session["arm/J2.angle"]``."""
        return self.signals.value(signal)

    def __setitem__(self, signal: str, value: float) -> None:
        """Sets an input or parameter with the next step: ``session["arm/J2.target"] = 0.5``."""
        self.signals.check(signal, value, "user")
        self.send(messages.Set(signal, float(value)))

    def send(self, message: Message) -> None:
        """Puts a message into the inbox; it is applied before the next step."""
        self._pending.append(message)

    def write(self, signal: str, value: float, owner: str) -> None:
        """Sets a signal for an agent: at once while deciding, else before the next step."""
        if self._deciding:
            self.signals.set(signal, float(value), owner)
            self._note_param(signal)
        else:
            self.signals.check(signal, value, owner)
            self._writes.append((signal, float(value), owner))

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float = 0.0, owner: str = "user"
    ) -> None:
        """Calls ``call(value)`` after each step in which ``signal`` moved by more than ``by``."""
        self._listeners.add(Listener(signal, call, by, owner), self.state.data)

    def forget(self, owner: str) -> None:
        """Ends all listeners and ownerships of ``owner``."""
        self._listeners.forget(owner)
        self.signals.release(owner)

    def say(self, text: str, *, level: str = "info", source: str = "") -> None:
        """Puts a message for people into the outbox."""
        self.outbox.event(Event(self.state.step, level, text, source))
        if self._tape is not None:
            self._tape.event(level, text, source)

    # ---- the cycle -----------------------------------------------------------------------

    def step(self, steps: int = 1) -> None:
        """Does ``steps`` steps, whatever the clock says.

        Raises:
            LinkworkError: If an engine or a program fails; that step did not happen, and the
                session is paused.
        """
        for _ in range(steps):
            self._take_in()
            self._one()

    def _one(self) -> None:
        cycle = self.cycle
        cycle.keep(len(self._listeners))
        try:
            cycle.sense()
            self._deciding = True
            cycle.decide()
            self._deciding = False
            cycle.move()
            self._listeners.call(cycle.state.data)
            if self._writes:
                self._apply_writes()
        except BaseException as error:
            self._deciding = False
            self._writes.clear()
            cycle.undo()
            self.running = False
            if isinstance(error, LinkworkError):
                self.say(str(error), level="error", source=type(error).__name__)
            raise
        if self._tape is not None:
            self._tape.after()
        for call in self.after_step:
            call()
        if self.outbox.connected:
            self.outbox.publish(self)

    def _apply_writes(self) -> None:
        writes, self._writes = self._writes, []
        for signal, value, owner in writes:
            self.signals.set(signal, value, owner)
            self._note_param(signal)

    def _note_param(self, signal: str) -> None:
        if self.signals[signal].direction == "param":
            for block in self.cycle.blocks:
                block.params_changed()

    def _take_in(self) -> None:
        """Applies what is due: edited scenes, messages of this process, messages of peers."""
        if self._swap is not None and self._swap.done():
            self._finish_swap()
        if self.outbox.link is not None:
            self._pending.extend(self.outbox.receive(self))
        while self._pending:
            self.apply(self._pending.popleft())

    def apply(self, message: Message) -> None:
        """Applies one message now; a refused one is answered in the outbox."""
        try:
            apply(self, message)
        except LinkworkError as error:
            self.say(str(error), level="error", source="inbox")
            return
        if self._tape is not None and isinstance(message, messages.RECORDED):
            self._tape.message(message)

    def run(
        self,
        duration: float | None = None,
        *,
        clock: str | None = None,
        speed: float = 1.0,
        progress: Callable[[float], object] | None = None,
    ) -> None:
        """Runs for ``duration`` [s] of simulated time, or until :meth:`stop`.

        Args:
            duration: Simulated time [s]; None runs until stopped.
            clock: "fast", "real" or "lockstep"; unchanged if None.
            speed: Simulated seconds per real second, for the clock "real".
            progress: Called about ten times a second with the simulated time.

        Raises:
            LinkworkError: If an engine or a program fails while nobody else watches the session.
        """
        if clock is not None:
            self.clock = Clock(clock, speed)
        self.clock.restart()
        end = None if duration is None else self.state.step + round(duration / self.cycle.h)
        self._stopping = False
        self.running = True
        shown = 0.0
        while not self._stopping and (end is None or self.state.step < end):
            self._look_after_files()
            if progress is not None and (now := time.perf_counter()) - shown > 0.1:
                shown = now
                progress(self.time)
            self._take_in()
            if not self._may_step():
                self._idle(0.01)
                continue
            try:
                self._one()
            except LinkworkError:
                if not self.outbox.connected:
                    raise
                continue
            if (wait := self.clock.pace(self.time)) > 0.0:
                self._idle(wait)
        if self._tape is not None:
            self._tape.recorder.flush()

    def _may_step(self) -> bool:
        if self.clock.mode == "lockstep" or not self.running:
            if self.clock.granted == 0:
                return False
            self.clock.granted -= 1
        return True

    def _idle(self, seconds: float) -> None:
        if self.outbox.connected:
            self.outbox.publish(self)
        if self.outbox.link is not None and seconds > 0.002:
            self.outbox.link.wait(seconds)
        else:
            time.sleep(seconds)

    def stop(self) -> None:
        """Ends :meth:`run` after the present step; safe from any thread or signal handler."""
        self._stopping = True

    def reset(self) -> None:
        """Goes back to the first state."""
        self.send(messages.Reset())

    def restart(self) -> None:
        """Writes the first state and starts all agents anew; for ``Reset``."""
        self.cycle.restore(self.cycle.first)
        self._writes.clear()
        self.signals.owners.clear()
        self._start_agents()
        self.clock.restart()

    def _start_agents(self) -> None:
        for agent in self.cycle.agents:
            self._listeners.forget(agent.spec.name)
            agent.start(self)
        self._apply_writes()

    def _look_after_files(self) -> None:
        now = time.monotonic()
        if not self._watch or now - self._watched_at < WATCH_PERIOD:
            return
        self._watched_at = now
        for agent in self.cycle.agents:
            if not isinstance(agent, Program):
                continue
            try:
                source = agent.changed_on_disk()
            except LinkworkError as error:
                self.say(str(error), level="error", source=agent.spec.name)
            else:
                if source is not None:
                    self.send(messages.Reload(agent.spec.name, source))

    # ---- live edits ----------------------------------------------------------------------

    def swap(self, scene: Scene, *, ids: dict[str, str] | None = None) -> Future[Cycle]:
        """Compiles an edited scene in the background and swaps to it at a step boundary.

        Returns:
            Done when compiled; its exception is the error where the scene cannot be used.
        """
        future: Future[Cycle] = Future()

        def work() -> None:
            try:
                future.set_result(Cycle(compile_scene(scene, ids=ids)))
            except BaseException as error:  # handed to whoever waits
                future.set_exception(error)

        self._swap = future
        threading.Thread(target=work, name="linkwork-compile", daemon=True).start()
        return future

    def _finish_swap(self) -> None:
        future, self._swap = self._swap, None
        assert future is not None
        error = future.exception()
        if error is not None:
            if not isinstance(error, LinkworkError):
                raise error
            self.say(f"the edit is not in use: {error}", level="error", source="scene")
            return
        cycle = future.result()
        if self._tape is not None:
            from linkwork.scene.archive import pack

            message = messages.Swap(pack(cycle.world.scene), cycle.world.ids)
            self._tape.message(message)
        self.use(cycle)

    def use(self, cycle: Cycle) -> None:
        """Goes on with another compiled world; what shares an id keeps its state."""
        old, listeners = self.cycle, self._listeners.everyone()
        transfer(old, cycle)
        owners = {n: o for n, o in self.signals.owners.items() if n in cycle.signals}
        agents = {agent.spec.name for agent in [*old.agents, *cycle.agents]}
        for agent in old.agents:
            agent.close()
        self._use(cycle)
        self.signals.owners.update(owners)
        for listener in listeners:
            if listener.owner not in agents and listener.signal in self.signals:
                self._listeners.add(listener, self.state.data)
        self._start_agents()
        self.version += 1
        if self._tape is not None:
            self._tape.segment(cycle)
        if self.outbox.link is not None:
            self.outbox.greet(self)

    def _use(self, cycle: Cycle) -> None:
        self.cycle = cycle
        self._listeners = Listeners(cycle.signals, cycle.state["listeners/last"])

    # ---- the end -------------------------------------------------------------------------

    def close(self) -> None:
        """Ends agents, recording and link."""
        for agent in self.cycle.agents:
            agent.close()
        self.cycle.close()
        for call in self.at_close:
            call()
        if self._tape is not None:
            self._tape.close()
            self._tape = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _load(name: str | Path) -> Scene:
    from linkwork.formats import load_scene

    return load_scene(name)
