"""Screen: terminal output, live or as plain text."""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from linkwork.core.errors import listing, not_found
from linkwork.core.value_types import degrees

if TYPE_CHECKING:
    from linkwork.model.world import Finding
    from linkwork.session.messages import SessionEvent
    from linkwork.session.recording import RecordedEvent as RecordedEvent
    from linkwork.session.session import Session


_STYLES = {"error": "red", "warning": "yellow", "approximated": "yellow"}
#: Up to this number, findings with the same text are listed one by one.
_MAX_REPEATED = 3
#: Width of output without a terminal, so that nothing is cut.
_ENDLESS = 10_000


class Screen(Console):
    """A console that raises broken pipes to the caller, and cuts nothing that is piped."""

    def __init__(self, *, errors: bool = False) -> None:
        super().__init__(stderr=errors, highlight=False, markup=False, emoji=False)
        if not self.is_terminal:
            self.width = _ENDLESS

    def on_broken_pipe(self) -> None:
        """Raises the error again."""
        self.quiet = True
        raise BrokenPipeError

    def print_line(self, text: str, *, lead: str = "", level: str = "") -> None:
        """Prints a line, wrapped by the terminal, after a colored label."""
        # In one write: a live display would erase half a line.
        line = Text().append(f"{lead} ", _STYLES.get(level, "dim")) if lead else Text()
        self.print(line.append(text), soft_wrap=True)

    def rows(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Prints a table in columns; on a terminal long cells are folded."""
        table = Table(box=None, pad_edge=False)
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for row in rows:
            table.add_row(*row)
        self.print(table)


def stdout() -> Screen:
    """The console for results."""
    return Screen()


def stderr() -> Screen:
    """The console for errors and progress."""
    return Screen(errors=True)


def count(number: int, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> count(2, "joint")
    '2 joints'
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def print_error(text: str) -> None:
    """Prints an error."""
    stderr().print_line(text, lead="error:", level="error")


def show_findings(out: Screen, findings: Iterable[Finding]) -> None:
    """Prints approximations and notes of the engines."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.level, finding.text), []).append(finding)
    for (level, text), alike in groups.items():
        if len(alike) <= _MAX_REPEATED:
            for finding in alike:
                out.print_line(str(finding), lead=f"{level}:", level=level)
        else:
            out.print_line(
                f"{listing(f.about for f in alike)}: {text}", lead=f"{level}:", level=level
            )


def show_event(out: Screen, event: SessionEvent | RecordedEvent, *, when: str = "") -> None:
    """Prints an event of a session, an agent or a program, after ``when``."""
    from linkwork.session.messages import SESSION

    lead, text = event.source, event.text
    if event.level in ("error", "warning"):
        # Events of a bus, an agent or a fault use "it"; those of the session name their subject.
        lead, text = event.level, text if lead in ("", SESSION) else f"{lead}: {text}"
    out.print_line(text, lead=f"{when}{lead}:" if lead else when, level=event.level)


#: Suffixes of the signals that a table shows by default.
_DEFAULT_SUFFIXES = (".angle", ".position", ".x", ".y", ".z", ".distance", ".force")
#: Number of lines around the table's rows, and minimum number of rows.
_FRAME, _LEAST = 10, 4
_BAR = 40


def match_signals(session: Session, wanted: list[str]) -> list[str]:
    """Names of the signals to show: the requested ones (``*`` matches), or the default ones.

    Raises:
        NameNotFound: If a name, or a pattern, matches nothing.
    """
    names = [signal.name for signal in session.signals]
    if not wanted:
        return [n for n in names if n.endswith(_DEFAULT_SUFFIXES)]
    found: list[str] = []
    for pattern in wanted:
        if any(letter in pattern for letter in "*?"):
            matching = [n for n in names if fnmatch.fnmatchcase(n, pattern)]
        else:
            matching = [session.signals[pattern].name]
        if not matching:
            raise not_found("signal", pattern, names)
        found += matching
    return list(dict.fromkeys(found))


def format_value(value: float, unit: str) -> tuple[str, str]:
    """A value with its display unit: angles in degrees, a true minus sign."""
    if unit.startswith("rad"):
        value, unit = degrees(value), unit.replace("rad", "°", 1)
    text = f"{value:.3f}" if abs(value) < 1e6 else f"{value:.4g}"
    text = "0.000" if text == "-0.000" else text
    return text.replace("-", "−"), unit


def signal_table(session: Session, names: list[str]) -> Table:
    """The present values of the signals, with targets beside joints that have one."""
    table = Table(box=None, pad_edge=False)
    table.add_column("signal", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("wanted", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for name in names:
        signal = session.signals[name]
        value, unit = format_value(session[name], signal.unit)
        target = f"{name.rpartition('.')[0]}.target"
        wanted = ""
        if target in session.signals and name.endswith((".angle", ".position")):
            wanted = format_value(session[target], signal.unit)[0]
        table.add_row(name, value, wanted, unit)
    return table


class LiveDisplay:
    """A live display of a session on a terminal.

    Args:
        session: The session.
        wanted: Signals to show; the default ones if empty.
        duration: Duration of the run [s], or None.
        height: Number of rows of the terminal.
    """

    def __init__(
        self, session: Session, wanted: list[str], duration: float | None, height: int
    ) -> None:
        self._session = session
        self._wanted = wanted
        self._first = session.time
        self._duration = duration
        self._most = max(_LEAST, height - _FRAME)

    def renderable(self) -> RenderableType:
        """The present display."""
        session = self._session
        # An edit may have removed some.
        names = [n for n in self._wanted if n in session.signals] or match_signals(session, [])
        left_out = len(names) - self._most
        lines: list[RenderableType] = [signal_table(session, names[: self._most])]
        if left_out > 0:
            lines.append(Text(f"… and {left_out} more; pick with --watch", style="dim"))
        lines.append(Text(self._line(), style="bold"))
        if self._duration is not None:
            done = min(max(session.time - self._first, 0.0), self._duration)
            lines.append(ProgressBar(total=self._duration, completed=done, width=_BAR))
        return Group(*lines)

    def _line(self) -> str:
        session = self._session
        end = f" of {self._first + self._duration:g}" if self._duration is not None else ""
        state = "" if session.running else "  paused"
        if session.clock.lateness > 0.1:
            state += f"  {session.clock.lateness:.1f} s late: this machine is too slow for it"
        return f"{session.world.scene.name}  {session.time:.2f}{end} s{state}"


@contextlib.contextmanager
def show_live(
    out: Screen, session: Session, wanted: list[str], duration: float | None
) -> Iterator[Callable[[float], None]]:
    """Shows a session on a terminal while it runs; yields a function that redraws it."""
    display = LiveDisplay(session, wanted, duration, out.height)
    with Live(display.renderable(), console=out, auto_refresh=False) as screen:

        def draw(now: float) -> None:
            screen.update(display.renderable(), refresh=True)

        try:
            yield draw
        finally:
            draw(session.time)


def print_periodically(
    out: Screen, session: Session, wanted: list[str], period: float
) -> Callable[[float], None]:
    """Without a terminal: prints the table each ``period`` [simulated s]; returns the callback."""
    due = session.time

    def show(now: float) -> None:
        nonlocal due
        if now >= due:
            due = now + period
            out.print_line(f"{now:.2f} s")
            out.print(signal_table(session, wanted or match_signals(session, [])))

    return show


def show_withheld(session: Session) -> None:
    """Prints which programs of a scene do not run, because nobody has trusted them."""
    for name in session.withheld:
        stderr().print_line(
            f"the program {name!r} is not trusted and does not run. linkwork trust FILE, with the "
            "scene or the program, trusts it.",
            lead="note:",
        )
