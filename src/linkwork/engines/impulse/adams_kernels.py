"""Steps with a memory: accelerations of the last steps carried on by Adams' rule, then closed.

From rates f of the last k steps the next state is foretold by the polynomial through them (Adams
and Bashforth), the rate there is found, once, and with it the step is made better by the polynomial
that goes through this one too (Adams and Moulton, order k + 1). The first steps go by Runge and
Kutta's rule of order 4; for order 6 a step of it and two halves are combined to order 5, which few
steps may have: their error is of one order more than that of all. What little joints are open then
is closed.

What is carried on is the state of bodies, one behind the other, or the coordinates of a tree and
their speeds (``tree_kernels``), where there are some.
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
from linkwork.engines.impulse.tree_hold_kernels import PATIENCE, TOO_FAR, even, hold_loops, spread
from linkwork.engines.impulse.tree_kernels import accelerate_joints
from linkwork.jit import flat_kernel, inner_kernel

#: Columns of a body's state that say where it is.
_PLACES = 7


@inner_kernel
def _take(bodies, q, v, state):
    """Reads the state: of joints where ``q`` has any, else of bodies."""
    if q.shape[0]:
        for k in range(q.shape[0]):
            state[k] = q[k]
        for k in range(v.shape[0]):
            state[q.shape[0] + k] = v[k]
        return
    for n in range(bodies.shape[0] - 1):
        o = STATE_COLUMNS * n
        for i in range(3):
            state[o + i] = bodies[n, X + i]
        for i in range(4):
            state[o + 3 + i] = bodies[n, Q + i]
        for i in range(6):
            state[o + 7 + i] = bodies[n, V + i]


@inner_kernel
def _copy(given, out):
    for i in range(given.shape[0]):
        out[i] = given[i]


@inner_kernel
def _put(bodies, tree, q, v, state, h, rate):
    """Puts joints or bodies where they are after the time ``h`` at a rate."""
    if q.shape[0]:
        for k in range(q.shape[0]):
            q[k] = state[k] + h * rate[k]
        for k in range(v.shape[0]):
            v[k] = state[q.shape[0] + k] + h * rate[q.shape[0] + k]
        even(tree, q)
        return
    for n in range(bodies.shape[0] - 1):
        o = STATE_COLUMNS * n
        for i in range(3):
            bodies[n, X + i] = state[o + i] + h * rate[o + i]
        for i in range(6):
            bodies[n, V + i] = state[o + 7 + i] + h * rate[o + 7 + i]
        w, x = state[o + 3] + h * rate[o + 3], state[o + 4] + h * rate[o + 4]
        y, z = state[o + 5] + h * rate[o + 5], state[o + 6] + h * rate[o + 6]
        f = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        bodies[n, Q], bodies[n, Q + 1] = f * w, f * x
        bodies[n, Q + 2], bodies[n, Q + 3] = f * y, f * z


@flat_kernel
def _rate(mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, out, account):
    """How the state changes as joints or bodies stand and move; no numbers where it cannot."""
    if q.shape[0] == 0:
        accelerate(mechanism, pattern, desk, scratch, wrench, rates, out, account)
        return
    dofs, x = tree[7], room[9]
    found = accelerate_joints(mechanism, desk, scratch, tree, room, wrench, q, v, rates, account)
    spread(tree, q, v, out, 0)
    for n in range(dofs.shape[0]):
        out[q.shape[0] + dofs[n]] = x[dofs[n]] if found else math.nan


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
        if not worst <= TOO_FAR:
            account[FORETOLD] = worst
            return COARSE if math.isfinite(worst) else LOST
        set_rows(mechanism, desk, scratch)
        if worst <= gap:
            tell_gap(whole, error, account)
            break
        if left == 0:
            return OPEN
        left -= 1
        if most - left > PATIENCE:
            lay_rows(mechanism, pattern, desk, scratch)
            factor_rows(mechanism, pattern, desk, account)
        account[ITERATIONS] += 1.0
        move(mechanism, pattern, desk)
    for again in range(2 * PATIENCE):
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
        if again == PATIENCE:
            lay_rows(mechanism, pattern, desk, scratch)
            factor_rows(mechanism, pattern, desk, account)
        solve(whole, blocks, pattern[0], pattern[1], pivot, error)
        for n in range(whole.shape[0]):
            push(bodies, whole, j, error, n)
    return DONE


@flat_kernel
def _runge(
    mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, h, state, work, account
):  # fmt: skip
    """The mean rate of a step by Runge and Kutta's rule, in ``work[0]``, which has the first."""
    for stage in range(1, 4):
        _put(mechanism[0], tree, q, v, state, h if stage == 3 else 0.5 * h, work[stage - 1])
        _rate(
            mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, work[stage],
            account,
        )  # fmt: skip
    for i in range(state.shape[0]):
        work[0, i] = (work[0, i] + 2.0 * (work[1, i] + work[2, i]) + work[3, i]) / 6.0


