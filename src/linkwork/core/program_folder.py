"""Modules beside a program: the files that it can import from its folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from importlib.machinery import SOURCE_SUFFIXES, all_suffixes
from pathlib import Path

#: Most files and bytes that are read beside a program, and names of files that are looked at.
_MAX_FILES, _MAX_NAMES = 500, 20_000
_MAX_BYTES = 16 * 2**20


class FolderTooLarge(Exception):
    """A folder holds too many files to look for modules in it."""


def importable_files(folder: Path) -> Iterator[Path]:
    """Files that Python imports from a folder; not its caches, which programs do not use.

    Python follows links to packages, so they are followed here; each folder is read once.

    Raises:
        FolderTooLarge: If there are too many files of any kind.
    """
    suffixes, seen, looked = tuple(all_suffixes()), set[str](), 0
    for root, folders, names in os.walk(folder, followlinks=True):
        looked += len(names) + len(folders)
        if looked > _MAX_NAMES:
            raise FolderTooLarge
        seen.add(os.path.realpath(root))
        folders[:] = [
            each
            for each in sorted(folders)
            if each.isidentifier() and each != "__pycache__"
            and os.path.realpath(os.path.join(root, each)) not in seen
        ]  # fmt: skip
        for name in sorted(names):
            if name.endswith(suffixes):
                yield Path(root) / name


def read_program(path: Path) -> str:
    """Text of a program's file.

    Raises:
        OSError: If it cannot be read, or is a pipe or a device, whose reading would not end.
        ValueError: If it is not UTF-8 text.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    return path.read_text(encoding="utf-8")


def read_modules(program: Path) -> dict[Path, bytes] | None:
    """Contents of the modules that a program can import from its folder, by path.

    Returns:
        None if they are too many or too large, or cannot be read.
    """
    found, size = dict[Path, bytes](), 0
    try:
        here = program.resolve()
        for path in importable_files(here.parent):
            if path == here:
                continue
            size += path.stat().st_size
            # Reading a pipe or a device would not end.
            if len(found) >= _MAX_FILES or size > _MAX_BYTES or not path.is_file():
                return None
            found[path] = path.read_bytes()
    except (OSError, FolderTooLarge):
        return None
    return found


def recordable_modules(program: Path) -> dict[str, bytes]:
    """Those that a recording can hold, by name relative to the folder: Python source."""
    top = program.resolve().parent
    found = {p.relative_to(top): blob for p, blob in (read_modules(program) or {}).items()}
    return {
        name.as_posix(): blob
        for name, blob in found.items()
        if name.suffix in SOURCE_SUFFIXES and not set("\\:\0") & set(str(name))
    }


def why_not_recorded(program: Path) -> str:
    """Why a recording does not hold all modules beside a program; empty if it does."""
    found = read_modules(program)
    if found is None:
        return f"the modules beside {program} are too many, too large or unreadable"
    left = [path.name for path in found if path.suffix not in SOURCE_SUFFIXES]
    listed = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
    return f"{listed} beside {program.name} cannot be recorded, as it is compiled" if left else ""
