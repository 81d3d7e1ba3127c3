"""Replaying: the steps of ``linkwork replay``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.cli import exits
from linkwork.cli.screen import show_event, stderr, stdout
from linkwork.session.recording import Recording, export_csv, repair

if TYPE_CHECKING:
    from linkwork.cli.images import ImageFiles
    from linkwork.session.session import Session


class Replaying:
    """A recording that a user looks at.

    Args:
        path: The recording.
        overwrite: Whether files that exist may be replaced.

    Raises:
        RecordingError: If it cannot be read.
    """

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self._path = path
        self._overwrite = overwrite
        self._out = stdout()
        with Recording.open(path):
            pass

    def describe(self, *, events: bool) -> None:
        """Tells what it holds, and with ``events`` everything that was said."""
        with Recording.open(self._path) as found:
            header = found.header
            worlds = f", {len(found.segments)} worlds" if len(found.segments) > 1 else ""
            self._out.say(
                f"{self._path}: scene {header.world.scene}{worlds}, {found.duration:.3f} s, "
                f"{found.last_step - found.first_step} steps of {header.world.step:g} s, "
                f"{len(found.inbox)} messages in, {len(found.hashes)} hashes."
            )
            made_by = header.versions.get("linkwork", "?")
            self._out.say(f"Recorded {header.created} with Linkwork {made_by}.")
            if not found.complete:
                self._out.say(
                    "It was not closed: its session was killed, or still runs. What is whole "
                    "counts; --repair writes a copy.",
                    lead="note:",
                )
            if found.problem:
                self._out.say(found.problem, lead="note:")
            for event in found.events if events else ():
                show_event(self._out, event, when=f"{event.time:10.3f} s  ")

    def repair(self, target: Path) -> None:
        """Writes a whole copy."""
        repair(self._path, target, overwrite=self._overwrite)
        self._out.say(f"Wrote {target}.")

    def write_coordinates(self, target: Path) -> None:
        """Writes the coordinates of each keyframe."""
        with Recording.open(self._path) as found:
            rows = export_csv(found, target, fields=["q"])
        self._out.say(f"Wrote {rows} rows to {target}.")

    def write_page(self, target: Path, watch: list[str]) -> None:
        """Writes one HTML file that shows it."""
        from linkwork.cli.ready import getting_ready

        with getting_ready():
            from linkwork.cli.live import chosen
            from linkwork.server.host.page import write_page

        with Recording.open(self._path) as found, _progress() as progress, _compiling():
            choose = (lambda session: chosen(session, watch)) if watch else None
            made = write_page(found, target, signals=choose, progress=progress)
        if made.trouble:
            self._out.say(made.trouble, lead="note:")
        if made.every > 1:
            self._out.say(
                f"one picture of {made.every} is kept, so that the page is not too large.",
                lead="note:",
            )
        self._out.say(
            f"Wrote {target}: {made.pictures} pictures, {made.signals} signals, "
            f"{made.size / 1e6:.1f} MB. It opens in any browser."
        )

    def simulate(
        self, target: Path | None, watch: list[str], rate: float, *, images: Path | None = None
    ) -> int:
        """Runs it again; the exit code.

        Args:
            target: Where to write signals, if at all.
            watch: Which.
            rate: Rows in a simulated second.
            images: Folder for the pictures of cameras, if they are to be written.
        """
        from linkwork.cli.ready import getting_ready

        with getting_ready():
            from linkwork.session.replay import replay

        with contextlib.ExitStack() as stack, _progress() as progress, _compiling():
            table = _Signals(target, watch, rate, stack) if target is not None else None
            files = _pictures(images, overwrite=self._overwrite) if images is not None else None
            takers = [each for each in (table, files and files.take) if each is not None]

            def after(session: Session) -> None:
                for take in takers:
                    take(session)

            result = replay(self._path, progress=progress, watch=after if takers else None)
        if table is not None:
            self._out.say(f"Wrote {table.rows} rows to {target}.")
        if files is not None:
            self._out.say(f"Wrote {files.count} pictures with their depth to {images}.")
        if result.same:
            self._out.say(
                f"Bit-identical: {result.steps} steps, {result.compared} hashes compared."
            )
        else:
            self._out.say(result.mismatch, lead="Not the same:", level="error")
        for difference in result.different_versions:
            self._out.say(difference, lead="note:")
        return 0 if result.same else exits.DIFFERENT


def _pictures(folder: Path, *, overwrite: bool) -> ImageFiles:
    from linkwork.cli.images import ImageFiles

    return ImageFiles(folder, overwrite=overwrite)


class _Signals:
    """Writes signals of the replayed session to a table, which it begins with the first step."""

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
        from linkwork.cli.live import chosen
        from linkwork.cli.signal_csv import SignalCsv

        names = chosen(session, self._watch)
        self._csv = SignalCsv(session, self._target, names, self._rate)
        self._stack.callback(self._csv.close)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[float], object] | None]:
    """A bar on a terminal, else nothing."""
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
    """Says so once if kernels must be compiled."""
    from linkwork.cli.ready import COMPILING, listening

    return listening(lambda count: stderr().say(COMPILING) if count == 1 else None)
