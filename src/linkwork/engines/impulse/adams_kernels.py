"""Steps with a memory: accelerations of the last steps carried on by Adams' rule, then closed.

From rates f of the last k steps the next state is foretold by the polynomial through them (Adams
and Bashforth), the rate there is found, once, and with it the step is made better by the polynomial
that goes through this one too (Adams and Moulton, order k + 1). The first steps go by Runge and
Kutta's rule of order 4; for order 6 a step of it and two halves are combined to order 5, which few
steps may have: their error is of one order more than that of all. What little joints are open then
is closed.
"""

from __future__ import annotations

import math

from linkwork.engines.impulse.body_kernels import Q, R, V, X, matrix, tensor
from linkwork.engines.impulse.closing_kernels import gaps, move
from linkwork.engines.impulse.force_kernels import STATE_COLUMNS, accelerate
from linkwork.engines.impulse.joint_kernels import push, speeds
from linkwork.engines.impulse.phase_kernels import (
    COARSE,
    DONE,
    FORETOLD,
    ITERATIONS,
    LOST,
    OPEN,
    factor_rows,
    lay_rows,
    set_rows,
    tell_gap,
)
from linkwork.engines.impulse.solve_kernels import solve
from linkwork.jit import flat_kernel, inner_kernel

#: A step that leaves a joint open by more than this [m or rad] was too long for its rule.
_TOO_FAR = 1e-2
#: One whose places were foretold worse than this [m or half rad] was, too.
_COARSE = 1e-4
#: Corrections after which K is made anew.
_PATIENCE = 3


@inner_kernel
def _take(bodies, state):
    for n in range(state.shape[0]):
        for i in range(3):
            state[n, i] = bodies[n, X + i]
        for i in range(4):
            state[n, 3 + i] = bodies[n, Q + i]
        for i in range(6):
            state[n, 7 + i] = bodies[n, V + i]


@inner_kernel
def _copy(given, out):
    for n in range(given.shape[0]):
        for i in range(given.shape[1]):
            out[n, i] = given[n, i]


@inner_kernel
def _put(bodies, state, h, rate):
    """Puts bodies where they are after the time ``h`` at a rate."""
    for n in range(state.shape[0]):
        for i in range(3):
            bodies[n, X + i] = state[n, i] + h * rate[n, i]
        for i in range(6):
            bodies[n, V + i] = state[n, 7 + i] + h * rate[n, 7 + i]
        w, x = state[n, 3] + h * rate[n, 3], state[n, 4] + h * rate[n, 4]
        y, z = state[n, 5] + h * rate[n, 5], state[n, 6] + h * rate[n, 6]
        f = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        bodies[n, Q], bodies[n, Q + 1] = f * w, f * x
        bodies[n, Q + 2], bodies[n, Q + 3] = f * y, f * z


@inner_kernel
def _hold(mechanism, pattern, desk, scratch, gap, speed_gap, most, account):
    """Closes joints and takes away speeds that open them.

    The K of the foretold place is good enough, unless joints hardly hold in some direction: where
    it does not get there at once, K is made anew.
    """
    bodies, whole, _number, _rail = mechanism
    j, blocks, error, pivot = desk[0], desk[3], desk[6], desk[9]
    for n in range(bodies.shape[0] - 1):
        matrix(bodies[n], Q, R)
        tensor(bodies[n])
    left = most
    while True:
        worst = gaps(mechanism, desk, scratch, account)
        if not worst <= _TOO_FAR:
            account[FORETOLD] = worst
            return COARSE if math.isfinite(worst) else LOST
        set_rows(mechanism, desk, scratch)
        if worst <= gap:
            tell_gap(whole, error, account)
            break
        if left == 0:
            return OPEN
        left -= 1
        if most - left > _PATIENCE:
            lay_rows(mechanism, pattern, desk, scratch)
            factor_rows(mechanism, pattern, desk, account)
        account[ITERATIONS] += 1.0
        move(mechanism, pattern, desk)
    for again in range(2 * _PATIENCE):
        worst = 0.0
        for n in range(whole.shape[0]):
            speeds(bodies, whole, j, n, error, n)
            for k in range(6):
                worst = max(worst, abs(error[n, k]))
                error[n, k] = -error[n, k]
        if not math.isfinite(worst):
            return LOST
        if worst <= speed_gap:
            break
        if again == _PATIENCE:
            lay_rows(mechanism, pattern, desk, scratch)
            factor_rows(mechanism, pattern, desk, account)
        solve(whole, blocks, pattern[0], pattern[1], pivot, error)
        for n in range(whole.shape[0]):
            push(bodies, whole, j, error, n)
    return DONE


