"""The command ``linkwork``: its subcommands, and errors without tracebacks."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from linkwork.cli import (
    charts,
    check,
    convert,
    derive,
    exits,
    fit,
    ik,
    kits,
    look,
    new,
    plan,
    ports,
    posture,
    replay,
    run,
    step,
    studio,
    warmup,
)
from linkwork.errors import LinkworkError

#: Set to see the traceback of a fault in Linkwork itself.
DEBUG = "LINKWORK_DEBUG"


class Commands(TyperGroup):
    """Ends every command with one clear line and its exit code, whatever happens in it."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except LinkworkError as error:
            _end(str(error), exits.MISTAKE)
        except (KeyboardInterrupt, typer.Abort):
            _end("", exits.CANCELLED)
        except BrokenPipeError:
            # Whoever read our output (head, less) has seen enough: nothing to say or to flush.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
        except OSError as error:
            about = f"{error.filename}: " if error.filename else ""
            _end(f"{about}{error.strerror or error}.", exits.MISTAKE)
        except Exception as error:
            if hasattr(error, "exit_code") or DEBUG in os.environ:
                raise  # a wrong command line, which the parser reports; or someone looks for a bug
            _end(
                f"{type(error).__name__}: {error}. This is a fault in Linkwork, not in what you "
                f"gave; please report it. Set {DEBUG}=1 to see where.",
                exits.FAILED,
            )


def _end(message: str, code: int) -> None:
    from linkwork.cli.screen import say_error, stderr

    if message:
        say_error(message)
    else:
        stderr().print("Cancelled.")
    raise typer.Exit(code) from None


app = typer.Typer(
    name="linkwork",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog=exits.TABLE,
)
app.command("run")(run.run)
app.command("look")(look.look)
app.command("replay")(replay.replay)
app.command("check")(check.check)
app.command("convert")(convert.convert)
app.command("ik")(ik.ik)
app.command("plan")(plan.plan)
app.command("derive")(derive.derive)
app.command("step")(step.step)
app.command("charts")(charts.charts)
app.command("fit")(fit.fit)
app.command("ports")(ports.ports)
app.command("posture")(posture.posture)
app.command("kits")(kits.kits)
app.command("new")(new.new)
app.command("warmup")(warmup.warmup)
app.command("studio")(studio.studio)


def _print_version(wanted: bool) -> None:
    if wanted:
        from linkwork import __version__

        print(f"linkwork {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """A virtual test bench for robots.

    Robots are built from parts, stand in scenes, and are driven by programs.

    Start here:
      $ linkwork kits                 what is at hand
      $ linkwork run tripod/level     a tray kept level on a floor that tilts
      $ linkwork new robot swing      a robot of your own, ready to run
    """
