"""Session: a running scene."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from linkwork.components.agents.program import Program
from linkwork.core.atomic import cache_folder
from linkwork.core.errors import (
    ErrorRecord,
    LinkworkError,
    NameNotFound,
    ProgramError,
    RecordingError,
    SessionError,
    listing,
)
from linkwork.core.signals import Signals
from linkwork.core.state import State
from linkwork.model.scene import Scene, check_mode
from linkwork.model.scene.archive import pack
from linkwork.model.world import World, compile_scene
from linkwork.project.trust import ProgramCode, named_code, program_code
from linkwork.session import messages
from linkwork.session.bus_interface import BusServices, SessionBus, check_permissions
from linkwork.session.clock import Clock, check_steps, run
from linkwork.session.cycle import USER, Cycle
from linkwork.session.faults import FaultInjector
from linkwork.session.history import check_state
from linkwork.session.live_edit import LiveEdit, compile_mode
from linkwork.session.message_handlers import apply, check_override
from linkwork.session.messages import Message, SessionEvent
from linkwork.session.outbox import Outbox, SessionViewer
from linkwork.session.postures import read_posture
from linkwork.session.recorder import Recorder
from linkwork.session.run_report import RunReport, run_report
from linkwork.session.signal_access import SignalAccess
from linkwork.session.transfer import keep_sources, transfer

#: Decides whether a program may run.
ProgramPolicy = Callable[[ProgramCode], bool]


class Session:
    """A running scene: the clock and the cycle, with inbox, outbox and recorder.

    Args:
        scene: A scene, or a file or kit name of one (``tripod/level``).
        record: File to record to; None records nothing.
        overwrite: Whether an existing recording may be replaced.
        viewer: The viewer that shows the session and forwards requests to it, or None.
        watch: Whether programs are reloaded when their files change.
        buses: Whether the scene's buses are served, each by a process of its own.
        programs: Whether control programs are run, or a function that decides for each. Joints of
            a program that does not run keep their targets.
        allow: What the buses may do beyond this machine's own ports: ``"network"`` lets them open
            connections to other machines, ``"replace-links"`` replace symbolic links that they did
            not make.

    Use it as a context manager, or call :meth:`close`. All calls but :meth:`send`, :meth:`stop`
    and :meth:`swap` belong to the thread that runs the session.

    Attributes:
        cycle: The compiled world that runs.
        access: Owners, listeners and pending writes of its signals.
        version: Scene version; incremented by each live edit.
        running: Whether the clock runs.
        stopping: Whether :meth:`run` is about to end.
        paused_by: The bus whose lost controller paused the session; empty if none did.
        watch: Whether programs are reloaded when their files change.
        allow: What its buses may do; see the argument.
        clock: Paces :meth:`run`.
        outbox: Events and snapshots.
        fault_injector: Begins and ends faults.
        after_step: Called after each recorded step; messages they pass to :meth:`apply` belong to
            the next step. Callbacks that store states come last.
        at_close: Called when the session closes.
        bus_processes: The processes of the scene's buses; None without.
        programs: Whether control programs are run; see the argument.
        withheld: Names of the programs that are not run.
        remainder: Time that runs did not simulate yet because it is no whole step [s].
        in_step: Whether a step is being computed: what is logged then, a replay logs, too.
    """

    def __init__(
        self,
        scene: Scene | str | Path,
        *,
        record: str | Path | None = None,
        overwrite: bool = False,
        viewer: SessionViewer | None = None,
        watch: bool = True,
        buses: bool = True,
        programs: bool | ProgramPolicy = True,
        allow: Collection[str] = (),
    ) -> None:
        self.allow = check_permissions(allow)
        cache_folder()  # private before kernels are stored there
        named: list[str] = []
        if not isinstance(scene, Scene):
            scene = _load(scene)
            named = named_code(scene) if programs is True else []
        self.cycle = Cycle(compile_scene(scene))
        self.outbox = Outbox(viewer)
        self.access = SignalAccess(self.cycle, self.send, self.log)
        # Agents call it for each target in each step: avoid a second call.
        self.write = self.access.write  # type: ignore[method-assign]
        self.version = 1
        self.running = True
        self.clock = Clock()
        self._pending: deque[Message] = deque()
        self.stopping = False
        self._step_failed = False
        self.paused_by = ""
        self._closed = False
        self.watch = watch
        self._edit: LiveEdit | None = None
        self._folders: list[tempfile.TemporaryDirectory[str]] = []
        self._recorder: Recorder | None = None
        self.after_step: list[Callable[[], object]] = []
        self.at_close: list[Callable[[], object]] = []
        self.fault_injector = FaultInjector(self)
        self._serve_buses = buses
        self.programs = programs
        self.withheld: list[str] = []
        self.in_step = False
        self.remainder = 0.0
        self._failed_recording: RecordingError | None = None
        self.bus_processes: BusServices | None = None
        for name in named:
            self.log(f"this runs the code of {name}.")
        try:
            for error in self._start_agents():
                raise error
            self._place_start()
            if record is not None:
                self._recorder = Recorder(
                    Path(record), self.cycle, self._warn, self.withheld, overwrite=overwrite
                )
            self._sync_bus_processes(wait=True)
        except BaseException:
            self.close()
            raise

    # ---- reading -------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """The compiled world."""
        return self.cycle.world

    @property
    def state(self) -> State:
        """The state. Write only through :meth:`send`; keep only copies of it."""
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
        """Returns the value of a signal: ``session["arm/J2.angle"]``."""
        return self.signals.value(signal)

    def __contains__(self, signal: object) -> bool:
        """Returns whether there is a signal of this name: ``"arm/J2.angle" in session``."""
        return isinstance(signal, str) and signal in self.signals

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names of the signals."""
        return (signal.name for signal in self.signals)

    def array(self, sensor: str, name: str) -> np.ndarray:
        """Returns a copy of a reading that is an array: ``array("scan", "ranges")``.

        Raises:
            NameNotFound: If there is no such sensor, or it has no such array.
        """
        block, number = self.cycle.sensor(sensor)
        name = block.array_name(name)
        if name not in block.arrays:
            has = f"It has {listing(block.arrays)}." if block.arrays else "It has numbers only."
            raise NameNotFound(f"{block.type} {sensor!r} has no array {name!r}.", hint=has)
        return block.array(number, name)

    def follows_exactly(self, dof: int) -> bool:
        """Returns whether an engine follows a prescribed motion of this joint, beyond limits too.

        Args:
            dof: A degree of freedom of the world.
        """
        return self.cycle.follows_exactly(dof)

    def image(self, camera: str, what: str = "color") -> np.ndarray:
        """Returns the newest image of a camera: its ``color``, ``depth`` or ``segmentation``.

        Color is height×width×3 of 8 bit. Depth is height×width along the optical axis [m], inf
        where nothing is seen. Segmentation is height×width with indices into
        ``world.element_names``, −1 for none.

        Raises:
            NameNotFound: If there is no such camera or image.
        """
        return self.array(camera, what)

    def read_posture(self, bus: str = "") -> dict[str, float]:
        """Returns the joint positions of the machine behind a bus [rad or m], as last reported.

        Args:
            bus: Its bus; the only one with a real plant if empty.

        Raises:
            LinkworkError: If there is none, or it has not reported all joints.
        """
        return read_posture(self.cycle, bus)

    def report(self) -> RunReport:
        """Returns a report of the run: gaps, energy, and statistics of the engines."""
        return run_report(self.cycle)

    # ---- writing -------------------------------------------------------------------------

    def __setitem__(self, signal: str, value: float) -> None:
        """Sets an input or parameter with the next step: ``session["arm/J2.target"] = 0.5``."""
        owner = USER
        if any(
            isinstance(m, messages.TakeSignal) and m.signal == signal for m in list(self._pending)
        ):
            owner = self.signals.owners.get(signal, owner)
        self.signals.check(signal, value, owner)
        self.send(messages.SetSignal(signal, float(value)))

    def send(self, message: Message) -> None:
        """Puts a message into the inbox; it is applied before the next step.

        Raises:
            FormatError: If its values are not of the right types or out of bounds.
            LinkworkError: If it overrides a signal that no bus has, or with an invalid value.
        """
        message = messages.checked(message)
        if isinstance(message, messages.OverrideSignal) and not self._swap_pending:
            check_override(self.cycle, message)
        self._pending.append(message)

    @property
    def _swap_pending(self) -> bool:
        """Whether another scene is applied before messages sent now."""
        return any(isinstance(message, messages.SwapScene) for message in list(self._pending))

    def take(self, signal: str, owner: str = USER) -> None:
        """Takes an input over with the next step, from any owner."""
        self.send(messages.TakeSignal(signal, owner))

    def release(self, owner: str = USER) -> None:
        """Releases everything that ``owner`` owns; the scene's agents set it again."""
        self.send(messages.ReleaseSignals(owner))

    def write(self, signal: str, value: float, owner: str) -> None:
        """Sets a signal for an agent; see :meth:`SignalAccess.write`."""
        self.access.write(signal, value, owner)

    def check(self, signal: str, value: float, owner: str) -> None:
        """Raises what :meth:`write` would raise."""
        self.access.check(signal, value, owner)

    def on_change(
        self, signal: str, call: Callable[[float], object], *, by: float = 0.0, owner: str = USER
    ) -> None:
        """Calls ``call(value)`` after each step in which ``signal`` changed by more than ``by``."""
        self.access.on_change(signal, call, by=by, owner=owner)

    def forget(self, owner: str) -> None:
        """Ends all listeners and ownerships of ``owner``."""
        self.access.forget(owner)

    # ---- events --------------------------------------------------------------------------

    def log(self, text: str, *, level: str = "info", source: str = "") -> None:
        """Logs a message for users."""
        self._log(text, level, source)

    def log_error(
        self, error: LinkworkError, *, level: str = "error", source: str = "",
        failed: messages.FailedOperation = "",
    ) -> None:  # fmt: skip
        """Logs an error, with its origin and hint as data.

        Args:
            error: The error.
            level: "error" or "warning".
            source: Agent or bus that it concerns; empty if it concerns the session.
            failed: The operation that it ended.
        """
        self._log(str(error), level, source, error.to_record(), failed)

    def _log(
        self, text: str, level: str, source: str, error: ErrorRecord | None = None,
        failed: messages.FailedOperation = "", edit: int = 0,
    ) -> None:  # fmt: skip
        step, simulated = self.state.step, self.in_step
        self.outbox.event(SessionEvent(step, level, text, source, error, failed, edit, simulated))
        if self._recorder is not None:
            self._recorder.event(level, text, source, error, simulated=simulated)

    def _report_slow(self, program: str, text: str) -> None:
        """Reports a program that stands still, from another thread: it is not recorded.

        A replay does not stand still, and the thread that runs the session is in the program.
        """
        self.outbox.event(SessionEvent(self.state.step, "warning", text, program))

    def _warn(self, text: str) -> None:
        self.log(text, level="warning", source="recording")

    # ---- the cycle -----------------------------------------------------------------------

    def step(self, steps: int = 1) -> None:
        """Advances by ``steps`` steps, regardless of the clock.

        Raises:
            LinkworkError: If the number of steps is invalid.
            LinkworkError: If an engine or a program fails; that step is undone, and the session
                is paused.
        """
        self._must_be_open()
        check_steps(steps)
        for _ in range(steps):
            self.process_inbox()
            while (
                self.bus_processes is not None
                and self.bus_processes.waiting_for_turn()
                and not self.stopping
            ):
                self.bus_processes.wait(0.02)
                self.process_inbox()
            self.advance()

    def advance(self) -> None:
        """Advances by one step without processing the inbox; see :meth:`step`."""
        cycle, access = self.cycle, self.access
        checkpoint = access.checkpoint()
        cycle.checkpoint(checkpoint[0])
        self.in_step = True
        try:
            cycle.sense()
            access.deciding = True
            cycle.decide()
            for bus in cycle.buses:
                bus.act(self)
            access.deciding = False
            cycle.move()
            cycle.publish_outputs()
            access.listeners.call(cycle.state.data)
            access.apply_writes()
        except BaseException as error:
            self.in_step = False
            self._rollback(checkpoint)
            if isinstance(error, LinkworkError):
                self._fail_step(error.during(time=self.time))
                if self._recorder is not None:
                    self._recorder.message(messages.FailedStep())
            raise
        if self._recorder is not None:
            self._recorder.after_step()
        for bus in cycle.buses:
            self.apply_pause_request(bus)
        if cycle.faults:
            self.fault_injector.log_changes()
        self._log_notices()
        self.in_step = False
        if self.bus_processes is not None:
            self.bus_processes.publish_outputs()
        access.observers.call(cycle.state.data)
        for call in self.after_step:
            call()
        if self.outbox.viewer is not None:
            self.outbox.publish(self)

    def _rollback(self, checkpoint: tuple[int, int]) -> None:
        """Undoes a step: the state, and the listeners and owners that it added."""
        self.access.rollback(checkpoint)
        self.cycle.rollback()
        self.pause()

    def _fail_step(self, error: LinkworkError) -> None:
        """Pauses after a failure; a reload of a failed program resumes the session."""
        self.pause()
        self._step_failed = isinstance(error, ProgramError)
        self.log_error(error, failed="step")

    def apply_pause_request(self, bus: SessionBus) -> None:
        """Pauses if a bus that lost its controller requests it."""
        if bus.pause_requested:
            bus.pause_requested = False
            self.pause()
            self.paused_by = bus.spec.name

    def try_step(self) -> None:
        """Advances by one step and undoes it; for ``FailedStep`` in a replay."""
        checkpoint = self.access.checkpoint()
        try:
            self.advance()
        except LinkworkError:
            return
        self._rollback(checkpoint)

    def pause(self) -> None:
        """Pauses the clock and cancels granted steps; for ``PauseClock``."""
        self.running = self._step_failed = False
        self.paused_by = ""
        self.clock.granted = 0

    def resume(self) -> None:
        """Resumes the clock if a failed program paused it; for ``ReloadProgram``."""
        if self._step_failed:
            self.running, self._step_failed = True, False
            self.clock.restart()

    # ---- the inbox -----------------------------------------------------------------------

    def process_inbox(self, *, in_order: bool = False) -> None:
        """Applies due edits, requests of the viewer and queued messages.

        Args:
            in_order: Whether messages behind an ``AdvanceSteps`` wait until its steps are done.
        """
        for old, name in self.signals.take_used_aliases().items():
            self.log(f"signal {old!r} is now called {name!r}.", level="warning")
        edit = self._edit
        if edit is not None and edit.done():
            self._finish_edit(edit)
        pending = self._pending
        if self.outbox.viewer is not None:
            self.outbox.viewer.poll()
        if self.bus_processes is not None:
            pending.extend(self.bus_processes.receive())
        while pending:
            if in_order and self.clock.granted and self.manual:
                if not any(isinstance(message, messages.PauseClock) for message in list(pending)):
                    return
                self.clock.granted = 0
            self.apply(pending.popleft())

    @property
    def manual(self) -> bool:
        """Whether steps are granted by ``AdvanceSteps``."""
        return self.clock.mode == "lockstep" or not self.running

    def apply(self, message: Message) -> bool:
        """Applies one message now; the outbox reports a refusal.

        Returns:
            Whether it was accepted.
        """
        try:
            self.apply_or_raise(message)
        except LinkworkError:
            return False
        return True

    def apply_or_raise(self, message: Message) -> None:
        """As :meth:`apply`, but also raises a refusal.

        Raises:
            LinkworkError: If the message is refused.
        """
        recorded = True
        try:
            apply(self, message)
            self.access.apply_writes()  # from the init() of a reloaded program
        except LinkworkError as error:
            self.log_error(error, failed="message")
            # Not without effect: a program replaced by a faulty one was restarted.
            recorded = isinstance(error, ProgramError)
            raise
        finally:
            if self._recorder is not None and recorded and isinstance(message, messages.RECORDED):
                self._recorder.message(message)

    def reset(self) -> None:
        """Restores the first state with the next step."""
        self.send(messages.ResetState())

    def restart(self) -> None:
        """Restores the first state and starts all agents again; for ``ResetState``."""
        for agent in self.cycle.agents:
            agent.close()  # signals set in exit() belong to the run that ends here
        self.access.discard_writes()
        self.remainder = 0.0
        self._restore(self.cycle.first)
        self.access.clear()
        for error in self._start_agents():
            self._fail_step(error)
        self._place_start()
        self._after_restore()

    def restore_state(self, state: bytes) -> None:
        """Restores a state of the past; a recording continues. For ``RestoreState``.

        Raises:
            SessionError: If the session cannot have been in this state.
        """
        check_state(self.cycle, state)
        self._restore(state)
        self.access.discard_writes()
        self._after_restore()

    def _restore(self, state: State | bytes) -> None:
        """Restores a state; the recorder's step count, which is in the state, stays."""
        steps = self._recorder.steps if self._recorder is not None else 0
        self.cycle.restore(state)
        if self._recorder is not None:
            self._recorder.steps = steps

    def _after_restore(self) -> None:
        if self.bus_processes is not None:
            self.bus_processes.resend_status()
        self.clock.restart()

    def _start_agents(self) -> list[LinkworkError]:
        """Starts every agent; returns the errors of those that failed."""
        failures: list[LinkworkError] = []
        self.withheld = []
        for agent in self.cycle.agents:
            self.access.listeners.forget(agent.spec.name)
            if isinstance(agent, Program):
                if not self.may_run(agent, agent.source):
                    self.withheld.append(agent.spec.name)
                    continue
                agent.report_slow_calls(partial(self._report_slow, agent.owner))
            try:
                agent.start(self)
                self.access.apply_writes()
            except LinkworkError as error:
                self.access.discard_writes()
                failures.append(error)
        return failures

    def _place_start(self) -> None:
        """Moves joints to the motions that agents prescribe, before the first step."""
        if self.state.step == 0:
            self.cycle.place_start()
            self._log_notices()

    def _log_notices(self) -> None:
        """Logs the engines' warnings."""
        for text in self.cycle.take_notices():
            self.log(text, level="warning", source="engine")

    def may_run(self, program: Program, text: str) -> bool:
        """Whether a program may run with a text."""
        if isinstance(self.programs, bool):
            return self.programs
        return self.programs(program_code(program.spec.name, program.path, text))

    def start_withheld(self, names: Collection[str]) -> None:
        """Starts programs that were not run before; for ``StartPrograms``.

        Raises:
            SessionError: If one may still not run.
            ProgramError: If one fails; it is no longer withheld then.
        """
        waiting = [
            agent
            for agent in self.cycle.agents
            if isinstance(agent, Program) and agent.spec.name in self.withheld
            and agent.spec.name in names
        ]  # fmt: skip
        for agent in waiting:
            if not self.may_run(agent, agent.source):
                raise SessionError(f"the program {agent.spec.name!r} is not trusted.")
        for agent in waiting:
            self.withheld.remove(agent.spec.name)
            agent.report_slow_calls(partial(self._report_slow, agent.owner))
            agent.start(self)
            self.access.apply_writes()

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

        Time is simulated in whole steps. What a duration leaves, at most half a step, is kept in
        :attr:`remainder` and added to the next run, so that short runs add up.

        Args:
            duration: Simulated time [s]; None runs until stopped.
            clock: "fast", "real" or "lockstep"; unchanged if None.
            speed: Simulated seconds per real second, for the clock "real".
            progress: Called about ten times a second with the simulated time.

        Raises:
            LinkworkError: While no client is connected, if an engine or a program fails, or a bus
                loses its controller and ``on_loss`` is "pause".
        """
        self._must_be_open()
        if clock is not None:
            self.clock = Clock(clock, speed)
        try:
            run(self, duration, progress)
        finally:
            self.stopping = False
            if self._recorder is not None:
                self._recorder.flush()

    def stop(self) -> None:
        """Ends :meth:`run` after the present step; safe from any thread or signal handler.

        Called while nothing runs, it ends the next run before its first step.
        """
        self.stopping = True

    # ---- recording -----------------------------------------------------------------------

    def record(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Starts recording.

        Raises:
            SessionError: If it records already.
            RecordingError: If the file cannot be written.
        """
        self._must_be_open()
        if self._recorder is not None:
            raise SessionError("the session is being recorded already.")
        self._recorder = Recorder(
            Path(path), self.cycle, self._warn, self.withheld, overwrite=overwrite
        )
        for signal, owner in sorted(self.signals.owners.items()):
            self._recorder.message(messages.TakeSignal(signal, owner))
        for message in self.fault_injector.injected():
            self._recorder.message(message)
        programs = [a.spec.name for a in self.cycle.agents if isinstance(a, Program)]
        if programs and self.state.step:
            self._warn(
                f"a replay starts {', '.join(programs)} again: what a program keeps outside "
                "self.memory is not in a recording that begins in mid-run."
            )

    def end_recording(self) -> None:
        """Closes the recording, if there is one; the session continues."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.last_hash()
            recorder.close()
            self._failed_recording = recorder.failed

    @property
    def recording_failed(self) -> RecordingError | None:
        """Why the last recording ended before its end, for example on a full disk; else None."""
        return self._failed_recording if self._recorder is None else self._recorder.failed

    # ---- live edits ----------------------------------------------------------------------

    def swap(self, scene: Scene, *, ids: dict[str, str] | None = None) -> LiveEdit:
        """Compiles an edited scene in the background and swaps to it at a step boundary.

        A later edit replaces one that is not in use yet. An edit that cannot be used changes
        nothing; the outbox reports why.

        Args:
            scene: The scene after the edit.
            ids: Stable ids by full name, :attr:`~linkwork.project.document.Document.ids`.

        Returns:
            A future that is done when the scene is compiled; its exception is the LinkworkError if
            the scene cannot be used.
        """
        edit = self._edit = LiveEdit(scene, ids, packed=self._recorder is not None)
        return edit

    def _finish_edit(self, edit: LiveEdit) -> None:
        if self._edit is edit:
            self._edit = None
        try:
            cycle = edit.result()
            keep_sources(self.cycle, cycle)
            self.use(cycle, edit.archive)
        except LinkworkError as error:
            text = f"the edit is not in use: {error}"
            self._log(text, "error", "scene", error.to_record(), "edit", edit.number)

    def use(
        self, cycle: Cycle, archive: bytes = b"", *, what: str = "the scene was edited"
    ) -> None:
        """Continues with another compiled world; objects with the same id keep their state.

        Args:
            cycle: The world.
            archive: Its scene, for the recording.
            what: Description for the log.

        Raises:
            SceneError: If the session is recorded and a file of the scene cannot be read; nothing
                has changed then.
        """
        if self._recorder is not None and not archive:
            archive = pack(cycle.world.scene)
        old = self.cycle
        steps = self._recorder.steps if self._recorder is not None else 0
        old.close()
        self.access.apply_writes()  # from the exit() of programs
        transfer(old, cycle)
        self.cycle = cycle
        self.access.switch_cycle(cycle)
        failures = self._start_agents()
        self._place_start()
        self.version += 1
        if self._recorder is not None:
            self._recorder.segment(cycle, archive, steps, self.withheld)
        self._sync_bus_processes()
        self.log(f"{what}; this is version {self.version}.", source="scene")
        for name in cycle.faults.lost:
            self.log(
                f"fault {name} has ended: its target no longer exists.",
                level="warning",
                source=name,
            )
        for error in failures:
            self._fail_step(error)

    @property
    def mode(self) -> str:
        """The mode of the scene: "kinematic", "emulation" or "simulation"; may be set.

        It changes with the next step. Time, posture, speeds, targets and gains are kept.
        """
        return self.world.scene.mode or "simulation"

    @mode.setter
    def mode(self, mode: str) -> None:
        check_mode(mode or "none")
        self.send(messages.SetMode(mode))

    def change_mode(self, mode: str) -> None:
        """Changes the mode now; for ``SetMode``.

        Raises:
            LinkworkError: If there is no such mode, or the scene cannot be used in it.
        """
        check_mode(mode or "none")
        if mode != self.mode:
            self.use(compile_mode(self.cycle, mode), what=f"the mode is {mode} now")

    def _sync_bus_processes(self, *, wait: bool = False) -> None:
        """Starts, updates or ends bus processes to match the scene."""
        if self.bus_processes is None and self._serve_buses and self.cycle.buses:
            self.bus_processes = BusServices(self)
        if self.bus_processes is not None:
            self.bus_processes.sync(self.cycle.buses, wait=wait)

    def folder(self) -> Path:
        """Returns a new temporary folder, which is removed when the session closes."""
        self._folders.append(tempfile.TemporaryDirectory(prefix="linkwork-"))
        return Path(self._folders[-1].name)

    @property
    def folders(self) -> list[Path]:
        """The temporary folders of this session."""
        return [Path(each.name) for each in self._folders]

    # ---- closing -------------------------------------------------------------------------

    def _must_be_open(self) -> None:
        if self._closed:
            raise SessionError("the session is closed.", hint="Make a new one.")

    def close(self) -> None:
        """Ends agents, buses and recording; calling it again has no effect."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as ends:  # in reverse order, each even if others fail
            for folder in self._folders:
                ends.callback(folder.cleanup)
            if self._recorder is not None:
                ends.callback(self._recorder.close)
            for call in reversed(self.at_close):
                ends.callback(call)
            ends.callback(self.cycle.close)
            if self.bus_processes is not None:
                ends.callback(self.bus_processes.close)
            if self._recorder is not None:
                ends.callback(self._recorder.last_hash)  # before the exit() of programs

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
