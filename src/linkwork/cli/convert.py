"""``linkwork convert``: from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def convert(
    source: Annotated[str, typer.Argument(help="A file (TOML, URDF), or a kit name.")],
    target: Annotated[Path, typer.Argument(help="Where to write; the suffix says the format.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Converts a model; what the other format cannot say is listed, never dropped silently.

    Example: linkwork convert robot.urdf robot.toml
    """
    from linkwork.errors import FormatError
    from linkwork.formats import load, save

    out = Console(highlight=False)
    if target.exists() and not force:
        raise FormatError(f"{target} exists.", hint="Give --force to replace it.")
    for note in save(load(source), target) or []:
        out.print(f"left out: {note}", markup=False, soft_wrap=True)
    out.print(f"Wrote {target}.", markup=False)
