"""Modules of small processes import neither the compiler nor the physics."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
HEAVY = {"numba", "llvmlite", "mujoco"}

# Imports of processes that only communicate with a session: the server and the buses.
LIGHT = [
    "linkwork",
    "linkwork.core.errors",
    "linkwork.link",
    "linkwork.buses",
    "linkwork.buses.can.layout",
    "linkwork.buses.can.slcan",
    "linkwork.buses.can.socketcand",
    "linkwork.studio.web",
    "linkwork.studio.client",
    "linkwork.motion.profiles",
]


def exists(module: str) -> bool:
    path = SOURCE.joinpath(*module.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def loaded_by(module: str) -> set[str]:
    """Returns the top-level packages loaded by importing one module in a new interpreter."""
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


@pytest.mark.parametrize("module", [each for each in LIGHT if exists(each)])
def test_import_is_light(module: str) -> None:
    """Importing the module loads neither numba nor MuJoCo."""
    assert not loaded_by(module) & HEAVY


def test_the_can_doors_need_no_library() -> None:
    """python-can and pyserial are for external buses only."""
    endpoints = "linkwork.buses.can.bridge, linkwork.buses.can.slcan, linkwork.buses.can.socketcand"
    assert not loaded_by(endpoints) & {"can", "serial", "cantools", "msgpack"}


def test_the_check_sees_what_is_loaded() -> None:
    """A module that needs numba is detected."""
    assert "numba" in loaded_by("numba")
