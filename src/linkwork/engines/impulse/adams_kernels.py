"""Multistep integration: Adams' rule on the last accelerations, then projection.

The polynomial through the rates f of the last k steps predicts the next state (Adams-Bashforth).
The rate there is evaluated once, and the polynomial through this rate as well corrects the step
(Adams-Moulton, order k + 1). The first steps use the Runge-Kutta rule of order 4; for order 6 one
step and two half steps are combined to order 5, which suffices because they are few. A projection
then closes the remaining gaps of the joints.

The state is that of all bodies in sequence, or the coordinates of a tree and their velocities
(``tree_kernels``), if there are any.
"""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse.body_kernels import Q, R, V, X, rotation_matrix, world_inverse_inertia
from linkwork.engines.impulse.constraint_kernels import (
    DONE,
    ITERATIONS,
    NOT_CLOSED,
    NOT_FINITE,
    PREDICTION_ERROR,
    TOO_COARSE,
    assemble_constraints,
    compute_jacobians,
    factor_constraints,
    record_gap,
)
from linkwork.engines.impulse.delassus_kernels import solve_blocks
from linkwork.engines.impulse.force_kernels import STATE_COLUMNS, constrained_acceleration
from linkwork.engines.impulse.joint_kernels import apply_joint_impulse, constraint_velocity
from linkwork.engines.impulse.mechanism import TreeArrays, TreeWorkspace
from linkwork.engines.impulse.projection_kernels import apply_corrections, constraint_errors
from linkwork.engines.impulse.tree_kernels import joint_accelerations
from linkwork.engines.impulse.tree_projection_kernels import (
    MAX_CORRECTION,
    REFACTOR_AFTER,
    coordinate_rates,
    normalize_quaternions,
    project_loops,
)

#: Columns of a body's state that are its pose.
_POSITION_COLUMNS = 7


@inner_kernel
def _read_state(bodies, q, v, state):
    """Reads the state of the joints if ``q`` has any, otherwise that of the bodies."""
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
def _write_state(bodies, tree, q, v, state, h, rate):
    """Writes the state of joints or bodies after the time ``h`` at a constant rate."""
    if q.shape[0]:
        for k in range(q.shape[0]):
            q[k] = state[k] + h * rate[k]
        for k in range(v.shape[0]):
            v[k] = state[q.shape[0] + k] + h * rate[q.shape[0] + k]
        normalize_quaternions(tree, q)
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
def _rate(
    mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, out, stats
):
    """Evaluates the rate of the state; NaN if the mass matrix is singular."""
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    if q.shape[0] == 0:
        constrained_acceleration(mechanism, pattern, workspace, scratch, wrench, rates, out, stats)
        return
    dofs, x = arrays.dofs, buffers.x
    found = joint_accelerations(
        mechanism, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, stats
    )
    coordinate_rates(tree, q, v, out, 0)
    for n in range(dofs.shape[0]):
        out[q.shape[0] + dofs[n]] = x[dofs[n]] if found else math.nan


@inner_kernel
def _project(mechanism, pattern, workspace, scratch, gap, speed_gap, max_iterations, stats):
    """Projects positions and velocities onto the joint constraints.

    The K of the predicted state is used, and assembled again if the iteration does not converge, as
    near a singular configuration.
    """
    bodies, joint_ints, _, _ = mechanism
    columns, row_of, _, _, _ = pattern
    jacobian, _, _, factor, _, _, error, _, _, pivot = workspace
    for n in range(bodies.shape[0] - 1):
        rotation_matrix(bodies[n], Q, R)
        world_inverse_inertia(bodies[n])
    left = max_iterations
    while True:
        worst = constraint_errors(mechanism, workspace, scratch, stats)
        if not worst <= MAX_CORRECTION:
            stats[PREDICTION_ERROR] = worst
            return TOO_COARSE if math.isfinite(worst) else NOT_FINITE
        compute_jacobians(mechanism, workspace, scratch)
        if worst <= gap:
            record_gap(joint_ints, error, stats)
            break
        if left == 0:
            return NOT_CLOSED
        left -= 1
        if max_iterations - left > REFACTOR_AFTER:
            assemble_constraints(mechanism, pattern, workspace, scratch)
            factor_constraints(mechanism, pattern, workspace, stats)
        stats[ITERATIONS] += 1.0
        apply_corrections(mechanism, pattern, workspace)
    for again in range(2 * REFACTOR_AFTER):
        worst = 0.0
        for n in range(joint_ints.shape[0]):
            constraint_velocity(bodies, joint_ints, jacobian, n, error, n)
            for k in range(6):
                worst = max(worst, abs(error[n, k]))
                error[n, k] = -error[n, k]
        if not math.isfinite(worst):
            return NOT_FINITE
        if worst <= speed_gap:
            break
        if again == REFACTOR_AFTER:
            assemble_constraints(mechanism, pattern, workspace, scratch)
            factor_constraints(mechanism, pattern, workspace, stats)
        solve_blocks(joint_ints, factor, columns, row_of, pivot, error)
        for n in range(joint_ints.shape[0]):
            apply_joint_impulse(bodies, joint_ints, jacobian, error, n)
    return DONE


@flat_kernel
def _runge_kutta_step(
    mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, h, state,
    work, stats,
):  # fmt: skip
    """Computes the mean rate of a Runge-Kutta step in ``work[0]``, which holds the first rate."""
    bodies, _, _, _ = mechanism
    for stage in range(1, 4):
        _write_state(bodies, tree, q, v, state, h if stage == 3 else 0.5 * h, work[stage - 1])
        _rate(
            mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates,
            work[stage], stats,
        )  # fmt: skip
    for i in range(state.shape[0]):
        work[0, i] = (work[0, i] + 2.0 * (work[1, i] + work[2, i]) + work[3, i]) / 6.0


