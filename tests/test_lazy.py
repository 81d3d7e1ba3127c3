"""Modules that small processes import do not bring the compiler or the physics with them."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
HEAVY = {"numba", "llvmlite", "mujoco"}

# What a process that only talks to a session imports: the server and the buses above all.
LIGHT = [
    "linkwork",
    "linkwork.errors",
    "linkwork.session.link",
    "linkwork.buses",
    "linkwork.buses.can.dbc",
    "linkwork.buses.can.slcan",
    "linkwork.buses.can.socketcand",
    "linkwork.server",
    "linkwork.server.client",
    "linkwork.motion.profiles",
]


def exists(module: str) -> bool:
    path = SOURCE.joinpath(*module.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def loaded_by(module: str) -> set[str]:
    """Name the top-level packages that a new interpreter holds after importing one module."""
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


@pytest.mark.parametrize("module", [each for each in LIGHT if exists(each)])
def test_import_is_light(module: str) -> None:
    """Importing the module loads neither numba nor MuJoCo."""
    assert not loaded_by(module) & HEAVY


def test_the_can_doors_need_no_library() -> None:
    """python-can and pyserial are for buses outside; the doors do without them."""
    doors = "linkwork.buses.can.bridge, linkwork.buses.can.slcan, linkwork.buses.can.socketcand"
    assert not loaded_by(doors) & {"can", "serial", "cantools", "msgpack"}


def test_the_check_sees_what_is_loaded() -> None:
    """A module that does need numba is seen to load it."""
    assert "numba" in loaded_by("numba")
