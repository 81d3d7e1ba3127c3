"""What the loops' benchmark measures besides cost at equal error."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass

import numba
import numpy as np

import linkwork as lw
from linkwork.engines.account import Account
from linkwork.engines.impulse.look_kernels import look
from linkwork.engines.impulse.phase_kernels import push_all
from linkwork.engines.impulse.solve_kernels import solve
from linkwork.parts import find_kits
from shared import loops_mujoco, loops_ours
from shared.linkages import CASES, Linkage, Motion, chain


@dataclass
class Kept:
    """How well a run kept joints closed and energy: over time, and the worst."""

    times: np.ndarray
    gaps: np.ndarray
    drifts: np.ndarray
    ended: bool
    drift: float

    @property
    def gap(self) -> float:
        return float(self.gaps.max(initial=0.0))

    @property
    def swing(self) -> float:
        return float(self.drifts.max(initial=0.0))


def kept(linkage: Linkage, trace: list[Motion], seconds: float, scale: float) -> Kept:
    """Gaps [m] and energy deviations as parts of ``scale`` [J], every 10 ms.

    Drift is how far the mean of the last tenth is from that of the first; what comes and goes
    between is the swing.
    """
    energy = linkage.start().energy(linkage)
    gaps = np.array([motion.gap(linkage) for motion in trace])
    off = np.array([(motion.energy(linkage) - energy) / scale for motion in trace])
    times = 0.01 * np.arange(1, len(trace) + 1)
    tenth = max(1, len(off) // 10)
    drift = abs(float(off[-tenth:].mean() - off[:tenth].mean())) if len(off) else math.inf
    return Kept(times, gaps, np.abs(off), len(trace) >= round(seconds / 0.01), drift)


def energy_scale(case: str, seconds: float) -> float:
    """The largest kinetic energy on the way [J]; what comes and goes, and drift is a part of."""
    linkage = CASES[case]()
    trace = loops_ours.Engine(linkage).trace("default", 1e-3, seconds)
    return max(motion.kinetic(linkage) for motion in trace)


def step_costs(counts: list[int], rounds: int, order: int) -> dict[int, tuple[float, float]]:
    """CPU time of a step of 1 ms for chains of so many hinges [µs]: ours, MuJoCo's RK4."""
    pairs = {}
    for count in counts:
        linkage = chain(count, value=2.0 / count)
        pairs[count] = loops_ours.Engine(linkage), loops_mujoco.Engine(linkage)
    times: dict[int, tuple[list[float], list[float]]] = {count: ([], []) for count in counts}
    for _ in range(rounds + 1):
        for count, (ours, theirs) in pairs.items():
            steps = max(20, 4000 // count)
            spent, _ = ours.leap(order, 1e-3, loops_ours.GAP, steps)
            times[count][0].append(1e6 * spent / steps)
            theirs.begin("RK4, default", 1e-3)
            steps = max(5, 1000 // count)
            times[count][1].append(1e6 * theirs.spend(steps) / steps)
    median = statistics.median
    return {count: (median(a[1:]), median(b[1:])) for count, (a, b) in times.items()}


@numba.njit
def _looks(count, mechanism, pattern, desk, scratch, soft_whole, soft, h, gap, account):
    whole, blocks, error, pivot = mechanism[1], desk[3], desk[6], desk[9]
    for _ in range(count):
        look(mechanism, desk, scratch, soft_whole, soft, h, gap, account)
        solve(whole, blocks, pattern[0], pattern[1], pivot, error)
        error[:] *= -1.0 / h
        push_all(mechanism, desk, error)


def look_rate(linkage: Linkage, rounds: int) -> float:
    """Joints that are looked ahead, solved for and corrected, in a second of CPU time."""
    made = loops_ours.Engine(linkage)
    made.leap(2, 1e-3, loops_ours.GAP, 20)
    engine, own = made.engine, made.engine.stepper
    joints = len(engine.made.whole)
    arguments = (
        own.mechanism, own.pattern, own.desk, own.scratch, engine.made.soft_whole,
        engine.made.soft, 1e-3, loops_ours.GAP, own.account,
    )  # fmt: skip
    count = max(10, 40_000 // joints)
    rates = []
    _looks(2, *arguments)
    for _ in range(rounds):
        started = time.process_time()
        _looks(count, *arguments)
        rates.append(count * joints / (time.process_time() - started))
    return statistics.median(rates)


def session_cost(case: str, rounds: int) -> tuple[float, float]:
    """CPU time of a step of a whole session and of the engine's step alone [µs]."""
    made = loops_ours.Engine(CASES[case]())
    session = loops_ours.session_of(CASES[case]())
    session.step(200)
    whole, alone = [], []
    for _ in range(rounds):
        started = time.process_time()
        session.step(500)
        whole.append((time.process_time() - started) / 500 * 1e6)
        alone.append(made.leap(4, 1e-3, loops_ours.GAP, 500)[0] / 500 * 1e6)
    return statistics.median(whole), statistics.median(alone)


def gallery_gaps(seconds: float) -> dict[str, Account]:
    """How well every mechanism of the kit is held over so many simulated seconds."""
    found = {}
    for name in find_kits()["mechanisms"].scenes():
        with lw.Session(name) as session:
            session.run(seconds)
            (found[name],) = (a for a in session.report().accounts if a.engine == "impulse")
    return found
