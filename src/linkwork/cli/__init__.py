"""The command line: ``linkwork run | replay | check | convert | kits | new | warmup | studio``."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Runs the command line.

    Imports come late, so that Ctrl-C while they load ends without a traceback as well.
    """
    code = 0
    try:
        from linkwork.cli.app import app

        app(prog_name="linkwork")
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        code = 130
    finally:
        # What is left is leaving: a further Ctrl-C may end it at once, and says nothing.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


__all__ = ["main"]
