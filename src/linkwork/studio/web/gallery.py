"""Gallery: the scenes, parts and recordings that can be opened."""

from __future__ import annotations

import contextlib
import os
import re
import time
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from linkwork.core.atomic import write_private
from linkwork.core.errors import LinkworkError
from linkwork.model.parts.kit import Kit, find_kits
from linkwork.session.recording import Recording
from linkwork.studio.protocol import (
    Gallery,
    GalleryKit,
    GalleryPart,
    GalleryScene,
    Recent,
    RecordingCard,
)
from linkwork.studio.web import uploads

#: Maximum number of listed recordings.
MAX_RECORDINGS = 40


class RecordingLibrary:
    """Lists the recordings of a folder; each file is read once while it is unchanged.

    Args:
        folder: The folder; the list is empty if it is empty or missing.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder) if folder else None
        self._known: dict[tuple[str, int, int], RecordingCard] = {}

    @property
    def folders(self) -> list[Path]:
        """Folders from which recordings may be read."""
        own = [self._folder] if self._folder is not None else []
        return [*own, uploads.UPLOAD_FOLDER.expanduser()]

    def all(self) -> list[RecordingCard]:
        """The newest recordings."""
        known, self._known = self._known, {}
        for path, stat in self._files()[:MAX_RECORDINGS]:
            key = (str(path), stat.st_mtime_ns, stat.st_size)
            self._known[key] = known.get(key) or _card(path, stat)
        return list(self._known.values())

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        found: list[tuple[Path, os.stat_result]] = []
        try:
            for path in self._folder.glob("*.mcap") if self._folder is not None else ():
                found.append((path.resolve(), path.stat()))
        except OSError:  # the folder, or a file of it, was deleted meanwhile
            pass
        return sorted(found, key=lambda each: each[1].st_mtime_ns, reverse=True)


def _card(path: Path, stat: os.stat_result) -> RecordingCard:
    try:
        with Recording.open(path) as found:
            scene, duration, problem = found.header.world.scene, found.duration, found.problem
    except LinkworkError as error:
        scene, duration, problem = "", 0.0, error.message
    return RecordingCard(str(path), scene, stat.st_mtime, duration, stat.st_size, problem)


#: Maximum number of recent files.
MAX_RECENTS = 20
#: File that holds the list.
RECENTS_FILE = Path("~/.linkwork/recent.json")


class Recents:
    """A list of recent files, kept in a user's file; a broken or missing file is an empty list.

    Args:
        file: The file; :data:`RECENTS_FILE` if None.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or RECENTS_FILE.expanduser()

    def listed(self) -> list[Recent]:
        """All recent files, with missing ones marked."""
        try:
            found = msgspec.json.decode(self._file.read_bytes(), type=list[Recent])
        except (OSError, msgspec.MsgspecError, ValueError):
            return []
        return [
            msgspec.structs.replace(each, missing=not Path(each.path).is_file()) for each in found
        ]

    def all(self) -> list[Recent]:
        """Those that exist."""
        return [each for each in self.listed() if not each.missing]

    def add(self, path: str, name: str) -> None:
        """Adds a file as the first; ignored if the list cannot be written."""
        full = str(Path(path).resolve())
        others = [each for each in self.listed() if each.path != full]
        self._write([Recent(full, name, time.time()), *others][:MAX_RECENTS])

    def forget(self, path: str) -> None:
        """Removes a file from the list."""
        self._write([each for each in self.listed() if each.path != path])

    def _write(self, kept: list[Recent]) -> None:
        with contextlib.suppress(OSError):
            write_private(self._file, msgspec.json.encode(kept))


_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")


def gallery(version: str, recents: Recents, library: RecordingLibrary) -> Gallery:
    """Everything that can be opened."""
    scenes: list[GalleryScene] = []
    kits: list[GalleryKit] = []
    for kit in _kits().values():
        for name in kit.scenes():
            data = _head(kit, name)
            engines = [str(e.get("type")) for e in data.get("engine", []) if isinstance(e, dict)]
            engine = ", ".join(dict.fromkeys(engines))
            scenes.append(
                GalleryScene(name, _title(data, name), engine, _address(kit, name), kit.name)
            )
        parts = [
            GalleryPart(name, _title(_head(kit, name), name), _address(kit, name))
            for name in kit.parts()
        ]
        kits.append(GalleryKit(kit.name, parts))
    return Gallery(version, scenes, kits, recents.listed(), library.all())


def kit_picture(kit: str, name: str) -> Path | None:
    """The image of a scene or part; None if there is none."""
    if not (_NAME.match(kit) and _NAME.match(name)):
        return None
    found = _kits().get(kit)
    file = found.folder / f"{name}.png" if found is not None else None
    return file if file is not None and file.is_file() else None


def _kits() -> dict[str, Kit]:
    try:
        return find_kits()
    except (LinkworkError, OSError):  # a broken plug-in; opening one of its parts reports it
        return {}


def _head(kit: Kit, name: str) -> dict[str, Any]:
    try:
        text = (kit.folder / f"{name.partition('/')[2]}.toml").read_text(encoding="utf-8")
        return tomllib.loads(text)
    except (OSError, ValueError):
        return {}


def _title(data: dict[str, Any], name: str) -> str:
    title = data.get("title")
    return title if isinstance(title, str) and title else name.partition("/")[2].replace("_", " ")


def _address(kit: Kit, name: str) -> str | None:
    short = name.partition("/")[2]
    exists = (kit.folder / f"{short}.png").is_file()
    return f"/api/picture/{kit.name}/{short}.png" if exists else None