@flat_kernel
def _first_step(
    mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, h,
    extrapolate, work, stats,
):  # fmt: skip
    """Computes the mean rate of a first step in ``work[0]``.

    With ``extrapolate``, two half steps correct it. Returns the largest correction of a joint
    coordinate.
    """
    bodies, _, _, _ = mechanism
    state, full_step, half, middle = work[4], work[5], work[6], work[7]
    _copy(work[0], half)
    _runge_kutta_step(
        mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, h, state,
        work, stats,
    )  # fmt: skip
    if not extrapolate:
        return 0.0
    _copy(work[0], full_step)
    _copy(half, work[0])
    _runge_kutta_step(
        mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, 0.5 * h,
        state, work, stats,
    )  # fmt: skip
    _copy(work[0], half)
    _write_state(bodies, tree, q, v, state, 0.5 * h, half)
    _read_state(bodies, q, v, middle)
    _rate(
        mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, work[0],
        stats,
    )  # fmt: skip
    _runge_kutta_step(
        mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, 0.5 * h,
        middle, work, stats,
    )  # fmt: skip
    worst = 0.0
    for i in range(state.shape[0]):
        fine = 0.5 * (half[i] + work[0, i])
        work[0, i] = (16.0 * fine - full_step[i]) / 15.0
        if i < q.shape[0]:
            worst = max(worst, abs(fine - full_step[i]))
    return worst


@inner_kernel
def _predict(history, history_index, weights, work):
    """Predicts the step in ``work[0]`` and the next rate in ``work[1]`` from the last rates."""
    tree_workspace, size = history.shape[0], history.shape[1]
    for i in range(size):
        work[0, i] = work[1, i] = 0.0
    for m in range(tree_workspace):
        at = (history_index[1] - m) % tree_workspace
        step, rate = weights[0, m], weights[1, m]
        for i in range(size):
            work[0, i] += step * history[at, i]
            work[1, i] += rate * history[at, i]


@inner_kernel
def _correct(history, history_index, part, columns, position_columns, work):
    """Corrects the step by the evaluated rate in ``work[2]``; returns the largest correction."""
    history_index[1] = (history_index[1] + 1) % history.shape[0]
    worst = 0.0
    for o in range(0, history.shape[1], columns):
        for i in range(o, o + columns):
            history[history_index[1], i] = work[2, i]
            more = part * (work[2, i] - work[1, i])
            work[0, i] += more
            if i < o + position_columns:
                worst = max(worst, abs(more))
    return worst


@flat_kernel
def adams_step(
    mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, history, history_index,
    weights, work, rates, q, v, h, gap, speed_gap, prediction_tolerance, max_iterations, stats,
):  # fmt: skip
    """Takes one step of an order one above the number of stored rates.

    ``history`` (k×N) holds the last rates, ``history_index`` (2) their number and the index of the
    newest. ``weights`` (2×(k+1)) are those of
    :func:`~linkwork.engines.impulse.adams.adams_weights`. ``work`` (8×N) is temporary. ``q`` and
    ``v`` are empty if the bodies themselves are integrated. A step is too coarse if its prediction
    error exceeds ``prediction_tolerance``, of joints [m or rad] or bodies [m or half rad].

    Returns the outcome, and the largest velocity of a loop equation, in tree coordinates only.
    """
    bodies, joint_ints, _, _ = mechanism
    _, _, _, _, _, _, error, impulse, _, _ = workspace
    capacity = history.shape[0]
    state = work[4]
    _read_state(bodies, q, v, state)
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            error[n, k] = 0.0
    if history_index[0] < capacity:
        _rate(
            mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates,
            work[0], stats,
        )  # fmt: skip
        history_index[0], history_index[1] = (
            history_index[0] + 1,
            (history_index[1] + 1) % capacity,
        )
        _copy(work[0], history[history_index[1]])
    if history_index[0] < capacity:
        # errors of bodies open joints, errors of tree coordinates do not: those are checked by half
        # steps
        worst = _first_step(
            mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, h,
            capacity > 4 or q.shape[0] > 0, work, stats,
        )  # fmt: skip
    else:
        _predict(history, history_index, weights, work)
        _write_state(bodies, tree, q, v, state, h, work[0])
        _rate(
            mechanism, pattern, workspace, scratch, tree, tree_workspace, wrench, q, v, rates,
            work[2], stats,
        )  # fmt: skip
        columns, firsts = STATE_COLUMNS, _POSITION_COLUMNS
        if q.shape[0]:
            columns, firsts = history.shape[1], q.shape[0]
        worst = _correct(history, history_index, weights[1, capacity], columns, firsts, work)
    if worst * h > prediction_tolerance:
        stats[PREDICTION_ERROR] = worst * h
        return TOO_COARSE, math.inf
    _write_state(bodies, tree, q, v, state, h, work[0])
    if q.shape[0]:
        for n in range(joint_ints.shape[0]):
            for k in range(6):
                error[n, k] = 0.0
        return project_loops(
            mechanism, workspace, scratch, tree, tree_workspace, wrench, rates, q, v, gap,
            speed_gap, max_iterations, stats,
        )  # fmt: skip
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            impulse[n, k] = h * error[n, k]
    return _project(
        mechanism, pattern, workspace, scratch, gap, speed_gap, max_iterations, stats
    ), math.inf
