"""Session: the clock and the cycle, with inbox, outbox and recorder."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from linkwork.agents.program import Program
from linkwork.errors import LinkworkError, ProgramError, SessionError
from linkwork.registry import bus_partners
from linkwork.scene import Scene
from linkwork.scene.archive import pack
from linkwork.scene.scene import check_mode
from linkwork.session import messages
from linkwork.session.apply import apply, check_override
from linkwork.session.board import Board
from linkwork.session.clock import Clock
from linkwork.session.cycle import PERSON, Cycle
from linkwork.session.durations import check_steps
from linkwork.session.fault_desk import FaultDesk
from linkwork.session.history import check_state
from linkwork.session.live_edit import LiveEdit
from linkwork.session.messages import Event, Message
from linkwork.session.outbox import Outbox, Peers
from linkwork.session.partners import Partners
from linkwork.session.reading import read_posture
from linkwork.session.rehearsal import rehearse
from linkwork.session.report import RunReport, run_report
from linkwork.session.running import run
from linkwork.session.tape import Tape
from linkwork.session.transfer import keep_sources, transfer
from linkwork.world import compile_scene


class Session(Board):
    """A running scene.

    Args:
        scene: A scene, or a file or kit name of one (``tripod/level``).
        record: Where to record to; None records nothing.
        overwrite: Whether a recording that exists may be replaced.
        link: A session end from ``linkwork.session.link`` for other threads and processes, or
            what acts as one.
        watch: Whether programs are reloaded when their files change.
        buses: Whether the scene's buses are served, each by a process of its own.

    Use it as a context manager, or call :meth:`close`. All calls but :meth:`send`, :meth:`stop`
    and :meth:`swap` belong to the thread that runs the session.

    Attributes:
        version: Scene version; goes up with each live edit.
        running: Whether time runs.
        stopping: Whether :meth:`run` is about to end.
        halted_by: The bus whose loss has paused it; empty if none did.
        watch: Whether programs are reloaded when their files change.
        clock: Paces :meth:`run`.
        outbox: Events and peers.
        faults: Begins and ends faults.
        after_step: Called after each step, when it is on the tape; what is put in there by
            :meth:`apply` is of the next step. Those who keep states come last.
        at_close: Called when the session closes.
        partners: The processes of the scene's buses; None without.
    """

    def __init__(
        self,
        scene: Scene | str | Path,
        *,
        record: str | Path | None = None,
        overwrite: bool = False,
        link: Peers | None = None,
        watch: bool = True,
        buses: bool = True,
    ) -> None:
        if not isinstance(scene, Scene):
            scene = _load(scene)
        super().__init__(Cycle(compile_scene(scene)))
        self.version = 1
        self.running = True
        self.clock = Clock()
        self._pending: deque[Message] = deque()
        self.stopping = False
        self._stumbled = False
        self.halted_by = ""
        self._closed = False
        self.watch = watch
        self._edit: LiveEdit | None = None
        self._folders: list[tempfile.TemporaryDirectory[str]] = []
        self._tape: Tape | None = None
        self.after_step: list[Callable[[], object]] = []
        self.at_close: list[Callable[[], object]] = []
        self.outbox = Outbox(link)
        self.faults = FaultDesk(self)
        self._serve_buses = buses
        self.partners: Partners | None = None
        try:
            for error in self._start_agents():
                raise error
            if record is not None:
                self._tape = Tape(Path(record), self.cycle, self._warn, overwrite=overwrite)
            self._meet_partners(wait=True)
        except BaseException:
            self.close()
            raise

    # ---- what users see ------------------------------------------------------------------

    def __getitem__(self, signal: str) -> float:
        """Value of a signal: ``session["arm/J2.angle"]``."""
        return self.signals.value(signal)

    def __setitem__(self, signal: str, value: float) -> None:
        """Sets an input or parameter with the next step: ``session["arm/J2.target"] = 0.5``."""
        owner = PERSON
        if any(isinstance(m, messages.Take) and m.signal == signal for m in list(self._pending)):
            owner = self.signals.owners.get(signal, owner)
        self.signals.check(signal, value, owner)
        self.send(messages.Set(signal, float(value)))

    def read_posture(self, bus: str = "") -> dict[str, float]:
        """Where the joints of the machine behind a bus are [rad or m], as it reported last.

        Args:
            bus: Its bus; the only one with a machine behind it if empty.

        Raises:
            LinkworkError: If there is none, or it does not say where all of them are.
        """
        return read_posture(self.cycle, bus)

    def report(self) -> RunReport:
        """How the run went up to now: gaps, where and when, energy, and what engines needed."""
        return run_report(self.cycle)

    def send(self, message: Message) -> None:
        """Puts a message into the inbox; it is applied before the next step.

        Raises:
            FormatError: If its values are not of the right types or out of bounds.
            LinkworkError: If it overrides a signal that no bus has, or by what is not for it.
        """
        message = messages.checked(message)
        if isinstance(message, messages.Override) and not self._swapping:
            check_override(self.cycle, message)
        self._pending.append(message)

    @property
    def _swapping(self) -> bool:
        """Whether another scene comes before what is sent now."""
        return any(isinstance(message, messages.Swap) for message in list(self._pending))

    def say(self, text: str, *, level: str = "info", source: str = "") -> None:
        """Puts a message for people into the outbox."""
        self.outbox.event(Event(self.state.step, level, text, source))
        if self._tape is not None:
            self._tape.event(level, text, source)

    def _warn(self, text: str) -> None:
        self.say(text, level="warning", source="recording")

    # ---- the cycle -----------------------------------------------------------------------

    def step(self, steps: int = 1) -> None:
        """Does ``steps`` steps, whatever the clock says.

        Raises:
            LinkworkError: If it is no number of steps.
            LinkworkError: If an engine or a program fails; that step did not happen, and the
                session is paused.
        """
        self._must_be_open()
        check_steps(steps)
        for _ in range(steps):
            self.take_in()
            while self.partners is not None and self.partners.lagging() and not self.stopping:
                self.partners.wait(0.02)
                self.take_in()
            self.advance()

    def advance(self) -> None:
        """Does one step without taking anything in first; see :meth:`step`."""
        cycle = self.cycle
        listeners, owners = len(self._listeners), len(cycle.signals.owners)
        cycle.keep(listeners)
        try:
            cycle.sense()
            self._deciding = True
            cycle.decide()
            for bus in cycle.buses:
                bus.act(self)
            self._deciding = False
            cycle.move()
            cycle.give_out()
            self._listeners.call(cycle.state.data)
            if self._writes:
                self._apply_writes()
        except BaseException as error:
            self._undo(listeners, owners)
            if isinstance(error, LinkworkError):
                self._stumble(error)
                if self._tape is not None:
                    self._tape.message(messages.Tried())
            raise
        if self._tape is not None:
            self._tape.after()
        for bus in cycle.buses:
            self.heed(bus)
        if cycle.trouble:
            self.faults.tell()
        if self.partners is not None:
            self.partners.give_out()
        self._onlookers.call(cycle.state.data)
        for call in self.after_step:
            call()
        if self.outbox.connected:
            self.outbox.publish(self)

    def _undo(self, listeners: int, owners: int) -> None:
        """Takes a step back: what it changed, and the listeners and owners that it added."""
        self._deciding = False
        self._writes.clear()
        self._listeners.cut(listeners)
        self.cycle.undo()
        for name in list(self.signals.owners)[owners:]:
            del self.signals.owners[name]
        self.pause()

    def _stumble(self, error: LinkworkError) -> None:
        """Pauses because something failed; a program that is mended goes on by itself."""
        self.pause()
        self._stumbled = isinstance(error, ProgramError)
        self.say(str(error), level="error", source=type(error).__name__)

    def heed(self, bus: Any) -> None:
        """Pauses if a bus that lost its partner wants it."""
        if bus.wants_pause:
            bus.wants_pause = False
            self.pause()
            self.halted_by = bus.spec.name

    def try_step(self) -> None:
        """Does a step and takes it back, whether it fails or not; for ``Tried`` in a replay."""
        listeners, owners = len(self._listeners), len(self.signals.owners)
        try:
            self.advance()
        except LinkworkError:
            return
        self._undo(listeners, owners)

    def pause(self) -> None:
        """Stops time, and takes back the steps that were handed out; for ``Pause``."""
        self.running = self._stumbled = False
        self.halted_by = ""
        self.clock.granted = 0

    def resume(self) -> None:
        """Lets time run again if a failed program stopped it; for ``Reload``."""
        if self._stumbled:
            self.running, self._stumbled = True, False
            self.clock.restart()

    # ---- the inbox -----------------------------------------------------------------------

    def take_in(self, *, in_order: bool = False) -> None:
        """Applies what is due: edited scenes, messages of this process, messages of peers.

        Args:
            in_order: Whether messages behind an ``Advance`` wait until its steps are done.
        """
        edit = self._edit
        if edit is not None and edit.compiled.done():
            self._finish(edit)
        pending = self._pending
        if self.outbox.link is not None:
            pending.extend(self.outbox.receive(self))
        if self.partners is not None:
            pending.extend(self.partners.receive())
        while pending:
            if in_order and self.clock.granted and self.by_hand:
                if not any(isinstance(message, messages.Pause) for message in list(pending)):
                    return
                self.clock.granted = 0
            self.apply(pending.popleft())

    @property
    def by_hand(self) -> bool:
        """Whether steps are handed out one by one."""
        return self.clock.mode == "lockstep" or not self.running

    def apply(self, message: Message) -> bool:
        """Applies one message now; a refused one is answered in the outbox.

        Returns:
            Whether it was accepted.
        """
        accepted = recorded = True
        try:
            apply(self, message)
            self._apply_writes()  # what the init() of a reloaded program set
        except LinkworkError as error:
            self.say(str(error), level="error", source="inbox")
            accepted = False
            # Not without effect: a program that was ended for a faulty one has begun again.
            recorded = isinstance(error, ProgramError)
        if self._tape is not None and recorded and isinstance(message, messages.RECORDED):
            self._tape.message(message)
        return accepted

    def reset(self) -> None:
        """Goes back to the first state with the next step."""
        self.send(messages.Reset())

    def restart(self) -> None:
        """Writes the first state and starts all agents anew; for ``Reset``."""
        steps = self._tape.steps if self._tape is not None else 0
        for agent in self.cycle.agents:
            agent.close()  # what an exit() still sets belongs to the run that ends here
        self._writes.clear()
        self.cycle.restore(self.cycle.first)
        if self._tape is not None:
            self._tape.steps = steps
        self._taken.clear()
        self._kept.clear()
        self.signals.owners.clear()
        for error in self._start_agents():
            self._stumble(error)
        if self.partners is not None:
            self.partners.recall()
        self.clock.restart()

    def go_back(self, state: bytes) -> None:
        """Takes over a state of the past; a recording counts on. For ``Restore``.

        Raises:
            SessionError: If the session cannot have been in this state.
        """
        check_state(self.cycle, state)
        steps = self._tape.steps if self._tape is not None else 0
        self.cycle.restore(state)
        if self._tape is not None:
            self._tape.steps = steps
        self._writes.clear()
        if self.partners is not None:
            self.partners.recall()
        self.clock.restart()

    def _start_agents(self) -> list[LinkworkError]:
        """Starts every agent; returns why some could not."""
        failures: list[LinkworkError] = []
        for agent in self.cycle.agents:
            self._listeners.forget(agent.spec.name)
            try:
                agent.start(self)
                self._apply_writes()
            except LinkworkError as error:
                self._writes.clear()
                failures.append(error)
        return failures

    # ---- running -------------------------------------------------------------------------

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
            LinkworkError: While nobody else watches the session, if an engine or a program fails,
                or a bus loses its controller and ``on_loss`` is "pause".
        """
        self._must_be_open()
        if clock is not None:
            self.clock = Clock(clock, speed)
        try:
            run(self, duration, progress)
        finally:
            self.stopping = False
            if self._tape is not None:
                self._tape.flush()

    def stop(self) -> None:
        """Ends :meth:`run` after the present step; safe from any thread or signal handler.

        Called while nothing runs, it ends the next run before its first step.
        """
        self.stopping = True

    # ---- recording -----------------------------------------------------------------------

    def record(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Records from here on.

        Raises:
            SessionError: If it records already.
            RecordingError: If the file cannot be written.
        """
        self._must_be_open()
        if self._tape is not None:
            raise SessionError("the session is being recorded already.")
        self._tape = Tape(Path(path), self.cycle, self._warn, overwrite=overwrite)
        for signal, owner in sorted(self.signals.owners.items()):
            self._tape.message(messages.Take(signal, owner))
        for message in self.faults.injected():
            self._tape.message(message)
        programs = [a.spec.name for a in self.cycle.agents if isinstance(a, Program)]
        if programs and self.state.step:
            self._warn(
                f"a replay starts {', '.join(programs)} anew: what a program remembers outside "
                "self.memory is not in a recording that begins in mid-run."
            )

    def end_recording(self) -> None:
        """Closes the recording, if there is one; the session goes on."""
        tape, self._tape = self._tape, None
        if tape is not None:
            tape.last_hash()
            tape.close()

    # ---- live edits ----------------------------------------------------------------------

    def swap(self, scene: Scene, *, ids: dict[str, str] | None = None) -> Future[Cycle]:
        """Compiles an edited scene in the background and swaps to it at a step boundary.

        A later edit takes the place of one that is not in use yet. An edit that cannot be used
        leaves everything as it is; the outbox says why.

        Args:
            scene: The scene after the edit.
            ids: Stable ids by full name, :attr:`~linkwork.scene.document.Document.ids`.

        Returns:
            Done when compiled; its exception is the error where the scene cannot be used.
        """
        edit = self._edit = LiveEdit(scene, ids, packed=self._tape is not None)
        return edit.compiled

    def _finish(self, edit: LiveEdit) -> None:
        if self._edit is edit:
            self._edit = None
        try:
            cycle = edit.result()
            keep_sources(self.cycle, cycle)
            self.use(cycle, edit.archive)
        except LinkworkError as error:
            self.say(f"the edit is not in use: {error}", level="error", source="scene")

    def use(
        self, cycle: Cycle, archive: bytes = b"", *, what: str = "the scene was edited"
    ) -> None:
        """Goes on with another compiled world; what shares an id keeps its state.

        Args:
            cycle: The world.
            archive: Its scene, for the recording.
            what: What happened, for people.

        Raises:
            SceneError: If the session is recorded and a file of the scene cannot be read; then
                nothing has changed.
        """
        if self._tape is not None and not archive:
            archive = pack(cycle.world.scene)
        old = self.cycle
        steps = self._tape.steps if self._tape is not None else 0
        old.close()
        self._apply_writes()  # what the exit() of a program set
        transfer(old, cycle)
        self._go_over(cycle)
        failures = self._start_agents()
        self.version += 1
        if self._tape is not None:
            self._tape.segment(cycle, archive, steps)
        self._meet_partners()
        self.outbox.greet(self)
        self.say(f"{what}; this is version {self.version}.", source="scene")
        for name in cycle.trouble.lost:
            self.say(f"fault {name} is gone with what it struck.", level="warning", source=name)
        for error in failures:
            self._stumble(error)

    @property
    def mode(self) -> str:
        """What moves the scene: "kinematic", "emulation" or "simulation"; may be set.

        It changes with the next step. Time, posture, speeds, targets and gains go on.
        """
        return self.world.scene.mode or "simulation"

    @mode.setter
    def mode(self, mode: str) -> None:
        check_mode(mode or "none")
        self.send(messages.Mode(mode))

    def change_mode(self, mode: str) -> None:
        """Goes over to another mode now; for ``Mode``.

        Raises:
            LinkworkError: If there is no such mode, or the scene cannot be used in it.
        """
        check_mode(mode or "none")
        if mode == self.mode:
            return
        cycle = Cycle(compile_scene(replace(self.world.scene, mode=mode), ids=self.world.ids))
        rehearse(cycle)
        keep_sources(self.cycle, cycle)
        self.use(cycle, what=f"the mode is {mode} now")

    def _meet_partners(self, *, wait: bool = False) -> None:
        """Starts, tells or ends the processes of the buses, as the scene has them now."""
        if self.partners is None and self._serve_buses and self.cycle.buses:
            self.partners = bus_partners()(self)
        if self.partners is not None:
            self.partners.meet(wait=wait)

    def folder(self) -> Path:
        """A new folder that lasts as long as the session."""
        self._folders.append(tempfile.TemporaryDirectory(prefix="linkwork-"))
        return Path(self._folders[-1].name)

    # ---- the end -------------------------------------------------------------------------

    def _must_be_open(self) -> None:
        if self._closed:
            raise SessionError("the session is closed.", hint="Make a new one.")

    def close(self) -> None:
        """Ends agents, recording and link; once is enough."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as ends:  # the last one first, each whatever becomes of the others
            for folder in self._folders:
                ends.callback(folder.cleanup)
            if self.outbox.link is not None:
                ends.callback(self.outbox.link.close)
            if self._tape is not None:
                ends.callback(self._tape.close)
            for call in reversed(self.at_close):
                ends.callback(call)
            ends.callback(self.cycle.close)
            if self.partners is not None:
                ends.callback(self.partners.close)
            if self._tape is not None:
                ends.callback(self._tape.last_hash)  # before programs do something in their exit()

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
