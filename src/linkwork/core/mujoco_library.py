"""Import of the MuJoCo library."""

from __future__ import annotations

import os
import threading
import warnings
from pathlib import Path
from typing import Any

import mujoco as compiled_mujoco

mujoco: Any = compiled_mujoco  # pyright cannot see the names of the compiled module

#: MuJoCo's default torsional and rolling friction of a geom [m].
TORSIONAL_FRICTION, ROLLING_FRICTION = 0.005, 0.0001
#: Minimum radius of gyration of a moving body: MuJoCo does not support point masses [m].
MIN_GYRATION_RADIUS = 1e-4

_MOST = 16


class WarningLog(threading.local):
    """MuJoCo's warnings in this thread."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def note(self, text: str) -> None:
        """Keeps a warning; by default MuJoCo would write a log file into the working directory."""
        if len(self.warnings) < _MOST:
            self.warnings.append(text)


warning_log = WarningLog()
mujoco.set_mju_user_warning(warning_log.note)

# Warnings of the compiler concern the zero posture, not the posture of the run.
warnings.filterwarnings("ignore", message=".*Check model", category=UserWarning)


#: Time of the last change [ns] and size of each mesh file that MuJoCo has read.
_read_files: dict[str, tuple[int, int]] = {}


def read_mesh_file(asset: Any, path: Path) -> None:
    """Lets MuJoCo read a mesh file, of which it keeps the hull.

    MuJoCo compares times in whole seconds only, so what it keeps is dropped here if the file has
    changed.
    """
    name, status = os.path.abspath(path), path.stat()
    stamp = status.st_mtime_ns, status.st_size
    if _read_files.setdefault(name, stamp) != stamp:
        _read_files[name] = stamp
        mujoco.mj_clearCache(mujoco.mj_getCache())
    asset.file = name


def reads_mesh_file(path: Path) -> bool:
    """Returns whether MuJoCo reads a mesh file itself: OBJ, MSH, and STL in its binary form."""
    if path.suffix.lower() != ".stl":
        return path.suffix.lower() in (".obj", ".msh")
    with path.open("rb") as file:
        head = file.read(84)
    return path.stat().st_size == 84 + 50 * int.from_bytes(head[80:], "little")