@flat_kernel
def _runge(mechanism, pattern, desk, scratch, wrench, rates, h, state, work, account):
    """The mean rate of a step by Runge and Kutta's rule, in ``work[0]``, which has the first."""
    for stage in range(1, 4):
        _put(mechanism[0], state, h if stage == 3 else 0.5 * h, work[stage - 1])
        accelerate(mechanism, pattern, desk, scratch, wrench, rates, work[stage], account)
    for n in range(state.shape[0]):
        for i in range(STATE_COLUMNS):
            more = 2.0 * (work[1, n, i] + work[2, n, i]) + work[3, n, i]
            work[0, n, i] = (work[0, n, i] + more) / 6.0


@flat_kernel
def carry(
    mechanism, pattern, desk, scratch, wrench, memory, known, weights, work, rates, h, gap,
    speed_gap, most, account,
):  # fmt: skip
    """One step of the order that the memory has room for, plus one.

    ``memory`` (k×n×13): the last rates; ``known`` (2): how many they are, and where the last is.
    ``weights`` (2×(k+1)): of foretold steps, and of foretold rates with the part of their error
    that is added. ``work`` (8×n×13) is nobody's.
    """
    bodies, whole = mechanism[0], mechanism[1]
    error, impulse = desk[6], desk[7]
    count, room = memory.shape[1], memory.shape[0]
    state = work[4]
    _take(bodies, state)
    for n in range(whole.shape[0]):
        for k in range(6):
            error[n, k] = 0.0
    if known[0] < room:
        accelerate(mechanism, pattern, desk, scratch, wrench, rates, work[0], account)
        known[0], known[1] = known[0] + 1, (known[1] + 1) % room
        for n in range(count):
            for i in range(STATE_COLUMNS):
                memory[known[1], n, i] = work[0, n, i]
    if known[0] < room:
        whole_step, half, middle = work[5], work[6], work[7]
        _copy(work[0], half)
        _runge(mechanism, pattern, desk, scratch, wrench, rates, h, state, work, account)
        if room > 4:
            _copy(work[0], whole_step)
            _copy(half, work[0])
            _runge(mechanism, pattern, desk, scratch, wrench, rates, 0.5 * h, state, work, account)
            _copy(work[0], half)
            _put(bodies, state, 0.5 * h, half)
            _take(bodies, middle)
            accelerate(mechanism, pattern, desk, scratch, wrench, rates, work[0], account)
            _runge(mechanism, pattern, desk, scratch, wrench, rates, 0.5 * h, middle, work, account)
            for n in range(count):
                for i in range(STATE_COLUMNS):
                    fine = 0.5 * (half[n, i] + work[0, n, i])
                    work[0, n, i] = (16.0 * fine - whole_step[n, i]) / 15.0
        _put(bodies, state, h, work[0])
    else:
        for n in range(count):
            for i in range(STATE_COLUMNS):
                work[0, n, i] = work[1, n, i] = 0.0
        for m in range(room):
            at = (known[1] - m) % room
            step, rate = weights[0, m], weights[1, m]
            for n in range(count):
                for i in range(STATE_COLUMNS):
                    work[0, n, i] += step * memory[at, n, i]
                    work[1, n, i] += rate * memory[at, n, i]
        _put(bodies, state, h, work[0])
        accelerate(mechanism, pattern, desk, scratch, wrench, rates, work[2], account)
        known[1] = (known[1] + 1) % room
        part, worst = weights[1, room], 0.0
        for n in range(count):
            for i in range(STATE_COLUMNS):
                memory[known[1], n, i] = work[2, n, i]
                more = part * (work[2, n, i] - work[1, n, i])
                work[0, n, i] += more
                if i < 7:
                    worst = max(worst, abs(more))
        if worst * h > _COARSE:
            account[FORETOLD] = worst * h
            return COARSE
        _put(bodies, state, h, work[0])
    for n in range(whole.shape[0]):
        for k in range(6):
            impulse[n, k] = h * error[n, k]
    return _hold(mechanism, pattern, desk, scratch, gap, speed_gap, most, account)
