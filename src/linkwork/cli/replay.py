"""``linkwork replay``: looks at a recording, or runs it again and compares bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.outputs import Overwrite, check_outputs


def replay(
    recording: Annotated[Path, typer.Argument(help="A recording (.mcap).")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate again and compare bit for bit.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="List what was said and what went wrong.")
    ] = False,
    table: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write coordinates each second, or --watch."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write one page that shows it, 3D and all."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Simulate again; write the cameras' pictures (.png)."),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIGNAL",
            help="Simulate again to put these into --csv or --html; * matches. Repeatable.",
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option(metavar="HZ", help="Rows a simulated second, with --watch.")
    ] = 100.0,
    repair: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a whole copy of a recording that was cut off."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Tells what a recording holds; with --verify runs it again and compares.

    Bit for bit means: same versions, same kind of processor; what differs is listed.
    Exit code 0 if all is the same, 3 if not.

    Examples:
      $ linkwork replay level.mcap
      $ linkwork replay level.mcap --verify
      $ linkwork replay level.mcap --csv angles.csv --watch 'tripod/*.angle'
      $ linkwork replay level.mcap --html level.html
    """
    from linkwork.cli.run import check_number

    check_number("--rate", rate)
    if watch and table is None and page is None:
        raise typer.BadParameter("it says what --csv or --html holds.", param_hint="--watch")
    from linkwork.cli.replaying import Replaying

    check_outputs([table, page, repair], overwrite=overwrite, sources=[recording])
    job = Replaying(recording, overwrite=overwrite)
    job.describe(events=events)
    if repair is not None:
        job.repair(repair)
    if table is not None and not watch:
        job.write_coordinates(table)
    if page is not None:
        job.write_page(page, watch or [])
    code = 0
    if verify or images is not None or (watch and table is not None):
        code = job.simulate(table if watch else None, watch or [], rate, images=images)
    raise typer.Exit(code)
