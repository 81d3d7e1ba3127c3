"""Projection onto the joint constraints: positions, then velocities."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.engines.impulse.body_kernels import (
    MASS_INV,
    TENSOR,
    XN,
    Q,
    R,
    X,
    finish_drift,
    rotation_matrix,
    world_inverse_inertia,
)
from linkwork.engines.impulse.constraint_kernels import (
    DONE,
    GAP,
    GAP_JOINT,
    NOT_CLOSED,
    apply_external_forces,
    apply_impulses,
    assemble_constraints,
    factor_constraints,
    set_diagonal,
)
from linkwork.engines.impulse.delassus_kernels import solve_blocks
from linkwork.engines.impulse.frame_kernels import coordinate, joint_frames
from linkwork.engines.impulse.joint_kernels import (
    constraint_velocity,
    count_turns,
    coupling_error,
    joint_errors,
    point_errors,
)
from linkwork.engines.impulse.mechanism import COUPLING, KIND, POINT, SIDES, SIZE


@inner_kernel
def end_drift(mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, h):
    """Ends the free motion, and applies the impulses at the end of the step."""
    bodies, joint_ints, joint_reals, _ = mechanism
    _, _, _, _, _, _, error, impulse, _, _ = workspace
    count_turns(bodies, joint_ints, joint_reals, h)
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            finish_drift(bodies[n])
    apply_external_forces(bodies, wrench, 0.5 * h)
    assemble_constraints(mechanism, pattern, workspace, scratch)
    if row_reals.shape[0]:
        error[:, :] = 0.0
        for n in range(row_reals.shape[0]):
            at, k, row_mode = (
                row_ints[n, law.JOINT],
                row_ints[n, law.ROW],
                row_ints[n, law.ROW_MODE],
            )
            more = law.end_impulse(row_reals[n], row_mode, drive[:, row_ints[n, law.DOF]], h)
            error[at, k] = more
            impulse[at, k] += more
        apply_impulses(mechanism, workspace, error)
    set_diagonal(workspace, row_ints, row_reals, h, True)


@inner_kernel
def velocity_errors(mechanism, workspace, row_ints, row_reals, h, arrived):
    """Computes the velocity errors of all rows; returns the largest.

    Unless bodies have just ``arrived``, rows with a force law have no error.
    """
    bodies, joint_ints, _, _ = mechanism
    jacobian, _, _, _, _, diagonal, error, _, _, _ = workspace
    for n in range(joint_ints.shape[0]):
        constraint_velocity(bodies, joint_ints, jacobian, n, error, n)
    for n in range(row_reals.shape[0]):
        at, k, row_mode = row_ints[n, law.JOINT], row_ints[n, law.ROW], row_ints[n, law.ROW_MODE]
        hard = row_mode == law.PRESCRIBED or row_reals[n, law.STOP] != 0.0
        if diagonal[at, k] >= law.FREE_COMPLIANCE or not (arrived or hard):
            error[at, k] = 0.0
        else:
            error[at, k] -= law.end_speed(row_reals[n], row_mode, h)
            error[at, k] += diagonal[at, k] * row_reals[n, law.CARRIED_IMPULSE]
    worst = 0.0
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            worst = max(worst, abs(error[n, k]))
    return worst


@inner_kernel
def carry_over(row, impulse, h):
    """Records an impulse at the end of the step, and the part that the next start subtracts."""
    row[law.CARRIED_IMPULSE] += impulse
    if row[law.CARRIED_SHARE] > 0.0:
        row[law.CARRIED_FORCE] += row[law.CARRIED_SHARE] * impulse / (h * (row[law.W] - 0.5))


@inner_kernel
def project_velocities(mechanism, pattern, workspace, row_ints, row_reals, h, arrived):
    """Computes impulses that remove the velocities of hard rows; returns the largest velocity.

    Returns NaN if the solve failed.
    """
    _, joint_ints, _, _ = mechanism
    columns, row_of, _, _, _ = pattern
    _, _, _, factor, _, _, error, impulse, _, pivot = workspace
    worst = velocity_errors(mechanism, workspace, row_ints, row_reals, h, arrived)
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            error[n, k] = -error[n, k]
    solve_blocks(joint_ints, factor, columns, row_of, pivot, error)
    apply_impulses(mechanism, workspace, error)
    for n in range(row_reals.shape[0]):
        carry_over(row_reals[n], error[row_ints[n, law.JOINT], row_ints[n, law.ROW]], h)
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            impulse[n, k] += error[n, k]
            if not math.isfinite(error[n, k]):
                worst = math.nan
    return worst


@flat_kernel
def write_efforts(workspace, row_ints, row_reals, drive, qaddr, q, v, h, efforts):
    """Writes the effort along each soft row; ``h`` is the last substep."""
    _, _, _, _, _, _, _, impulse, _, _ = workspace
    for n in range(row_reals.shape[0]):
        at, k, row_mode = row_ints[n, law.JOINT], row_ints[n, law.ROW], row_ints[n, law.ROW_MODE]
        dof = row_ints[n, law.DOF]
        efforts[dof] = law.effort(
            row_reals[n], row_mode, drive[:, dof], impulse[at, k], q[qaddr[dof]], v[dof], h
        )


#: Number of iterations with a growing gap after which a step is too long.
MAX_GROWTHS = 2


@flat_kernel
def project_positions(
    mechanism, pattern, workspace, scratch, row_ints, row_reals, gap, max_iterations, stats
):
    """Moves bodies with the least mass-weighted displacement until all hard rows are closed.

    Soft rows with zero compliance are held: they go to their targets. Leaves rows and factored K of
    the new pose. Returns ``DONE`` or ``NOT_CLOSED``.
    """
    left = max_iterations
    while True:
        assemble_constraints(mechanism, pattern, workspace, scratch)
        factor_constraints(mechanism, pattern, workspace, stats)
        worst = constraint_errors(mechanism, workspace, scratch, stats)
        worst = max(worst, _prescribed_errors(mechanism, workspace, scratch, row_ints, row_reals))
        if worst <= gap:
            return DONE
        if left == 0 or not math.isfinite(worst):
            return NOT_CLOSED
        apply_corrections(mechanism, pattern, workspace)
        left -= 1


@flat_kernel
def _prescribed_errors(mechanism, workspace, scratch, row_ints, row_reals):
    """Computes the negative error of each held row from its target; returns the largest."""
    bodies, joint_ints, joint_reals, rail = mechanism
    _, _, _, _, _, diagonal, error, _, _, _ = workspace
    frame, ride, _, _ = scratch
    worst = 0.0
    for n in range(row_reals.shape[0]):
        at, k = row_ints[n, law.JOINT], row_ints[n, law.ROW]
        if diagonal[at, k] > 0.0:
            continue
        joint_frames(bodies, joint_ints[at], joint_reals[at], rail, False, frame, ride)
        error[at, k] = row_reals[n, law.TARGET] - coordinate(
            joint_ints[at], frame, k, row_reals[n, law.TARGET], joint_reals[at]
        )
        worst = max(worst, abs(error[at, k]))
    return worst


@flat_kernel
def project_positions_near(mechanism, pattern, workspace, scratch, gap, max_iterations, stats):
    """Is :func:`project_positions` near the pose for which the rows and K were computed.

    Growing gaps indicate a distant solution: it then returns ``NOT_CLOSED``.
    """
    before, growths = math.inf, 0
    left = max_iterations
    while True:
        worst = constraint_errors(mechanism, workspace, scratch, stats)
        if worst <= gap:
            assemble_constraints(mechanism, pattern, workspace, scratch)
            factor_constraints(mechanism, pattern, workspace, stats)
            return DONE
        if worst >= before:
            growths += 1
        if left == 0 or growths > MAX_GROWTHS or not math.isfinite(worst):
            return NOT_CLOSED
        before = worst
        apply_corrections(mechanism, pattern, workspace)
        left -= 1


@inner_kernel
def joint_gap(mechanism, workspace, scratch, n):
    """Computes the negative gap of each hard row of a joint; returns the largest."""
    bodies, joint_ints, joint_reals, rail = mechanism
    _, _, _, _, _, _, error, _, _, _ = workspace
    frame, ride, _, _ = scratch
    if joint_ints[n, POINT] == 2:
        point_errors(bodies, joint_ints, joint_reals, n, False, error)
    else:
        for k in range(6):
            error[n, k] = 0.0
        if joint_ints[n, KIND] == COUPLING:
            error[n, 0] = coupling_error(
                bodies, joint_ints, joint_reals, rail, n, False, 0.0, frame, ride
            )
        else:
            joint_frames(bodies, joint_ints[n], joint_reals[n], rail, False, frame, ride)
            joint_errors(joint_ints[n], joint_reals[n], frame, error[n])
    worst = 0.0
    for k in range(joint_ints[n, SIZE]):
        size = abs(error[n, k])
        if size > worst or size != size:  # NaN stays the largest
            worst = size
        error[n, k] = -error[n, k]
    return worst


@inner_kernel
def constraint_errors(mechanism, workspace, scratch, stats):
    """Computes the negative gap of each hard row; returns the largest."""
    _, joint_ints, _, _ = mechanism
    worst, at = 0.0, 0
    for n in range(joint_ints.shape[0]):
        size = joint_gap(mechanism, workspace, scratch, n)
        if size > worst or size != size:
            worst, at = size, n
    stats[GAP], stats[GAP_JOINT] = worst, at
    return worst


@inner_kernel
def apply_corrections(mechanism, pattern, workspace):
    """Moves bodies by the linearized correction of the gaps."""
    bodies, joint_ints, _, _ = mechanism
    columns, row_of, _, _, _ = pattern
    jacobian, _, _, factor, _, _, error, _, _, pivot = workspace
    solve_blocks(joint_ints, factor, columns, row_of, pivot, error)
    for n in range(joint_ints.shape[0]):
        for side in range(joint_ints[n, SIDES]):
            _add_correction(bodies[joint_ints[n, side]], jacobian[n, side], error[n])
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            apply_rotation(bodies[n])


@flat_kernel
def _add_correction(body, j, by):
    """Adds a row's correction to the position, and its rotation to the look-ahead columns."""
    m = body[MASS_INV]
    if m == 0.0:
        return
    tx = ty = tz = 0.0
    for k in range(6):
        for i in range(3):
            body[X + i] += m * j[k, i] * by[k]
        tx += j[k, 3] * by[k]
        ty += j[k, 4] * by[k]
        tz += j[k, 5] * by[k]
    for i in range(3):
        n = TENSOR + 3 * i
        body[XN + i] += body[n] * tx + body[n + 1] * ty + body[n + 2] * tz


@flat_kernel
def apply_rotation(body):
    """Rotates a body by the rotation vector in XN, in world axes, and clears it."""
    x, y, z = body[XN], body[XN + 1], body[XN + 2]
    angle = math.sqrt(x * x + y * y + z * z)
    s = 0.5 if angle < 1e-9 else math.sin(0.5 * angle) / angle
    w = math.cos(0.5 * angle)
    x, y, z = s * x, s * y, s * z
    qw, qx, qy, qz = body[Q], body[Q + 1], body[Q + 2], body[Q + 3]
    body[Q] = w * qw - x * qx - y * qy - z * qz
    body[Q + 1] = w * qx + x * qw + y * qz - z * qy
    body[Q + 2] = w * qy - x * qz + y * qw + z * qx
    body[Q + 3] = w * qz + x * qy - y * qx + z * qw
    n = 1.0 / math.sqrt(body[Q] ** 2 + body[Q + 1] ** 2 + body[Q + 2] ** 2 + body[Q + 3] ** 2)
    for k in range(4):
        body[Q + k] *= n
    body[XN] = body[XN + 1] = body[XN + 2] = 0.0
    rotation_matrix(body, Q, R)
    world_inverse_inertia(body)
