"""Springs in a step: the substeps that resolve them, the order, and their energy balance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from linkwork.engines.impulse import constraint_kernels as phases
from linkwork.engines.impulse.energy_kernels import (
    add_spring_motion,
    island_energies,
    limit_island_energies,
)
from linkwork.engines.impulse.joint_law_kernels import (
    DOF,
    JOINT,
    LAW,
    MIDPOINT,
    ROW_MODE,
    STIFFNESS,
)
from linkwork.engines.impulse.mechanism import Mechanism, islands_of_bodies
from linkwork.engines.impulse.resolution_kernels import step_resolution, use_midpoint_rule

if TYPE_CHECKING:
    from linkwork.engines.impulse.stepper import ImpulseParams

#: Largest relative energy change of a step with ideal joints; larger for order 2, whose energy
#: oscillates.
MAX_ENERGY_DRIFT, MAX_ENERGY_DRIFT_ORDER_2 = 2e-4, 4e-3
#: Largest relative energy that an island with springs may seem to gain with order 2, whose energy
#: oscillates; with higher orders nothing.
_MAX_ENERGY_GAIN_ORDER_2 = 2.5e-3
#: Largest relative energy lost in resolved steps that may return.
_MAX_RETURNED = 1e-2
#: Largest h ω at which an oscillation on springs is resolved: 16 steps a period.
_RESOLVED = 2.0 * math.pi / 16.0
#: Largest h ω of extrapolated steps by order: undamped oscillations then gain less than 0.2 % of
#: energy in a minute at 1 kHz. Oscillations with damping never grow up to the second value.
_EXTRAPOLATED, _EXTRAPOLATED_DAMPED = {2: math.inf, 4: 0.12, 5: math.inf, 6: 0.3}, 1.0
#: Largest h ω of springs whose steps need no energy balance.
_SOFT = 0.03
#: Maximum number of substeps that resolve springs; above it the order is reduced to 2.
_MAX_SUBSTEPS = 8


class SpringResolution:
    """Decides how steps treat the springs of a mechanism.

    Args:
        mechanism: The mechanism.
        params: Parameters of the engine.
        arrays: The kernel tuples mechanism, pattern, workspace and scratch.
        finest: Number of the finest substeps of an extrapolated step.

    Attributes:
        active: Whether the mechanism has springs at present, or drives with a stiffness.
        islands: Islands of bodies, with arrays of their energies, see ``energy_kernels``.
    """

    def __init__(
        self, mechanism: Mechanism, params: ImpulseParams, arrays: tuple, finest: int
    ) -> None:  # fmt: skip
        self._mechanism, self._arrays, self._finest = mechanism, arrays, finest
        self._sequential = params.solver == "anytime"
        self._extrapolated = _EXTRAPOLATED[2 if self._sequential else params.order]
        laws = mechanism.row_ints[: mechanism.laws]
        self._law_dofs = laws[laws[:, ROW_MODE] == LAW, DOF].tolist()
        self._always = bool(len(mechanism.springs) or mechanism.row_reals[:, STIFFNESS].any())
        self.active = False
        # h ω of the fastest oscillation, its row, whether a spring is undamped, bound of h ω
        self._found = 0.0, -1, False, 0.0
        island_of = islands_of_bodies(mechanism)
        self._count = int(island_of.max(initial=0)) + 1
        self.islands = (island_of, *(np.zeros(self._count) for _ in range(5)))

    def slots(self) -> dict[str, tuple[int, ...]]:
        """Returns the slots of the state: number of substeps, gains of energy of each island."""
        return {"int:spring_substeps": (1,), "energy_gain": (2, self._count)}

    def bind(self, memory: dict[str, np.ndarray], drive: np.ndarray) -> None:
        """Binds the slots of the state, and the affine efforts of drives."""
        self._substeps, self._drive = memory["int:spring_substeps"], drive
        self.islands = (*self.islands[:4], *memory["energy_gain"])

    def reset(self) -> None:
        """Resets to the start of a run."""
        self.islands[4][:] = self.islands[5][:] = 0.0

    def plan(self, h: float, fresh: bool, stats: np.ndarray) -> tuple[int, bool]:
        """Returns the number of substeps, and whether it is that of the last step.

        It is 1 if a step resolves springs, or if too many substeps would be needed: then the order
        is reduced. If :attr:`active` then, rows and K are those of the present pose.
        """
        springs, count = self._always or self._is_driven_by_position(), 1
        if springs:
            self.measure(h, fresh, stats)
            ratio, row, undamped, bound = self._found
            least = ratio / self._largest_ratio(undamped)
            count = max(1, math.ceil(least)) if least <= _MAX_SUBSTEPS else 1
            self._found = ratio / count, row, undamped, bound / count
        elif self.active:
            self._mechanism.row_reals[:, MIDPOINT] = 0.0
        self.active = springs
        same = bool(count == self._substeps[0])
        self._substeps[0] = count
        return count, same

    def _is_driven_by_position(self) -> bool:
        """Returns whether a drive has a stiffness at present."""
        kp = self._drive[1]
        if len(self._law_dofs) > 4:
            return bool(kp[self._law_dofs].any())
        return any(kp[d] for d in self._law_dofs)  # faster than numpy for few

    def _largest_ratio(self, undamped: bool) -> float:
        """Returns the largest h ω of extrapolated steps."""
        return self._extrapolated if undamped else max(self._extrapolated, _EXTRAPOLATED_DAMPED)

    def measure(self, h: float, fresh: bool, stats: np.ndarray) -> None:
        """Finds the fastest oscillation on springs for a step of ``h``.

        ``fresh`` if rows and K are those of the present pose; afterwards they are.
        """
        mechanism = self._mechanism
        least = min(self._extrapolated, _RESOLVED) ** 2
        square, row, undamped, bound = step_resolution(
            *self._arrays, mechanism.row_ints, mechanism.row_reals, self._drive, h,
            fresh and not self._sequential, least, stats,
        )  # fmt: skip
        self._found = math.sqrt(square), int(row), bool(undamped), math.sqrt(bound)

    def choose(self, h: float, stats: np.ndarray) -> tuple[bool, bool]:
        """Returns whether a step of ``h`` has order 2, and whether it does not resolve springs."""
        ratio, row, undamped, _ = self._found
        reduced = ratio > 1.001 * self._largest_ratio(undamped)
        finest = self._finest if reduced else 1
        unresolved = ratio > _RESOLVED * finest and (reduced or self._finest == 1)
        use_midpoint_rule(self._mechanism.row_reals, not unresolved)
        if reduced or unresolved:
            stats[phases.FREQUENCY] = ratio / h
            stats[phases.SPRING_JOINT] = self._mechanism.row_ints[row, JOINT]
            stats[phases.REDUCED] += reduced
            stats[phases.UNRESOLVED] += unresolved
        return reduced, unresolved

    @property
    def balanced(self) -> bool:
        """Whether the energy of steps is balanced; the anytime solver does so itself."""
        return self.active and not self._sequential and self._found[3] >= _SOFT

    def begin(self) -> None:
        """Computes the energies of islands at the start of a step."""
        mechanism, _, workspace, scratch = self._arrays
        island_of, before, kinetic, *_ = self.islands
        rows = self._mechanism.row_ints, self._mechanism.row_reals
        island_energies(mechanism, workspace, scratch, *rows, island_of, True, kinetic, before)

    def end(
        self, wrench: np.ndarray, h: float, share: float, last: bool, order_2: bool,
        unresolved: bool, stats: np.ndarray,
    ) -> bool:  # fmt: skip
        """Removes energy that islands gained in a step; returns whether the step is fine enough.

        ``share`` of the allowed change is that of this step; the ``last`` subdivision is accepted.
        """
        coarse = share * (MAX_ENERGY_DRIFT_ORDER_2 if order_2 else MAX_ENERGY_DRIFT)
        allowed, most = _MAX_ENERGY_GAIN_ORDER_2 if order_2 else 0.0, 0.1
        returned = _MAX_RETURNED
        if unresolved:
            allowed, returned, coarse, most = 0.0, 0.0, 0.999, 1.0
        if last:
            coarse, most = math.inf, 1.0
        mechanism, _, workspace, scratch = self._arrays
        row_reals = self._mechanism.row_reals
        found = limit_island_energies(
            mechanism, workspace, scratch, self._mechanism.row_ints, row_reals, self._drive, wrench,
            self.islands, h, allowed, returned, coarse, most,
        )  # fmt: skip
        if found:
            self.note_removed(stats)
        if found and unresolved:
            self.note_motion(stats)
        return bool(found)

    def note_removed(self, stats: np.ndarray) -> None:
        """Adds the energy that was removed after a step to the statistics."""
        _, slower, kinetic, _, _, scale = self.islands
        stats[phases.REMOVED_ENERGY] += float(kinetic @ (1.0 - slower * slower))
        stats[phases.ENERGY_SCALE] = float(scale.sum())

    def note_motion(self, stats: np.ndarray) -> None:
        """Adds the motion of springs in a step that does not resolve them to the statistics."""
        add_spring_motion(self._mechanism.row_reals, stats)
