"""The command line as a process among others: signals, pipes, terminals."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from command_line import start
from linkwork.cli.compile_progress import COMPILING
from linkwork.session.recording import Recording

TALKER = """
from linkwork import Control

class Talker(Control):
    def init(self):
        self.after(0.02, lambda: self.log("running"))
"""

TIMEOUT = 120.0


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Reads a process's output up to a line with ``text``."""
    assert process.stdout is not None
    guard = threading.Timer(TIMEOUT, process.kill)
    guard.start()
    for line in process.stdout:
        if text in line:
            guard.cancel()
            return
    guard.cancel()
    raise AssertionError(f"it ended without saying {text!r}: {process.communicate()[1]}")


@pytest.mark.parametrize(
    ("words", "number", "code"),
    [
        ([], signal.SIGINT, 0),
        (["--for", "1000", "--clock", "real"], signal.SIGINT, 130),
        ([], signal.SIGTERM, 143),
    ],
    ids=["endless", "cut-short", "terminated"],
)
def test_a_signal_ends_a_run_in_good_order(
    tmp_path: Path, words: list[str], number: int, code: int
) -> None:
    """Ctrl-C and SIGTERM close the recording and tell how it went; an endless run is then done."""
    (tmp_path / "talker.py").write_text(TALKER)
    run = start(
        "run", "gripper/arm", "--program", "talker.py", "--record", "run.mcap", *words,
        cwd=tmp_path,
    )  # fmt: skip
    wait_for(run, "talker: running")
    run.send_signal(number)
    out, err = run.communicate(timeout=TIMEOUT)
    assert run.returncode == code, err
    assert err == ""
    assert "Stopped." in out
    assert "s simulated in" in out
    with Recording.open(tmp_path / "run.mcap") as recording:
        assert recording.complete


def wait_for_library(process: subprocess.Popen[str], name: str) -> None:
    """Waits until a process has loaded a library, by which to tell how far its start is."""
    end = time.monotonic() + TIMEOUT
    maps = Path(f"/proc/{process.pid}/maps")
    while name not in maps.read_text():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize(("library", "delay"), [("numpy", 0.0), ("llvmlite", 0.0), ("mujoco", 1.0)])
def test_ctrl_c_while_starting_leaves_no_traceback(
    tmp_path: Path, library: str, delay: float
) -> None:
    """Ctrl-C while modules load or kernels compile ends with code 130 and nothing but a word."""
    run = start("run", "tripod/level", cwd=tmp_path, LINKWORK_CACHE=str(tmp_path / "cold"))
    wait_for_library(run, library)
    time.sleep(delay)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=TIMEOUT)
    assert run.returncode == 130, err
    assert err in ("Cancelled.\n", f"{COMPILING}\nCancelled.\n")


@pytest.mark.parametrize("outcome", ["raise", "sys.exit(130)"], ids=["raised", "caught"])
def test_ctrl_c_inside_generated_code_ends_with_the_code(tmp_path: Path, outcome: str) -> None:
    """An interrupt while a library runs generated text gives code 130 as well, not the signal."""
    (tmp_path / "interrupted.py").write_text(
        "import sys, types\n"
        "def app(**_):\n"
        "    try:\n"
        "        exec('raise KeyboardInterrupt')\n"
        "    except KeyboardInterrupt:\n"
        f"        {outcome}\n"
        "module = types.ModuleType('linkwork.cli.app')\n"
        "module.app = app\n"
        "sys.modules['linkwork.cli.app'] = module\n"
        "from linkwork.cli import main\n"
        "main()\n"
    )
    run = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, check=False)
    assert run.returncode == 130


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    """``linkwork run … | head -2`` ends quietly, with code 0."""
    run = start(
        "run", "gripper/arm", "--for", "1000", "--csv", "-", "--watch", "arm/J1.angle", cwd=tmp_path
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "time [s],arm/J1.angle [rad]\n"
    run.stdout.close()
    assert run.wait(TIMEOUT) == 0
    assert run.stderr is not None
    assert run.stderr.read() == ""
    run.stderr.close()


def read_all(descriptor: int) -> str:
    """Everything that a terminal shows until its last writer leaves."""
    found = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # Linux says so where other systems say nothing
            piece = b""
        if not piece:
            return found.decode(errors="replace")
        found += piece


def test_a_terminal_gets_a_live_table(tmp_path: Path) -> None:
    """On a terminal the table moves, messages stand above it, and the cursor comes back."""
    (tmp_path / "talker.py").write_text(TALKER)
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "linkwork", "run", "gripper/arm", "--for", "0.6",
         "--clock", "real", "--program", "talker.py"],
        cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"},
    )  # fmt: skip
    os.close(theirs)
    guard = threading.Timer(TIMEOUT, run.kill)
    guard.start()
    shown = read_all(ours)
    guard.cancel()
    os.close(ours)
    assert run.wait(TIMEOUT) == 0
    assert "Getting ready" in shown
    words = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert words.count("arm/J1.angle") >= 3  # drawn again and again
    assert "talker: running" in words
    assert re.search(r"arm  0.60 of 0.6 s", words)
    assert "0.60 s simulated" in words
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
