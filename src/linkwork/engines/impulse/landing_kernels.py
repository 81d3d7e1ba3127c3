"""The end of a step: bodies arrive, and impulses take away all speed that opens joints."""

from __future__ import annotations

import math

from linkwork.engines.impulse import row_kernels as law
from linkwork.engines.impulse.body_kernels import MASS_INV, land
from linkwork.engines.impulse.coupling_kernels import count_turns
from linkwork.engines.impulse.joint_kernels import speeds
from linkwork.engines.impulse.phase_kernels import kick, lay_rows, push_all, set_diagonal
from linkwork.engines.impulse.solve_kernels import solve
from linkwork.jit import flat_kernel, inner_kernel


@inner_kernel
def arrive(mechanism, pattern, desk, scratch, soft_whole, soft, drive, wrench, h):
    """Bodies are where they flew, and what acts at the end of the step acts."""
    bodies, whole, number, _rail = mechanism
    _j, _y, _raw, _blocks, _first, _diagonal, error, impulse, _total, _pivot = desk
    count_turns(bodies, whole, number, h)
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            land(bodies[n])
    kick(bodies, wrench, 0.5 * h)
    lay_rows(mechanism, pattern, desk, scratch)
    if soft.shape[0]:
        error[:, :] = 0.0
        for n in range(soft.shape[0]):
            at, k, keeps = (
                soft_whole[n, law.JOINT],
                soft_whole[n, law.ROW],
                soft_whole[n, law.KEEPS],
            )
            more = law.rest_of(soft[n], keeps, drive[:, soft_whole[n, law.DOF]], h)
            error[at, k] = more
            impulse[at, k] += more
        push_all(mechanism, desk, error)
    set_diagonal(desk, soft_whole, soft, h, True)


@inner_kernel
def end_errors(mechanism, desk, soft_whole, soft, h, arrived):
    """Speeds that hard rows have, and what soft ones miss theirs by; returns the worst.

    Unless bodies have just ``arrived``, rows with a law have the speeds that they must have.
    """
    bodies, whole, _number, _rail = mechanism
    j, diagonal, error = desk[0], desk[5], desk[6]
    for n in range(whole.shape[0]):
        speeds(bodies, whole, j, n, error, n)
    for n in range(soft.shape[0]):
        at, k, keeps = soft_whole[n, law.JOINT], soft_whole[n, law.ROW], soft_whole[n, law.KEEPS]
        hard = keeps == law.PRESCRIBED or soft[n, law.STOP] != 0.0
        if diagonal[at, k] >= law.NEVER or not (arrived or hard):
            error[at, k] = 0.0
        else:
            error[at, k] -= law.end_speed(soft[n], keeps, h)
            error[at, k] += diagonal[at, k] * soft[n, law.GIVEN]
    worst = 0.0
    for n in range(whole.shape[0]):
        for k in range(6):
            worst = max(worst, abs(error[n, k]))
    return worst


@inner_kernel
def lend(row, impulse, h):
    """Notes an impulse at the end of the step, and what of it the next start takes back."""
    row[law.GIVEN] += impulse
    if row[law.SHARE] > 0.0:
        row[law.LENT] += row[law.SHARE] * impulse / (h * (row[law.W] - 0.5))


@inner_kernel
def project_speeds(mechanism, pattern, desk, soft_whole, soft, h, arrived):
    """Impulses after which no hard row has a speed; returns the worst speed there was.

    No number is returned where the impulses are none.
    """
    whole = mechanism[1]
    _j, _y, _raw, blocks, _first, _diagonal, error, impulse, _total, pivot = desk
    worst = end_errors(mechanism, desk, soft_whole, soft, h, arrived)
    for n in range(whole.shape[0]):
        for k in range(6):
            error[n, k] = -error[n, k]
    solve(whole, blocks, pattern[0], pattern[1], pivot, error)
    push_all(mechanism, desk, error)
    for n in range(soft.shape[0]):
        lend(soft[n], error[soft_whole[n, law.JOINT], soft_whole[n, law.ROW]], h)
    for n in range(whole.shape[0]):
        for k in range(6):
            impulse[n, k] += error[n, k]
            if not math.isfinite(error[n, k]):
                worst = math.nan
    return worst


@flat_kernel
def give_efforts(desk, soft_whole, soft, drive, qaddr, q, v, h, efforts):
    """Writes the effort along each soft row; ``h`` is the last piece of the step."""
    impulse = desk[7]
    for n in range(soft.shape[0]):
        at, k, keeps = soft_whole[n, law.JOINT], soft_whole[n, law.ROW], soft_whole[n, law.KEEPS]
        dof = soft_whole[n, law.DOF]
        efforts[dof] = law.effort(
            soft[n], keeps, drive[:, dof], impulse[at, k], q[qaddr[dof]], v[dof], h
        )
