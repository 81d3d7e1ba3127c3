"""Test depth: a tenth of the cases on each commit, all of them with --full."""

import os

#: Set by ``pytest --full`` (``make test FULL=1``), also for subprocesses.
VARIABLE = "LINKWORK_FULL_TESTS"
FULL = os.environ.get(VARIABLE) == "1"


def cases(full: int) -> int:
    """Returns the number of ``full`` cases to run."""
    return full if FULL else max(1, full // 10)


def seconds(full: float, short: float) -> float:
    """Returns the time to simulate [s]."""
    return full if FULL else short
