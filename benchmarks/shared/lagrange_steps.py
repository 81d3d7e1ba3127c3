"""Steps of the engine ``lagrange`` with BARt-UH II in compiled loops."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

import linkwork as lw
from linkwork.engines.lagrange import Lagrange
from linkwork.engines.lagrange.step_kernels import runge_kutta_step
from linkwork.session.session import Session


@numba.njit
def _loop(count: int, q0: Any, v0: Any, robot: Any, ground: Any, law: Any, method: Any, h: float,
          q: Any, v: Any, rotor: Any, work: Any, workspace: Any, stages: Any) -> None:  # fmt: skip
    for _ in range(count):
        q[:], v[:] = q0, v0
        runge_kutta_step(robot, ground, law, method, h, q, v, rotor, work, workspace, stages)


class Stepping:
    """The biped with a floating base, falling freely with its joints driven.

    Args:
        code: "recursive" or "generated".

    Raises:
        RuntimeError: The code cannot be generated, as there is no C compiler.
    """

    def __init__(self, code: str) -> None:
        part = lw.load_part("bart_uh/biped")
        scene = lw.Scene("bart", step=0.001).place(part, name="robot", base="free")
        scene.engine("lagrange", code=code)
        self._session = Session(scene, watch=False)
        session = self._session
        session.step()
        if code == "generated" and not session.cycle.codes["engine 1 (lagrange)"].startswith("C "):
            raise RuntimeError("there is no C compiler")
        (engine,) = session.cycle.engines
        assert isinstance(engine, Lagrange)
        rng = np.random.default_rng(5)
        self._q0 = session.state.q.copy()
        self._v0 = rng.uniform(-1.0, 1.0, session.world.nv)
        self._arguments = engine.step_arguments(session.cycle.h)
        self._engine = engine

    def steps(self, count: int) -> None:
        _loop(count, self._q0, self._v0, *self._arguments)

    def answer(self) -> np.ndarray:
        return self._arguments[6].copy()
