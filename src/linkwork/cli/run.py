"""``linkwork run``: runs a scene."""

from __future__ import annotations

import contextlib
import csv
import signal as os_signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.console import Console
from rich.live import Live
from rich.progress import Progress, TextColumn, TimeRemainingColumn
from rich.progress import BarColumn as Bar

from linkwork.cli.live import chosen, signal_table
from linkwork.errors import FormatError
from linkwork.session.messages import Event
from linkwork.session.session import Session

_STYLES = {"error": "red", "warning": "yellow", "info": "dim"}


def run(
    scene: Annotated[str, typer.Argument(help="A scene file, or a kit's scene (tripod/level).")],
    duration: Annotated[
        float | None,
        typer.Option("--for", help="Simulated seconds; without it the run goes on until Ctrl-C."),
    ] = None,
    clock: Annotated[str, typer.Option(help="fast (as fast as possible) or real.")] = "fast",
    speed: Annotated[float, typer.Option(help="Simulated per real second, clock real.")] = 1.0,
    record: Annotated[Path | None, typer.Option(help="Record to this file (.mcap).")] = None,
    watch: Annotated[
        list[str] | None, typer.Option(help="Show these signals live; * matches. Repeatable.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="signal=value at the start [SI]. Repeatable.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--csv", help="Write the watched signals to this CSV file.")
    ] = None,
    rate: Annotated[float, typer.Option(help="Rows a simulated second in the CSV file.")] = 100.0,
) -> None:
    """Runs a scene, shows what happens, and says how it went.

    Examples:

      linkwork run tripod/level --for 60

      linkwork run gripper/follow --clock real --watch 'arm/*angle'

      linkwork run my.toml --for 10 --record my.mcap --set arm/J1.target=0.5
    """
    console = Console(stderr=True, highlight=False)
    if duration is not None and not 0.0 < duration < 1e9:
        raise FormatError(f"--for takes seconds above 0, not {duration:g}.")
    with Session(scene, record=record) as session:
        for finding in session.cycle.findings:
            if finding.level != "note":
                console.print(f"{finding.level}: {finding}", style="dim", markup=False)
        session.outbox.listeners.append(lambda event: _show(console, event))
        for assignment in set_ or []:
            signal, value = _assignment(assignment)
            session[signal] = value
        if table is not None:
            _write_csv(session, table, chosen(session, watch or []), rate)
        started = time.perf_counter()
        first = session.time
        with stop_on_interrupt(session):
            if watch and sys.stderr.isatty():
                _run_with_table(session, duration, clock, speed, watch, console)
            else:
                _run_with_bar(session, duration, clock, speed, console)
        _summary(session, session.time - first, time.perf_counter() - started, console)
        if record is not None:
            console.print(f"Recorded to {record}. Look again: linkwork replay {record} --verify")


def _show(console: Console, event: Event) -> None:
    source = f"{event.source}: " if event.source else ""
    style = _STYLES.get(event.level, "")
    console.print(f"{source}{event.text}", style=style, markup=False, soft_wrap=True)


def _assignment(text: str) -> tuple[str, float]:
    signal, equals, value = text.partition("=")
    try:
        if equals:
            return signal.strip(), float(value)
    except ValueError:
        pass
    raise FormatError(f"--set takes signal=number, not {text!r}.")


@contextlib.contextmanager
def stop_on_interrupt(session: Session) -> Iterator[None]:
    """Ctrl-C ends the run after the present step; a second one ends the program."""

    def stop(number: int, frame: object) -> None:
        session.stop()
        os_signal.signal(os_signal.SIGINT, os_signal.default_int_handler)

    before = os_signal.signal(os_signal.SIGINT, stop)
    try:
        yield
    finally:
        os_signal.signal(os_signal.SIGINT, before)


def _run_with_bar(
    session: Session, duration: float | None, clock: str, speed: float, console: Console
) -> None:
    columns = (TextColumn("{task.completed:.1f} s"), Bar(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        first = session.time
        task = progress.add_task("run", total=duration)

        def show(now: float) -> None:
            progress.update(task, completed=now - first)

        session.run(duration, clock=clock, speed=speed, progress=show)


def _run_with_table(
    session: Session,
    duration: float | None,
    clock: str,
    speed: float,
    watch: list[str],
    console: Console,
) -> None:
    names = chosen(session, watch)
    with Live(signal_table(session, names), console=console, auto_refresh=False) as live:

        def show(now: float) -> None:
            live.update(signal_table(session, names), refresh=True)

        session.run(duration, clock=clock, speed=speed, progress=show)


def _write_csv(session: Session, path: Path, names: list[str], rate: float) -> None:
    """Adds a row to a CSV file at ``rate`` per simulated second while the session runs."""
    try:
        file = path.open("w", newline="", encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{path} cannot be written: {error.strerror}.") from None
    writer = csv.writer(file)
    units = [session.signals[n].unit for n in names]
    writer.writerow(["time [s]", *(f"{n} [{u}]" for n, u in zip(names, units, strict=True))])
    every = max(1, round(1.0 / (rate * session.cycle.h)))
    _tap(session, _row_writer(session, writer, names, every), file)


def _row_writer(
    session: Session, writer: csv.Writer, names: list[str], every: int  # type: ignore[name-defined]
) -> Callable[[], None]:
    def write() -> None:
        if session.state.step % every == 0:
            writer.writerow([f"{session.time:.6f}", *(repr(session[n]) for n in names)])

    return write


def _tap(session: Session, write: Callable[[], None], file: TextIO) -> None:
    session.after_step.append(write)
    session.at_close.append(file.close)


def _summary(session: Session, simulated: float, real: float, console: Console) -> None:
    factor = simulated / real if real > 0 else 0.0
    kinetic, potential = session.state.report.energy
    gap = session.state.report.gap[0]
    loops = f", largest loop gap {gap:.2e} m" if session.world.loop_names else ""
    console.print(
        f"{simulated:.2f} s simulated in {real:.2f} s ({factor:.1f} times real time){loops}, "
        f"energy {kinetic + potential:.3f} J.",
        markup=False,
    )
