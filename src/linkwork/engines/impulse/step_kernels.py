"""A step: impulses that close every joint after it, flight, impulses that stop them drifting.

With all impulses solved at once this is the method known as RATTLE: symplectic, symmetric in time,
of second order. Whole steps are extrapolated to order 4 (one and two pieces) and 6 (one, two and
three pieces).
"""

from __future__ import annotations

import math

from linkwork.engines.impulse import row_kernels as law
from linkwork.engines.impulse.body_kernels import (
    LO,
    MASS_INV,
    QO,
    TENSOR,
    VO,
    XN,
    XO,
    L,
    Q,
    R,
    V,
    X,
    matrix,
    tensor,
)
from linkwork.engines.impulse.closing_kernels import GROWTHS, close_near, turn
from linkwork.engines.impulse.energy_kernels import gained, kinetic, still, strays
from linkwork.engines.impulse.frame_kernels import near
from linkwork.engines.impulse.joint_columns import HARD, MODE, SIDES, TURNS, S
from linkwork.engines.impulse.landing_kernels import arrive, project_speeds
from linkwork.engines.impulse.look_kernels import (
    begin_rows,
    give_constant,
    look,
    settle,
    tell_stops,
)
from linkwork.engines.impulse.phase_kernels import (
    APART,
    COARSE,
    DONE,
    EVENTS,
    GAP,
    ITERATIONS,
    LOST,
    MOVING,
    OPEN,
    UNSETTLED,
    WHERE,
    factor_rows,
    kick,
    lay_rows,
    push_all,
    set_diagonal,
    tell_gap,
)
from linkwork.engines.impulse.solve_kernels import copy_blocks, solve
from linkwork.jit import flat_kernel, inner_kernel

#: Corrections of a leap after which its energy is looked at: usually there are one or two.
_MANY = 8
#: How often pieces of laws change all together, before they do so one by one, and how often then,
#: for each row; and how many corrections there are after each change at least.
_TOGETHER, _ALONE, _AGAIN = 12, 10, 10


@flat_kernel
def leap(
    mechanism, pattern, desk, scratch, soft_whole, soft, drive, wrench, past, known, h, gap, most,
    fresh, account,
):  # fmt: skip
    """One step of second order. ``fresh`` if the desk has the rows and K of where bodies stand.

    ``past`` (4×n×6) are the right-hand sides of the last steps, of which ``known`` are there: they
    are smooth in time where impulses are not, so the next one is guessed from them.

    Corrections that do not shrink lead to some other way of assembling the mechanism, if anywhere
    (as where a parallelogram is flat): such a step is too long.
    """
    bodies, whole, _number, _rail = mechanism
    columns, row_of, _updates, _update_of, _pairs = pattern
    _j, _y, _raw, blocks, _first, _diagonal, error, impulse, total, pivot = desk
    nj = whole.shape[0]
    if not fresh:
        lay_rows(mechanism, pattern, desk, scratch)
    if soft.shape[0]:
        begin_rows(mechanism, desk, scratch, soft_whole, soft, drive, h)
    if set_diagonal(desk, soft_whole, soft, h, False) or not fresh:
        if factor_rows(mechanism, pattern, desk, account):
            past[:, :, :] = 0.0
    kick(bodies, wrench, 0.5 * h)
    for n in range(nj):
        for k in range(6):
            guess = 0.0
            if known >= 4:
                guess = 4.0 * (past[0, n, k] + past[2, n, k]) - 6.0 * past[1, n, k] - past[3, n, k]
            elif known == 3:
                guess = 3.0 * (past[0, n, k] - past[1, n, k]) + past[2, n, k]
            elif known == 2:
                guess = 2.0 * past[0, n, k] - past[1, n, k]
            elif known == 1:
                guess = past[0, n, k]
            total[n, k] = guess
            impulse[n, k] = guess
    if known > 0:
        solve(whole, blocks, columns, row_of, pivot, impulse)
    if soft.shape[0]:
        give_constant(soft_whole, soft, impulse)
    push_all(mechanism, desk, impulse)
    changes = 0
    left = most
    before, growths = math.inf, 0
    while True:
        worst = look(mechanism, desk, scratch, soft_whole, soft, h, gap, account)
        if not math.isfinite(worst):
            return LOST
        if worst <= gap:
            if soft.shape[0] == 0:
                break
            # impulses of rows that change their law begin anew
            for n in range(soft.shape[0]):
                at, k = soft_whole[n, law.JOINT], soft_whole[n, law.ROW]
                error[at, k] = impulse[at, k]
            changed = settle(soft_whole, soft, drive, impulse, h, gap, changes >= _TOGETHER)
            if changed < 0:
                break
            if changes >= _TOGETHER + _ALONE * soft.shape[0]:
                tell_stops(soft_whole, soft, account)
                if account[GAP] <= gap:  # what cannot decide is too little to matter
                    break
                account[WHERE] = changed
                return UNSETTLED
            changes += 1
            before = math.inf
            left = max(left, min(_AGAIN, most))
            account[EVENTS] += 1.0
            give_constant(soft_whole, soft, impulse)
            for n in range(nj):
                for k in range(6):
                    error[n, k] = impulse[n, k] - error[n, k] if whole[n, MODE + k] != HARD else 0.0
            push_all(mechanism, desk, error)
            if set_diagonal(desk, soft_whole, soft, h, False):
                factor_rows(mechanism, pattern, desk, account)
            continue
        if worst >= before:
            growths += 1
        if left == 0 or growths > GROWTHS:
            return OPEN
        before = worst
        left -= 1
        account[ITERATIONS] += 1.0
        for n in range(nj):
            for k in range(6):
                error[n, k] *= -1.0 / h
                total[n, k] += error[n, k]
        solve(whole, blocks, columns, row_of, pivot, error)
        for n in range(nj):
            for k in range(6):
                impulse[n, k] += error[n, k]
        push_all(mechanism, desk, error)
    tell_gap(whole, error, account)
    tell_stops(soft_whole, soft, account)
    for n in range(soft.shape[0]):  # where nothing acts there is nothing to go on from
        if law.compliance(soft[n], soft_whole[n, law.KEEPS]) >= law.NEVER:
            total[soft_whole[n, law.JOINT], soft_whole[n, law.ROW]] = 0.0
    for n in range(nj):
        for k in range(6):
            past[3, n, k] = past[2, n, k]
            past[2, n, k] = past[1, n, k]
            past[1, n, k] = past[0, n, k]
            past[0, n, k] = total[n, k]
    arrive(mechanism, pattern, desk, scratch, soft_whole, soft, drive, wrench, h)
    if factor_rows(mechanism, pattern, desk, account):
        past[:, :, :] = 0.0
    worst = project_speeds(mechanism, pattern, desk, soft_whole, soft, h, True)
    return DONE if math.isfinite(worst) else LOST


