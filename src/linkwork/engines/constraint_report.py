"""Constraint report of an engine: accuracy since the start, mobility of loops."""

from __future__ import annotations

import math
from dataclasses import dataclass

from linkwork.core.errors import listing

#: Roughness above which a step is called coarse, and the goal of a better step; with force laws,
#: jumping targets and limits are rough at any step.
_COARSE, _FINE, _COARSE_DRIVEN = 5e-4, 1e-4, 5e-2
#: Steps a period that resolve an oscillation on springs, and the share of their energy that springs
#: exchange in a step above which they oscillate rather than hold a load.
_STEPS_A_PERIOD, _OSCILLATES = 16.0, 1e-3
#: Share of the energy above which removed energy is reported.
_NOTICED = 1e-3
#: Share of subdivided steps above which the step is called coarse.
_MAX_SUBSTEPPED_SHARE = 0.05


@dataclass(frozen=True)
class ConstraintAccuracy:
    """Constraint errors of an engine since the start.

    Attributes:
        engine: Type of the engine.
        steps: Number of steps.
        gap: Largest gap of a joint or loop after any step [m or rad].
        joint: Name of that joint or loop.
        step: That step.
        speed_gap: Largest velocity of a gap after any step [m/s or rad/s].
        allowed: Allowed gap and velocity.
        iterations: Iterations over all joints (or corrections of single ones, if sequential).
        halved: Number of subdivided steps.
        substeps: Number of their substeps.
        exceeded: Steps after which a gap or velocity was larger than allowed.
        alone: Whether joints are corrected one by one.
        rough: Relative velocity difference of the extrapolated steps, in the mean of energies; 0
            without extrapolation.
        smooth: Whether joints are ideal, without force laws: ``rough`` then decreases with the cube
            of the step.
        reduced: Steps whose order was reduced to 2, since they do not resolve springs.
        unresolved: Steps with fewer than 16 steps a period of the fastest oscillation on springs,
            which is damped then.
        spring: Joint or spring of the fastest such oscillation.
        frequency: Its frequency [Hz].
        oscillation: Share of the energy of unresolved springs that changes in a step.
        stopped: Steps in which the anytime solver stopped a mechanism, as it had not converged.
        direct: Steps of the anytime solver in which a driven mechanism was solved directly instead.
        removed: Energy that steps had added without a cause and that was removed, and the largest
            energy of motion and springs [J].
        resolving: Steps that were taken in substeps to resolve springs, and their substeps.
    """

    engine: str
    steps: int
    gap: float
    joint: str
    step: int
    speed_gap: float
    allowed: tuple[float, float]
    iterations: int
    halved: int
    substeps: int
    exceeded: int
    alone: bool
    rough: float = 0.0
    smooth: bool = False
    reduced: int = 0
    unresolved: int = 0
    spring: str = ""
    frequency: float = 0.0
    oscillation: float = 0.0
    stopped: int = 0
    direct: int = 0
    resolving: tuple[int, int] = (0, 0)
    removed: tuple[float, float] = (0.0, 0.0)

    def hint(self, h: float) -> str:
        """Returns advice if the step is coarse for the motion, or an empty string."""
        if self.unresolved and self.oscillation > _OSCILLATES:
            better = 1.0 / (_STEPS_A_PERIOD * self.frequency)
            why = f"{self.spring} oscillates at {self.frequency:.3g} Hz, which is damped"
        elif self.rough > (_COARSE if self.smooth else _COARSE_DRIVEN):
            better = h * math.cbrt(_FINE / self.rough) if self.smooth else 0.5 * h
            why = f"the extrapolated steps differ by {100 * self.rough:.2g} % in velocity"
        elif self.halved > _MAX_SUBSTEPPED_SHARE * self.steps:
            better = h * self.halved / self.substeps
            why = f"{self.halved} of {self.steps} were subdivided"
        else:
            return ""
        return f"Steps of {1e3 * h:g} ms are coarse for this motion: {why}. Try {_round(better)}."

    def lines(self, h: float) -> list[str]:
        """Returns the report as text; ``h`` is the time step [s]."""
        if not self.steps:
            return []
        where = f" ({self.joint}, at {self.step * h:.3f} s)" if self.joint else ""
        each = "corrections of single joints" if self.alone else "iterations"
        halves = ""
        if self.halved:
            were = "1 step was" if self.halved == 1 else f"{self.halved} steps were"
            halves = f"; {were} taken in {self.substeps} substeps"
        found = [
            f"Largest gap of all joints {self.gap:.1e}{where}, opening at most "
            f"{self.speed_gap:.1e} per s [m or rad].",
            f"{self.iterations / self.steps:.2f} {each} a step{halves}.",
        ]
        if self.exceeded:
            gap, speed = self.allowed
            found.append(
                f"After {self.exceeded} of {self.steps} steps a joint was open by more than "
                f"{gap:g}, or opening faster than {speed:g}."
            )
        if self.resolving[0]:
            count, substeps = self.resolving
            found.append(f"{count} steps were taken in {substeps} substeps that resolve springs.")
        if self.unresolved:
            found.append(
                f"{self.unresolved} of {self.steps} steps do not resolve {self.spring} "
                f"({self.frequency:.3g} Hz), which is damped."
            )
        if self.reduced:
            found.append(f"{self.reduced} of {self.steps} steps have order 2 because of springs.")
        removed, largest = self.removed
        if removed > _NOTICED * largest:
            found.append(
                f"{removed:.3g} J of up to {largest:.3g} J were removed, since steps had added "
                "them without a cause: smaller steps lose less."
            )
        if self.direct:
            found.append(
                f"{self.direct} of {self.steps} steps were solved directly, since sweeps were too "
                "few for a driven mechanism."
            )
        if self.stopped:
            found.append(
                f"In {self.stopped} of {self.steps} steps a mechanism was stopped, since sweeps "
                "were too few for its motion: raise max_iterations, or use the direct solver."
            )
        if hint := self.hint(h):
            found.append(hint)
        return found


def _round(h: float) -> str:
    """Returns the largest step of 1, 2 or 5 times a power of ten up to ``h``, as text."""
    power = 10.0 ** math.floor(math.log10(1.000001 * h))
    return f"{1e3 * max(k * power for k in (1, 2, 5) if k * power <= 1.000001 * h):g} ms"


@dataclass(frozen=True)
class LoopMobility:
    """Mobility of a mechanism with loops.

    Attributes:
        loops: Names of its loops.
        bodies: Number of moving bodies.
        rows: Number of constraints of its joints, loops and couplings.
        dof: Degrees of freedom at the present pose: 6 per body minus the rank of J.
    """

    loops: tuple[str, ...]
    bodies: int
    rows: int
    dof: int

    @property
    def counted(self) -> int:
        """Grübler's count, which assumes independent constraints."""
        return 6 * self.bodies - self.rows

    def line(self) -> str:
        """Returns the report as text."""
        left = f"mobility {self.dof}, with {self.bodies} moving bodies and {self.rows} constraints"
        if self.counted != self.dof:
            twice = self.dof - self.counted
            left += f" (Grübler counts {self.counted}: {twice} of them are redundant)"
        return f"{listing(self.loops, most=3)}: {left}."
