"""What a run shows in the terminal: a live table of signals, or a progress bar."""

from __future__ import annotations

from rich.table import Table

from linkwork.session.session import Session
from linkwork.units import degrees

#: Signals that a table shows if none are asked for, by how their names end.
_TELLING = (".angle", ".position", ".x", ".y", ".distance", ".force")
MOST_ROWS = 24


def chosen(session: Session, wanted: list[str]) -> list[str]:
    """Names of the signals to show: those asked for (``*`` matches), or the telling ones."""
    names = [signal.name for signal in session.signals]
    if not wanted:
        return [n for n in names if n.endswith(_TELLING)][:MOST_ROWS]
    found: list[str] = []
    for pattern in wanted:
        if "*" in pattern:
            head, _, tail = pattern.partition("*")
            found += [n for n in names if n.startswith(head) and n.endswith(tail)]
        else:
            found.append(session.signals[pattern].name)
    return list(dict.fromkeys(found))


def shown(value: float, unit: str) -> tuple[str, str]:
    """A value and its unit as people read them: angles in degrees, a true minus."""
    if unit.startswith("rad"):
        value, unit = degrees(value), unit.replace("rad", "°", 1)
    return f"{value:.3f}".replace("-", "−"), unit


def signal_table(session: Session, names: list[str]) -> Table:
    """The signals' values now, with the wanted value beside joints that have one."""
    late = f"  late by {session.clock.lateness:.2f} s" if session.clock.lateness > 0.1 else ""
    table = Table(title=f"{session.world.scene.name}  {session.time:8.2f} s{late}", expand=False)
    table.add_column("signal")
    table.add_column("value", justify="right")
    table.add_column("wanted", justify="right")
    table.add_column("unit")
    for name in names:
        signal = session.signals[name]
        value, unit = shown(session[name], signal.unit)
        target = f"{name.rpartition('.')[0]}.target"
        wanted = ""
        if target in session.signals and name.endswith((".angle", ".position")):
            wanted = shown(session[target], signal.unit)[0]
        table.add_row(name, value, wanted, unit)
    return table
