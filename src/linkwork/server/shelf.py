"""Shelf: the recordings of the studio's folder, the newest first."""

from __future__ import annotations

import os
from pathlib import Path

from linkwork.errors import LinkworkError
from linkwork.server import imports
from linkwork.server.messages import RecordingCard
from linkwork.session.recording import Recording

#: How many are listed.
MOST = 40


class Shelf:
    """Lists the recordings of a folder; each file is read once while it stays as it is.

    Args:
        folder: The folder; nothing is listed where it is empty or missing.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder) if folder else None
        self._known: dict[tuple[str, int, int], RecordingCard] = {}

    @property
    def folders(self) -> list[Path]:
        """Where recordings may be read from."""
        own = [self._folder] if self._folder is not None else []
        return [*own, imports.FOLDER.expanduser()]

    def all(self) -> list[RecordingCard]:
        """The newest recordings."""
        known, self._known = self._known, {}
        for path, stat in self._files()[:MOST]:
            key = (str(path), stat.st_mtime_ns, stat.st_size)
            self._known[key] = known.get(key) or _card(path, stat)
        return list(self._known.values())

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        found: list[tuple[Path, os.stat_result]] = []
        try:
            for path in self._folder.glob("*.mcap") if self._folder is not None else ():
                found.append((path.resolve(), path.stat()))
        except OSError:  # the folder, or a file of it, is gone meanwhile
            pass
        return sorted(found, key=lambda each: each[1].st_mtime_ns, reverse=True)


def _card(path: Path, stat: os.stat_result) -> RecordingCard:
    try:
        with Recording.open(path) as found:
            scene, duration, problem = found.header.world.scene, found.duration, found.problem
    except LinkworkError as error:
        scene, duration, problem = "", 0.0, error.message
    return RecordingCard(str(path), scene, stat.st_mtime, duration, stat.st_size, problem)
