"""The command line: ``linkwork run | replay | check | convert | kits | new | warmup | studio``."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Runs the command line.

    Imports are deferred, so that Ctrl-C while they load also ends without a traceback.
    """
    code = 0
    try:
        from linkwork.cli.app import app

        app(prog_name="linkwork")
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        code = 130
    finally:
        # Python remembers an interrupt inside ``exec(text)`` (dataclasses, named tuples) even when
        # it is caught, and ends by the signal instead of the code; the next ``exec`` clears that.
        exec("")
        # The program is ending: a further Ctrl-C may end it at once and prints nothing.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


__all__ = ["main"]
