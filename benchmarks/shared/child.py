"""Child processes of a benchmark: one request per line, one line of JSON as the reply."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: How a line with a reply begins; peers may print other lines.
MARK = "= "
#: Where child processes find the package ``shared``.
BENCHMARKS = Path(__file__).resolve().parent.parent


def cpu(process: int) -> float:
    """CPU time that a process has used [s], in user and kernel mode, over all its threads."""
    # clock_getcpuclockid(3) of glibc: the complement of the process id, above the kind of clock.
    return time.clock_gettime((~process << 3) | 2)


def bench_python() -> Path | None:
    """The Python of ``make bench-venv`` (or of LINKWORK_BENCH_PYTHON), or None if there is none."""
    own = BENCHMARKS.parent / ".venv-bench" / "bin" / "python"
    found = Path(os.environ.get("LINKWORK_BENCH_PYTHON") or own)
    return found if found.exists() else None


def reason(error: BaseException) -> str:
    """Why something could not be measured, in one line without paths of this machine."""
    if isinstance(error, ImportError):
        return f"{error.name} is not installed"
    text = re.sub(r"(?:/[\w.+-]+)+/", "", " ".join(str(error).split()))
    kind = "" if type(error) is RuntimeError else f"{type(error).__name__}: "
    return f"{kind}{text}"[:200]


class Child:
    """A child process.

    Args:
        arguments: Its command line.

    Attributes:
        first: The line that it sends before any request.

    Raises:
        RuntimeError: It ended before it sent the line.
    """

    def __init__(self, *arguments: str) -> None:
        path = os.pathsep.join(filter(None, [str(BENCHMARKS), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        self.first = self._reply()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, request: str, *, seconds: float | None = None) -> Any:
        """Sends a request and returns the reply.

        Args:
            request: One line.
            seconds: Time after which the process is killed if it has not replied [s].
        """
        assert self._process.stdin is not None
        self._process.stdin.write(request + "\n")
        self._process.stdin.flush()
        if seconds is None:
            return self._reply()
        alarm = threading.Timer(seconds, self._process.kill)
        alarm.start()
        try:
            return self._reply()
        finally:
            alarm.cancel()

    def _reply(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(MARK):
                return json.loads(line.removeprefix(MARK))
        raise RuntimeError("its process ended; is it installed? make bench-venv")

    def close(self) -> None:
        """Closes its input and waits for it; kills it after ten seconds."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(10.0)
        except (subprocess.TimeoutExpired, OSError):
            self._process.kill()
            self._process.wait()


def serve(first: object, reply: Callable[[str], object]) -> None:
    """In the child process: sends ``first``, then a reply to each request until the input ends."""
    print(MARK + json.dumps(first), flush=True)
    for line in sys.stdin:
        print(MARK + json.dumps(reply(line.strip())), flush=True)
