"""A step joint by joint, as document 000 has it: whenever time is up, there is a result."""

from __future__ import annotations

import math

from linkwork.engines.impulse import row_kernels as law
from linkwork.engines.impulse.body_kernels import MASS_INV, fly
from linkwork.engines.impulse.energy_kernels import calm, mark
from linkwork.engines.impulse.joint_columns import SIDES, SOFT_COUNT, SOFT_FIRST
from linkwork.engines.impulse.joint_kernels import push, speeds
from linkwork.engines.impulse.landing_kernels import arrive, lend
from linkwork.engines.impulse.look_kernels import begin_rows, give_constant, look, miss, tell_stops
from linkwork.engines.impulse.phase_kernels import (
    DONE,
    EVENTS,
    FACTORS,
    ITERATIONS,
    LOST,
    REDUNDANT,
    kick,
    lay_rows,
    push_all,
    set_diagonal,
    tell_gap,
)
from linkwork.engines.impulse.solve_kernels import factor_alone, factor_one, solve_alone
from linkwork.jit import flat_kernel, inner_kernel


@flat_kernel
def leap_anytime(
    mechanism, pattern, desk, scratch, soft_whole, soft, drive, wrench, h, gap, speed_gap, most,
    account,
):  # fmt: skip
    """One step joint by joint, as document 000 has it, with at most ``most`` rounds.

    Each joint in turn has its own gap after the step closed, whatever that does to others, until
    none is wide or time is up: the gap that is left then is in the account, and bodies that it made
    faster than all that acts explains are slowed down. What acts along a joint's rows is looked at
    in the same turn: once its law is solved, a stop that is passed then holds.
    """
    bodies, whole, _number, _rail = mechanism
    j, _y, _raw, blocks, _first, diagonal, error, impulse, _total, pivot = desk
    _frame, _ride, series, _six = scratch
    count = whole.shape[0]
    energy = mark(bodies)
    lay_rows(mechanism, pattern, desk, scratch)
    if soft.shape[0]:
        begin_rows(mechanism, desk, scratch, soft_whole, soft, drive, h)
    set_diagonal(desk, soft_whole, soft, h, False)
    _factor_alone(whole, desk, account)
    kick(bodies, wrench, 0.5 * h)
    impulse[:, :] = 0.0
    give_constant(soft_whole, soft, impulse)
    push_all(mechanism, desk, impulse)
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            fly(bodies[n], h, series)
    for _ in range(most):
        worst, held = 0.0, True
        for n in range(count):
            size = miss(mechanism, desk, scratch, soft_whole, soft, h, gap, n)
            if not math.isfinite(size):
                return LOST
            worst = max(worst, size)
            if size > gap:
                _correct(mechanism, desk, series, h, n, account)
            if whole[n, SOFT_COUNT] == 0:
                continue
            if size > gap:
                miss(mechanism, desk, scratch, soft_whole, soft, h, gap, n)
            if not _settle(mechanism, desk, series, soft_whole, soft, drive, h, gap, n):
                held = False
                account[EVENTS] += 1.0
                miss(mechanism, desk, scratch, soft_whole, soft, h, gap, n)
                _correct(mechanism, desk, series, h, n, account)
        if worst <= gap and held:
            break
    left = look(mechanism, desk, scratch, soft_whole, soft, h, gap, account)
    tell_gap(whole, error, account)
    tell_stops(soft_whole, soft, account)
    arrive(mechanism, pattern, desk, scratch, soft_whole, soft, drive, wrench, h)
    _factor_alone(whole, desk, account)
    for _ in range(most):
        worst = 0.0
        for n in range(count):
            speeds(bodies, whole, j, n, error, n)
            for m in range(whole[n, SOFT_FIRST], whole[n, SOFT_FIRST] + whole[n, SOFT_COUNT]):
                k, keeps = soft_whole[m, law.ROW], soft_whole[m, law.KEEPS]
                if diagonal[n, k] >= law.NEVER:
                    error[n, k] = 0.0
                else:
                    error[n, k] -= law.end_speed(soft[m], keeps, h)
                    error[n, k] += diagonal[n, k] * soft[m, law.GIVEN]
            for k in range(6):
                worst = max(worst, abs(error[n, k]))
                error[n, k] = -error[n, k]
            solve_alone(whole, blocks, pivot, error, n)
            for m in range(whole[n, SOFT_FIRST], whole[n, SOFT_FIRST] + whole[n, SOFT_COUNT]):
                lend(soft[m], error[n, soft_whole[m, law.ROW]], h)
            for k in range(6):
                impulse[n, k] += error[n, k]
            push(bodies, whole, j, error, n)
        if worst <= speed_gap:
            break
    if left > gap:
        calm(mechanism, desk, soft_whole, soft, wrench, energy, h)
    return DONE


@inner_kernel
def _give(mechanism, desk, series, h, n):
    """Gives the impulses in the errors of a joint to its bodies, which fly anew."""
    bodies, whole = mechanism[0], mechanism[1]
    push(bodies, whole, desk[0], desk[6], n)
    for side in range(whole[n, SIDES]):
        if bodies[whole[n, side], MASS_INV] > 0.0:
            fly(bodies[whole[n, side]], h, series)


@inner_kernel
def _correct(mechanism, desk, series, h, n, account):
    """Closes a joint by its own block of K."""
    blocks, error, impulse, pivot = desk[3], desk[6], desk[7], desk[9]
    account[ITERATIONS] += 1.0
    for k in range(6):
        error[n, k] *= -1.0 / h
    solve_alone(mechanism[1], blocks, pivot, error, n)
    for k in range(6):
        impulse[n, k] += error[n, k]
    _give(mechanism, desk, series, h, n)


@flat_kernel
def _settle(mechanism, desk, series, soft_whole, soft, drive, h, gap, n):
    """Whether the pieces of a joint's laws hold; those that do not are chosen anew."""
    whole = mechanism[1]
    _j, _y, raw, blocks, first, diagonal, error, impulse, _total, pivot = desk
    held = True
    for k in range(6):
        error[n, k] = 0.0
    for m in range(whole[n, SOFT_FIRST], whole[n, SOFT_FIRST] + whole[n, SOFT_COUNT]):
        k, keeps = soft_whole[m, law.ROW], soft_whole[m, law.KEEPS]
        push_by = drive[:, soft_whole[m, law.DOF]]
        if law.settle(soft[m], keeps, push_by, impulse[n, k], h, gap):
            continue
        held = False
        law.law(soft[m], push_by, h)
        diagonal[n, k] = law.compliance(soft[m], keeps)
        if diagonal[n, k] < law.NEVER:
            diagonal[n, k] /= h
        else:  # its impulse does not depend on where it goes
            error[n, k] = law.constant(soft[m], keeps) - impulse[n, k]
            impulse[n, k] += error[n, k]
    if not held:
        for i in range(6):
            for k in range(6):
                blocks[n, i, k] = raw[n, i, k]
            blocks[n, i, i] += diagonal[n, i]
        factor_one(whole, blocks, first, pivot, n)
        _give(mechanism, desk, series, h, n)
    return held


@flat_kernel
def _factor_alone(whole, desk, account):
    """Factors each joint's own block, with what soft rows add to its diagonal."""
    _j, _y, raw, blocks, first, diagonal, _error, _impulse, _total, pivot = desk
    for n in range(whole.shape[0]):
        for i in range(6):
            for k in range(6):
                blocks[n, i, k] = raw[n, i, k]
        for k in range(6):
            blocks[n, k, k] += diagonal[n, k]
    account[REDUNDANT] = factor_alone(whole, blocks, first, pivot)
    account[FACTORS] += 1.0
