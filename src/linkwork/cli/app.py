"""The command ``linkwork``: its subcommands, and errors without tracebacks."""

from __future__ import annotations

import os
import sys

import typer
from rich.console import Console

from linkwork import __version__
from linkwork.cli import check, convert, kits, new, replay, run, studio, warmup
from linkwork.errors import EngineError, LinkworkError, ProgramError

#: Exit codes: a mistake in what was given; a run that could not go on.
MISTAKE, FAILED, CANCELLED = 1, 4, 130

app = typer.Typer(
    name="linkwork",
    help="A virtual test bench for robots.\n\nStart with: linkwork kits, then linkwork run tripod/level",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("run")(run.run)
app.command("replay")(replay.replay)
app.command("check")(check.check)
app.command("convert")(convert.convert)
app.command("kits")(kits.kits)
app.command("new")(new.new)
app.command("warmup")(warmup.warmup)
app.command("studio")(studio.studio)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"linkwork {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """A virtual test bench for robots."""


def main() -> None:
    """Runs the command line; a user's mistake ends with one clear line and exit code 1."""
    errors = Console(stderr=True, highlight=False)
    try:
        app()
    except LinkworkError as error:
        errors.print(f"[red]error:[/red] {_plain(str(error))}", soft_wrap=True)
        sys.exit(FAILED if isinstance(error, EngineError | ProgramError) else MISTAKE)
    except KeyboardInterrupt:
        errors.print("Cancelled.")
        sys.exit(CANCELLED)
    except BrokenPipeError:
        # The reader of our output (head, less) went away: nothing to say, nothing to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _plain(text: str) -> str:
    return text.replace("[", "\\[")
