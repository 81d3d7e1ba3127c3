"""``linkwork kits``: lists the available parts, scenes and movements."""

from __future__ import annotations

from typing import Annotated

import typer


def kits(
    name: Annotated[str, typer.Argument(metavar="[KIT]", help="Only this kit.")] = "",
) -> None:
    """Lists kits with their parts, scenes and movements: the package's, plug-ins' and your own.

    Use the names as listed: linkwork run tripod/level, or part = "tripod/leg" in a file. Your own
    kits are folders in ~/.linkwork/kits, or in the folders of LINKWORK_KITS; linkwork new part
    finger --kit mine creates one.

    Examples:
      $ linkwork kits
      $ linkwork kits tripod
    """
    from linkwork.cli.screen import stdout
    from linkwork.core.errors import LinkworkError, not_found
    from linkwork.formats import load, load_movement
    from linkwork.model.parts import find_kits

    found = find_kits()
    if name and name not in found:
        raise not_found("kit", name, found)
    rows: list[tuple[str, str, str, str]] = []
    for kit in [found[name]] if name else found.values():
        for what, names in (
            ("scene", kit.scenes()), ("part", kit.parts()), ("movement", kit.movements()),
        ):  # fmt: skip
            for full in names:
                try:
                    title = (load_movement if what == "movement" else load)(full).title
                except LinkworkError as error:
                    title = f"cannot be read: {error}"
                rows.append((full, what, kit.source, title))
    stdout().rows(("name", "what", "from", "title"), rows)
