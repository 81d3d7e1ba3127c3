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

    def all(self) -> list[Recent]:
        """Those that still exist."""
        try:
            found = msgspec.json.decode(self._file.read_bytes(), type=list[Recent])
        except (OSError, msgspec.MsgspecError, ValueError):
            return []
        return [each for each in found if Path(each.path).is_file()]

    def add(self, path: str, name: str) -> None:
        """Puts a file first; where the list cannot be written, it is forgotten."""
        full = str(Path(path).resolve())
        others = [each for each in self.all() if each.path != full]
        kept = [Recent(full, name, time.time()), *others][:MOST]
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_bytes(msgspec.json.encode(kept))
