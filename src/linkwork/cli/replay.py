"""``linkwork replay``: looks at a recording, or runs it again and compares bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

#: Exit code of a replay that did not come out the same.
DIFFERENT = 3


def replay(
    recording: Annotated[Path, typer.Argument(help="A recording (.mcap).")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate again and compare bit for bit.")
    ] = False,
    repair: Annotated[
        Path | None, typer.Option(help="Write a whole copy of a cut-off recording here.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--csv", help="Write coordinates over time to this CSV file.")
    ] = None,
) -> None:
    """Tells what a recording holds; with --verify runs it again and compares.

    Exit code 0 if all is the same, 3 if not. Bit for bit means: same versions, same kind of CPU;
    the command says which of them differ.
    """
    from linkwork.session.recording import Recording, export_csv
    from linkwork.session.recording import repair as mend
    from linkwork.session.replay import replay as run_again

    out = Console(highlight=False)
    if repair is not None:
        mend(recording, repair)
        out.print(f"Wrote {repair}.")
    with Recording.open(recording) as found:
        whole = "" if found.complete else ", cut off (the writer was killed)"
        out.print(
            f"{recording}: scene {found.header.world.scene}, {found.duration:.3f} s, "
            f"{found.last_step} steps, {len(found.inbox)} messages in, "
            f"{len(found.hashes)} hashes{whole}.",
            markup=False,
        )
        if table is not None:
            export_csv(found, table)
            out.print(f"Wrote {table}.")
    if not verify:
        return
    columns = (TextColumn("verifying"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("verify", total=1.0)
        result = run_again(recording, progress=lambda done: progress.update(task, completed=done))
    for difference in result.different_versions:
        out.print(f"note: {difference}", markup=False)
    if result.mismatch:
        out.print(f"[red]Not the same:[/red] {result.mismatch}")
        raise typer.Exit(DIFFERENT)
    out.print(f"Bit-identical: {result.steps} steps, {result.compared} hashes compared.")
