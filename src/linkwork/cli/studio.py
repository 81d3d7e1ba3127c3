"""``linkwork studio``: watches a scene live in the terminal."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from linkwork.cli.live import chosen, signal_table
from linkwork.cli.run import stop_on_interrupt


def studio(
    scene: Annotated[str, typer.Argument(help="A scene file or kit scene.")] = "tripod/level",
    duration: Annotated[
        float | None, typer.Option("--for", help="Simulated seconds; until Ctrl-C without it.")
    ] = None,
) -> None:
    """Runs a scene in real time with a live table of its signals, until Ctrl-C.

    The browser studio takes this command's place when it exists.
    """
    out = Console(highlight=False)
    with out.status("Getting ready: the first start compiles kernels, about half a minute …"):
        from linkwork.session.session import Session

        session = Session(scene)
        session.step()
    names = chosen(session, [])
    with session, stop_on_interrupt(session):
        if not sys.stdout.isatty():
            _print_lines(session, names, duration, out)
            return
        with Live(signal_table(session, names), console=out, auto_refresh=False) as live:
            session.run(
                duration,
                clock="real",
                progress=lambda now: live.update(signal_table(session, names), refresh=True),
            )
    out.print("Stopped. Run it as fast as possible: linkwork run", scene, "--for 60")


def _print_lines(session, names: list[str], duration: float | None, out: Console) -> None:  # noqa: ANN001
    """Without a screen: a table now and then instead of a live one."""
    next_at = 0.0

    def show(now: float) -> None:
        nonlocal next_at
        if now >= next_at:
            next_at = now + 5.0
            out.print(signal_table(session, names))

    session.run(duration, clock="real", progress=show)
