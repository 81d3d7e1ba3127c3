"""``linkwork charts``: a motion in all three modes, as curves of joints and bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.outputs import Overwrite


def charts(
    what: Annotated[str, typer.Argument(metavar="SCENE", help="A scene, or a kit's name for it.")],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the pictures and tables go.")
    ] = Path("charts"),
    duration: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="How long; a walk's own time, else 5."),
    ] = None,
    joints: Annotated[
        list[str] | None,
        typer.Option("--joint", metavar="NAME", help="Only these; * matches any. Repeatable."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SIGNAL=VALUE", help="Gains and others. Repeatable."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Runs a scene in its three modes and draws positions, speeds, moments, wanted and actual.

    Kinematic gives positions, speeds and accelerations, emulation the moments that they take, and
    simulation how the drives follow. index.html shows all; CSV files hold the numbers.

    Examples:
      $ linkwork charts bart_uh/walk
      $ linkwork charts bart_uh/walk --joint '*knee' --set robot/right_knee.kp=100 --out soft
    """
    from linkwork.cli.chart_files import draw_all
    from linkwork.cli.run import check_number
    from linkwork.cli.screen import stdout

    check_number("--for", duration)
    screen = stdout()
    made = draw_all(
        what, out, duration=duration, joints=joints or [], values=set_ or [], overwrite=overwrite
    )
    screen.rows(
        ("joint", "largest moment", "largest error in simulation"),
        [(row.name, row.effort, row.error) for row in made.rows],
    )
    screen.say(f"Wrote {made.count} pictures to {out}. Look at {out / 'index.html'}.")
