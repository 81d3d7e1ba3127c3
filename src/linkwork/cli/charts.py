"""``linkwork charts``: a motion in all three modes, as curves of joints and bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.output_files import Overwrite


def charts(
    what: Annotated[str, typer.Argument(metavar="SCENE", help="A scene, or a kit's name for it.")],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for charts and tables.")
    ] = Path("charts"),
    duration: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="Duration; a walk's own, else 5."),
    ] = None,
    joints: Annotated[
        list[str] | None,
        typer.Option(
            "--joint", metavar="NAME", help="Only these joints; * matches any. Repeatable."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SIGNAL=VALUE", help="Set a parameter, such as a gain. Repeatable."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Runs a scene in its three modes and draws positions, speeds, torques, wanted and actual.

    Kinematic gives positions, speeds and accelerations, emulation the required torques, and
    simulation the tracking of the drives. index.html shows all; CSV files hold the numbers.

    Examples:
      $ linkwork charts bart_uh/walk
      $ linkwork charts bart_uh/walk --joint '*knee' --set robot/right_knee.kp=100 --out soft
    """
    from linkwork.cli.chart_report import draw_charts
    from linkwork.cli.run import check_number
    from linkwork.cli.screen import stdout

    check_number("--for", duration)
    screen = stdout()
    made = draw_charts(
        what, out, duration=duration, joints=joints or [], values=set_ or [], overwrite=overwrite
    )
    screen.rows(
        ("joint", "largest moment", "largest error in simulation"),
        [(row.name, row.effort, row.error) for row in made.rows],
    )
    screen.print_line(f"Wrote {made.count} pictures to {out}. Look at {out / 'index.html'}.")
