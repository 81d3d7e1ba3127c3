"""``linkwork studio``: shows scenes in the browser, or one live in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

#: What the terminal shows where nothing is named.
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
        typer.Option(help="Port; else 8350, or a free one where it is taken.", min=0, max=65535),
    ] = None,
    token: Annotated[
        str, typer.Option(help="What browsers must know; else a random one.", show_default=False)
    ] = "",
    https: Annotated[
        bool, typer.Option("--https", help="With a certificate of our own, for headsets.")
    ] = False,
    tcp: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            help="Also lets in programs that speak lines of JSON over TCP; 0 for a free port.",
        ),
    ] = None,
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
        from linkwork.cli.browse import Stand, browse, is_built

        if is_built():
            raise typer.Exit(browse(scene, Stand(host, port, token, https, not no_open, tcp)))
        from linkwork.cli.screen import stderr

        stderr().say(
            "the studio's page has not been built, so this is the terminal. "
            "In Linkwork's source folder, make studio builds it.",
            lead="note:",
        )
    if scene is not None and scene.lower().endswith(".mcap"):
        from linkwork.errors import FormatError

        raise FormatError(
            f"{scene} is a recording; it is looked at in the browser.",
            hint=f"In the terminal: linkwork replay {scene}",
        )
    from linkwork.cli.perform import Order, perform

    raise typer.Exit(perform(Order(scene or FIRST, duration=duration, clock="real", every=5.0)))
