"""Program: a user's control program."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from linkwork.components.agents import Agent, AgentContext
from linkwork.components.agents.control import OLD_METHODS, Control, ProgramContext
from linkwork.components.agents.lookup import find_scope
from linkwork.components.agents.program_source import ProgramFile, ProgramSource
from linkwork.components.agents.program_state import ProgramMemory, RandomStream, Timers
from linkwork.components.agents.watchdog import SLOW_AFTER, CallWatchdog
from linkwork.core.errors import FormatError, ProgramError
from linkwork.core.state import State
from linkwork.model.blocks import period_in_steps, read_params
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World

#: Maximum numbers of memory slots and timers of a program.
MEMORY_SLOTS = 64
TIMER_SLOTS = 32

#: Factor of the timeout for loading and init(), because imports are slow at first.
START_TIMEOUT_FACTOR = 10.0


class ProgramParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Program``.

    Attributes:
        file: Path of the Python file, relative to the file that names it.
        source: The program's text; with ``file`` as well, the file is not read but still named
            in messages and watched.
        on: Part in which short names are searched first.
        period: Control period [s], a whole multiple of the step; 0 for every step.
        call_timeout: Maximum wall-clock time of a call [s]; 0 for no limit.
    """

    file: str = ""
    source: str | None = None
    on: str = ""
    period: float = 0.0
    call_timeout: float = 5.0


