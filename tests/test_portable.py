"""The package imports without POSIX: nothing requires it before use."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Imports every module of the package with Windows' modules only.
SCRIPT = """
import importlib, os, pkgutil, signal, socket, sys

# Others decide for themselves by platform: they are loaded before anything is hidden.
import asyncio, multiprocessing.pool, subprocess, tempfile, concurrent.futures
import mujoco, numba, numpy, starlette.applications, uvicorn, websockets, can, serial, sympy

HIDDEN = {"fcntl", "grp", "pty", "pwd", "resource", "ruckig", "termios", "tty"}

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in HIDDEN:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hide())
for module, names in (
    (os, "register_at_fork fork killpg openpty getuid geteuid"),
    (signal, "SIGKILL SIGHUP SIGUSR1 SIGUSR2 pthread_sigmask"),
    (socket, "AF_UNIX"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)

import linkwork
for found in pkgutil.walk_packages(linkwork.__path__, "linkwork."):
    if not found.name.startswith("linkwork.kits") and not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_imports_without_posix() -> None:
    """POSIX-only modules, and functions of os, signal and socket, are not needed."""
    run(SCRIPT)


def test_a_session_runs_without_posix() -> None:
    """A scene with a control program opens, steps and closes."""
    script = """
with linkwork.Session("gripper/follow") as session:
    session.step(3)
    print(session.state.step)
"""
    assert run(SCRIPT + script).strip() == "3"


def test_the_planner_that_needs_ruckig_says_so() -> None:
    """Without the package, the planner fails with a hint; the others work."""
    script = """
from linkwork.motion.profiles import MotionLimits, Waypoint, segment
start, end = Waypoint(0.0, 0.0), Waypoint(1.0, 1.0)
segment(start, end, "cruise", MotionLimits(speed=9.0, acceleration=9.0))
try:
    segment(start, end, "jerk", MotionLimits(speed=9.0, acceleration=9.0, jerk=99.0))
except linkwork.LinkworkError as error:
    print(error)
"""
    logged = run(SCRIPT + script)
    assert "needs the package ruckig" in logged
    assert "pip install ruckig" in logged


def test_the_project_file_covers_it() -> None:
    """ruckig has a marker, as it has no wheel for Linux on ARM; supported Pythons are named."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (ruckig,) = (each for each in project["dependencies"] if each.startswith("ruckig"))
    assert "platform_machine != 'aarch64'" in ruckig
    named = {each.rpartition(" ")[2] for each in project["classifiers"] if "Python :: 3." in each}
    assert named == {"3.11", "3.12", "3.13", "3.14"}
    assert project["requires-python"] == ">=3.11,<3.15"
