"""Perform: one run from the first line on the screen to the last."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from linkwork.actuators.smart_servo import SmartServo
from linkwork.cli import exits
from linkwork.cli.fault_words import add_fault
from linkwork.cli.given import add_program, load_with_notes, scene_to_run, use_engine
from linkwork.cli.images import ImageFiles
from linkwork.cli.interrupt import Interrupt, stop_on_signal
from linkwork.cli.live import chosen, live, now_and_then, signal_table
from linkwork.cli.outputs import check_outputs
from linkwork.cli.ready import compile_ahead, getting_ready
from linkwork.cli.screen import Screen, say_error, show_event, show_findings, stderr, stdout
from linkwork.cli.signal_csv import SignalCsv
from linkwork.cli.stages import has_run
from linkwork.cli.state_tables import StateTables
from linkwork.cli.summary import Summary
from linkwork.errors import FormatError, LinkworkError, NameNotFound
from linkwork.scene.scene import check_mode
from linkwork.session.link import SessionEnd
from linkwork.session.messages import Event
from linkwork.session.session import Session
from linkwork.units import split_unit


@dataclass(frozen=True)
class Order:
    """What ``linkwork run`` was told; see its options."""

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
    faults: list[str] = field(default_factory=list)
    images: Path | None = None
    mode: str = ""
    tables: Path | None = None
    every: float = 0.0  # prints the table this often where it cannot be live [simulated s]


def perform(order: Order) -> int:
    """Runs, and returns the exit code.

    Raises:
        LinkworkError: If the run cannot begin.
    """
    out = stderr() if str(order.table) == "-" else stdout()
    out.quiet = order.quiet
    sources = [order.what, *([order.program] if order.program is not None else [])]
    check_outputs([order.record, order.table], overwrite=order.overwrite, sources=sources)
    images = None
    if order.images is not None:
        images = ImageFiles(order.images, overwrite=order.overwrite)
    with contextlib.ExitStack() as stack:
        session = _begin(order, out, stack)
        if session.partners is not None and (without := session.partners.unserved()):
            say_error(_unserved(without, order.what))
            return exits.FAILED
        try:
            names = chosen(session, order.watch) if order.watch else []
            for text in order.values:
                set_signal(session, text)
        except NameNotFound as error:
            error.hint += f" List all: linkwork check {order.what} --signals"
            raise
        table = None
        if order.table is not None:
            table = SignalCsv(session, order.table, names or chosen(session, []), order.rate)
            session.after_step.append(table.after_step)
            stack.callback(table.close)
        states = None
        if order.tables is not None:
            states = StateTables(session, order.tables, order.rate, overwrite=order.overwrite)
            session.after_step.append(states.after_step)
            stack.callback(states.close)
        if images is not None:
            images.check(session)
            session.after_step.append(partial(images.after_step, session))
        summary = Summary(session)
        session.after_step.append(summary.after_step)
        interrupt, failure = _run(order, session, names, out)
        if interrupt.number:
            out.say("Stopped.")
        if names and not out.is_terminal and not order.quiet:
            out.print(signal_table(session, [n for n in names if n in session.signals]))
        for line in summary.lines():
            out.say(line)
    if table is not None and order.table is not None and str(order.table) != "-":
        out.say(f"Wrote {table.rows} rows to {order.table}.")
    if states is not None:
        files = ", ".join(file.name for file in states.files)
        out.say(f"Wrote {states.rows} rows each to {files} in {order.tables}.")
    if images is not None:
        out.say(f"Wrote {images.count} pictures with their depth to {order.images}.")
    if order.record is not None:
        again = f"linkwork replay {order.record} --verify"
        out.say(f"Recorded to {order.record}. To run it again and compare: {again}")
    if failure is not None:
        return exits.FAILED
    return interrupt.code if _cut_short(interrupt, order) else 0


def _unserved(reasons: dict[str, str], what: str) -> str:
    """Says that a run has not begun: whoever waits at its bus would wait for ever."""
    buses = " and ".join(f"bus {name!r}" for name in reasons)
    return f"{buses} cannot be served. To run without: linkwork run {what} --no-buses"


def _cut_short(interrupt: Interrupt, order: Order) -> bool:
    """Whether work was left undone; Ctrl-C is how an endless run ends."""
    endless = order.duration is None and interrupt.number == signal.SIGINT
    return bool(interrupt.number) and not endless


def _begin(order: Order, out: Screen, stack: contextlib.ExitStack) -> Session:
    """Makes the session, and shows what there is to know before it runs."""
    thing, notes = load_with_notes(order.what)
    with getting_ready() as compiling:
        scene, more = scene_to_run(thing, order.what, free=order.free)
        if order.engine:
            use_engine(scene, order.engine)
        if order.mode:
            check_mode(order.mode)
            scene = replace(scene, mode=order.mode)
        if order.program is not None:
            add_program(scene, order.program, on=order.on, period=order.period)
        for text in order.faults:
            add_fault(scene, text)
        end = _serve(order, stack)
        session = Session(
            scene, record=order.record, overwrite=order.overwrite, link=end, buses=order.buses
        )
        stack.enter_context(session)
        if order.record is not None:
            stack.push(_discarding(order.record, session))
        if compiling.count or not has_run(scene):
            compile_ahead(scene)
    for note in [*notes, *(m for m in more if not order.engine)]:
        out.say(note, lead="note:")
    show_findings(out, session.cycle.findings)
    for event in session.outbox.events:
        _show(out, event)
    session.outbox.listeners.append(lambda event: _show(out, event))
    if order.link is not None:
        out.say(f"Other programs can join: address and key are in {order.link}.")
    return session


def _discarding(record: Path, session: Session) -> Callable[..., None]:
    """What removes the recording of a run that did not get to its first step."""

    def leave(kind: type[BaseException] | None, *details: object) -> None:
        if kind is not None and not session.state.step:
            record.unlink(missing_ok=True)

    return leave


def _show(out: Screen, event: Event) -> None:
    """Prints an event; what went wrong goes to stderr, unless a live display would suffer."""
    wrong = event.level in ("error", "warning") and not out.is_terminal
    show_event(stderr() if wrong else out, event)


def _serve(order: Order, stack: contextlib.ExitStack) -> SessionEnd | None:
    if order.link is None:
        return None
    from linkwork.cli.link_file import serve_with_file

    return stack.enter_context(serve_with_file(order.link))


def _run(
    order: Order, session: Session, names: list[str], out: Screen
) -> tuple[Interrupt, LinkworkError | None]:
    """Runs to the end, a signal or a failure, which has been shown then."""
    failure = None
    with stop_on_signal(session) as interrupt, contextlib.ExitStack() as screen:
        draw = None
        if out.is_terminal and not order.quiet:
            draw = screen.enter_context(live(out, session, names, order.duration))
        elif order.every:
            draw = now_and_then(out, session, names, order.every)
        try:
            session.run(order.duration, clock=order.clock, speed=order.speed, progress=draw)
        except LinkworkError as error:
            failure = error
    if failure is not None:
        last = session.outbox.events[-1].text if session.outbox.events else ""
        if last != str(failure) or order.quiet:
            say_error(str(failure))
    return interrupt, failure


def set_signal(session: Session, text: str) -> None:
    """Does what ``--set`` says: ``signal=value`` in SI, or ``signal_deg=value`` and the like."""
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
