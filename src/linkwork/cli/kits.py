"""``linkwork kits``: lists the parts and scenes that are at hand."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from linkwork.errors import LinkworkError, not_found
from linkwork.formats import load
from linkwork.parts import find_kits


def kits(
    name: Annotated[str, typer.Argument(help="Only this kit.")] = "",
) -> None:
    """Lists kits with their parts and scenes: the package's, plug-ins' and your own.

    Your own kits are folders in ~/.linkwork/kits, or in the folders that LINKWORK_KITS names.
    """
    found = find_kits()
    if name and name not in found:
        raise not_found("kit", name, found)
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "what", "title", "from"):
        table.add_column(heading)
    for kit in found.values():
        if name and kit.name != name:
            continue
        for what, names in (("part", kit.parts()), ("scene", kit.scenes())):
            for full in names:
                try:
                    title = load(full).title
                except LinkworkError as error:
                    title = f"cannot be read: {error}"
                table.add_row(full, what, title, kit.source)
    Console(highlight=False).print(table)
