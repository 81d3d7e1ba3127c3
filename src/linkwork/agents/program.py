"""Program: a user's control program, loaded and reloaded while the session runs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from linkwork.agents.agent import Agent, Bench
from linkwork.agents.chance import Chance
from linkwork.agents.control import Control
from linkwork.agents.desk import Desk
from linkwork.agents.guard import Guard
from linkwork.agents.lookup import find_scope
from linkwork.agents.memory import Memory
from linkwork.agents.program_file import ProgramFile
from linkwork.agents.source import Source
from linkwork.agents.timers import Timers
from linkwork.blocks import read_params, whole_steps
from linkwork.errors import FormatError, ProgramError
from linkwork.parts import Spec
from linkwork.state import State
from linkwork.world import Finding, World

#: Numbers that a program's memory holds, and timers it can have at once.
MEMORY_SLOTS = 64
TIMER_SLOTS = 32

#: How much longer than any other call loading and init() may take: imports are slow at first.
START_PATIENCE = 10.0


class ProgramParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Program``.

    Attributes:
        file: Path of the Python file, relative to the file that names it.
        source: The program's text; with ``file`` as well, the file is not read but still named
            in messages and watched.
        on: Part that short names are looked up in first.
        period: Control period [s], a whole multiple of the step; 0 for every step.
        patience: How long a call may take by the wall clock [s]; 0 for no limit.
    """

    file: str = ""
    source: str | None = None
    on: str = ""
    period: float = 0.0
    patience: float = 5.0


