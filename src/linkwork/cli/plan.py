"""``linkwork plan``: trajectories of joints through references, as CSV; Lima's table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.cli.output_files import Overwrite, check_outputs

if TYPE_CHECKING:
    from linkwork.motion.profiles import Waypoint

_WORDS = ("--max-speed-deg", "--max-acceleration-deg", "--max-jerk-deg")


def plan(
    file: Annotated[
        str, typer.Argument(help="A movement with a planner, or a kit's name for it.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Output file of the trajectories; - for standard output."),
    ] = None,
    overwrite: Overwrite = False,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Rows a second.")] = 100.0,
    movement: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the movement, if the file holds several.")
    ] = "",
    planner: Annotated[
        str, typer.Option(metavar="WORD", help="Planner, replacing those of the file.")
    ] = "",
    robot: Annotated[
        str,
        typer.Option(
            metavar="PART", help="Part or scene whose joints and servos define the limits."
        ),
    ] = "",
    soonest: Annotated[
        bool,
        typer.Option("--soonest", help="As fast as the limits allow, ignoring the file's times."),
    ] = False,
    start: Annotated[
        str, typer.Option("--from", metavar="DEG,DEG/S,S", help="Compare planners: initial state.")
    ] = "",
    end: Annotated[str, typer.Option("--to", metavar="DEG,DEG/S,S", help="Last state.")] = "",
    max_speed_deg: Annotated[
        float, typer.Option(metavar="DEG/S", help="Maximum speed of all rotary joints.")
    ] = math.inf,
    max_acceleration_deg: Annotated[
        float, typer.Option(metavar="DEG/S²", help="Maximum acceleration of all rotary joints.")
    ] = math.inf,
    max_jerk_deg: Annotated[
        float, typer.Option(metavar="DEG/S³", help="Maximum jerk of all rotary joints.")
    ] = math.inf,
) -> None:
    """Plans trajectories of joints through the references of a file.

    With --from and --to it compares the planners on one segment instead. Without arguments it
    prints Table 1 of Lima et al., the printed figures beside the true ones. Exit code 1 if limits
    do not allow the references; the nearest feasible values are printed.

    Examples:
      $ linkwork plan
      $ linkwork plan --from 0,20,3 --to 27,30,4 --max-acceleration-deg 200
      $ linkwork plan bioloid/neck --out neck.csv
      $ linkwork plan bioloid/neck --robot bioloid/smart --soonest
    """
    from linkwork.cli.show_plan import plan_file, show_comparison, show_table_1
    from linkwork.core.errors import FormatError
    from linkwork.motion.profiles import MotionLimits

    given = (max_speed_deg, max_acceleration_deg, max_jerk_deg)
    for word, value in zip(_WORDS, given, strict=True):
        if not value > 0.0:
            raise FormatError(f"{word} must be above 0, not {value:g}.")
    limits = MotionLimits(*map(math.radians, given), whose=_WORDS)
    of_file = {"--out": out, "--movement": movement, "--planner": planner, "--soonest": soonest,
               "--robot": robot}  # fmt: skip
    if not file and any(of_file.values()):
        word = next(word for word, value in of_file.items() if value)
        raise FormatError(f"{word} is for a movement: name its file, or a kit's name for it.")
    if bool(start) != bool(end):
        raise FormatError("give --from and --to together.")
    if start:
        if file:
            raise FormatError("give either a file or --from and --to.")
        show_comparison(_state(start, "--from"), _state(end, "--to"), limits)
    elif file:
        if not (math.isfinite(rate) and rate > 0.0):
            raise FormatError(f"--rate must be above 0, not {rate:g}.")
        check_outputs([out], overwrite=overwrite, sources=[file, robot])
        plan_file(file, movement, planner, limits, robot=robot, soonest=soonest, out=out, rate=rate)
    else:
        show_table_1()


def _state(text: str, where: str) -> Waypoint:
    """Parses a state from the command line."""
    from linkwork.core.errors import FormatError
    from linkwork.motion.profiles import Waypoint

    try:
        angle, speed, time = (float(word) for word in text.split(","))
    except ValueError:
        angle = speed = time = math.nan
    if not all(map(math.isfinite, (angle, speed, time))):
        raise FormatError(f"{where}: expected angle,speed,time in °, °/s and s, not {text!r}.")
    return Waypoint(time, math.radians(angle), math.radians(speed))
