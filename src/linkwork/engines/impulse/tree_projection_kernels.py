"""Projection onto the loop constraints in tree coordinates."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.dynamics.tree_cholesky_kernels import solve_to_leaves
from linkwork.engines.impulse.body_kernels import V, X, world_inverse_inertia
from linkwork.engines.impulse.constraint_kernels import (
    DONE,
    GAP,
    GAP_JOINT,
    ITERATIONS,
    NOT_CLOSED,
    NOT_FINITE,
    PREDICTION_ERROR,
    TOO_COARSE,
    compute_jacobian,
    record_gap,
)
from linkwork.engines.impulse.coordinate_kernels import set_angular_momentum, set_body_pose
from linkwork.engines.impulse.mechanism import SIZE, TreeArrays, TreeWorkspace
from linkwork.engines.impulse.projection_kernels import joint_gap
from linkwork.engines.impulse.tree_kernels import (
    apply_loop_forces,
    body_twists,
    joint_accelerations,
    place_loop_bodies,
    set_loop_velocities,
    solve_loops,
)
from linkwork.kinematics.kernels import BALL, FREE, count_dofs

#: Loop gap [m or rad] above which a step was too long.
MAX_CORRECTION = 1e-2
#: Iterations after which the loop matrix is computed again.
REFACTOR_AFTER = 3


@inner_kernel
def coordinate_rates(tree, q, v, out, at):
    """Computes the coordinate rates of velocities ``v``, in ``out`` from ``at`` on."""
    arrays = TreeArrays(*tree)
    index, order = arrays.index, arrays.order
    for n in range(order.shape[0]):
        b = order[n]
        kind, a, i = index[b, 1], index[b, 2], index[b, 3]
        count = count_dofs(kind)
        if kind == BALL or kind == FREE:
            count -= 3
        for k in range(count):
            out[at + a + k] = v[i + k]
        if kind == BALL or kind == FREE:
            a, i = a + count, i + count
            w, x, y, z = q[a], q[a + 1], q[a + 2], q[a + 3]
            wx, wy, wz = 0.5 * v[i], 0.5 * v[i + 1], 0.5 * v[i + 2]
            out[at + a] = -x * wx - y * wy - z * wz
            out[at + a + 1] = w * wx + y * wz - z * wy
            out[at + a + 2] = w * wy + z * wx - x * wz
            out[at + a + 3] = w * wz + x * wy - y * wx


@inner_kernel
def normalize_quaternions(tree, q):
    """Normalizes the quaternions."""
    arrays = TreeArrays(*tree)
    index, turning = arrays.index, arrays.ball_bodies
    for n in range(turning.shape[0]):
        b = turning[n]
        a = index[b, 2] + (3 if index[b, 1] == FREE else 0)
        f = 1.0 / math.sqrt(q[a] ** 2 + q[a + 1] ** 2 + q[a + 2] ** 2 + q[a + 3] ** 2)
        for k in range(4):
            q[a + k] *= f


@inner_kernel
def _loop_response(tree, tree_workspace):
    """Computes the joint motion that corrects ``loop_force``: x = M⁻¹ Gᵀ K⁻¹ r."""
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    parent_dof, dofs, rows, mass, x = (
        arrays.parent_dof,
        arrays.dofs,
        arrays.loop_rows,
        buffers.mass,
        buffers.x,
    )
    solve_loops(tree_workspace, rows.shape[0])
    for n in range(dofs.shape[0]):
        x[dofs[n]] = 0.0
    apply_loop_forces(tree, tree_workspace, x)
    solve_to_leaves(mass, parent_dof, dofs, x)


@inner_kernel
def _loop_position_errors(mechanism, workspace, scratch, tree, stats):
    """Computes the negative gaps of loops; returns the largest."""
    arrays = TreeArrays(*tree)
    loops = arrays.loops
    worst, at = 0.0, 0
    for k in range(loops.shape[0]):
        size = joint_gap(mechanism, workspace, scratch, loops[k])
        if size > worst or size != size:
            worst, at = size, loops[k]
    stats[GAP], stats[GAP_JOINT] = worst, at
    return worst


@inner_kernel
def _loop_velocity_errors(mechanism, workspace, tree, rates):
    """Computes the negative velocities of loop rows; returns the largest."""
    bodies, joint_ints, _, _ = mechanism
    jacobian, _, _, _, _, _, error, _, _, _ = workspace
    arrays = TreeArrays(*tree)
    loops = arrays.loops
    worst = 0.0
    for m in range(loops.shape[0]):
        n = loops[m]
        for k in range(joint_ints[n, SIZE]):
            speed = 0.0
            for side in range(2):
                at = joint_ints[n, side]
                for i in range(3):
                    speed += jacobian[n, side, k, i] * bodies[at, V + i]
                    speed += jacobian[n, side, k, 3 + i] * rates[at, i]
            error[n, k] = -speed
            if not abs(speed) <= worst:
                worst = abs(speed)
    return worst


@inner_kernel
def _set_loop_errors(workspace, tree, tree_workspace):
    """Copies the errors of loops to the right-hand side."""
    _, _, _, _, _, _, error, _, _, _ = workspace
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    rows, loop_force = arrays.loop_rows, buffers.loop_force
    for r in range(rows.shape[0]):
        loop_force[r] = error[rows[r, 0], rows[r, 1]]


@inner_kernel
def _is_finite(q, v):
    """Returns whether all numbers are finite."""
    total = 0.0
    for k in range(q.shape[0]):
        total += abs(q[k])
    for k in range(v.shape[0]):
        total += abs(v[k])
    return math.isfinite(total)


@flat_kernel
def project_loops(
    mechanism, workspace, scratch, tree, tree_workspace, wrench, rates, q, v, gap, speed_gap,
    max_iterations, stats,
):  # fmt: skip
    """Projects positions and velocities onto the loop constraints.

    The matrices of the predicted state are used, and computed again if the iteration does not
    converge, as near a singular configuration. Returns the outcome, and the largest remaining
    velocity of a loop row.
    """
    bodies, joint_ints, _, _ = mechanism
    _, _, _, _, _, _, error, _, _, _ = workspace
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    index, order, loops, x = arrays.index, arrays.order, arrays.loops, buffers.x
    step = buffers.step
    if not _is_finite(q, v):
        return NOT_FINITE, math.inf
    left = max_iterations
    while True:
        place_loop_bodies(mechanism, tree, tree_workspace, q)
        worst = _loop_position_errors(mechanism, workspace, scratch, tree, stats)
        if not worst <= MAX_CORRECTION:
            stats[PREDICTION_ERROR] = worst
            return (TOO_COARSE if math.isfinite(worst) else NOT_FINITE), math.inf
        if worst <= gap:
            break
        if left == 0:
            return NOT_CLOSED, math.inf
        left -= 1
        if max_iterations - left > REFACTOR_AFTER:
            joint_accelerations(
                mechanism, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, stats
            )  # fmt: skip
            _loop_position_errors(mechanism, workspace, scratch, tree, stats)
        stats[ITERATIONS] += 1.0
        _set_loop_errors(workspace, tree, tree_workspace)
        _loop_response(tree, tree_workspace)
        coordinate_rates(tree, q, x, step, 0)
        for n in range(order.shape[0]):
            b = order[n]
            count = count_dofs(index[b, 1]) + (1 if index[b, 1] in (BALL, FREE) else 0)
            for a in range(index[b, 2], index[b, 2] + count):
                q[a] += step[a]
        normalize_quaternions(tree, q)
    record_gap(joint_ints, error, stats)
    for n in range(loops.shape[0]):
        compute_jacobian(mechanism, workspace, scratch, loops[n])
    worst = 0.0
    for again in range(2 * REFACTOR_AFTER):
        body_twists(tree, tree_workspace, v)
        set_loop_velocities(tree, tree_workspace, bodies, rates)
        worst = _loop_velocity_errors(mechanism, workspace, tree, rates)
        if not math.isfinite(worst):
            return NOT_FINITE, math.inf
        if worst <= speed_gap:
            break
        if again == REFACTOR_AFTER:
            joint_accelerations(
                mechanism, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, stats
            )  # fmt: skip
            _loop_velocity_errors(mechanism, workspace, tree, rates)
        _set_loop_errors(workspace, tree, tree_workspace)
        _loop_response(tree, tree_workspace)
        for n in range(arrays.dofs.shape[0]):
            v[arrays.dofs[n]] += x[arrays.dofs[n]]
    return DONE, worst


@flat_kernel
def write_bodies(mechanism, tree, tree_workspace, q, v):
    """Writes poses and momenta of all bodies at ``q``, ``v``."""
    bodies, _, _, _ = mechanism
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    order, principal_pose, origin, pose, twist = (
        arrays.order,
        arrays.principal_pose,
        arrays.origin,
        buffers.pose,
        buffers.twist,
    )
    place_loop_bodies(mechanism, tree, tree_workspace, q)
    body_twists(tree, tree_workspace, v)
    for n in range(order.shape[0]):
        b, body = order[n], bodies[n]
        set_body_pose(principal_pose[n], pose, b, body)
        world_inverse_inertia(body)
        x, y, z = body[X], body[X + 1], body[X + 2]
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        body[V] = twist[b, 0] + wy * z - wz * y
        body[V + 1] = twist[b, 1] + wz * x - wx * z
        body[V + 2] = twist[b, 2] + wx * y - wy * x
        set_angular_momentum(principal_pose[n], wx, wy, wz, body)
        for i in range(3):
            body[X + i] += origin[i]
