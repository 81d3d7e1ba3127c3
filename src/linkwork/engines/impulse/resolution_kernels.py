"""Highest frequency of springs: whether a step resolves their oscillation.

Springs and weakly damped drives are rows with a stiffness k. The angular frequencies ω of a
mechanism on its springs are the square roots of the eigenvalues of √k S √k, where S are the
mobilities along the rows with all joints closed. A step of h resolves them if h ω is small.
"""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.engines.impulse.body_kernels import LO, VO, L, V
from linkwork.engines.impulse.constraint_kernels import (
    apply_impulses,
    assemble_constraints,
    factor_constraints,
)
from linkwork.engines.impulse.delassus_kernels import solve_blocks
from linkwork.engines.impulse.joint_kernels import constraint_velocity

#: Iterations for the largest eigenvalue, and the factor that covers what they miss.
_POWER_ITERATIONS, _MARGIN = 6, 1.15
#: Energy that extrapolated steps add to an oscillation: at most this times (h ω)⁶ a step.
_GROWTH = 4e-3


@flat_kernel
def _stiffness(row, row_mode, drive):
    """Returns stiffness and damping of a row; 0 if it has no spring at present."""
    if row_mode == law.PRESCRIBED or row[law.STOP] != 0.0:
        return 0.0, 0.0
    kp, kd = row[law.STIFFNESS], row[law.DAMPING]
    if row[law.DRIVE] == 0.0:
        kp, kd = kp + drive[1], kd + drive[2]
    return kp, kd


@flat_kernel
def mark_springs(workspace, row_ints, row_reals, drive, h):
    """Marks weakly damped springs by √k in PROBE, all others by 0.

    Returns an upper bound of (h ω)², the row that contributes most to it, and whether a spring has
    so little damping that extrapolated steps would let its energy grow.
    """
    _, _, delassus, _, _, _, _, _, _, _ = workspace
    total = most = 0.0
    worst, undamped = -1, False
    for n in range(row_reals.shape[0]):
        row = row_reals[n]
        row[law.PROBE] = row[law.MIDPOINT] = 0.0
        kp, kd = _stiffness(row, row_ints[n, law.ROW_MODE], drive[:, row_ints[n, law.DOF]])
        at, k = row_ints[n, law.JOINT], row_ints[n, law.ROW]
        mobility = delassus[at, k, k]
        mobility /= 1.0 + row[law.ROTOR] * mobility
        if kp <= 0.0 or kd * kd * mobility > kp:  # damped by more than half of the critical value
            continue
        row[law.PROBE] = math.sqrt(kp)
        ratio = h * h * kp * mobility
        total += ratio
        if ratio > most:
            most, worst = ratio, n
        if h * kd * mobility < _GROWTH * min(ratio, 1.0) ** 3:
            undamped = True
    return total, worst, undamped


@inner_kernel
def _velocities_of_impulses(mechanism, pattern, workspace, row_ints, row_reals, six):
    """Applies the impulses √k u, with all joints closed; sets u to √k times the velocities.

    ``u`` is in the column ALPHA. Returns the squared length of the new ``u``.
    """
    bodies, joint_ints, _, _ = mechanism
    columns, row_of, _, _, _ = pattern
    jacobian, _, _, factor, _, diagonal, error, _, _, pivot = workspace
    for n in range(bodies.shape[0]):
        for i in range(3):
            bodies[n, V + i] = bodies[n, L + i] = 0.0
    error[:, :] = 0.0
    for n in range(row_reals.shape[0]):
        error[row_ints[n, law.JOINT], row_ints[n, law.ROW]] = (
            row_reals[n, law.PROBE] * row_reals[n, law.ALPHA]
        )
    apply_impulses(mechanism, workspace, error)
    for n in range(joint_ints.shape[0]):
        constraint_velocity(bodies, joint_ints, jacobian, n, error, n)
    for n in range(row_reals.shape[0]):
        at, k = row_ints[n, law.JOINT], row_ints[n, law.ROW]
        if diagonal[at, k] >= law.FREE_COMPLIANCE:
            error[at, k] = 0.0
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            error[n, k] = -error[n, k]
    solve_blocks(joint_ints, factor, columns, row_of, pivot, error)
    apply_impulses(mechanism, workspace, error)
    square, last = 0.0, -1
    for n in range(row_reals.shape[0]):
        at = row_ints[n, law.JOINT]
        if at != last:
            constraint_velocity(bodies, joint_ints, jacobian, at, six, 0)
            last = at
        row_reals[n, law.ALPHA] = row_reals[n, law.PROBE] * six[0, row_ints[n, law.ROW]]
        square += row_reals[n, law.ALPHA] ** 2
    return square