@inner_kernel
def _copy_rows(given, out):
    for n in range(given.shape[0]):
        for k in range(given.shape[1]):
            out[n, k] = given[n, k]


@flat_kernel
def keep(bodies):
    """Keeps where a step starts."""
    for n in range(bodies.shape[0]):
        body = bodies[n]
        for i in range(3):
            body[XO + i], body[VO + i], body[LO + i] = body[X + i], body[V + i], body[L + i]
        for i in range(4):
            body[QO + i] = body[Q + i]


@inner_kernel
def _keep_rows(whole, number, columns, desk, store, keep):
    """Keeps rows and K of where a step starts, factored, or brings them back; turns too."""
    j, _y, raw, blocks, _first, diagonal, _error, _impulse, _total, pivot = desk
    j_kept, raw_kept, blocks_kept, diagonal_kept, pivot_kept, arcs_kept = store
    arcs = number[:, S : TURNS + 2]
    for n in range(whole.shape[0]):
        for side in range(whole[n, SIDES]):
            for i in range(6):
                for k in range(6):
                    if keep:
                        j_kept[n, side, i, k] = j[n, side, i, k]
                    else:
                        j[n, side, i, k] = j_kept[n, side, i, k]
    if keep:
        _copy_rows(arcs, arcs_kept)
        _copy_rows(diagonal, diagonal_kept)
        _copy_rows(pivot, pivot_kept)
        copy_blocks(whole, columns, raw, raw_kept)
        copy_blocks(whole, columns, blocks, blocks_kept)
    else:
        _copy_rows(arcs_kept, arcs)
        _copy_rows(diagonal_kept, diagonal)
        _copy_rows(pivot_kept, pivot)
        copy_blocks(whole, columns, raw_kept, raw)
        copy_blocks(whole, columns, blocks_kept, blocks)


@flat_kernel
def go_back(bodies):
    """Puts all bodies back to where the step started."""
    for n in range(bodies.shape[0]):
        body = bodies[n]
        for i in range(3):
            body[X + i], body[V + i], body[L + i] = body[XO + i], body[VO + i], body[LO + i]
        for i in range(4):
            body[Q + i] = body[QO + i]
        matrix(body, Q, R)
        if body[MASS_INV] > 0.0:
            tensor(body)


@flat_kernel
def _gather(bodies, weight, mean, begin, before):
    """Adds this result of a step to the weighted mean: ways, turns from the start, speeds.

    ``before`` is the sum of the weights of others: a turn has as many whole turns as theirs.
    """
    for n in range(bodies.shape[0]):
        body, row = bodies[n], mean[n]
        if begin:
            row[:] = 0.0
        for i in range(3):
            row[i] += weight * (body[X + i] - body[XO + i])
            row[6 + i] += weight * (body[V + i] - body[VO + i])
            row[9 + i] += weight * (body[L + i] - body[LO + i])
        # turn from QO to Q, in world axes: Q QO^-1
        aw, ax, ay, az = body[Q], body[Q + 1], body[Q + 2], body[Q + 3]
        bw, bx, by, bz = body[QO], -body[QO + 1], -body[QO + 2], -body[QO + 3]
        w = aw * bw - ax * bx - ay * by - az * bz
        x = aw * bx + ax * bw + ay * bz - az * by
        y = aw * by - ax * bz + ay * bw + az * bx
        z = aw * bz + ax * by - ay * bx + az * bw
        s = math.sqrt(x * x + y * y + z * z)
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
        f = 2.0
        if s >= 1e-9:
            turned = 2.0 * math.atan2(s, w)
            if not begin:
                turned = near(turned, (x * row[3] + y * row[4] + z * row[5]) / (before * s))
            f = turned / s
        row[3] += weight * f * x
        row[4] += weight * f * y
        row[5] += weight * f * z


