"""Recents: the files that were open in the studio, the newest first."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import msgspec

from linkwork.server.messages import Recent

#: How many are kept.
MOST = 20
#: Where they are kept.
FILE = Path("~/.linkwork/recent.json")


class Recents:
    """A short list in a file of the user's; a broken or missing one is an empty list.

    Args:
        file: Where it is kept; the user's own place if None.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or FILE.expanduser()

    def listed(self) -> list[Recent]:
        """All of them; those that are there no more say so."""
        try:
            found = msgspec.json.decode(self._file.read_bytes(), type=list[Recent])
        except (OSError, msgspec.MsgspecError, ValueError):
            return []
        return [
            msgspec.structs.replace(each, missing=not Path(each.path).is_file()) for each in found
        ]

    def all(self) -> list[Recent]:
        """Those that still exist."""
        return [each for each in self.listed() if not each.missing]

    def add(self, path: str, name: str) -> None:
        """Puts a file first; where the list cannot be written, it is forgotten."""
        full = str(Path(path).resolve())
        others = [each for each in self.listed() if each.path != full]
        self._write([Recent(full, name, time.time()), *others][:MOST])

    def forget(self, path: str) -> None:
        """Takes a file off the list."""
        self._write([each for each in self.listed() if each.path != path])

    def _write(self, kept: list[Recent]) -> None:
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_bytes(msgspec.json.encode(kept))