@flat_kernel
def _start(
    mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, h, better, work, account
):  # fmt: skip
    """The mean rate of a first step, in ``work[0]``; ``better`` by two halves of it.

    Returns by how much that makes coordinates of joints better, at most.
    """
    bodies, state, whole, half, middle = mechanism[0], work[4], work[5], work[6], work[7]
    _copy(work[0], half)
    _runge(
        mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, h, state, work, account
    )
    if not better:
        return 0.0
    _copy(work[0], whole)
    _copy(half, work[0])
    _runge(
        mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, 0.5 * h, state, work,
        account,
    )  # fmt: skip
    _copy(work[0], half)
    _put(bodies, tree, q, v, state, 0.5 * h, half)
    _take(bodies, q, v, middle)
    _rate(mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, work[0], account)
    _runge(
        mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, 0.5 * h, middle, work,
        account,
    )  # fmt: skip
    worst = 0.0
    for i in range(state.shape[0]):
        fine = 0.5 * (half[i] + work[0, i])
        work[0, i] = (16.0 * fine - whole[i]) / 15.0
        if i < q.shape[0]:
            worst = max(worst, abs(fine - whole[i]))
    return worst


@inner_kernel
def _foretell(memory, known, weights, work):
    """The step that the last rates foretell, in ``work[0]``, and the next rate, in ``work[1]``."""
    room, size = memory.shape[0], memory.shape[1]
    for i in range(size):
        work[0, i] = work[1, i] = 0.0
    for m in range(room):
        at = (known[1] - m) % room
        step, rate = weights[0, m], weights[1, m]
        for i in range(size):
            work[0, i] += step * memory[at, i]
            work[1, i] += rate * memory[at, i]


@inner_kernel
def _mend(memory, known, part, columns, places, work):
    """Makes the step better by the rate that was found, in ``work[2]``; by how much, at most."""
    known[1] = (known[1] + 1) % memory.shape[0]
    worst = 0.0
    for o in range(0, memory.shape[1], columns):
        for i in range(o, o + columns):
            memory[known[1], i] = work[2, i]
            more = part * (work[2, i] - work[1, i])
            work[0, i] += more
            if i < o + places:
                worst = max(worst, abs(more))
    return worst


@flat_kernel
def carry(
    mechanism, pattern, desk, scratch, tree, room, wrench, memory, known, weights, work, rates, q,
    v, h, gap, speed_gap, foretold, most, account,
):  # fmt: skip
    """One step of the order that the memory has room for, plus one.

    ``memory`` (k×N): the last rates; ``known`` (2): how many they are, and where the last is.
    ``weights`` (2×(k+1)): of foretold steps, and of foretold rates with the part of their error
    that is added. ``work`` (8×N) is nobody's. Joints stand at ``q`` and move with ``v``, which are
    empty where bodies are carried on. A step is too long whose places are foretold worse than
    ``foretold``, of joints [m or rad] or bodies [m or half rad]. Returns how it went, and the speed
    with which loops open, which only joints tell.
    """
    bodies, whole = mechanism[0], mechanism[1]
    error, impulse = desk[6], desk[7]
    places = memory.shape[0]
    state = work[4]
    _take(bodies, q, v, state)
    for n in range(whole.shape[0]):
        for k in range(6):
            error[n, k] = 0.0
    if known[0] < places:
        _rate(mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, work[0], account)
        known[0], known[1] = known[0] + 1, (known[1] + 1) % places
        _copy(work[0], memory[known[1]])
    if known[0] < places:
        # Bodies that go astray open their joints, joints of a tree do not: they look at halves.
        worst = _start(
            mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, h,
            places > 4 or q.shape[0] > 0, work, account,
        )  # fmt: skip
    else:
        _foretell(memory, known, weights, work)
        _put(bodies, tree, q, v, state, h, work[0])
        _rate(mechanism, pattern, desk, scratch, tree, room, wrench, q, v, rates, work[2], account)
        columns, firsts = STATE_COLUMNS, _PLACES
        if q.shape[0]:
            columns, firsts = memory.shape[1], q.shape[0]
        worst = _mend(memory, known, weights[1, places], columns, firsts, work)
    if worst * h > foretold:
        account[FORETOLD] = worst * h
        return COARSE, math.inf
    _put(bodies, tree, q, v, state, h, work[0])
    if q.shape[0]:
        for n in range(whole.shape[0]):
            for k in range(6):
                error[n, k] = 0.0
        return hold_loops(
            mechanism, desk, scratch, tree, room, wrench, rates, q, v, gap, speed_gap, most,
            account,
        )  # fmt: skip
    for n in range(whole.shape[0]):
        for k in range(6):
            impulse[n, k] = h * error[n, k]
    return _hold(mechanism, pattern, desk, scratch, gap, speed_gap, most, account), math.inf
