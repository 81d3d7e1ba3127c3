"""Runs a session in the terminal, from the first line to the summary."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.cli import exits
from linkwork.cli.compile_progress import compile_in_background, show_compiling
from linkwork.cli.exits import Interrupt, stop_on_signal
from linkwork.cli.fault_option import add_fault
from linkwork.cli.image_files import ImageFiles
from linkwork.cli.output_files import SignalCsv, StateTables, check_outputs
from linkwork.cli.scene_argument import (
    MissingChoice,
    ServoChoice,
    add_program,
    load_showing_notes,
    scene_to_run,
    use_engine,
)
from linkwork.cli.screen import (
    Screen,
    match_signals,
    print_error,
    print_periodically,
    show_event,
    show_findings,
    show_live,
    show_withheld,
    signal_table,
    stderr,
    stdout,
)
from linkwork.cli.warmup_stages import has_run
from linkwork.components.actuators.smart_servo import SmartServo
from linkwork.core.errors import FormatError, LinkworkError, NameNotFound
from linkwork.core.value_types import split_unit
from linkwork.model.scene import check_mode
from linkwork.project.trust import is_trusted, named_code
from linkwork.session.messages import SessionEvent
from linkwork.session.recorder import unrecorded_modules
from linkwork.session.recording import Recording
from linkwork.session.session import Session

if TYPE_CHECKING:
    from linkwork.cli.studio_server import RunServer


class RunSummary:
    """Summarizes a run: time, energy, joint gaps.

    Attributes:
        steps: Number of steps.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._began = session.time
        self._clock = time.perf_counter()
        self.steps = 0

    def after_step(self) -> None:
        """Counts a step."""
        self.steps += 1

    def lines(self) -> list[str]:
        """The lines of the summary."""
        session = self._session
        simulated = session.time - self._began
        real = time.perf_counter() - self._clock
        times = f", {simulated / real:.1f} times real time" if real > 0.0 and simulated else ""
        return [f"{simulated:.2f} s simulated in {real:.2f} s{times}.", *session.report().lines()]


@dataclass(frozen=True)
class RunOptions:
    """Options of ``linkwork run``."""

    what: str
    duration: float | None = None
    clock: str = "fast"
    speed: float = 1.0
    watch: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    program: Path | None = None
    on: str = ""
    period: float = 0.0
    engine: str = ""
    free: bool = False
    record: Path | None = None
    table: Path | None = None
    rate: float = 100.0
    link: Path | None = None
    overwrite: bool = False
    quiet: bool = False
    buses: bool = True
    allow: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    images: Path | None = None
    mode: str = ""
    tables: Path | None = None
    servos: ServoChoice = ServoChoice.none
    missing: MissingChoice = MissingChoice.error
    trusted_only: bool = False  # whether programs that nobody has trusted do not run
    every: float = 0.0  # period of the printed table without a terminal [simulated s]


def run_session(options: RunOptions) -> int:
    """Runs, and returns the exit code.

    Raises:
        LinkworkError: If the run cannot begin.
    """
    out = stderr() if str(options.table) == "-" else stdout()
    out.quiet = options.quiet
    sources = [options.what, *([options.program] if options.program is not None else [])]
    check_outputs([options.record, options.table], overwrite=options.overwrite, sources=sources)
    images = None
    if options.images is not None:
        images = ImageFiles(options.images, overwrite=options.overwrite)
    with contextlib.ExitStack() as stack:
        session, server = _begin(options, out, stack)
        if session.bus_processes is not None and (without := session.bus_processes.unserved()):
            print_error(_unserved(without, options.what))
            return exits.FAILED
        try:
            names = match_signals(session, options.watch) if options.watch else []
            for text in options.values:
                set_signal(session, text)
        except NameNotFound as error:
            error.hint += f" List all: linkwork check {options.what} --signals"
            raise
        table = None
        if options.table is not None:
            table = SignalCsv(
                session, options.table, names or match_signals(session, []), options.rate
            )
            session.after_step.append(table.after_step)
            stack.callback(table.close)
        states = None
        if options.tables is not None:
            states = StateTables(session, options.tables, options.rate, overwrite=options.overwrite)
            session.after_step.append(states.after_step)
            stack.callback(states.close)
        if images is not None:
            images.check(session)
            session.after_step.append(partial(images.after_step, session))
        summary = RunSummary(session)
        session.after_step.append(summary.after_step)
        interrupt, failure = _run(options, session, names, out, server)
        if interrupt.number:
            out.print_line("Stopped.")
        if names and not out.is_terminal and not options.quiet:
            out.print(signal_table(session, [n for n in names if n in session.signals]))
        for line in summary.lines():
            out.print_line(line)
    if table is not None and options.table is not None and str(options.table) != "-":
        out.print_line(f"Wrote {table.rows} rows to {options.table}.")
    if states is not None:
        files = ", ".join(file.name for file in states.files)
        out.print_line(f"Wrote {states.rows} rows each to {files} in {options.tables}.")
    if images is not None:
        out.print_line(f"Wrote {images.count} images with their depth to {options.images}.")
    if session.recording_failed is not None:
        print_error(f"{session.recording_failed} {_kept(options.record)}")
        return exits.FAILED
    if options.record is not None:
        again = f"linkwork replay {options.record} --verify"
        out.print_line(f"Recorded to {options.record}. To run it again and compare: {again}")
        for note in unrecorded_modules(session.world.scene):
            out.print_line(note, lead="note:")
    if failure is not None:
        return exits.FAILED
    return interrupt.code if _interrupted_text(interrupt, options) else 0


