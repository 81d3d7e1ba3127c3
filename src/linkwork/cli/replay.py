"""``linkwork replay``: shows a recording, or runs it again and compares bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli import exits
from linkwork.cli.output_files import Overwrite, check_outputs


def replay(
    recording: Annotated[Path, typer.Argument(help="A recording (.mcap).")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate again and compare bit for bit.")
    ] = False,
    events: Annotated[bool, typer.Option("--events", help="List all events.")] = False,
    table: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write coordinates each second, or --watch."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write a self-contained HTML page with a 3D view."
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Simulate again; write the cameras' images (.png)."),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIGNAL",
            help="Simulate again to put these into --csv or --html; * matches. Repeatable.",
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option(metavar="HZ", help="Rows per simulated second, with --watch.")
    ] = 100.0,
    repair: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a copy of the intact parts of a recording."),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Run programs of the recording that nobody has trusted yet."),
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Describes a recording; with --verify runs it again and compares.

    Bit for bit requires the same versions and kind of processor; differences are listed. Exit code
    0 if all is the same, 3 if not, 5 if the recording is damaged.

    Examples:
      $ linkwork replay level.mcap
      $ linkwork replay level.mcap --verify
      $ linkwork replay level.mcap --csv angles.csv --watch 'tripod/*.angle'
      $ linkwork replay level.mcap --html level.html
    """
    from linkwork.cli.run import check_number

    check_number("--rate", rate)
    if watch and table is None and page is None:
        raise typer.BadParameter(
            "it selects the signals for --csv or --html.", param_hint="--watch"
        )
    from linkwork.cli.replay_steps import ReplaySteps

    check_outputs([table, page, repair], overwrite=overwrite, sources=[recording])
    job = ReplaySteps(recording, overwrite=overwrite, trust=trust)
    if watch or images is not None:
        job.check_trusted("--watch" if watch else "--images")
    job.describe(events=events)
    if repair is not None:
        job.repair(repair)
    if table is not None and not watch:
        job.write_coordinates(table)
    if page is not None:
        job.write_page(page, watch or [])
    code = exits.DAMAGED if job.damaged else 0
    if verify or images is not None or (watch and table is not None):
        code = job.simulate(table if watch else None, watch or [], rate, images=images)
    raise typer.Exit(code)
