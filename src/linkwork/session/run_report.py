"""Report of a run."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.engines.constraint_report import ConstraintAccuracy
from linkwork.engines.limit_report import LimitFinding
from linkwork.session.cycle import Cycle
from linkwork.session.kernels import (
    RUN_FIRST_ENERGY,
    RUN_GAP,
    RUN_GAP_STEP,
    RUN_LOOP,
    RUN_MAX_ENERGY,
    RUN_MIN_ENERGY,
    RUN_STEPS,
)


@dataclass(frozen=True)
class RunReport:
    """Statistics of a run, from its start or last edit until now.

    Attributes:
        steps: Number of steps.
        gap: Largest gap of a loop after any step [m].
        loop: Name of the loop with that gap; empty if there was no gap.
        time: Time of that gap [s].
        energy: Energy after the first step and now [J].
        drift: Largest deviation of the energy from its first value [J].
        accounts: Accuracy reports of engines that enforce joints exactly.
        step: Time step [s].
        loops: Number of loops.
        limits: Limits that prescribed motions exceeded.
    """

    steps: int
    gap: float
    loop: str
    time: float
    energy: tuple[float, float]
    drift: float
    accounts: tuple[ConstraintAccuracy, ...]
    step: float
    loops: int
    limits: tuple[LimitFinding, ...] = ()

    def lines(self) -> list[str]:
        """The report in sentences."""
        found = []
        if self.loops:
            where = f", of {self.loop} at {self.time:.3f} s" if self.loop else ""
            found.append(f"Largest loop gap {self.gap:.2e} m{where}.")
        first, last = self.energy
        if first or last:  # zero for an engine without forces
            found.append(
                f"Energy {first:.4g} J after the first step, {self.drift:.2g} J from it at most, "
                f"{last:.4g} J at the end."
            )
        for account in self.accounts:
            found += account.lines(self.step)
        return found + [limit.line() for limit in self.limits]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def run_report(cycle: Cycle) -> RunReport:
    """The report of all steps up to now."""
    run, world = cycle.state["report/run"], cycle.world
    first = float(run[RUN_FIRST_ENERGY])
    found = [engine.accuracy() for engine in cycle.engines]
    return RunReport(
        steps=int(run[RUN_STEPS]),
        gap=float(run[RUN_GAP]),
        loop=world.loop_names[int(run[RUN_LOOP])] if run[RUN_GAP] > 0.0 else "",
        time=float(run[RUN_GAP_STEP]) * cycle.h,
        energy=(first, float(cycle.state.report.energy.sum())),
        drift=max(float(run[RUN_MAX_ENERGY]) - first, first - float(run[RUN_MIN_ENERGY])),
        accounts=tuple(account for account in found if account is not None),
        step=cycle.h,
        loops=len(world.loop_names),
        limits=tuple(limit for engine in cycle.engines for limit in engine.limits()),
    )
