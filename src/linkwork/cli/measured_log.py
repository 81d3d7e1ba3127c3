"""Measured logs: recorded values of a real machine, compared with a run."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork.cli.curves import Curve, in_characters, write_svg
from linkwork.cli.screen import show_withheld, stderr, stdout
from linkwork.core.errors import FormatError, Origin, not_found, os_error_text
from linkwork.core.mistakes import ascii_float

if TYPE_CHECKING:
    from linkwork.session.session import Session


_HEADING = re.compile(r"\s*(.*?)\s*(?:\[(.*)\])?\s*\Z")
_TURN = math.pi / 180.0
#: Units other than SI: the SI unit, and the factor to it.
_UNITS = {
    "deg": ("rad", _TURN), "°": ("rad", _TURN), "deg/s": ("rad/s", _TURN), "°/s": ("rad/s", _TURN),
    "deg/s²": ("rad/s²", _TURN), "°/s²": ("rad/s²", _TURN), "mm": ("m", 1e-3), "cm": ("m", 1e-2),
    "mm/s": ("m/s", 1e-3), "ms": ("s", 1e-3), "Nm": ("N m", 1.0), "mA": ("A", 1e-3),
}  # fmt: skip
#: Unit suffixes of names, ``angle_deg``.
_ENDINGS = ("deg", "rad", "mm", "ms", "s")
#: Values of --unit, for columns without a unit.
ANGLES = ("deg", "rad")
_ANGLES = ("angle", "position", "actual", "measured")
_TIMES = ("time", "t")
_TARGETS = ("target", "reference", "wanted", "goal")


@dataclass(frozen=True)
class MeasuredLog:
    """A log.

    Attributes:
        file: The file.
        time: Times of the rows [s], increasing.
        columns: The other columns by name, in SI units.
        units: Their SI units; empty if the heading has none, as written if unknown.
        line: Line of the heading.
        written: Names by their spelling in the heading, ``angle_deg`` for ``angle``.
        inferred: Unit of angles without a unit in the heading.
    """

    file: Path
    time: np.ndarray
    columns: dict[str, np.ndarray]
    units: dict[str, str]
    line: int = 1
    written: dict[str, str] = field(default_factory=dict)
    inferred: str = ""

    @property
    def origin(self) -> Origin:
        """The location of the heading."""
        return Origin(str(self.file), self.line)

    def column(self, given: str, words: tuple[str, ...]) -> np.ndarray | None:
        """Angles of the column called ``given``, or the first whose last word is in ``words``.

        Raises:
            NameNotFound: If no column is called ``given``.
            FormatError: If the column has no unit, or none of an angle.
        """
        given = self.written.get(given, given)
        if given and given not in self.columns:
            raise not_found("column", given, self.columns, origin=self.origin)
        for name in [given] if given else self.columns:
            if given or re.split(r"[./ ]", name)[-1].lower() in words:
                return self.of_unit(name, "rad")
        return None

    def of_unit(self, name: str, unit: str) -> np.ndarray:
        """Values of a column whose heading must name this SI unit.

        Raises:
            FormatError: If it names none, or another.
        """
        found = self.units[name]
        if not found and unit == "rad" and self.inferred:
            return self.columns[name] * _UNITS.get(self.inferred, ("", 1.0))[1]
        if found == unit or (not found and not unit):
            return self.columns[name]
        words = [
            word for word, (si, _) in _UNITS.items() if si == unit and not word.startswith("°")
        ]
        allowed = " or ".join([*words, unit])
        unit_text = f"is in {found}" if found else "does not say its unit"
        least = "." if found or unit != "rad" else ", or give --unit deg."
        raise FormatError(
            f"column {name!r} {unit_text}, and it must be in {allowed}.",
            origin=self.origin,
            hint=f"Write it into the heading: {name} [{(words or [unit])[0]}]{least}",
        )

    def angle(self, given: str = "") -> np.ndarray:
        """The measured angle [rad].

        Raises:
            FormatError: If no column is an angle.
        """
        found = self.column(given, _ANGLES)
        if found is None:
            raise FormatError(
                f"no column is called {', '.join(_ANGLES)}; there are {', '.join(self.columns)}.",
                origin=self.origin,
                hint="Name the one that was measured with --angle.",
            )
        return found

    def target(self, given: str = "") -> np.ndarray | None:
        """The target [rad], if there is a column for it."""
        return self.column(given, _TARGETS)


def read_measured_log(file: Path, unit: str = "") -> MeasuredLog:
    """Reads a log: a heading with units, ``angle [deg]`` or ``angle_deg``, and numbers.

    Lines that begin with # are comments. The time column is called ``time`` or ``t``, in seconds if
    it has no unit.

    Args:
        file: The log.
        unit: Unit of angles without one, "deg" or "rad".

    Raises:
        FormatError: With the line and the reason.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise FormatError(f"{file}: {os_error_text(error)}.") from None
    rows = [(n, row) for n, row in enumerate(csv.reader(lines), 1)
            if row and not row[0].lstrip().startswith("#")]  # fmt: skip
    if len(rows) < 3:
        raise FormatError(f"{file}: a log needs a heading and at least two rows.")
    names, units, scales = _heading(rows[0][1])
    first = next((n for n, name in enumerate(names) if name.lower() in _TIMES), None)
    if first is None:
        raise FormatError(
            f"no column is called time; there are {', '.join(names)}.",
            origin=Origin(str(file), rows[0][0]),
            hint="Separate columns by commas." if len(names) == 1 else "",
        )
    _check_heading(rows[0][1], names, units[first], names[first], Origin(str(file), rows[0][0]))
    table = np.array([_numbers(file, line, row, len(names)) for line, row in rows[1:]]) * scales
    time = table[:, first]
    falls = np.flatnonzero(np.diff(time) <= 0.0)
    if len(falls):
        raise FormatError(
            "the time does not rise here.", origin=Origin(str(file), rows[2 + int(falls[0])][0])
        )
    others = [n for n in range(len(names)) if n != first]
    columns = {names[n]: table[:, n] for n in others}
    written = {rows[0][1][n].strip(): names[n] for n in others}
    of = {names[n]: units[n] for n in others}
    return MeasuredLog(file, time, columns, of, rows[0][0], written, unit)


