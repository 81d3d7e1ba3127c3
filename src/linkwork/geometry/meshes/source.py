"""MeshSource: the bytes of a mesh file and of the files it names, read within limits."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from pathlib import Path

from linkwork.core.errors import MeshError, Origin, os_error_text

MAX_FILE_BYTES = 256 * 2**20
"""Largest file that is read [bytes]."""

MAX_TRIANGLES = 5_000_000
"""Maximum number of triangles of one mesh."""

MAX_VERTICES = 3 * MAX_TRIANGLES
"""Maximum number of vertices of one mesh."""

MAX_NODES = 100_000
#: Maximum depth of nested nodes and XML elements.
MAX_DEPTH = 500
"""Maximum number of placements in a scene graph."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Time and size of a file when it was read; a different stamp means different content.

    Attributes:
        path: The file.
        changed_ns: Time of its last change [ns], -1 for a missing file.
        size: [bytes], -1 for a missing file.
    """

    path: Path
    changed_ns: int
    size: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Returns the current stamp of a file."""
        try:
            found = path.stat()
        except (OSError, ValueError):
            return cls(path, -1, -1)
        return cls(path, found.st_mtime_ns, found.st_size)


@dataclass(slots=True)
class MeshSource:
    """A mesh file that is being read.

    Attributes:
        path: The file as the user named it.
        data: Its bytes.
        stamps: Stamps of this file and of each requested file beside it.
    """

    path: Path
    data: bytes
    stamps: list[FileStamp] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path) -> MeshSource:
        """Reads a mesh file; raises a MeshError if it is missing, too large or not a file."""
        source = cls(path, b"")
        source.data = source._read(path)
        return source

    def beside(self, name: str) -> bytes:
        """Reads a file that this one names, which must be in the same folder or below."""
        inside = Path(name)
        if not name or "\0" in name or ":" in name or inside.is_absolute() or ".." in inside.parts:
            raise self.error(
                f"it names the file {name[:200]!r}.",
                hint="Only files in the folder of the mesh or below are read.",
            )
        return self._read(self.path.parent / inside)

    def error(self, message: str, *, line: int = 0, hint: str = "") -> MeshError:
        """Returns an error about this file."""
        return MeshError(message, origin=Origin(str(self.path), line), hint=hint)

    def _read(self, path: Path) -> bytes:
        self.stamps.append(FileStamp.of(path))
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise self.error(f"{str(path)!r} is not a file.", hint="Name a mesh file.")
            if found.st_size > MAX_FILE_BYTES:
                raise self.error(
                    f"{path.name!r} has {found.st_size} bytes.",
                    hint=f"At most {MAX_FILE_BYTES} are read: simplify or split the mesh.",
                )
            with path.open("rb") as file:
                return file.read(found.st_size)
        except FileNotFoundError:
            raise self.error(
                f"there is no file {str(path)!r}.", hint="Check the path and its spelling."
            ) from None
        except (OSError, ValueError) as error:
            reason = os_error_text(error)
            raise self.error(f"{str(path)!r} cannot be read: {reason}.") from None
