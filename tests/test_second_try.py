"""Tests in the browser may fail once, not twice, and it is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
from second_try import pytest_runtest_protocol, tell_second_tries

def pytest_terminal_summary(terminalreporter):
    tell_second_tries(terminalreporter)
"""
TESTS = """
import pytest

tries = []

@pytest.fixture(scope="session")
def chromium():
    return None

@pytest.fixture(scope="module")
def shared(chromium):
    return []

def test_good(chromium):
    pass

def test_unsteady(shared):
    tries.append(1)
    shared.append(1)
    assert len(shared) == 1, "what is shared is not fresh"
    assert len(tries) == 2, "a race was lost"

@pytest.fixture
def rickety(chromium):
    tries.append(2)
    assert tries.count(2) == 2, "no browser came"

def test_setup(rickety):
    pass

def test_bad(chromium):
    tries.append(3)
    assert False, f"try {tries.count(3)}"

def test_without_a_browser():
    tries.append(4)
    assert tries.count(4) == 2, "only once"
"""


@pytest.mark.parametrize("processes", [0, 1])
def test_what_fails_twice_fails_and_what_fails_once_is_told(tmp_path: Path, processes: int) -> None:
    """The summary names each test that was run twice, with what the first run said."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", str(processes), "test_some.py"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 3 passed" in done.stdout
    told = done.stdout.partition("RUN A SECOND TIME")[2].partition("short test summary")[0]
    for words in ("test_unsteady", "a race was lost", "test_setup", "no browser came", "try 1"):
        assert words in told
    assert "3 of the tests in the browser failed at first" in told
    assert "test_good" not in told
    assert "only once" not in told
