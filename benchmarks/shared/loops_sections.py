"""What ``loops.py`` measures besides CPU time at equal error."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass

import numba
import numpy as np

import linkwork as lw
from linkwork.engines.constraint_report import ConstraintAccuracy
from linkwork.engines.impulse.constraint_kernels import apply_impulses
from linkwork.engines.impulse.delassus_kernels import solve_blocks
from linkwork.engines.impulse.lookahead_kernels import predict_errors
from linkwork.model.parts import find_kits
from shared import loops_mujoco, loops_ours
from shared.linkages import CASES, Linkage, Motion, chain


@dataclass
class Kept:
    """Gaps of joints and deviations of energy during a run.

    Attributes:
        times: Times of the samples [s].
        gaps: Largest gap of any joint at each sample [m].
        drifts: Deviation of energy at each sample, as a part of the largest kinetic energy.
        ended: Whether the run reached its end.
        drift: Difference of mean energy between the last and the first tenth of the run, as a part
            of the largest kinetic energy.
    """

    times: np.ndarray
    gaps: np.ndarray
    drifts: np.ndarray
    ended: bool
    drift: float

    @property
    def gap(self) -> float:
        """Largest gap [m]."""
        return float(self.gaps.max(initial=0.0))

    @property
    def swing(self) -> float:
        """Largest deviation of energy."""
        return float(self.drifts.max(initial=0.0))


def kept(linkage: Linkage, trace: list[Motion], seconds: float, scale: float) -> Kept:
    """Gaps [m] and deviations of energy as parts of ``scale`` [J], every 10 ms."""
    energy = linkage.start().energy(linkage)
    gaps = np.array([motion.gap(linkage) for motion in trace])
    off = np.array([(motion.energy(linkage) - energy) / scale for motion in trace])
    times = 0.01 * np.arange(1, len(trace) + 1)
    tenth = max(1, len(off) // 10)
    drift = abs(float(off[-tenth:].mean() - off[:tenth].mean())) if len(off) else math.inf
    return Kept(times, gaps, np.abs(off), len(trace) >= round(seconds / 0.01), drift)


def energy_scale(case: str, seconds: float) -> float:
    """The largest kinetic energy of a run [J]."""
    linkage = CASES[case]()
    trace = loops_ours.Engine(linkage).trace("default", 1e-3, seconds)
    return max(motion.kinetic(linkage) for motion in trace)


def step_costs(counts: list[int], rounds: int, order: int) -> dict[int, tuple[float, float]]:
    """CPU time of a step of 1 ms for chains of ``counts`` hinges [µs]: ours and MuJoCo's RK4."""
    pairs = {}
    for count in counts:
        linkage = chain(count, value=2.0 / count)
        pairs[count] = loops_ours.Engine(linkage), loops_mujoco.Engine(linkage)
    times: dict[int, tuple[list[float], list[float]]] = {count: ([], []) for count in counts}
    for _ in range(rounds + 1):
        for count, (ours, theirs) in pairs.items():
            steps = max(20, 4000 // count)
            spent, _ = ours.advance(order, 1e-3, loops_ours.GAP, steps)
            times[count][0].append(1e6 * spent / steps)
            theirs.begin("RK4, default", 1e-3)
            steps = max(5, 1000 // count)
            times[count][1].append(1e6 * theirs.spend(steps) / steps)
    median = statistics.median
    return {count: (median(a[1:]), median(b[1:])) for count, (a, b) in times.items()}


@numba.njit
def _predictions(count, mechanism, pattern, workspace, scratch, row_ints, row_reals, h, gap, stats):
    joints, blocks, error, pivot = mechanism[1], workspace[3], workspace[6], workspace[9]
    for _ in range(count):
        predict_errors(mechanism, workspace, scratch, row_ints, row_reals, h, gap, stats)
        solve_blocks(joints, blocks, pattern[0], pattern[1], pivot, error)
        error[:] *= -1.0 / h
        apply_impulses(mechanism, workspace, error)


def prediction_rate(linkage: Linkage, rounds: int) -> float:
    """Joints that are predicted, solved and corrected in one second of CPU time [1/s]."""
    made = loops_ours.Engine(linkage)
    made.advance(2, 1e-3, loops_ours.GAP, 20)
    engine, own = made.engine, made.engine.stepper
    joints = len(engine.mechanism.joint_ints)
    arguments = (
        own.mechanism_arrays, own.pattern, own.workspace, own.scratch, engine.mechanism.row_ints,
        engine.mechanism.row_reals, 1e-3, loops_ours.GAP, own.stats,
    )  # fmt: skip
    count = max(10, 40_000 // joints)
    rates = []
    _predictions(2, *arguments)
    for _ in range(rounds):
        started = time.process_time()
        _predictions(count, *arguments)
        rates.append(count * joints / (time.process_time() - started))
    return statistics.median(rates)


def session_cost(case: str, rounds: int) -> tuple[float, float]:
    """CPU time of a step of a whole session, and of the engine's step alone [µs]."""
    made = loops_ours.Engine(CASES[case]())
    session = loops_ours.session_of(CASES[case]())
    session.step(200)
    whole, alone = [], []
    for _ in range(rounds):
        started = time.process_time()
        session.step(500)
        whole.append((time.process_time() - started) / 500 * 1e6)
        alone.append(made.advance(4, 1e-3, loops_ours.GAP, 500)[0] / 500 * 1e6)
    return statistics.median(whole), statistics.median(alone)


def gallery_gaps(seconds: float) -> dict[str, ConstraintAccuracy]:
    """The engine's account of every mechanism of the kit after ``seconds`` of simulated time."""
    found = {}
    for name in find_kits()["mechanisms"].scenes():
        with lw.Session(name) as session:
            session.run(seconds)
            (found[name],) = (a for a in session.report().accounts if a.engine == "impulse")
    return found