def _kept(recording: Path | None) -> str:
    """How much of a recording that ended early can be read."""
    try:
        with Recording.open(recording or "") as found:
            return f"They hold {found.duration:.3f} s of the run."
    except LinkworkError:
        return "They hold nothing that can be shown."


def _unserved(reasons: Iterable[str], what: str) -> str:
    """Reports that a run has not begun, since clients of its bus would wait forever."""
    buses = " and ".join(f"bus {name!r}" for name in reasons)
    return f"{buses} cannot be served. To run without: linkwork run {what} --no-buses"


def _interrupted_text(interrupt: Interrupt, options: RunOptions) -> bool:
    """Whether a signal cut the run short; an endless run ends by Ctrl-C."""
    endless = options.duration is None and interrupt.number == signal.SIGINT
    return bool(interrupt.number) and not endless


def _begin(
    options: RunOptions, out: Screen, stack: contextlib.ExitStack
) -> tuple[Session, RunServer | None]:
    """Creates the session, and prints the notes on it."""
    thing, notes = load_showing_notes(options.what, options.missing)
    with show_compiling() as compiling:
        scene, more = scene_to_run(thing, options.what, free=options.free, servos=options.servos)
        if options.engine:
            use_engine(scene, options.engine)
        if options.mode:
            check_mode(options.mode)
            scene = replace(scene, mode=options.mode)
        if options.program is not None:
            add_program(scene, options.program, on=options.on, period=options.period)
        for text in options.faults:
            add_fault(scene, text)
        for name in () if options.trusted_only else named_code(scene):
            out.print_line(f"this runs the code of {name}.", lead="note:")
        server = _serve(options, stack)
        session = Session(
            scene, record=options.record, overwrite=options.overwrite, buses=options.buses,
            allow=options.allow, programs=is_trusted if options.trusted_only else True,
        )  # fmt: skip
        stack.enter_context(session)
        if options.record is not None:
            stack.push(_discarding(options.record, session))
        if server is not None:
            server.attach(session)
        if compiling.count or not has_run(scene):
            compile_in_background(scene)
    for note in [*notes, *(m for m in more if not options.engine)]:
        out.print_line(note, lead="note:")
    show_withheld(session)
    show_findings(out, session.cycle.findings)
    for event in session.outbox.events:
        _show(out, event)
    session.outbox.listeners.append(lambda event: _show(out, event))
    if options.link is not None:
        out.print_line(f"Other programs can connect: the address is in {options.link}.")
    return session, server


def _discarding(record: Path, session: Session) -> Callable[..., None]:
    """A function that removes the recording of a run without a single step."""

    def leave(kind: type[BaseException] | None, *details: object) -> None:
        if kind is not None and not session.state.step:
            record.unlink(missing_ok=True)

    return leave


def _show(out: Screen, event: SessionEvent) -> None:
    """Prints an event; errors go to stderr, unless there is a live display."""
    wrong = event.level in ("error", "warning") and not out.is_terminal
    show_event(stderr() if wrong else out, event)


def _serve(options: RunOptions, stack: contextlib.ExitStack) -> RunServer | None:
    if options.link is None:
        return None
    from linkwork.cli.studio_server import RunServer

    return stack.enter_context(contextlib.closing(RunServer(options.link)))


def _run(
    options: RunOptions, session: Session, names: list[str], out: Screen, server: RunServer | None
) -> tuple[Interrupt, LinkworkError | None]:
    """Runs to the end, a signal or a failure, which is printed."""
    failure = None
    with stop_on_signal(session) as interrupt, contextlib.ExitStack() as screen:
        draw = None
        if out.is_terminal and not options.quiet:
            draw = screen.enter_context(show_live(out, session, names, options.duration))
        elif options.every:
            draw = print_periodically(out, session, names, options.every)

        def progress(now: float) -> None:
            if draw is not None:
                draw(now)
            if server is not None:
                server.poll()

        try:
            session.run(
                options.duration, clock=options.clock, speed=options.speed, progress=progress
            )
        except LinkworkError as error:
            failure = error
    if failure is not None:
        last = session.outbox.events[-1].text if session.outbox.events else ""
        if last != str(failure) or options.quiet:
            print_error(str(failure))
    return interrupt, failure


def set_signal(session: Session, text: str) -> None:
    """Applies ``--set``: ``signal=value`` in SI, or ``signal_deg=value`` and similar suffixes."""
    name, _, given = text.partition("=")
    name, factor = name.strip(), 1.0
    if name not in session.signals:
        name, factor = split_unit(name)
    try:
        session[name] = float(given) * factor
    except ValueError:
        raise FormatError(f"--set takes SIGNAL=NUMBER, not {text!r}.") from None
    except NameNotFound as error:
        for servo in session.cycle.actuators:
            if isinstance(servo, SmartServo) and (why := servo.without(name)):
                error.hint = f"Its servo has none: {why}."
        raise