@inner_kernel
def highest_frequency(mechanism, pattern, workspace, scratch, row_ints, row_reals, stats):
    """Returns ω² of the fastest oscillation on marked springs, and the row that moves most in it.

    ``workspace`` holds the rows and K of the present pose. Velocities are unchanged.
    """
    bodies, _, _, _ = mechanism
    _, _, _, _, _, diagonal, _, _, _, _ = workspace
    _, _, _, six = scratch
    for n in range(row_reals.shape[0]):
        row = row_reals[n]
        compliance = 1.0 / row[law.ROTOR] if row[law.ROTOR] > 0.0 else law.FREE_COMPLIANCE
        if row_ints[n, law.ROW_MODE] == law.PRESCRIBED or row[law.STOP] != 0.0:
            compliance = 0.0
        diagonal[row_ints[n, law.JOINT], row_ints[n, law.ROW]] = compliance
        # a start without symmetry, so that no oscillation is orthogonal to it
        row[law.ALPHA] = 0.5 + (0.618033988749895 * (n + 1)) % 1.0
    factor_constraints(mechanism, pattern, workspace, stats)
    for n in range(bodies.shape[0]):
        for i in range(3):
            bodies[n, VO + i], bodies[n, LO + i] = bodies[n, V + i], bodies[n, L + i]
    square = 0.0
    for _ in range(_POWER_ITERATIONS):
        length = 0.0
        for n in range(row_reals.shape[0]):
            if row_reals[n, law.PROBE] == 0.0:
                row_reals[n, law.ALPHA] = 0.0
            length += row_reals[n, law.ALPHA] ** 2
        if length == 0.0:
            break
        for n in range(row_reals.shape[0]):
            row_reals[n, law.ALPHA] /= math.sqrt(length)
        square = math.sqrt(
            _velocities_of_impulses(mechanism, pattern, workspace, row_ints, row_reals, six)
        )
    for n in range(bodies.shape[0]):
        for i in range(3):
            bodies[n, V + i], bodies[n, L + i] = bodies[n, VO + i], bodies[n, LO + i]
    worst, most = -1, 0.0
    for n in range(row_reals.shape[0]):
        if abs(row_reals[n, law.ALPHA]) > most:
            worst, most = n, abs(row_reals[n, law.ALPHA])
    return _MARGIN * square, worst


@flat_kernel
def step_resolution(
    mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, h, fresh, exact_above, stats
):  # fmt: skip
    """Returns (h ω)² of the fastest weakly damped oscillation on springs, its row, flag and bound.

    The flag tells whether a spring is undamped, the bound is an upper one of (h ω)² in any pose
    near. Where it is below ``exact_above`` it is returned for (h ω)² too. ``fresh`` if
    ``workspace`` holds the rows and K of the present pose; afterwards it does.
    """
    if not fresh:
        assemble_constraints(mechanism, pattern, workspace, scratch)
        factor_constraints(mechanism, pattern, workspace, stats)
    bound, worst, undamped = mark_springs(workspace, row_ints, row_reals, drive, h)
    if bound <= exact_above:
        return bound, worst, undamped, bound
    square, moves = highest_frequency(
        mechanism, pattern, workspace, scratch, row_ints, row_reals, stats
    )
    return min(h * h * square, bound), moves, undamped, bound


@flat_kernel
def use_midpoint_rule(row_reals, used):
    """Makes the marked springs follow the midpoint rule, which keeps their energy, or not."""
    for n in range(row_reals.shape[0]):
        row_reals[n, law.MIDPOINT] = 1.0 if used and row_reals[n, law.PROBE] > 0.0 else 0.0
