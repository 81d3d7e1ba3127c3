"""Outputs: files that a command is about to write, none of them in place of what is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from linkwork.errors import FormatError

#: The option of every command that writes files.
Overwrite = Annotated[
    bool, typer.Option("--overwrite", "--force", help="Replace files that exist.")
]


def check_outputs(
    files: Sequence[Path | None], *, overwrite: bool, sources: Sequence[str | Path] = ()
) -> None:
    """Refuses files that cannot or must not be written, before the work for them is done.

    Args:
        files: What is to be written; None and ``-``, the screen, are passed over.
        overwrite: Whether files that exist may be replaced.
        sources: What the command reads. It is never replaced. Names of kits are no files.

    Raises:
        FormatError: If a file is a folder, is a source, exists, is named twice, or has no folder.
    """
    known: list[Path] = []
    for file in files:
        if file is None or str(file) == "-":
            continue
        if file.is_dir():
            raise FormatError(f"{file} is a folder.", hint="Name a file in it.")
        if any(_same(file, Path(source)) for source in sources):
            raise FormatError(f"{file} is the source itself.", hint="Give another name.")
        if any(each.resolve() == file.resolve() for each in known):
            raise FormatError(f"{file} is to be written twice.", hint="Give two names.")
        if file.is_file() and not overwrite:  # a pipe or device has nothing to lose
            raise FormatError(f"{file} exists.", hint="Give --overwrite to replace it.")
        if not file.parent.is_dir():
            raise FormatError(f"{file} cannot be written: there is no folder {file.parent}.")
        known.append(file)


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
