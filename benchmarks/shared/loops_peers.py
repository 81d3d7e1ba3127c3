"""The engines of ``loops.py``: in this process, or in a process of ``.venv-bench``."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from shared.child import Child, bench_python
from shared.linkages import CASES, Motion

HERE = Path(__file__).resolve().parent
#: Engines in this process, and engines in their own processes.
NEAR, FAR = ("mujoco", "pinocchio"), ("exudyn", "bullet", "drake")
#: Without a GPU it takes a minute to compile and 0.06 s a step, so it runs on request only.
SLOW = "newton"


class Near:
    """An engine in this process."""

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
        """Does nothing."""


class Far:
    """An engine in another process."""

    def __init__(self, python: Path, name: str) -> None:
        self._command = str(python), str(HERE / "loops_process.py"), name
        self._child = Child(*self._command)
        first = self._child.first
        self.name: str = first.get("name", name.capitalize())
        self.settings: list[str] = first.get("settings", [])

    def load(self, case: str) -> bool:
        """Builds a case; false if the engine cannot."""
        self._case = case
        return bool(self.settings) and bool(self._ask("load", case))

    def _ask(self, *request: object) -> Any:
        try:
            return self._child.ask(json.dumps(request))
        except (RuntimeError, BrokenPipeError):  # it crashed: start it again, this request failed
            self._child = Child(*self._command)
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


def _far(python: Path | None, name: str) -> Far | None:
    """An engine of ``.venv-bench``, or None if it is not installed."""
    if python is None:
        return None
    try:
        made = Far(python, name)
    except RuntimeError:
        return None
    if made.settings:
        return made
    made.close()
    return None


def slow_peer() -> Far | None:
    """Newton, or None if it is not installed."""
    return _far(bench_python(), SLOW)


def all_peers() -> tuple[list[Near | Far], list[str]]:
    """The engines that are installed, and the names of those that are not."""
    there: list[Near | Far] = []
    missing: list[str] = []
    for name in NEAR:
        try:
            there.append(Near(importlib.import_module(f"shared.loops_{name}")))
        except ImportError:
            missing.append(name.capitalize())
    python = bench_python()
    for name in FAR:
        far = _far(python, name)
        if far is not None:
            there.append(far)
        else:
            missing.append(name.capitalize())
    return there, missing
