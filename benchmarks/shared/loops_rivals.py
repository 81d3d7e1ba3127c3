"""The engines of the loops' benchmark: in this process, or in one of ``.venv-bench``."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from shared.child import Child
from shared.linkages import CASES, Motion

HERE = Path(__file__).resolve().parent
#: In this process, and in processes of their own.
NEAR, FAR = ("mujoco", "pinocchio"), ("exudyn", "bullet", "drake")
#: Takes a minute to compile and 0.06 s a step without a graphics card: when asked for.
SLOW = "newton"


class Near:
    """An engine of this process."""

    def __init__(self, module: ModuleType) -> None:
        self._module: Any = module
        self.name: str = self._module.NAME
        self.settings = list(self._module.SETTINGS)

    def load(self, case: str) -> bool:
        """Builds a case."""
        self.engine = self._module.Engine(CASES[case]())
        return True

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        return self.engine.run(setting, count)

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        return self.engine.trace(setting, h, seconds)

    def close(self) -> None:
        """Nothing to end."""


class Far:
    """An engine of another process."""

    def __init__(self, python: Path, name: str) -> None:
        self._words = str(python), str(HERE / "loops_ends.py"), name
        self._child = Child(*self._words)
        first = self._child.first
        self.name: str = first.get("name", name.capitalize())
        self.settings: list[str] = first.get("settings", [])

    def load(self, case: str) -> bool:
        """Builds a case; false where it cannot."""
        self._case = case
        return bool(self.settings) and bool(self._ask("load", case))

    def _ask(self, *words: object) -> Any:
        try:
            return self._child.ask(json.dumps(words))
        except (RuntimeError, BrokenPipeError):  # it broke down: begin anew, this counts as lost
            self._child = Child(*self._words)
            self._child.ask(json.dumps(["load", self._case]))
            return None

    def run(self, setting: str, count: int) -> tuple[float, np.ndarray | None]:
        found = self._ask("run", setting, count)
        if found is None:
            return 0.0, None
        return found[0], None if found[1] is None else np.array(found[1])

    def trace(self, setting: str, h: float, seconds: float) -> list[Motion]:
        found = self._ask("trace", setting, h, seconds) or []
        return [Motion(*(np.array(each, float) for each in motion)) for motion in found]

    def close(self) -> None:
        self._child.close()


def bench_python() -> Path | None:
    """The Python that has the rivals that need versions of their own, or None."""
    home = HERE.parent.parent / ".venv-bench" / "bin" / "python"
    found = Path(os.environ.get("LINKWORK_BENCH_PYTHON") or home)
    return found if found.exists() else None


def slow_rival() -> Far | None:
    """Newton, or None where it is not installed, which is said."""
    python = bench_python()
    far = Far(python, SLOW) if python is not None else None
    if far is None or not far.settings:
        print(f"not installed: {SLOW.capitalize()} (make bench-venv)", file=sys.stderr)
        return None
    return far


def all_rivals() -> list[Near | Far]:
    """Those that are there; says which are not."""
    there: list[Near | Far] = []
    missing: list[str] = []
    for name in NEAR:
        try:
            there.append(Near(importlib.import_module(f"shared.loops_{name}")))
        except ImportError:
            missing.append(name.capitalize())
    python = bench_python()
    for name in FAR:
        far = Far(python, name) if python is not None else None
        if far is not None and far.settings:
            there.append(far)
            continue
        missing.append(name.capitalize())
        if far is not None:
            far.close()
    if missing:
        print(f"not installed: {', '.join(missing)} (make bench-venv)", file=sys.stderr)
    return there
