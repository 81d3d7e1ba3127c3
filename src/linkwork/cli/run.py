"""``linkwork run``: runs a scene, or a part alone."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.outputs import Overwrite


class ClockName(StrEnum):
    """How a run is paced."""

    fast = "fast"
    real = "real"


def run(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SCENE", help="A scene or part (.toml, .urdf), or a kit's name for it."
        ),
    ],
    duration: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="Simulated time; else until Ctrl-C."),
    ] = None,
    clock: Annotated[
        ClockName | None,
        typer.Option(help="As fast as possible, or real time. Real without --for, fast with it."),
    ] = None,
    speed: Annotated[
        float, typer.Option(metavar="TIMES", help="Simulated per real second, clock real.")
    ] = 1.0,
    watch: Annotated[
        list[str] | None,
        typer.Option(metavar="SIGNAL", help="Show these signals; * matches any. Repeatable."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SIGNAL=VALUE", help="At the start; SI, or SIGNAL_deg=. Repeatable."
        ),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(metavar="FAULT", help="TYPE[:WHAT][@AT[+LASTS]][,KEY=VALUE...]. Repeatable."),
    ] = None,
    program: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add this control program (.py).")
    ] = None,
    on: Annotated[str, typer.Option(metavar="PART", help="The part that --program drives.")] = "",
    period: Annotated[
        float, typer.Option(metavar="SECONDS", help="How often --program's loop() is called.")
    ] = 0.0,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Move all with this engine, not the scene's.")
    ] = "",
    mode: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What moves it: kinematic, emulation or simulation; else as said."
        ),
    ] = "",
    free: Annotated[
        bool, typer.Option("--free", help="A part alone stands by itself; else it is fixed.")
    ] = False,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record the run (.mcap).")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the watched signals; - to stdout."),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the state tables of joints and bodies (.csv)."),
    ] = None,
    rate: Annotated[
        float, typer.Option(metavar="HZ", help="Rows a simulated second in CSV files.")
    ] = 100.0,
    images: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the pictures of all cameras (.png)."),
    ] = None,
    link: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Let other programs join; address and key go here."),
    ] = None,
    no_buses: Annotated[
        bool, typer.Option("--no-buses", help="Do not serve the scene's buses.")
    ] = False,
    overwrite: Overwrite = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Runs a scene or a part, shows what happens, and says how it went.

    Ctrl-C ends a run in good order; files are whole.

    Examples:
      $ linkwork run tripod/level
      $ linkwork run tripod/level --for 60 --record level.mcap
      $ linkwork run gripper/arm --watch 'arm/*' --set arm/J1.target_deg=30
      $ linkwork run gripper/arm --program my.py --on arm
      $ linkwork run tripod/level --fault stuck:tripod/platform/tilt@3+2 --for 10
      $ linkwork run robot.urdf --free --for 5 --csv robot.csv
      $ linkwork run room.toml --for 5 --images pictures
      $ linkwork run bart_uh/walk --mode emulation --for 5 --tables walk
    """
    check_number("--for", duration)
    check_number("--speed", speed)
    check_number("--rate", rate)
    check_number("--period", period, zero=True)
    if on and program is None:
        raise typer.BadParameter("it says which part --program drives.", param_hint="--on")
    from linkwork.cli.perform import Order, perform

    pace = clock.value if clock else ("fast" if duration is not None else "real")
    order = Order(
        what, duration=duration, clock=pace, speed=speed, watch=watch or [], values=set_ or [],
        program=program, on=on, period=period, engine=engine, free=free, record=record,
        table=table, rate=rate, link=link, overwrite=overwrite, quiet=quiet,
        buses=not no_buses, faults=fault or [], images=images, mode=mode, tables=tables,
    )  # fmt: skip
    raise typer.Exit(perform(order))


def check_number(option: str, value: float | None, *, zero: bool = False) -> None:
    """Refuses what is not a sensible positive number."""
    if value is None or 0.0 < value <= 1e9 or (zero and value == 0.0):
        return
    raise typer.BadParameter(f"it takes a number above 0, not {value:g}.", param_hint=option)
