"""``linkwork plan``: ways of joints through references, as CSV; document 004's table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.cli.outputs import Overwrite, check_outputs

if TYPE_CHECKING:
    from linkwork.motion.profiles import Reference

_WORDS = ("--max-speed-deg", "--max-acceleration-deg", "--max-jerk-deg")


def plan(
    file: Annotated[
        str, typer.Argument(help="A movement with a planner, or a kit's name for it.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Where to write the ways; - for the screen.")
    ] = None,
    overwrite: Overwrite = False,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Rows a second.")] = 100.0,
    movement: Annotated[
        str, typer.Option(metavar="NAME", help="Which movement, where the file holds several.")
    ] = "",
    planner: Annotated[
        str, typer.Option(metavar="WORD", help="This planner in place of those of the file.")
    ] = "",
    robot: Annotated[
        str,
        typer.Option(metavar="PART", help="Whose joints and servos limit it: a part or a scene."),
    ] = "",
    soonest: Annotated[
        bool, typer.Option("--soonest", help="As soon as the limits allow, not when the file says.")
    ] = False,
    start: Annotated[
        str, typer.Option("--from", metavar="DEG,DEG/S,S", help="Compare planners: first state.")
    ] = "",
    end: Annotated[str, typer.Option("--to", metavar="DEG,DEG/S,S", help="Last state.")] = "",
    max_speed_deg: Annotated[
        float, typer.Option(metavar="DEG/S", help="Largest speed of all joints that turn.")
    ] = math.inf,
    max_acceleration_deg: Annotated[
        float, typer.Option(metavar="DEG/S²", help="Largest acceleration of all joints that turn.")
    ] = math.inf,
    max_jerk_deg: Annotated[
        float, typer.Option(metavar="DEG/S³", help="Largest jerk of all joints that turn.")
    ] = math.inf,
) -> None:
    """Plans the ways of joints through the references of a file.

    With --from and --to it compares the planners on one way instead. With nothing at all it prints
    Table 1 of document 004, the printed figures beside the true ones. Exit code 1 if limits do not
    allow what is wanted; the nearest that they allow is said.

    Examples:
      $ linkwork plan
      $ linkwork plan --from 0,20,3 --to 27,30,4 --max-acceleration-deg 200
      $ linkwork plan bioloid/neck --out neck.csv
      $ linkwork plan bioloid/neck --robot bioloid/smart --soonest
    """
    from linkwork.cli.show_plan import plan_file, show_comparison, show_table_1
    from linkwork.errors import FormatError
    from linkwork.motion.profiles import Limits

    given = (max_speed_deg, max_acceleration_deg, max_jerk_deg)
    for word, value in zip(_WORDS, given, strict=True):
        if not value > 0.0:
            raise FormatError(f"{word} must be above 0, not {value:g}.")
    limits = Limits(*map(math.radians, given), whose=_WORDS)
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


def _state(text: str, where: str) -> Reference:
    """A state from the words of the command line."""
    from linkwork.errors import FormatError
    from linkwork.motion.profiles import Reference

    try:
        angle, speed, time = (float(word) for word in text.split(","))
    except ValueError:
        angle = speed = time = math.nan
    if not all(map(math.isfinite, (angle, speed, time))):
        raise FormatError(f"{where}: expected angle,speed,time in °, °/s and s, not {text!r}.")
    return Reference(time, math.radians(angle), math.radians(speed))
