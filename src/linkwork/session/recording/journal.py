"""Journal: an append-only file behind a buffer."""

from __future__ import annotations

import os
import threading
import zlib
from pathlib import Path

from linkwork.core.errors import RecordingError

#: Maximum wall time before bytes are written to the operating system [s].
PATIENCE = 0.25

#: Maximum size of the buffer [byte]; an append beyond it writes at once, however slow the disk.
CAPACITY = 16 * 2**20


class Journal:
    """An append-only file that never fails its caller once it is open.

    Appended data are written to the operating system by :meth:`flush`, at the latest after
    0.25 s of wall time, even if the caller hangs. It then survives the death of the process;
    with ``fsync`` also that of the machine. All methods may be called from any thread.

    Args:
        path: The file.
        overwrite: Whether an existing file may be replaced.
        fsync: Whether each flush waits until the disk has the bytes (milliseconds).

    Attributes:
        failed: Why bytes could not be written; earlier bytes are on disk, later ones are not. None
            if no write failed.
        position: Bytes appended so far.
        closed: Whether it is closed.

    Raises:
        RecordingError: The file cannot be created.
    """

    def __init__(self, path: Path, *, overwrite: bool = False, fsync: bool = False) -> None:
        self.path = path
        self.failed: RecordingError | None = None
        self.position = 0
        self._fsync = fsync
        self._crc = 0
        self._written = 0
        self._waiting: list[bytes] = []
        self._taken = 0
        self.closed = False
        self._process = os.getpid()
        self._appending = threading.Lock()
        self._writing = threading.Lock()
        self._stop = threading.Event()
        self._file = _create(path, overwrite=overwrite)
        self._thread = threading.Thread(target=self._empty, name="recording", daemon=True)
        self._thread.start()

    def append(self, head: bytes, payload: bytes = b"") -> None:
        """Adds bytes, head and payload together or not at all; drops them after a failure.

        Raises:
            RecordingError: The file is closed.
        """
        with self._appending:
            if self.closed:
                raise RecordingError(f"the recording {self.path} is closed.")
            if self.failed is not None:
                return
            self._waiting.append(head)
            self._waiting.append(payload)
            self.position += len(head) + len(payload)
        if self.position - self._taken > CAPACITY:
            self.flush()

    def flush(self) -> None:
        """Hands everything appended so far to the operating system."""
        if os.getpid() != self._process:  # a forked process has only a copy
            return
        with self._writing:
            with self._appending:
                waiting, self._waiting = self._waiting, []
                self._taken = self.position
            block = b"".join(waiting)
            if block and self.failed is None:
                self._write(block)

    def checksum(self) -> int:
        """CRC-32 of everything appended so far; flushes it."""
        self.flush()
        return self._crc

    def close(self) -> None:
        """Writes the buffer and closes the file; calling it again has no effect."""
        if os.getpid() != self._process:
            return
        with self._appending:
            if self.closed:
                return
            self.closed = True
        self._stop.set()
        self._thread.join()
        self.flush()
        os.close(self._file)

    def _empty(self) -> None:
        while not self._stop.wait(PATIENCE):
            self.flush()

    def _write(self, block: bytes) -> None:
        rest = memoryview(block)
        try:
            while rest:
                count = os.write(self._file, rest)
                self._written += count
                rest = rest[count:]
            if self._fsync:
                os.fsync(self._file)
        except OSError as error:
            self.failed = RecordingError(
                f"the recording {self.path} ends here: {error.strerror}.",
                hint=f"Its first {self._written} bytes are kept and can be read."
                if self._written
                else "Nothing was recorded.",
            )
        self._crc = zlib.crc32(block, self._crc)


def _create(path: Path, *, overwrite: bool) -> int:
    try:
        if path.exists() and not path.is_file():
            raise RecordingError(f"cannot record to {path}: it is not a file.")
        if overwrite:  # the old file stays intact for processes that have it open
            path.unlink(missing_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o666)
    except FileExistsError:
        raise RecordingError(
            f"cannot record to {path}: there is a file of that name.",
            hint="Choose another name, or allow overwriting.",
        ) from None
    except FileNotFoundError:
        raise RecordingError(
            f"cannot record to {path}: there is no folder {path.parent}.",
            hint="Create it, or choose another folder.",
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordingError(f"cannot record to {path}: {reason}.") from None
