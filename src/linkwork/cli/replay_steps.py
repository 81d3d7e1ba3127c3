"""The steps of ``linkwork replay``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.cli import exits
from linkwork.cli.screen import show_event, stderr, stdout
from linkwork.core.errors import RecordingError
from linkwork.session.recording import (
    NOT_CHECKED,
    Recording,
    export_csv,
    list_damage,
    repair,
)

if TYPE_CHECKING:
    from linkwork.cli.image_files import ImageFiles
    from linkwork.session.replay import ReplayResult
    from linkwork.session.session import Session


#: Damaged parts that are listed one by one.
_MAX_DAMAGES = 8


class ReplaySteps:
    """A recording given to ``linkwork replay``.

    Args:
        path: The recording.
        overwrite: Whether existing files may be replaced.
        trust: Whether its programs may run even if nobody has trusted them.

    Raises:
        RecordingError: If it cannot be read.

    Attributes:
        damaged: Whether bytes of it were changed or lost.
    """

    def __init__(self, path: Path, *, overwrite: bool, trust: bool = False) -> None:
        self._path = path
        self._trust = trust
        self._overwrite = overwrite
        self._out = stdout()
        with Recording.open(path) as found:
            self.damaged = bool(found.damage)
            self._notes = found.notes

    def describe(self, *, events: bool) -> None:
        """Prints its contents, and with ``events`` all events."""
        with Recording.open(self._path) as found:
            header = found.header
            worlds = f", {len(found.segments)} worlds" if len(found.segments) > 1 else ""
            self._out.print_line(
                f"{self._path}: scene {header.world.scene}{worlds}, {found.duration:.3f} s, "
                f"{found.last_step - found.first_step} steps of {header.world.step:g} s, "
                f"{len(found.inbox)} messages in, {len(found.hashes)} hashes."
            )
            made_by = header.versions.get("linkwork", "?")
            self._out.print_line(f"Recorded {header.created} with Linkwork {made_by}.")
            if not found.closed:
                self._out.print_line(
                    "It was not closed: its session was killed, or still runs. Complete "
                    "records are used; --repair writes a copy.",
                    lead="note:",
                )
            for each in list_damage(found.damage, _MAX_DAMAGES):
                self._out.print_line(each, lead="Damaged:", level="error")
            if found.damage:
                rest = "everything else" if found.checked else "everything before"
                self._out.print_line(f"{rest} is intact; --repair writes a copy.", lead="note:")
            for note in found.notes:
                self._out.print_line(f"{note}.", lead="note:")
            if not found.checked:
                self._out.print_line(f"{NOT_CHECKED}.", lead="note:")
            for event in found.events if events else ():
                show_event(self._out, event, when=f"{event.time:10.3f} s  ")

    def repair(self, target: Path) -> None:
        """Writes a repaired copy."""
        repair(self._path, target, overwrite=self._overwrite)
        self._out.print_line(f"Wrote {target}.")

    def write_coordinates(self, target: Path) -> None:
        """Writes the coordinates of each keyframe."""
        with Recording.open(self._path) as found:
            rows = export_csv(found, target, fields=["q"])
        self._out.print_line(f"Wrote {rows} rows to {target}.")

    def write_page(self, target: Path, watch: list[str]) -> None:
        """Writes the recording as one HTML file."""
        from linkwork.cli.compile_progress import show_compiling

        with show_compiling():
            from linkwork.cli.screen import match_signals
            from linkwork.studio.host.html_page import write_page

        with Recording.open(self._path) as found, _progress() as progress, _compiling():
            choose = (lambda session: match_signals(session, watch)) if watch else None
            made = write_page(found, target, signals=choose, progress=progress)
        if made.problem:
            self._out.print_line(made.problem, lead="note:")
        if made.every > 1:
            self._out.print_line(
                f"one picture of {made.every} is kept, so that the page is not too large.",
                lead="note:",
            )
        self._out.print_line(
            f"Wrote {target}: {made.pictures} pictures, {made.signals} signals, "
            f"{made.size / 1e6:.1f} MB. It opens in any browser."
        )

    def check_trusted(self, option: str) -> None:
        """Refuses to simulate programs that nobody has trusted, before anything is written.

        Args:
            option: The option that simulates.

        Raises:
            RecordingError: If there are such.
        """
        import tempfile

        from linkwork.project.trust import TrustStore
        from linkwork.session.recorded_programs import recorded_programs

        with Recording.open(self._path) as found, tempfile.TemporaryDirectory() as folder:
            codes = recorded_programs(found, Path(folder))
        if not self._trust and (codes := TrustStore().untrusted(codes, recorded=True)):
            names = ", ".join(dict.fromkeys(code.agent for code in codes))
            raise RecordingError(
                f"{option} simulates again, with programs that nobody has trusted: {names}.",
                hint=f"--trust runs them; without {option} the recorded values are written.",
            )

    def _show_untrusted(self, result: ReplayResult) -> None:
        names = ", ".join(dict.fromkeys(code.agent for code in result.untrusted))
        self._out.print_line(
            f"it brings programs that nobody has trusted: {names}. --trust runs them.",
            lead="Not re-simulated:",
            level="error",
        )
        if result.mismatch:
            self._out.print_line(result.mismatch, lead="Not the same:", level="error")
        elif not result.damage:
            self._out.print_line(
                f"Its bytes are intact; {result.keyframes} keyframes agree with their hashes."
            )

    def simulate(
        self, target: Path | None, watch: list[str], rate: float, *, images: Path | None = None
    ) -> int:
        """Runs it again; returns the exit code.

        Args:
            target: File for signals, or None.
            watch: Names of the signals.
            rate: Rows per simulated second.
            images: Folder for camera images, or None.
        """
        from linkwork.cli.compile_progress import show_compiling

        with show_compiling():
            from linkwork.session.replay import replay

        with contextlib.ExitStack() as stack, _progress() as progress, _compiling():
            table = _Signals(target, watch, rate, stack) if target is not None else None
            files = _pictures(images, overwrite=self._overwrite) if images is not None else None
            takers = [each for each in (table, files and files.take) if each is not None]

            def after(session: Session) -> None:
                for take in takers:
                    take(session)

            result = replay(
                self._path, trust=self._trust, progress=progress, watch=after if takers else None
            )
        if table is not None:
            self._out.print_line(f"Wrote {table.rows} rows to {target}.")
        if files is not None:
            self._out.print_line(f"Wrote {files.count} images with their depth to {images}.")
        if result.untrusted:
            self._show_untrusted(result)
            return exits.DAMAGED if result.damage else exits.DIFFERENT
        if result.mismatch:
            self._out.print_line(result.mismatch, lead="Not the same:", level="error")
        elif result.incomparable:
            self._out.print_line(
                f"{result.incomparable} Before, {_compared(result)}",
                lead="Not comparable",
                level="error",
            )
        elif not result.compared:
            self._out.print_line(
                "the recording holds no hash of a state to compare with.",
                lead="Not verified:",
                level="error",
            )
        else:
            incomplete = result.damage or result.missing or result.steps < result.recorded
            lead = "Bit-identical, where it is intact" if incomplete else "Bit-identical"
            self._out.print_line(f"{lead}: {_compared(result)}")
        described = set(self._notes)  # printed with its contents
        for note in (*result.different_versions, *result.notes):
            if note not in described:
                self._out.print_line(note, lead="note:")
        if result.damage:
            return exits.DAMAGED
        return 0 if result.same else exits.DIFFERENT


def _compared(result: ReplayResult) -> str:
    """How much was simulated and compared."""
    steps = f"{result.steps} steps"
    if result.steps < result.recorded:
        steps = f"{result.steps} of {result.recorded} steps"
    return (
        f"{steps}; {result.compared} hashes, {result.keyframes} keyframes, {result.snapshots} "
        f"snapshots and {result.events} events compared."
    )


def _pictures(folder: Path, *, overwrite: bool) -> ImageFiles:
    from linkwork.cli.image_files import ImageFiles

    return ImageFiles(folder, overwrite=overwrite)


class _Signals:
    """Writes signals of the replayed session to a table, from the first step on."""

    def __init__(
        self, target: Path, watch: list[str], rate: float, stack: contextlib.ExitStack
    ) -> None:
        self._target, self._watch, self._rate, self._stack = target, watch, rate, stack
        self._csv = None

    @property
    def rows(self) -> int:
        """Rows written."""
        return self._csv.rows if self._csv else 0

    def __call__(self, session: Session) -> None:
        if self._csv is not None:
            self._csv.after_step()
            return
        from linkwork.cli.output_files import SignalCsv
        from linkwork.cli.screen import match_signals

        names = match_signals(session, self._watch)
        self._csv = SignalCsv(session, self._target, names, self._rate)
        self._stack.callback(self._csv.close)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[float], object] | None]:
    """A progress bar on a terminal, else nothing."""
    out = stderr()
    if not out.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("replay", total=1.0)
        yield lambda done: bar.update(task, completed=done)


def _compiling() -> contextlib.AbstractContextManager[object]:
    """Prints a line once if kernels must be compiled."""
    from linkwork.cli.compile_progress import COMPILING, monitor_compiling

    return monitor_compiling(lambda count: stderr().print_line(COMPILING) if count == 1 else None)