class Program(Agent):
    """Runs a :class:`Control` from a file: 001's program, 002's plug-in (init, loop, exit).

    At each period timers that are due are called first, then ``loop()``. Listeners are called by
    the session after a step. Whatever fails in the program becomes a :class:`ProgramError` that
    names the line in its file; the object goes on with the next call.

    Attributes:
        owner: Name under which it writes and listens: the spec's.
        path: Its file, or None.
        source: Text of the program that runs.
    """

    type: ClassVar[str] = "program"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        super().__init__(world, spec, name)
        params = read_params(spec, ProgramParams)
        self.owner = spec.name
        self.every = whole_steps(
            params.period, world.scene.step, f"program {spec.name!r}", spec.origin
        )
        if not (math.isfinite(params.patience) and params.patience >= 0.0):
            self._refuse(f"patience must be 0 s or more, not {params.patience:g}")
        if not params.file and params.source is None:
            self._refuse("it needs a 'file' or a 'source'")
        self._scope = find_scope(world, spec, params.on)
        self._file = ProgramFile(params.file, spec.name, spec.origin) if params.file else None
        self.path = self._file.path if self._file else None
        self.source = self.read_file() if params.source is None else params.source
        self._guard = Guard(params.patience)
        self._control: Control | None = None
        self._code = self._as_source(self.source)
        self._failure: ProgramError | None = None
        self._loops = False

    def _refuse(self, why: str) -> None:
        raise FormatError(f"program {self.spec.name!r}: {why}.", origin=self.spec.origin)

    def _as_source(self, text: str) -> Source:
        filename = str(self.path) if self.path else f"<{self.owner}>"
        folder = self.path.resolve().parent if self.path else None
        return Source(self.owner, text, filename, folder)

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Memory and whose it is, timers and how many were set, the random generator."""
        return {
            "memory": (MEMORY_SLOTS,),
            "int:memory_key": (MEMORY_SLOTS,),
            "int:timer": (TIMER_SLOTS, 3),
            "int:timer_count": (1,),
            "int:random": (1,),
        }

    def check(self) -> list[Finding]:
        """Whether the text is Python; the program does not run yet."""
        try:
            self._code.check()
        except ProgramError as error:
            return [Finding("error", self.owner, error.message, error.origin or self.spec.origin)]
        return []

    def bind(self, state: State) -> None:
        """Finds the program's slots in the state."""
        super().bind(state)
        self._timers = Timers(self.slot("timer"), self.slot("timer_count"))
        self._chance = Chance(self.slot("random"))

    def reset(self) -> None:
        """Empties the memory, ends the timers and seeds the random numbers."""
        for slot in ("memory", "memory_key", "timer", "timer_count"):
            self.slot(slot)[...] = 0
        self._chance.seed(self.world.scene.seed, self.owner)

    # What the session calls -------------------------------------------------------------------

    def start(self, bench: Bench) -> None:
        """Loads the program and calls its ``init()``; one that runs is ended first."""
        super().start(bench)
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

        The new program is loaded first. If that or its ``init()`` fails, the old one goes on
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
            if hasattr(self, "bench"):
                self._replace(control, old, running)
        except BaseException:
            fresh.unload()
            self._code = old
            raise
        old.unload()
        self.source = text

    def close(self) -> None:
        """Calls the program's ``exit()``."""
        self._end()
        self._code.unload()

    def read_file(self) -> str:
        """The text of the file as it is on disk now.

        Raises:
            ProgramError: If it cannot be read.
        """
        if self._file is None:
            raise ProgramError(f"program {self.owner!r} has no file.", origin=self.spec.origin)
        return self._file.read()

    def changed_on_disk(self) -> str | None:
        """The file's new text if its date or size changed since it was last read, else None.

        A file that an editor has just emptied or removed counts once it is written; one that
        cannot be read is told, once.
        """
        if self._file is None or not self._file.changed():
            return None
        try:
            text = self.read_file()
        except ProgramError as error:
            self.bench.say(str(error), level="warning", source=self.owner)
            return None
        return text if text.strip() and text != self.source else None

    # Calling into the program -----------------------------------------------------------------

    def _run(self, call: Callable[..., Any], *args: object, patience: float = 1.0) -> Any:
        """Calls user code; ``patience`` multiplies the usual one."""
        seconds = self._guard.patience * patience
        try:
            return self._guard.run_for(seconds, call, *args)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self._code.fault(error, call, seconds) from error

    def _load(self) -> Control:
        """Makes the program's object, not initialised yet."""
        program: type[Control] = self._run(self._code.load, patience=START_PATIENCE)
        return self._run(program.__new__, program)

    def _begin(self, control: Control, *, again: bool = False) -> None:
        """Lets a program start; ``again`` for one that ran before."""
        self.bench.forget(self.owner)
        self._timers.clear()
        self._failure = None
        control._desk = desk = Desk(
            self.bench, self.owner, scope=self._scope, every=self.every, wrap=self._wrap,
            memory=Memory(self.slot("memory"), self.slot("memory_key")), timers=self._timers,
            chance=self._chance,
        )  # fmt: skip
        try:
            if not again:
                self._run(control.__init__, patience=START_PATIENCE)
            self._run(control.init, patience=START_PATIENCE)
            desk.open()
        except BaseException as error:
            self.bench.forget(self.owner)
            self._timers.clear()
            if isinstance(error, ProgramError):
                self._failure = error
            raise
        self._control = control
        self._loops = getattr(control.loop, "__func__", None) is not Control.loop

    def _wrap(self, call: Callable[..., object]) -> Callable[..., object]:
        return functools.partial(self._run, call)

    def _end(self) -> None:
        control, self._control = self._control, None
        if control is None:
            return
        try:
            self._run(control.exit)
        except ProgramError as error:
            self.bench.say(str(error), level="warning", source=self.owner)

    def _replace(self, control: Control, old: Source, running: Control | None) -> None:
        """Ends the old program and begins the new one, or the old one again if that fails."""
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
                self._begin_again(running)
                for slot in ("timer", "timer_count"):
                    del before[self.field(slot)]
                self._restore(before)
            raise

    def _begin_again(self, control: Control) -> None:
        try:
            self._begin(control, again=True)
        except ProgramError as error:
            self.bench.say(str(error), level="warning", source=self.owner)

    def _restore(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            self.state[name][...] = value
