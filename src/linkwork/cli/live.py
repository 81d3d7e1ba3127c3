"""What a run shows in the terminal: a live table of signals, and how far it is."""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from linkwork.cli.screen import Screen
from linkwork.errors import not_found
from linkwork.units import degrees

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: Signals that a table shows if none are asked for, by how their names end.
_TELLING = (".angle", ".position", ".x", ".y", ".z", ".distance", ".force")
#: Lines around the table's rows, and fewest rows worth showing.
_FRAME, _LEAST = 10, 4
_BAR = 40


def chosen(session: Session, wanted: list[str]) -> list[str]:
    """Names of the signals to show: those asked for (``*`` matches), or the telling ones.

    Raises:
        NameNotFound: If a name, or a pattern, matches nothing.
    """
    names = [signal.name for signal in session.signals]
    if not wanted:
        return [n for n in names if n.endswith(_TELLING)]
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


def shown(value: float, unit: str) -> tuple[str, str]:
    """A value and its unit as people read them: angles in degrees, a true minus."""
    if unit.startswith("rad"):
        value, unit = degrees(value), unit.replace("rad", "°", 1)
    text = f"{value:.3f}" if abs(value) < 1e6 else f"{value:.4g}"
    text = "0.000" if text == "-0.000" else text
    return text.replace("-", "−"), unit


def signal_table(session: Session, names: list[str]) -> Table:
    """The signals' values now, with the wanted value beside joints that have one."""
    table = Table(box=None, pad_edge=False)
    table.add_column("signal", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("wanted", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for name in names:
        signal = session.signals[name]
        value, unit = shown(session[name], signal.unit)
        target = f"{name.rpartition('.')[0]}.target"
        wanted = ""
        if target in session.signals and name.endswith((".angle", ".position")):
            wanted = shown(session[target], signal.unit)[0]
        table.add_row(name, value, wanted, unit)
    return table


class Display:
    """A live picture of a session on a terminal.

    Args:
        session: The session.
        wanted: Signals to show; the telling ones if empty.
        duration: How long it will run [s], or None.
        height: Rows of the terminal.
    """

    def __init__(
        self, session: Session, wanted: list[str], duration: float | None, height: int
    ) -> None:
        self._session = session
        self._wanted = wanted
        self._first = session.time
        self._duration = duration
        self._most = max(_LEAST, height - _FRAME)

    def picture(self) -> RenderableType:
        """How things stand now."""
        session = self._session
        # An edit may have removed some.
        names = [n for n in self._wanted if n in session.signals] or chosen(session, [])
        left_out = len(names) - self._most
        pieces: list[RenderableType] = [signal_table(session, names[: self._most])]
        if left_out > 0:
            pieces.append(Text(f"… and {left_out} more; pick with --watch", style="dim"))
        pieces.append(Text(self._line(), style="bold"))
        if self._duration is not None:
            done = min(max(session.time - self._first, 0.0), self._duration)
            pieces.append(ProgressBar(total=self._duration, completed=done, width=_BAR))
        return Group(*pieces)

    def _line(self) -> str:
        session = self._session
        end = f" of {self._first + self._duration:g}" if self._duration is not None else ""
        state = "" if session.running else "  paused"
        if session.clock.lateness > 0.1:
            state += f"  {session.clock.lateness:.1f} s late: this machine is too slow for it"
        return f"{session.world.scene.name}  {session.time:.2f}{end} s{state}"


@contextlib.contextmanager
def live(
    out: Screen, session: Session, wanted: list[str], duration: float | None
) -> Iterator[Callable[[float], None]]:
    """Shows a session on a terminal while it runs; yields what to call to draw it anew."""
    display = Display(session, wanted, duration, out.height)
    with Live(display.picture(), console=out, auto_refresh=False) as screen:

        def draw(now: float) -> None:
            screen.update(display.picture(), refresh=True)

        try:
            yield draw
        finally:
            draw(session.time)


def now_and_then(
    out: Screen, session: Session, wanted: list[str], period: float
) -> Callable[[float], None]:
    """Without a screen: prints the table each ``period`` [simulated s]; returns what to call."""
    due = session.time

    def show(now: float) -> None:
        nonlocal due
        if now >= due:
            due = now + period
            out.say(f"{now:.2f} s")
            out.print(signal_table(session, wanted or chosen(session, [])))

    return show
