"""Output files of a command, checked before anything is written."""

from __future__ import annotations

import contextlib
import csv
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.core.errors import FormatError, os_error_text

if TYPE_CHECKING:
    from linkwork.session.session import Session


#: The option of every command that writes files.
Overwrite = Annotated[
    bool, typer.Option("--overwrite", "--force", help="Replace files that exist.")
]


def check_outputs(
    files: Sequence[Path | None], *, overwrite: bool, sources: Sequence[str | Path] = ()
) -> None:
    """Refuses output files that cannot or must not be written, before the work begins.

    Args:
        files: The output files; None and ``-``, standard output, are skipped.
        overwrite: Whether existing files may be replaced.
        sources: The command's inputs, which are never replaced. Kit names are ignored.

    Raises:
        FormatError: If a file is a folder, is a source, exists, is named twice, or has no folder.
    """
    known: list[Path] = []
    for file in files:
        if file is None or str(file) == "-":
            continue
        if file.is_dir():
            raise FormatError(f"{file} is a folder.", hint="Name a file in it.")
        if any(_same(file, Path(source)) for source in sources):
            raise FormatError(f"{file} is the source itself.", hint="Give another name.")
        if any(each.resolve() == file.resolve() for each in known):
            raise FormatError(f"{file} is to be written twice.", hint="Give two names.")
        if file.is_file() and not overwrite:  # a pipe or device has no content to lose
            raise FormatError(f"{file} exists.", hint="Give --overwrite to replace it.")
        if not file.parent.is_dir():
            raise FormatError(f"{file} cannot be written: there is no folder {file.parent}.")
        known.append(file)


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


class SignalCsv:
    """A table of signals with a row at the start and at a fixed rate; all digits, SI units.

    Args:
        session: The session.
        path: The file, or ``-`` for standard output.
        names: Signals, one column each.
        rate: Rows per simulated second.

    Attributes:
        rows: Rows written.

    Raises:
        FormatError: If the file cannot be written.
    """

    def __init__(self, session: Session, path: Path, names: list[str], rate: float) -> None:
        self._session = session
        self._names = names
        self._path = path
        self._every = max(1, round(1.0 / (rate * session.cycle.h)))
        self.rows = 0
        try:
            to_screen = str(path) == "-"
            self._file = sys.stdout if to_screen else path.open("w", newline="", encoding="utf-8")
        except OSError as error:
            raise FormatError(f"{path} cannot be written: {os_error_text(error)}.") from None
        self._close = not to_screen
        self._failed = False
        self._table = csv.writer(self._file, lineterminator="\n")
        units = {n: session.signals[n].unit for n in names}
        self._put(["time [s]", *(f"{n} [{units[n]}]" if units[n] else n for n in names)])
        self.row()

    def after_step(self) -> None:
        """Adds a row if one is due."""
        if self._session.state.step % self._every == 0:
            self.row()

    def row(self) -> None:
        """Adds a row; the cell of a signal removed by an edit is empty."""
        session = self._session
        digits = max(0, math.ceil(-math.log10(session.cycle.h)) + 3)
        values = [repr(session[n]) if n in session.signals else "" for n in self._names]
        self._put([f"{session.time:.{digits}f}", *values])
        self.rows += 1

    def _put(self, cells: list[str]) -> None:
        if self._failed:
            return
        try:
            self._table.writerow(cells)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._fail(error) from None

    def close(self) -> None:
        """Writes buffered rows, and closes the file."""
        if self._failed:
            return
        try:
            self._file.close() if self._close else self._file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._fail(error) from None

    def _fail(self, error: OSError) -> FormatError:
        """Ends the table after its last whole row; rows after that are lost."""
        self._failed = True
        kept = ""
        with contextlib.suppress(OSError):
            if self._close:
                with contextlib.suppress(OSError):
                    self._file.close()
            if self._close and self._path.is_file():
                self.rows = _keep_whole_rows(self._path)
                kept = f"Its first {self.rows} rows are kept."
        return FormatError(f"{self._path} cannot be written: {os_error_text(error)}.", hint=kept)


def _keep_whole_rows(path: Path) -> int:
    """Removes an unfinished last line of a table; returns the number of rows under its head."""
    lines = end = 0
    with path.open("rb+") as file:
        for line in file:
            if line.endswith(b"\n"):
                lines, end = lines + 1, end + len(line)
        file.truncate(end)
    return max(0, lines - 1)


def free_name(stem: str, ending: str, taken: Sequence[Path]) -> str:
    """A file name not in ``taken``, ignoring case: ``a.csv``, ``a-2.csv``."""
    known, made, number = {path.name.casefold() for path in taken}, f"{stem}{ending}", 1
    while made.casefold() in known:
        number += 1
        made = f"{stem}-{number}{ending}"
    return made


class StateTables:
    """A folder with ``joints.csv``, ``efforts.csv`` and a file for each sensor of type ``motion``.

    A row of ``joints.csv`` is Schwanen's table q, 3×12 for twelve joints: all positions, then all
    speeds, then all accelerations. A row of a sensor's file is the table of a body, 3×6. File names
    that occur twice are numbered.

    Args:
        session: The session.
        folder: The folder; created if it does not exist.
        rate: Rows per simulated second.
        overwrite: Whether existing files may be replaced.

    Attributes:
        files: The written files.

    Raises:
        FormatError: If a file cannot be written, or exists.
    """

    def __init__(self, session: Session, folder: Path, rate: float, *, overwrite: bool) -> None:
        tables = self._contents(session)
        self.files = []
        for name, _ in tables:
            self.files.append(folder / free_name(name.replace("/", "-"), ".csv", self.files))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{folder} cannot be made: {os_error_text(error)}.") from None
        check_outputs(self.files, overwrite=overwrite)
        self._tables = [
            SignalCsv(session, file, names, rate)
            for file, names in zip(self.files, (names for _, names in tables), strict=True)
        ]

    @staticmethod
    def _contents(session: Session) -> list[tuple[str, list[str]]]:
        """The name of each file, and its signals."""
        world, signals = session.world, session.signals
        rows: dict[str, list[str]] = {"": [], "speed": [], "acceleration": [], "effort": []}
        for number, joint in enumerate(world.joint_names):
            kind = world.joints[number].kind
            for dof in kind.dofs:
                rows[""].append(f"{joint}.{dof}")
                prefix = f"{joint}." if kind.nv == 1 else f"{joint}.{dof}_"
                for word in ("speed", "acceleration", "effort"):
                    if f"{prefix}{word}" in signals:
                        rows[word].append(f"{prefix}{word}")
        made = [("joints", rows[""] + rows["speed"] + rows["acceleration"])]
        made.append(("efforts", rows["effort"]))
        for spec in world.sensors:
            if spec.type == "motion":
                mine = [s.name for s in signals if s.name.startswith(f"{spec.name}.")]
                made.append((spec.name, mine))
        return [(name, found) for name, found in made if found]

    @property
    def rows(self) -> int:
        """Number of rows in each file."""
        return self._tables[0].rows if self._tables else 0

    def after_step(self) -> None:
        """Adds rows if they are due."""
        for table in self._tables:
            table.after_step()

    def close(self) -> None:
        """Closes all files."""
        for table in self._tables:
            table.close()
