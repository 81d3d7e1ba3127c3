"""What all phases of a step share: what it has found, rows and K as bodies stand.

What the kernels share is in four tuples of arrays, see ``build.py``:
    mechanism: bodies, whole, number, rail (all but bodies fixed, save arc lengths)
    pattern: columns, row_of, updates, update_of, pairs
    desk: j, y, raw, blocks, first, diagonal, error, impulse, total, pivot
    scratch: frame, ride, series, six
and the soft rows in three: soft_whole, soft, drive.
"""

from __future__ import annotations

import math

from linkwork.engines.impulse import row_kernels as law
from linkwork.engines.impulse.body_kernels import MASS_INV, L, Q, R, V, matrix, tensor
from linkwork.engines.impulse.coupling_kernels import couple
from linkwork.engines.impulse.frame_kernels import stand
from linkwork.engines.impulse.joint_columns import COUPLING, HARD, KIND, MODE, POINT, SIZE
from linkwork.engines.impulse.joint_kernels import point_rows, push, rows
from linkwork.engines.impulse.mobility_kernels import assemble
from linkwork.engines.impulse.solve_kernels import copy_blocks, factor
from linkwork.jit import flat_kernel, inner_kernel

#: What a step has found: done, or not closed within the iterations, or no number any more, or
#: pieces of laws that change without end, or places that were foretold too badly.
DONE, OPEN, LOST, UNSETTLED, COARSE = 0, 1, 2, 3, 4
#: Columns of the account: worst gap [m or rad], joint where, iterations, factorisations, rows that
#: say nothing new, pieces of laws that changed, how badly places were foretold [m or half rad], the
#: energy of what the finest of the combined steps is faster than all [J], and that of all.
GAP, WHERE, ITERATIONS, FACTORS, REDUNDANT, EVENTS, FORETOLD, APART, MOVING = range(9)
ACCOUNT_COLUMNS = 9
#: Pivots, as parts of their first values, below which K is softened, and by how much of itself:
#: anywhere, and in a joint of which another row says nothing new.
WEAK, BESIDE_LOST, SOFTENED = 1e-5, 1e-3, 1e-9


@inner_kernel
def set_row(mechanism, desk, scratch, n):
    """Rows of joint ``n`` as it stands."""
    bodies, whole, number, rail = mechanism
    j = desk[0]
    frame, ride, _series, six = scratch
    if whole[n, POINT] == 2:
        point_rows(bodies, whole, number, n, j)
    elif whole[n, KIND] == COUPLING:
        couple(bodies, whole, number, rail, n, frame, ride, six, j[n])
    else:
        stand(bodies, whole[n], number[n], rail, False, frame, ride)
        rows(bodies, whole[n], number[n], frame, j[n, 0], j[n, 1])


@inner_kernel
def set_rows(mechanism, desk, scratch):
    """Rows of all joints as they stand."""
    for n in range(mechanism[1].shape[0]):
        set_row(mechanism, desk, scratch, n)


@inner_kernel
def lay_rows(mechanism, pattern, desk, scratch):
    """Rows of all joints as they stand, and K of them."""
    set_rows(mechanism, desk, scratch)
    assemble(
        mechanism[0], mechanism[1], desk[0], desk[1], pattern[0], pattern[4], desk[2]
    )  # fmt: skip


@inner_kernel
def factor_rows(mechanism, pattern, desk, account):
    """Factors K with what soft rows add to its diagonal; true if it had to be softened.

    Where rows say nothing new, others beside them may say very little: of two rows about axes that
    turn, now one and now the other is the needless one. Near such a change K is made softer by a
    tiny part of its diagonal. That opens no joint, as errors are still taken away altogether, but
    takes an iteration or two more, from impulses that begin at zero: what was guessed for needless
    rows would grow without limit.
    """
    columns, row_of, updates, update_of, _pairs = pattern
    _j, _y, raw, blocks, first, diagonal, _error, _impulse, _total, pivot = desk
    whole, soft = mechanism[1], 0.0
    while True:
        copy_blocks(whole, columns, raw, blocks)
        for n in range(diagonal.shape[0]):
            for k in range(6):
                blocks[n, k, k] += diagonal[n, k] + soft * raw[n, k, k]
        lost = factor(whole, blocks, columns, row_of, updates, update_of, first, pivot)
        account[FACTORS] += 1.0
        if soft > 0.0:
            return True
        account[REDUNDANT] = lost
        if lost == 0 or not is_weak(whole, first, pivot):
            return False
        soft = SOFTENED


@flat_kernel
def is_weak(whole, first, pivot):
    """Whether a row says so little beside others that its impulse would be all rounding."""
    for n in range(whole.shape[0]):
        lost, least = False, 1.0
        for k in range(whole[n, SIZE]):
            if pivot[n, k] == 0.0:
                lost = True
            else:
                least = min(least, 1.0 / (pivot[n, k] * first[n, k]))
        if least < (BESIDE_LOST if lost else WEAK):
            return True
    return False


@inner_kernel
def push_all(mechanism, desk, impulse):
    """Gives all bodies the impulses along all rows."""
    bodies, whole, _number, _rail = mechanism
    j = desk[0]
    for n in range(whole.shape[0]):
        push(bodies, whole, j, impulse, n)


@inner_kernel
def kick(bodies, wrench, h):
    """Outer forces act for the time ``h``."""
    for n in range(bodies.shape[0]):
        body = bodies[n]
        m = body[MASS_INV]
        if m > 0.0:
            for i in range(3):
                body[V + i] += h * m * wrench[n, i]
                body[L + i] += h * wrench[n, 3 + i]


@inner_kernel
def set_diagonal(desk, soft_whole, soft, h, ends):
    """What soft rows add to K's diagonal; true if it differs from what was factored."""
    raw, diagonal = desk[2], desk[5]
    changed = False
    for n in range(soft.shape[0]):
        at, k, keeps = soft_whole[n, law.JOINT], soft_whole[n, law.ROW], soft_whole[n, law.KEEPS]
        if ends:
            c = law.end_compliance(soft[n], keeps, raw[at, k, k])
        else:
            c = law.compliance(soft[n], keeps)
            if c < law.NEVER:
                c /= h
        if c != diagonal[at, k]:
            diagonal[at, k] = c
            changed = True
    return changed


@flat_kernel
def tell_gap(whole, error, account):
    """Tells the widest gap of a step that is done, from the errors that it leaves on the desk.

    That is a distance or an angle of a joint, over all of its hard rows.
    """
    worst, at = 0.0, 0
    for n in range(whole.shape[0]):
        far = turn = 0.0
        for k in range(3):
            if whole[n, MODE + k] == HARD:
                far += error[n, k] * error[n, k]
            if whole[n, MODE + 3 + k] == HARD:
                turn += error[n, 3 + k] * error[n, 3 + k]
        size = max(far, turn)
        if size > worst:
            worst, at = size, n
    account[GAP], account[WHERE] = math.sqrt(worst), at


@flat_kernel
def refresh(bodies):
    """Matrices and inertias that belong to the bodies' attitudes."""
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            matrix(bodies[n], Q, R)
            tensor(bodies[n])