def _check_heading(
    cells: list[str], names: list[str], unit: str, time: str, origin: Origin
) -> None:
    """Refuses a time column with an invalid unit, and two columns of one name."""
    if unit not in ("", "s"):
        raise FormatError(
            f"column {time!r} is in {unit}, and it must be in s or ms.",
            origin=origin,
            hint=f"Write it in seconds: {time} [s].",
        )
    for n, name in enumerate(names):
        if name in names[:n]:
            both = " and ".join(repr(cells[k].strip()) for k in (names.index(name), n))
            raise FormatError(
                f"{both} are both called {name!r}.", origin=origin, hint="Give one another name."
            )


def _heading(cells: list[str]) -> tuple[list[str], list[str], np.ndarray]:
    """Names, SI units and scales of the columns."""
    names, units, scales = [], [], []
    for cell in cells:
        match = _HEADING.match(cell)
        name, unit = match.groups() if match else (cell, "")
        head, _, tail = name.rpartition("_")
        if not unit and head and tail in _ENDINGS:
            name, unit = head, tail
        si, scale = _UNITS.get(unit or "", (unit or "", 1.0))
        names.append(name)
        units.append(si)
        scales.append(scale)
    return names, units, np.array(scales)


def _numbers(file: Path, line: int, row: list[str], count: int) -> list[float]:
    try:
        values = [ascii_float(cell) for cell in row]
        if len(values) == count and all(map(math.isfinite, values)):
            return values
    except ValueError:
        pass
    raise FormatError(
        f"{count} numbers are expected here, not {', '.join(row)!r}.",
        origin=Origin(str(file), line),
    )


def overlay_log(log: MeasuredLog, scene: str, picture: Path | None) -> None:
    """Runs a scene with the log's targets, and shows the error of each measured signal.

    Columns that are inputs of the scene are set, constant from row to row; columns that are outputs
    are compared at the times of the rows.

    Raises:
        FormatError: If no column is a signal of the scene.
    """
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.scene_argument import load_showing_notes, scene_to_run

    thing, _ = load_showing_notes(scene)
    ready, _ = scene_to_run(thing, scene, free=False)
    with show_compiling():
        from linkwork.project.trust import is_trusted
        from linkwork.session.session import Session

        session = Session(ready, watch=False, programs=is_trusted)
        commanded, compared = _sort(log, session)
        values = {n: log.of_unit(n, session.signals[n].unit) for n in (*commanded, *compared)}
        log = replace(log, columns=values)
        if commanded and ready.agents:
            session.close()
            stderr().print_line("the scene's agents are left out: the log provides the targets.")
            ready.agents.clear()
            session = Session(ready, watch=False)
    show_withheld(session)
    with session:
        made = _run(log, session, commanded, compared)
        units = {name: session.signals[name].unit for name in compared}
    screen = stdout()
    rows, first = [], None
    for name in compared:
        turn = 180.0 / math.pi if units[name].startswith("rad") else 1.0
        unit = units[name].replace("rad", "deg")
        off = (made[name] - log.columns[name]) * turn
        rows.append(
            (name, f"{np.sqrt(np.mean(off**2)):.4g}", f"{np.abs(off).max():.4g}",
             f"{off.mean():+.3g}", unit)
        )  # fmt: skip
        if first is None:
            time = log.time - log.time[0]
            first = name, unit, [
                Curve("measured", time, log.columns[name] * turn, dots=True),
                Curve("simulated", time, made[name] * turn),
                Curve("error", time, off),
            ]  # fmt: skip
    screen.rows(("signal", "rms", "at most", "mean", "unit"), rows)
    if first is None:
        return
    name, unit, curves = first
    screen.print_line(name)
    for line in in_characters(curves, unit):
        screen.print_line(line)
    if picture is not None:
        write_svg(picture, name, curves, f" {unit}")


def _sort(log: MeasuredLog, session: Session) -> tuple[list[str], list[str]]:
    """Columns to set as inputs, and columns to compare with outputs."""
    known = [name for name in log.columns if name in session.signals]
    commanded = [name for name in known if session.signals[name].direction == "input"]
    compared = [name for name in known if session.signals[name].direction == "output"]
    if not compared:
        raise FormatError(
            "no column is an output of the scene, such as "
            f"{next((s.name for s in session.signals if s.direction == 'output'), 'arm/J.angle')}; "
            f"there are {', '.join(log.columns)}.",
            origin=log.origin,
            hint="Name the columns as the scene names its signals: arm/J1.angle [deg].",
        )
    return commanded, compared


def _run(
    log: MeasuredLog, session: Session, commanded: list[str], compared: list[str]
) -> dict[str, np.ndarray]:
    """Values of the compared signals at the times of the rows."""
    made = {name: np.zeros(len(log.time)) for name in compared}
    for row, time in enumerate(log.time - log.time[0]):
        while session.time < time - 0.5 * session.cycle.h:
            session.step()
        for name in compared:
            made[name][row] = session[name]
        for name in commanded:
            session[name] = float(log.columns[name][row])
    return made