class Program(Agent):
    """Runs a :class:`Control` from a file (Rocon's program, Schwanen's plug-in: init, loop, exit).

    At each period due timers are called first, then ``loop()``. Listeners are called by the session
    after a step. An exception in the program becomes a :class:`ProgramError` that names the line in
    its file; the object continues with the next call.

    Attributes:
        owner: Name under which it writes and listens: the spec's.
        path: Its file, or None.
        source: Text of the running program.
    """

    type: ClassVar[str] = "program"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        super().__init__(world, spec, name)
        params = read_params(spec, ProgramParams)
        self.owner = spec.name
        self.every = period_in_steps(
            params.period, world.scene.step, f"program {spec.name!r}", spec.origin
        )
        if not (math.isfinite(params.call_timeout) and params.call_timeout >= 0.0):
            self._refuse(f"call_timeout must be 0 s or more, not {params.call_timeout:g}")
        if not params.file and params.source is None:
            self._refuse("it needs a 'file' or a 'source'")
        self._scope = find_scope(world, spec, params.on)
        self._file = ProgramFile(params.file, spec.name, spec.origin) if params.file else None
        self.path = self._file.path if self._file else None
        self.source = self.read_file() if params.source is None else params.source
        self._guard = CallWatchdog(params.call_timeout)
        self._control: Control | None = None
        self._code = self._as_source(self.source)
        self._failure: ProgramError | None = None
        self._loops = False

    def _refuse(self, why: str) -> None:
        raise FormatError(f"program {self.spec.name!r}: {why}.", origin=self.spec.origin)

    def _as_source(self, text: str) -> ProgramSource:
        filename = str(self.path) if self.path else f"<{self.owner}>"
        folder = self.path.resolve().parent if self.path else None
        return ProgramSource(self.owner, text, filename, folder)

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Memory with its keys, timers with their count, the random generator."""
        return {
            "memory": (MEMORY_SLOTS,),
            "int:memory_key": (MEMORY_SLOTS,),
            "int:timer": (TIMER_SLOTS, 3),
            "int:timer_count": (1,),
            "int:random": (1,),
        }

    def check(self) -> list[Finding]:
        """Checks that the text is valid Python; the program does not run yet."""
        try:
            self._code.check()
        except ProgramError as error:
            return [Finding("error", self.owner, error.message, error.origin or self.spec.origin)]
        return []

    def bind(self, state: State) -> None:
        """Finds the program's slots in the state."""
        super().bind(state)
        self._timers = Timers(self.slot("timer"), self.slot("timer_count"))
        self._chance = RandomStream(self.slot("random"))

    def reset(self) -> None:
        """Empties the memory, ends the timers and seeds the random numbers."""
        for slot in ("memory", "memory_key", "timer", "timer_count"):
            self.slot(slot)[...] = 0
        self._chance.seed(self.world.scene.seed, self.owner)

    # Called by the session -------------------------------------------------------------------

    def start(self, context: AgentContext) -> None:
        """Loads the program and calls its ``init()``; a running one is ended first."""
        super().start(context)
        self._end()
        self._code.unload()
        self._code = self._as_source(self.source)
        try:
            self._begin(self._load())
        except ProgramError as error:
            self._failure = error
            raise

    def decide(self, step: int) -> None:
        """Calls the timers that are due, then ``loop()``."""
        control = self._control
        if control is None:
            if self._failure is not None:
                raise self._failure.with_traceback(None)
            return
        for call in self._timers.due(step):
            self._run(call)
        if self._loops:
            self._run(control.loop)

    def reload(self, source: str | None = None) -> None:
        """Replaces the running program by a new text, the file's if none is given.

        The new program is loaded first. If that or its ``init()`` fails, the old one continues
        (after an ``init()`` of its own if it was ended already). Memory slots of the same names
        keep their values.

        Raises:
            ProgramError: If the new program cannot be loaded or started.
        """
        text = self.read_file() if source is None else source
        old, running = self._code, self._control
        fresh = self._as_source(text)
        self._code = fresh
        try:
            control = self._load()
            if hasattr(self, "context"):
                self._replace(control, old, running)
        except BaseException:
            fresh.unload()
            self._code = old
            raise
        old.unload()
        self.source = text

    def report_slow_calls(self, report: Callable[[str], object]) -> None:
        """Calls ``report`` with a text for each call that stands still, while it does.

        It is called by another thread.
        """

        def on_slow(call: Callable[..., Any], timeout: float) -> None:
            name = getattr(call, "__name__", "a call")
            limited = math.isfinite(timeout)
            then = f"it is stopped after {timeout:g} s" if limited else "it has no time limit"
            stands = f"has not returned from {name}() for {SLOW_AFTER:g} s"
            report(f"program {self.owner!r} {stands}; {then}.")

        self._guard.on_slow = on_slow

    def close(self) -> None:
        """Calls the program's ``exit()``."""
        self._end()
        self._code.unload()

    def read_file(self) -> str:
        """Returns the present text of the file.

        Raises:
            ProgramError: If it cannot be read.
        """
        if self._file is None:
            raise ProgramError(f"program {self.owner!r} has no file.", origin=self.spec.origin)
        return self._file.read()

    def changed_on_disk(self) -> str | None:
        """Returns the file's text if its date or size changed since it was last read, else None.

        A file that an editor has just emptied or removed counts once it is written; an unreadable
        one is logged once.
        """
        if self._file is None or not self._file.changed():
            return None
        try:
            text = self.read_file()
        except ProgramError as error:
            self.context.log_error(error, level="warning", source=self.owner)
            return None
        return text if text.strip() and text != self.source else None

    # Calls into the program -----------------------------------------------------------------

    def _run(self, call: Callable[..., Any], *args: object, timeout_factor: float = 1.0) -> Any:
        """Calls user code; ``timeout_factor`` multiplies the timeout."""
        seconds = self._guard.timeout * timeout_factor
        try:
            return self._guard.run_for(seconds, call, *args)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self._code.fault(error, call, seconds) from error

    def _load(self) -> Control:
        """Creates the program's object, not initialized yet."""
        program: type[Control] = self._run(self._code.load, timeout_factor=START_TIMEOUT_FACTOR)
        return self._run(program.__new__, program)

    def _begin(self, control: Control, *, again: bool = False) -> None:
        """Starts a program; ``again`` for one that ran before."""
        self.context.forget(self.owner)
        self._timers.clear()
        self._failure = None
        control._program_context = program_context = ProgramContext(
            self.context, self.owner, scope=self._scope, every=self.every, wrap=self._wrap,
            memory=ProgramMemory(self.slot("memory"), self.slot("memory_key")), timers=self._timers,
            chance=self._chance,
        )  # fmt: skip
        try:
            if not again:
                self._run(control.__init__, timeout_factor=START_TIMEOUT_FACTOR)
            self._run(control.init, timeout_factor=START_TIMEOUT_FACTOR)
            program_context.open()
        except BaseException as error:
            self.context.forget(self.owner)
            self._timers.clear()
            if isinstance(error, ProgramError):
                self._failure = error
            raise
        if not again:
            self._note_old_methods(type(control))
        self._control = control
        self._loops = getattr(control.loop, "__func__", None) is not Control.loop

    def _note_old_methods(self, program: type[Control]) -> None:
        """Logs the new names of methods that a program calls by their earlier names."""
        used = self._code.own_attributes()
        for old, new in OLD_METHODS.items():
            if old in used and not hasattr(program, old):
                text = f"self.{old}() is now called self.{new}()."
                self.context.log(text, level="warning", source=self.owner)

    def _wrap(self, call: Callable[..., object]) -> Callable[..., object]:
        return functools.partial(self._run, call)

    def _end(self) -> None:
        control, self._control = self._control, None
        if control is None:
            return
        try:
            self._run(control.exit)
        except ProgramError as error:
            self.context.log_error(error, level="warning", source=self.owner)

    def _replace(self, control: Control, old: ProgramSource, running: Control | None) -> None:
        """Ends the old program and starts the new one, or the old one again if that fails."""
        names = [self.field(slot.removeprefix("int:")) for slot in self.slots()]
        before = {name: self.state[name].copy() for name in names}
        fresh, self._code = self._code, old
        self._end()
        self._code = fresh
        try:
            self._begin(control)
        except BaseException:
            self._restore(before)
            if running is not None:
                self._code = old
                self._restart(running)
                for slot in ("timer", "timer_count"):
                    del before[self.field(slot)]
                self._restore(before)
            raise

    def _restart(self, control: Control) -> None:
        try:
            self._begin(control, again=True)
        except ProgramError as error:
            self.context.log_error(error, level="warning", source=self.owner)

    def _restore(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            self.state[name][...] = value
