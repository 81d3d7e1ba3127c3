"""``linkwork studio``: watches a scene live in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer


def studio(
    scene: Annotated[
        str, typer.Argument(help="A scene or part, or a kit's name for it.")
    ] = "tripod/level",
    duration: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="Simulated time; else until Ctrl-C."),
    ] = None,
) -> None:
    """Runs a scene in real time with a live table of its signals, until Ctrl-C.

    Where no terminal is there to draw on, it prints the table every five seconds.

    Examples:
      $ linkwork studio
      $ linkwork studio gripper/follow --for 20
    """
    from linkwork.cli.run import check_number

    check_number("--for", duration)
    from linkwork.cli.perform import Order, perform

    raise typer.Exit(perform(Order(scene, duration=duration, clock="real", every=5.0)))
