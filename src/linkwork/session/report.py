"""Report of a run: how far loops were open, where and when, what became of the energy."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.engines.account import Account
from linkwork.session.cycle import Cycle
from linkwork.session.kernels import FIRST, GAP, LEAST, LOOP, MOST, STEPS, WHEN


@dataclass(frozen=True)
class RunReport:
    """How a run went, from its start or last edit until now.

    Attributes:
        steps: Steps done.
        gap: Largest distance by which a loop was open after any step [m].
        loop: Name of the loop that had it; empty if none was open.
        time: When [s].
        energy: Energy after the first step and now [J].
        drift: Largest distance of the energy from its first value [J].
        accounts: How well engines that hold joints exactly have held them.
        step: Time step [s].
        loops: How many loops there are.
    """

    steps: int
    gap: float
    loop: str
    time: float
    energy: tuple[float, float]
    drift: float
    accounts: tuple[Account, ...]
    step: float
    loops: int

    def lines(self) -> list[str]:
        """The report in sentences."""
        found = []
        if self.loops:
            where = f", of {self.loop} at {self.time:.3f} s" if self.loop else ""
            found.append(f"Largest loop gap {self.gap:.2e} m{where}.")
        first, last = self.energy
        if first or last:  # an engine without forces has none to tell
            found.append(
                f"Energy {first:.4g} J after the first step, {self.drift:.2g} J from it at most, "
                f"{last:.4g} J at the end."
            )
        for account in self.accounts:
            found += account.lines(self.step)
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())


def run_report(cycle: Cycle) -> RunReport:
    """The report of all steps up to now."""
    run, world = cycle.state["report/run"], cycle.world
    first = float(run[FIRST])
    found = [engine.account() for engine in cycle.engines]
    return RunReport(
        steps=int(run[STEPS]),
        gap=float(run[GAP]),
        loop=world.loop_names[int(run[LOOP])] if run[GAP] > 0.0 else "",
        time=float(run[WHEN]) * cycle.h,
        energy=(first, float(cycle.state.report.energy.sum())),
        drift=max(float(run[MOST]) - first, first - float(run[LEAST])),
        accounts=tuple(account for account in found if account is not None),
        step=cycle.h,
        loops=len(world.loop_names),
    )
