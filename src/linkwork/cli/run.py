"""``linkwork run``: runs a scene, or a part alone."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from linkwork.cli.output_files import Overwrite
from linkwork.cli.scene_argument import MissingChoice, MissingMeshes, ServoChoice, Servos


class ClockName(StrEnum):
    """The clock of a run."""

    fast = "fast"
    real = "real"


# ---- options ----
_SceneArgument = Annotated[
    str,
    typer.Argument(metavar="SCENE", help="A scene or part (.toml, .urdf), or a kit's name for it."),
]
_Duration = Annotated[
    float | None,
    typer.Option("--for", metavar="SECONDS", help="Simulated time; until Ctrl-C if absent."),
]
_ClockOption = Annotated[
    ClockName | None,
    typer.Option(help="As fast as possible, or real time. Real without --for, fast with it."),
]
_Speed = Annotated[
    float, typer.Option(metavar="TIMES", help="Simulated seconds per real second, with clock real.")
]
_Watch = Annotated[
    list[str] | None,
    typer.Option(metavar="SIGNAL", help="Show these signals; * matches any. Repeatable."),
]
_SetValues = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SIGNAL=VALUE",
        help="Set a signal at the start; SI, or SIGNAL_deg=. Repeatable.",
    ),
]
_Faults = Annotated[
    list[str] | None,
    typer.Option(metavar="FAULT", help="TYPE[:WHAT][@AT[+LASTS]][,KEY=VALUE...]. Repeatable."),
]
_Program = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Add this control program (.py).")
]
_ProgramPart = Annotated[str, typer.Option(metavar="PART", help="The part that --program drives.")]
_ProgramPeriod = Annotated[
    float, typer.Option(metavar="SECONDS", help="Control period of --program.")
]
_EngineName = Annotated[
    str, typer.Option(metavar="NAME", help="Use this engine instead of the scene's.")
]
_ModeName = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Mode: kinematic, emulation or simulation; the scene's if absent."
    ),
]
_Free = Annotated[bool, typer.Option("--free", help="A part alone is free; else it is fixed.")]
_RecordFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Record the run (.mcap).")]
_CsvFile = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write the watched signals; - to stdout."),
]
_TablesFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Write the state tables of joints and bodies (.csv)."),
]
_RowRate = Annotated[
    float, typer.Option(metavar="HZ", help="Rows per simulated second in CSV files.")
]
_ImagesFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Write the images of all cameras (.png)."),
]
_LinkFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Let other programs connect; the address is written here."),
]
_NoBuses = Annotated[bool, typer.Option("--no-buses", help="Do not serve the scene's buses.")]
#: Permissions for the scene's buses, also of other commands.
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT",
        help="Let the scene's buses reach other machines (network), or replace links that they "
        "did not make (replace-links). Repeatable.",
    ),
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]


def run(
    what: _SceneArgument,
    duration: _Duration = None,
    clock: _ClockOption = None,
    speed: _Speed = 1.0,
    watch: _Watch = None,
    set_: _SetValues = None,
    fault: _Faults = None,
    program: _Program = None,
    on: _ProgramPart = "",
    period: _ProgramPeriod = 0.0,
    engine: _EngineName = "",
    mode: _ModeName = "",
    free: _Free = False,
    servos: Servos = ServoChoice.none,
    missing_meshes: MissingMeshes = MissingChoice.error,
    record: _RecordFile = None,
    table: _CsvFile = None,
    tables: _TablesFolder = None,
    rate: _RowRate = 100.0,
    images: _ImagesFolder = None,
    link: _LinkFile = None,
    no_buses: _NoBuses = False,
    allow: Allow = None,
    overwrite: Overwrite = False,
    quiet: _Quiet = False,
) -> None:
    """Runs a scene or a part, shows events, and prints a summary.

    Ctrl-C ends a run properly; files are complete.

    Examples:
      $ linkwork run tripod/level
      $ linkwork run tripod/level --for 60 --record level.mcap
      $ linkwork run gripper/arm --watch 'arm/*' --set arm/J1.target_deg=30
      $ linkwork run gripper/arm --program my.py --on arm
      $ linkwork run tripod/level --fault stuck:tripod/platform/tilt@3+2 --for 10
      $ linkwork run robot.urdf --free --for 5 --csv robot.csv
      $ linkwork run robot.urdf --servos auto --for 5
      $ linkwork run room.toml --for 5 --images pictures
      $ linkwork run bart_uh/walk --mode emulation --for 5 --tables walk
    """
    check_number("--for", duration)
    check_number("--speed", speed)
    check_number("--rate", rate)
    check_number("--period", period, zero=True)
    if on and program is None:
        raise typer.BadParameter("it names the part that --program drives.", param_hint="--on")
    from linkwork.cli.run_session import RunOptions, run_session

    pace = clock.value if clock else ("fast" if duration is not None else "real")
    order = RunOptions(
        what, duration=duration, clock=pace, speed=speed, watch=watch or [], values=set_ or [],
        program=program, on=on, period=period, engine=engine, free=free, record=record,
        table=table, rate=rate, link=link, overwrite=overwrite, quiet=quiet,
        buses=not no_buses, allow=allow or [], faults=fault or [], images=images, mode=mode,
        tables=tables, servos=servos, missing=missing_meshes,
    )  # fmt: skip
    raise typer.Exit(run_session(order))


def check_number(option: str, value: float | None, *, zero: bool = False) -> None:
    """Refuses a number that is not positive and finite."""
    if value is None or 0.0 < value <= 1e9 or (zero and value == 0.0):
        return
    raise typer.BadParameter(f"it takes a number above 0, not {value:g}.", param_hint=option)