@flat_kernel
def _scatter(bodies, mean):
    """Puts all bodies where the weighted mean says.

    Returns the energy of what its speeds differ by from those that are there [J].
    """
    energy = 0.0
    for n in range(bodies.shape[0]):
        body, row = bodies[n], mean[n]
        if body[MASS_INV] == 0.0:
            continue
        x = body[LO] + row[9] - body[L]
        y = body[LO + 1] + row[10] - body[L + 1]
        z = body[LO + 2] + row[11] - body[L + 2]
        for i in range(3):
            v, t = body[VO + i] + row[6 + i] - body[V + i], TENSOR + 3 * i
            spun = body[t] * x + body[t + 1] * y + body[t + 2] * z
            energy += 0.5 * v * v / body[MASS_INV]
            energy += 0.5 * spun * (x if i == 0 else (y if i == 1 else z))
        for i in range(3):
            body[X + i] = body[XO + i] + row[i]
            body[V + i] = body[VO + i] + row[6 + i]
            body[L + i] = body[LO + i] + row[9 + i]
            body[XN + i] = row[3 + i]
        for i in range(4):
            body[Q + i] = body[QO + i]
        turn(body)
    return energy


@flat_kernel
def step(
    mechanism, pattern, desk, scratch, soft_whole, soft, drive, wrench, past, known, mean, start,
    store, h, order, gap, most, stray, fresh, account,
):  # fmt: skip
    """One step of the order asked for. ``known`` (3) counts the steps behind ``past`` (3×4×n×6).

    A step that changes the energy by more than the part ``stray`` of it is coarse; 0 lets all be.
    """
    bodies = mechanism[0]
    keep(bodies)
    pieces = order // 2
    usual = account[ITERATIONS] + _MANY * (pieces * (pieces + 1) // 2)
    if pieces > 1:
        if not fresh:
            lay_rows(mechanism, pattern, desk, scratch)
            factor_rows(mechanism, pattern, desk, account)
            fresh = True
        _copy_rows(soft, start)
        _keep_rows(mechanism[1], mechanism[2], pattern[0], desk, store, True)
    gathered = 0.0
    for m in range(1, pieces + 1):
        if m > 1:
            go_back(bodies)
            _copy_rows(start, soft)
            _keep_rows(mechanism[1], mechanism[2], pattern[0], desk, store, False)
        for _ in range(m):
            done = leap(
                mechanism, pattern, desk, scratch, soft_whole, soft, drive, wrench, past[m - 1],
                known[m - 1], h / m, gap, most, fresh, account,
            )  # fmt: skip
            if done != DONE:
                known[:] = 0
                return done
            known[m - 1] = min(4, known[m - 1] + 1)
        if pieces == 1:
            if account[ITERATIONS] > usual and gained(
                mechanism, desk, soft_whole, soft, wrench, h, 1
            ):
                return OPEN
            coarse = stray > 0.0 and strays(bodies, wrench, h, stray)
            return COARSE if coarse else DONE
        weight = 1.0
        for other in range(1, pieces + 1):
            if other != m:
                weight *= m * m / (m * m - other * other)
        if account[EVENTS] > 0.0:  # no smooth step: the finest counts alone
            weight = 1.0 if m == pieces else 0.0
            _gather(bodies, weight, mean, True, 0.0)
        else:
            _gather(bodies, weight, mean, m == 1, gathered)
        gathered += weight
        for n in range(soft.shape[0]):
            before = 0.0 if m == 1 or account[EVENTS] > 0.0 else start[n, law.MEAN]
            start[n, law.MEAN] = before + weight * soft[n, law.LENT]
    apart = _scatter(bodies, mean)
    if account[EVENTS] == 0.0:
        account[APART], account[MOVING] = apart, kinetic(bodies) + still(bodies, wrench, h)
    for n in range(soft.shape[0]):
        soft[n, law.LENT] = start[n, law.MEAN]
    set_diagonal(desk, soft_whole, soft, h, True)
    if close_near(mechanism, pattern, desk, scratch, gap, most, account) != DONE:
        return OPEN
    tell_gap(mechanism[1], desk[6], account)
    tell_stops(soft_whole, soft, account)
    project_speeds(mechanism, pattern, desk, soft_whole, soft, h / pieces, False)
    if account[ITERATIONS] > usual and gained(mechanism, desk, soft_whole, soft, wrench, h, pieces):
        return OPEN
    coarse = stray > 0.0 and strays(bodies, wrench, h, stray)
    return COARSE if coarse else DONE
