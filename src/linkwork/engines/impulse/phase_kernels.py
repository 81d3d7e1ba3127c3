"""What steps are made of: rows and K as bodies stand, the look-ahead, the landing, the speeds.

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
from linkwork.engines.impulse.body_kernels import MASS_INV, L, Q, R, V, fly, land, matrix, tensor
from linkwork.engines.impulse.joint_kernels import (
    COUPLING,
    HARD,
    KIND,
    MODE,
    POINT,
    SIZE,
    SOFT_COUNT,
    SOFT_FIRST,
    S,
    ball_way,
    coordinate,
    count_turns,
    couple,
    coupling_error,
    errors,
    point_errors,
    point_rows,
    push,
    rows,
    speeds,
    stand,
    turn_vector,
    turning,
)
from linkwork.engines.impulse.solve_kernels import assemble, copy_blocks, factor, solve
from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.kernels import BALL, SCREW

#: What a step has found: done, or not closed within the iterations, or no number any more, or
#: pieces of laws that change without end, or places that were foretold too badly.
DONE, OPEN, LOST, UNSETTLED, COARSE = 0, 1, 2, 3, 4
#: Columns of the account: worst gap [m or rad], joint where, iterations, factorisations, rows that
#: say nothing new, pieces of laws that changed, how badly places were foretold [m or half rad].
GAP, WHERE, ITERATIONS, FACTORS, REDUNDANT, EVENTS, FORETOLD = 0, 1, 2, 3, 4, 5, 6
ACCOUNT_COLUMNS = 7
#: Pivots, as parts of their first values, below which K is softened, and by how much of itself:
#: anywhere, and in a joint of which another row says nothing new.
_WEAK, _BESIDE_LOST, _SOFT = 1e-5, 1e-3, 1e-9


@inner_kernel
def set_rows(mechanism, desk, scratch):
    """Rows of all joints as they stand."""
    bodies, whole, number, rail = mechanism
    j = desk[0]
    frame, ride, _series, six = scratch
    for n in range(whole.shape[0]):
        if whole[n, POINT] == 2:
            point_rows(bodies, whole, number, n, j)
            continue
        if whole[n, KIND] == COUPLING:
            couple(bodies, whole, number, rail, n, frame, ride, six, j[n])
            continue
        stand(bodies, whole[n], number[n], rail, False, frame, ride)
        rows(bodies, whole[n], number[n], frame, j[n, 0], j[n, 1])


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
        soft = _SOFT


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
        if least < (_BESIDE_LOST if lost else _WEAK):
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
def begin_rows(mechanism, desk, scratch, soft_whole, soft, drive, h):
    """Where soft rows are and how fast, at the start of a step."""
    bodies, whole, number, rail = mechanism
    j, _y, raw, _blocks, _first, _diagonal, _error, _impulse, _total, _pivot = desk
    frame, ride, _series, six = scratch
    last = -1
    for n in range(soft.shape[0]):
        at, k = soft_whole[n, law.JOINT], soft_whole[n, law.ROW]
        if at != last:
            stand(bodies, whole[at], number[at], rail, False, frame, ride)
            speeds(bodies, whole, j, at, six, 0)
            last = at
        q = coordinate(whole[at], frame, k, soft[n, law.Q0] + soft[n, law.WAY], number[at])
        push_by = drive[:, soft_whole[n, law.DOF]]
        law.begin(soft[n], push_by, q, six[0, k], h, raw[at, k, k])
        law.law(soft[n], push_by, h)


@inner_kernel
def _worst(error, n):
    """The largest error of a joint, which may be no number."""
    worst = 0.0
    for k in range(6):
        size = abs(error[n, k])
        if size > worst or size != size:  # what is no number stays the worst
            worst = size
    return worst


@inner_kernel
def miss(mechanism, desk, scratch, soft_whole, soft, h, gap, n):
    """Fills in the errors of joint ``n`` after the look-ahead; returns the worst.

    Those of rows that stick count for more: at ``gap`` they are as small as friction needs.
    """
    bodies, whole, number, rail = mechanism
    _j, _y, _raw, _blocks, _first, _diagonal, error, impulse, _total, _pivot = desk
    frame, ride, _series, _six = scratch
    if whole[n, POINT] == 2:
        point_errors(bodies, whole, number, n, True, error)
        return _worst(error, n)
    for k in range(6):
        error[n, k] = 0.0
    if whole[n, KIND] == COUPLING:
        error[n, 0] = coupling_error(bodies, whole, number, rail, n, True, h, frame, ride)
        return abs(error[n, 0])
    arc = number[n, S]
    if whole[n, KIND] == SCREW:
        number[n, S] = arc + h * turning(bodies, whole, number, n, 5)
    stand(bodies, whole[n], number[n], rail, True, frame, ride)
    errors(whole[n], number[n], frame, error[n])
    turn = way = 0.0, 0.0, 0.0
    if whole[n, KIND] == BALL and whole[n, SOFT_COUNT]:
        turn = turn_vector(frame)
        way = ball_way(bodies, whole[n], number[n], rail, frame, ride)
    for m in range(whole[n, SOFT_FIRST], whole[n, SOFT_FIRST] + whole[n, SOFT_COUNT]):
        k, keeps = soft_whole[m, law.ROW], soft_whole[m, law.KEEPS]
        if whole[n, KIND] == BALL:
            law.turn_ball(soft[m], turn[k - 3], way[k - 3], h)
        else:
            q = soft[m, law.Q0]
            if h * max(abs(soft[m, law.V0]), abs(soft[m, law.RATE])) > 1.0:  # it may turn round
                q += h * turning(bodies, whole, number, n, k)
            q = coordinate(whole[n], frame, k, q, number[n])
            soft[m, law.WAY] = q - soft[m, law.Q0]
        error[n, k] = law.error(soft[m], keeps, impulse[n, k])
    number[n, S] = arc
    worst = _worst(error, n)
    for m in range(whole[n, SOFT_FIRST], whole[n, SOFT_FIRST] + whole[n, SOFT_COUNT]):
        if law.sticks(soft[m], soft_whole[m, law.KEEPS]):
            worst = max(worst, abs(error[n, soft_whole[m, law.ROW]]) * gap / law.creep(h))
    return worst


@inner_kernel
def look(mechanism, desk, scratch, soft_whole, soft, h, gap, account):
    """Errors of all rows after a flight of ``h``; returns the worst."""
    bodies, whole = mechanism[0], mechanism[1]
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            fly(bodies[n], h, scratch[2])
    worst, at = 0.0, 0
    for n in range(whole.shape[0]):
        size = miss(mechanism, desk, scratch, soft_whole, soft, h, gap, n)
        if size > worst or size != size:
            worst, at = size, n
    account[GAP], account[WHERE] = worst, at
    return worst


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
def tell_stops(soft_whole, soft, account):
    """Tells how far joints are beyond a stop or from where they must be, if that is more."""
    for n in range(soft.shape[0]):
        size = law.beyond(soft[n], soft_whole[n, law.KEEPS])
        if size > account[GAP]:
            account[GAP], account[WHERE] = size, soft_whole[n, law.JOINT]


@flat_kernel
def settle(soft_whole, soft, drive, impulse, h, gap, single):
    """Chooses pieces of laws anew that do not hold; returns the joint of the last, or -1.

    All of them, or a ``single`` one: of rows that act on each other, all at once may be wrong by
    turns without end, one after the other in a fixed order (Murty's rule) is not.
    """
    changed = -1
    for n in range(soft.shape[0]):
        at, k, keeps = soft_whole[n, law.JOINT], soft_whole[n, law.ROW], soft_whole[n, law.KEEPS]
        push_by = drive[:, soft_whole[n, law.DOF]]
        if not law.settle(soft[n], keeps, push_by, impulse[at, k], h, gap):
            law.law(soft[n], push_by, h)
            changed = at
            if single:
                break
    return changed


@inner_kernel
def give_constant(soft_whole, soft, impulse):
    """Rows whose impulse does not depend on where they go have it set."""
    for n in range(soft.shape[0]):
        at, k, keeps = soft_whole[n, law.JOINT], soft_whole[n, law.ROW], soft_whole[n, law.KEEPS]
        if law.compliance(soft[n], keeps) >= law.NEVER:
            impulse[at, k] = law.constant(soft[n], keeps)


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


@flat_kernel
def refresh(bodies):
    """Matrices and inertias that belong to the bodies' attitudes."""
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            matrix(bodies[n], Q, R)
            tensor(bodies[n])
