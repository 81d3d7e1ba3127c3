"""MuJoCo itself: a compiled module whose names no type checker sees, and what it warns of."""

from __future__ import annotations

from collections import deque
from typing import Any

import mujoco as compiled_mujoco

mujoco: Any = compiled_mujoco  # pyright cannot see the names of the compiled module

#: What MuJoCo warned of lately. Left alone it would write a log into the user's folder.
warnings: deque[str] = deque(maxlen=16)
mujoco.set_mju_user_warning(warnings.append)
