"""MuJoCo itself: a compiled module whose names no type checker sees, and what it warns of."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import mujoco as compiled_mujoco

mujoco: Any = compiled_mujoco  # pyright cannot see the names of the compiled module

_MOST = 16


class Said(threading.local):
    """What MuJoCo warned of in this thread since somebody looked."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def note(self, text: str) -> None:
        """Keeps a warning; left alone, MuJoCo would write a log into the user's folder."""
        if len(self.warnings) < _MOST:
            self.warnings.append(text)


said = Said()
mujoco.set_mju_user_warning(said.note)

# What it says while compiling is about the zero posture; the posture of the run decides.
warnings.filterwarnings("ignore", message=".*Check model", category=UserWarning)
