"""Children of a benchmark: processes that take a word per line and answer with JSON per line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Begins an answer: rivals print what they like.
MARK = "= "


def cpu(process: int) -> float:
    """CPU time that a process has used [s], in user and kernel mode, over all its threads."""
    # clock_getcpuclockid(3) of glibc: the complement of the process id, above the kind of clock.
    return time.clock_gettime((~process << 3) | 2)


#: Where the ends find what they share.
BENCHMARKS = str(Path(__file__).resolve().parent.parent)


class Child:
    """A process that serves words.

    Args:
        arguments: What to start.
    """

    def __init__(self, *arguments: str) -> None:
        path = os.pathsep.join(filter(None, [BENCHMARKS, os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        self.first = self._answer()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, word: str, *, seconds: float | None = None) -> Any:
        """Sends a word and returns the answer; ends the process if there is none in time."""
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()
        if seconds is None:
            return self._answer()
        alarm = threading.Timer(seconds, self._process.kill)
        alarm.start()
        try:
            return self._answer()
        finally:
            alarm.cancel()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(MARK):
                return json.loads(line.removeprefix(MARK))
        raise RuntimeError(f"{self._process.args} ended.")

    def close(self) -> None:
        """Lets it end."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(10.0)
        except (subprocess.TimeoutExpired, OSError):
            self._process.kill()
            self._process.wait()


def answer(first: object, words: Callable[[str], object]) -> None:
    """In the child: says what there is to say first, then answers until nobody asks."""
    print(MARK + json.dumps(first), flush=True)
    for line in sys.stdin:
        print(MARK + json.dumps(words(line.strip())), flush=True)
