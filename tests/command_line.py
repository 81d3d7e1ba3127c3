"""Runs the command line in this process, without startup time, or in its own process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from linkwork.cli.app import app


@dataclass(frozen=True)
class Outcome:
    """Result of a command.

    Attributes:
        code: Exit code.
        out: Its stdout.
        err: Its stderr.
    """

    code: int
    out: str
    err: str


def linkwork(*words: object) -> Outcome:
    """Runs a command in this process; its output is not a terminal."""
    result = CliRunner().invoke(app, [str(word) for word in words], prog_name="linkwork")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


def start(
    *words: object, cwd: Path, stdin: bool = False, **environment: str
) -> subprocess.Popen[str]:
    """Starts a command in a process of its own, with further variables in its environment.

    With ``stdin`` it waits for what is written to it.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "linkwork", *map(str, words)],
        cwd=cwd, stdin=subprocess.PIPE if stdin else None, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **environment}, preexec_fn=_reset_interrupts,
    )  # fmt: skip


def _reset_interrupts() -> None:
    """Restores Ctrl-C, which may be ignored for tests in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
