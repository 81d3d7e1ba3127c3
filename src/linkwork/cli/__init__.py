"""The command line: ``linkwork run | replay | check | convert | kits | new | warmup | studio``."""

from __future__ import annotations

import signal
import sys
import warnings


def main() -> None:
    """Runs the command line.

    Imports are deferred, so that Ctrl-C while they load also ends without a traceback.
    """
    code = 0
    _show_trust_warnings()
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


def _show_trust_warnings() -> None:
    """Prints that the list of trusted programs is not believed as one line, without a location."""
    usual = warnings.formatwarning

    def format_warning(
        message: Warning | str, category: type[Warning], filename: str, lineno: int,
        line: str | None = None,
    ) -> str:  # fmt: skip
        if category.__name__ == "TrustWarning":  # its module is slow to import
            return f"warning: {message}\n"
        return usual(message, category, filename, lineno, line)

    warnings.formatwarning = format_warning


__all__ = ["main"]
