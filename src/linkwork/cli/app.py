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
    compare,
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
    trust,
)
from linkwork.core.errors import DamagedRecording, LinkworkError, os_error_text

#: Set to print the traceback of an internal error.
DEBUG_VARIABLE = "LINKWORK_DEBUG"


class Commands(TyperGroup):
    """Ends every command with one line and its exit code, whatever exception it raises."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except LinkworkError as error:
            damaged = isinstance(error, DamagedRecording)
            _end(str(error), exits.DAMAGED if damaged else exits.MISTAKE)
        except (KeyboardInterrupt, typer.Abort):
            _end("", exits.CANCELLED)
        except BrokenPipeError:
            # The reader of the output (head, less) has closed it: nothing to print or flush.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
        except OSError as error:
            about = f"{error.filename}: " if error.filename else ""
            _end(f"{about}{os_error_text(error)}.", exits.MISTAKE)
        except Exception as error:
            if hasattr(error, "exit_code") or DEBUG_VARIABLE in os.environ:
                raise  # a wrong command line, which the parser reports; or debugging
            _end(
                f"{type(error).__name__}: {error}. This is a bug in Linkwork; please report "
                f"it. Set {DEBUG_VARIABLE}=1 to see where.",
                exits.FAILED,
            )


def _end(message: str, code: int) -> None:
    from linkwork.cli.screen import print_error, stderr

    if message:
        print_error(message)
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


def warmup() -> None:
    """Compiles all kernels, so that the first run starts at once.

    The machine code is kept in a folder for this version, numba and processor
    (under ~/.cache/linkwork, or in LINKWORK_CACHE).

    Example:
      $ linkwork warmup
    """
    import time

    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.screen import stdout

    started = time.perf_counter()
    with show_compiling():
        from linkwork.cli.warmup_stages import STAGES, begin_stages, compile_stages
        from linkwork.core.jit import cache_directory, kernels_kept

        before = kernels_kept()
        first, second, *others = STAGES
        compile_stages([first])
        # Two processes halve the time; kernels that both need are in the cache by now.
        with begin_stages(others) as beside:
            compile_stages([second])
        if beside.returncode:
            compile_stages(others)  # compiles again, to raise the error here
        new = kernels_kept() - before
    done = f"{new} kernels compiled" if new else "All kernels were compiled already"
    out = stdout()
    out.print_line(f"{done}; ready after {time.perf_counter() - started:.1f} s.")
    out.print_line(f"Kept in {cache_directory()}.")


app.command("run")(run.run)
app.command("look")(look.look)
app.command("replay")(replay.replay)
app.command("check")(check.check)
app.command("compare")(compare.compare)
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
app.command("trust")(trust.trust)
app.command("warmup")(warmup)
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

    Robots are built from parts, placed in scenes, and driven by programs.

    Start here:
      $ linkwork kits                 lists parts and scenes
      $ linkwork run tripod/level     a tray kept level on a floor that tilts
      $ linkwork new robot swing      a robot of your own, ready to run
    """
