"""Atomic replacement of a file, and private files of the user."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from linkwork.core.errors import FormatError, Origin, os_error_text


def replace_file(path: str, data: bytes) -> None:
    """Writes ``data`` to ``path`` in one step, keeping the mode of an existing file.

    A new file in the user's folder can be read by the user only.

    Raises:
        FormatError: If the file cannot be written; an existing file is unchanged.
    """
    target = os.path.realpath(path)
    made = ""
    try:
        mode = _mode_of(target)
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
        why = os_error_text(error)
        raise FormatError(f"the file cannot be written: {why}.", origin=Origin(path)) from error


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a path to write to; what is written becomes ``path`` in one step, or not at all.

    If writing fails, for example because the disk is full, no fragment is left and an existing
    file is unchanged. Pipes and devices are written directly.

    Raises:
        OSError: If the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield Path(path)
        return
    made = ""
    try:
        mode = _mode_of(str(target))
        number, made = tempfile.mkstemp(
            dir=target.parent, prefix=".linkwork-", suffix=Path(path).suffix
        )
        os.close(number)
        yield Path(made)
        os.chmod(made, mode)
        os.replace(made, target)
    except BaseException as error:
        if made:
            with contextlib.suppress(OSError):
                os.unlink(made)
        if isinstance(error, OSError) and ".linkwork-" in str(error.filename or ".linkwork-"):
            error.filename = str(path)  # not the temporary one
            error.filename2 = None
        raise


def _mode_of(target: str) -> int:
    """Mode of a file, or the one that it is to have."""
    if os.path.exists(target):
        return os.stat(target).st_mode & 0o7777
    return 0o600 if is_private(target) else 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


#: The user's folder: kits, imports, recordings, certificates.
USER_FOLDER = Path("~/.linkwork")


def is_private(path: str | Path) -> bool:
    """Returns whether a file is in the user's folder, or is that folder."""
    top = USER_FOLDER.expanduser()
    return Path(path).is_relative_to(top) or Path(path).is_relative_to(top.resolve())


def cache_folder() -> Path:
    """Returns the folder for compiled code, which only the user can enter; makes it if needed.

    Whoever can write there can run code as the user.
    """
    given = os.environ.get("LINKWORK_CACHE")
    if given is not None:
        base = Path(given)
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linkwork"
    with contextlib.suppress(OSError):  # whoever writes there reports it
        private_folder(base, keep_mode=given is not None)
    return base


def private_folder(folder: Path, *, keep_mode: bool = False) -> Path:
    """Makes a folder that only its owner can enter, and returns it.

    Existing folders are closed to others, up to ``~/.linkwork``.

    Args:
        folder: The folder.
        keep_mode: Whether an existing folder keeps its mode.

    Raises:
        OSError: If it cannot be made.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    if not keep_mode:
        top = USER_FOLDER.expanduser()
        mine = [each for each in folder.parents if each.is_relative_to(top)]
        for each in (folder, *mine):
            if os.name == "posix" and each.stat().st_mode & 0o077:
                with contextlib.suppress(OSError):  # of another user
                    each.chmod(0o700)
    return folder


def make_folder(folder: Path) -> Path:
    """Makes a folder and returns it; in the user's folder it is private.

    Raises:
        OSError: If it cannot be made.
    """
    if is_private(folder):
        return private_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_private(path: Path, data: bytes) -> None:
    """Writes a file that only its owner can read, in one step; its folder is made if needed.

    Raises:
        OSError: If it cannot be written.
    """
    private_folder(path.parent, keep_mode=not is_private(path.parent))
    number, made = tempfile.mkstemp(dir=path.parent, prefix=".linkwork-")  # with mode 0600
    try:
        with os.fdopen(number, "wb") as stream:
            stream.write(data)
        os.replace(made, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(made)
        raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits until no other process holds the lock of a file, and holds it.

    The lock is a file of its own beside it, since the file itself is replaced. Without ``fcntl``,
    as on Windows, processes do not wait for each other.

    Raises:
        OSError: If the lock's file cannot be made.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    private_folder(path.parent, keep_mode=not is_private(path.parent))
    number = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
