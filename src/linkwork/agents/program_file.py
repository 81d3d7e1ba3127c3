"""ProgramFile: the file of a control program, and whether it changed."""

from __future__ import annotations

from pathlib import Path

from linkwork.errors import Origin, ProgramError


class ProgramFile:
    """A program's file on disk.

    Args:
        file: Path, relative to the folder of the file that names it.
        program: Name of the program, for messages.
        origin: Where the file is named.

    Attributes:
        path: Where it is.
    """

    def __init__(self, file: str, program: str, origin: Origin) -> None:
        self.path = Path(origin.file).parent / file if origin.file else Path(file)
        self._program, self._origin = program, origin
        self._stamp = self._stat()

    def read(self) -> str:
        """The text as it is on disk now.

        Raises:
            ProgramError: If it cannot be read.
        """
        self._stamp = self._stat()
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else why
            raise ProgramError(
                f"program {self._program!r}: the file {str(self.path)!r} cannot be read: {why}.",
                origin=self._origin,
                hint="A relative path starts at the folder of the file that names it.",
            ) from None

    def changed(self) -> bool:
        """Whether its date or size changed since it was last read; a file that is gone did not."""
        now = self._stat()
        return now is not None and now != self._stamp

    def _stat(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_size
