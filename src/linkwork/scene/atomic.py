"""Replacing a file so that at every moment the old or the new one is there, whole."""

from __future__ import annotations

import contextlib
import os
import tempfile

from linkwork.errors import FormatError, Origin


def replace_file(path: str, data: bytes) -> None:
    """Writes ``data`` to ``path`` in one step, keeping the mode of a file that was there.

    Raises:
        FormatError: If the file cannot be written; what was there is untouched.
    """
    target = os.path.realpath(path)
    made = ""
    try:
        mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else 0o666 & ~_umask()
        number, made = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".linkwork-")
        with os.fdopen(number, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(made, mode)
        os.replace(made, target)
    except (OSError, ValueError) as error:
        if made:
            with contextlib.suppress(OSError):
                os.unlink(made)
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FormatError(f"the file cannot be written: {why}.", origin=Origin(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
