"""``linkwork studio``: shows scenes in the browser, or one live in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from linkwork.cli.run import Allow
from linkwork.cli.scene_argument import MissingChoice, MissingMeshes, ServoChoice, Servos

#: The scene shown in the terminal if none is named.
FIRST = "tripod/level"


def studio(
    scene: Annotated[
        str | None,
        typer.Argument(help="A scene or part, a kit's name for it, a recording; else a gallery."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Interface to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(help="Port; else 8350, or a free one if that is taken.", min=0, max=65535),
    ] = None,
    token: Annotated[
        str,
        typer.Option(help="Token that browsers must send; else a random one.", show_default=False),
    ] = "",
    https: Annotated[
        bool, typer.Option("--https", help="Use a self-signed certificate, for headsets.")
    ] = False,
    tcp: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            help="Also accept programs over TCP with JSON lines; 0 for a free port.",
        ),
    ] = None,
    allow: Allow = None,
    servos: Servos = ServoChoice.none,
    missing_meshes: MissingMeshes = MissingChoice.error,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="A live table in the terminal, no browser.")
    ] = False,
    duration: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", help="In the terminal: simulated time."),
    ] = None,
) -> None:
    """Shows scenes in the browser: watch, drive, edit and record them. Ctrl-C ends it.

    Only this machine can connect, unless --host says otherwise; the address holds a token.

    Examples:
      $ linkwork studio
      $ linkwork studio tripod/level --no-open
      $ linkwork studio run.mcap
      $ linkwork studio gripper/follow --terminal --for 20
    """
    from linkwork.cli.run import check_number

    check_number("--for", duration)
    if not terminal and duration is None:
        from linkwork.cli.studio_server import StudioOptions, is_built, run_studio

        if is_built():
            raise typer.Exit(
                run_studio(
                    scene,
                    StudioOptions(
                        host,
                        port,
                        token,
                        https,
                        not no_open,
                        tcp,
                        tuple(allow or ()),
                        servos,
                        missing_meshes,
                    ),
                )
            )
        from linkwork.cli.screen import stderr

        stderr().print_line(
            "the studio's page has not been built; showing the scene in the terminal. "
            "In Linkwork's source folder, make studio builds it.",
            lead="note:",
        )
    if scene is not None and scene.lower().endswith(".mcap"):
        from linkwork.core.errors import FormatError

        raise FormatError(
            f"{scene} is a recording; it can be shown only in the browser.",
            hint=f"In the terminal: linkwork replay {scene}",
        )
    from linkwork.cli.run_session import RunOptions, run_session

    order = RunOptions(
        scene or FIRST, duration=duration, clock="real", every=5.0, allow=allow or [],
        trusted_only=True, servos=servos, missing=missing_meshes,
    )  # fmt: skip
    raise typer.Exit(run_session(order))
