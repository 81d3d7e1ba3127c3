"""The RATTLE step: impulses that close all joints after it, free motion, velocity projection.

With all impulses solved at once the method is symplectic, symmetric in time and of second order.
Steps are extrapolated to order 4 (one and two substeps) and 6 (one, two and three substeps).
"""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
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
    rotation_matrix,
    world_inverse_inertia,
)
from linkwork.engines.impulse.constraint_kernels import (
    DONE,
    EVENTS,
    GAP,
    GAP_JOINT,
    ITERATIONS,
    NOT_CLOSED,
    NOT_FINITE,
    SPREAD_ENERGY,
    TOO_COARSE,
    TOTAL_ENERGY,
    UNSETTLED,
    apply_external_forces,
    apply_impulses,
    assemble_constraints,
    factor_constraints,
    record_gap,
    set_diagonal,
)
from linkwork.engines.impulse.delassus_kernels import copy_blocks, solve_blocks
from linkwork.engines.impulse.energy_kernels import (
    drifts_in_energy,
    gains_energy,
    kinetic_energy,
    rest_energy,
    save_step_start,
)
from linkwork.engines.impulse.frame_kernels import unwrap_angle
from linkwork.engines.impulse.lookahead_kernels import (
    predict_errors,
    record_limit_gap,
    set_constant_impulses,
    start_rows,
    update_active_laws,
)
from linkwork.engines.impulse.mechanism import HARD, MODE, SIDES, TURNS, S
from linkwork.engines.impulse.projection_kernels import (
    MAX_GROWTHS,
    apply_rotation,
    end_drift,
    project_positions_near,
    project_velocities,
)

#: Iterations after which the energy of a step is checked: usually there are one or two.
_USUAL_ITERATIONS = 8
#: Maximum number of simultaneous changes of force laws, then of single changes per row, and minimum
#: number of iterations after a change.
_MAX_JOINT_CHANGES, _MAX_SINGLE_CHANGES, _MIN_ITERATIONS_AFTER_CHANGE = 12, 10, 10


@inner_kernel
def _predict_right_hand_side(history, history_length, total, impulse):
    """Extrapolates the right-hand side of the next solve from those of the last steps.

    They are smooth in time, which impulses are not.
    """
    for n in range(total.shape[0]):
        for k in range(6):
            f0, f1, f2, f3 = history[0, n, k], history[1, n, k], history[2, n, k], history[3, n, k]
            guess = 0.0
            if history_length >= 4:
                guess = 4.0 * (f0 + f2) - 6.0 * f1 - f3
            elif history_length == 3:
                guess = 3.0 * (f0 - f1) + f2
            elif history_length == 2:
                guess = 2.0 * f0 - f1
            elif history_length == 1:
                guess = f0
            total[n, k] = guess
            impulse[n, k] = guess


@inner_kernel
def _apply_law_changes(mechanism, pattern, workspace, row_ints, row_reals, h, stats):
    """Applies the impulses of rows whose law changed; ``error`` holds those before the change."""
    _, joint_ints, _, _ = mechanism
    _, _, _, _, _, _, error, impulse, _, _ = workspace
    stats[EVENTS] += 1.0
    set_constant_impulses(row_ints, row_reals, impulse)
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            hard = joint_ints[n, MODE + k] == HARD
            error[n, k] = 0.0 if hard else impulse[n, k] - error[n, k]
    apply_impulses(mechanism, workspace, error)
    if set_diagonal(workspace, row_ints, row_reals, h, False):
        factor_constraints(mechanism, pattern, workspace, stats)


@inner_kernel
def _correct_impulses(mechanism, pattern, workspace, h):
    """Takes one Newton iteration: adds the impulses K⁻¹ (−error / h)."""
    _, joint_ints, _, _ = mechanism
    columns, row_of, _, _, _ = pattern
    _, _, _, factor, _, _, error, impulse, total, pivot = workspace
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            error[n, k] *= -1.0 / h
            total[n, k] += error[n, k]
    solve_blocks(joint_ints, factor, columns, row_of, pivot, error)
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            impulse[n, k] += error[n, k]
    apply_impulses(mechanism, workspace, error)


@inner_kernel
def _solve_positions(
    mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, h, gap, max_iterations,
    stats,
):  # fmt: skip
    """Iterates until all gaps after the step are within ``gap`` and all laws of rows hold.

    Iterations that do not shrink the error converge to another assembly of the mechanism, if at all
    (as at a flat parallelogram): such a step is too long.
    """
    _, _, _, _, _, _, error, impulse, _, _ = workspace
    changes = 0
    left = max_iterations
    before, growths = math.inf, 0
    while True:
        worst = predict_errors(mechanism, workspace, scratch, row_ints, row_reals, h, gap, stats)
        if not math.isfinite(worst):
            return NOT_FINITE
        if worst <= gap:
            if row_reals.shape[0] == 0:
                return DONE
            for n in range(row_reals.shape[0]):
                at, k = row_ints[n, law.JOINT], row_ints[n, law.ROW]
                error[at, k] = impulse[at, k]
            changed = update_active_laws(
                row_ints, row_reals, drive, impulse, h, gap, changes >= _MAX_JOINT_CHANGES
            )
            if changed < 0:
                return DONE
            if changes >= _MAX_JOINT_CHANGES + _MAX_SINGLE_CHANGES * row_reals.shape[0]:
                record_limit_gap(row_ints, row_reals, stats)
                if stats[GAP] <= gap:  # the undecided rows change the result by less than gap
                    return DONE
                stats[GAP_JOINT] = changed
                return UNSETTLED
            changes += 1
            before = math.inf
            left = max(left, min(_MIN_ITERATIONS_AFTER_CHANGE, max_iterations))
            _apply_law_changes(mechanism, pattern, workspace, row_ints, row_reals, h, stats)
            continue
        if worst >= before:
            growths += 1
        if left == 0 or growths > MAX_GROWTHS:
            return NOT_CLOSED
        before = worst
        left -= 1
        stats[ITERATIONS] += 1.0
        _correct_impulses(mechanism, pattern, workspace, h)


@inner_kernel
def _shift_history(row_ints, row_reals, total, history):
    """Stores the right-hand sides of this step; those of rows without a force are 0."""
    for n in range(row_reals.shape[0]):
        if law.compliance(row_reals[n], row_ints[n, law.ROW_MODE]) >= law.FREE_COMPLIANCE:
            total[row_ints[n, law.JOINT], row_ints[n, law.ROW]] = 0.0
    for n in range(total.shape[0]):
        for k in range(6):
            history[3, n, k] = history[2, n, k]
            history[2, n, k] = history[1, n, k]
            history[1, n, k] = history[0, n, k]
            history[0, n, k] = total[n, k]


@flat_kernel
def rattle_step(
    mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, history,
    history_length, h, gap, max_iterations, fresh, stats,
):  # fmt: skip
    """Takes one step of second order.

    ``fresh`` if ``workspace`` holds the rows and K of the present positions. ``history`` (4×n×6)
    are the right-hand sides of the last ``history_length`` steps.
    """
    bodies, joint_ints, _, _ = mechanism
    columns, row_of, _, _, _ = pattern
    _, _, _, factor, _, _, error, impulse, total, pivot = workspace
    if not fresh:
        assemble_constraints(mechanism, pattern, workspace, scratch)
    if row_reals.shape[0]:
        start_rows(mechanism, workspace, scratch, row_ints, row_reals, drive, h)
    if set_diagonal(workspace, row_ints, row_reals, h, False) or not fresh:
        if factor_constraints(mechanism, pattern, workspace, stats):
            history[:, :, :] = 0.0
    # first half of the external impulses, then constraint impulses that close the gaps after h
    apply_external_forces(bodies, wrench, 0.5 * h)
    _predict_right_hand_side(history, history_length, total, impulse)
    if history_length > 0:
        solve_blocks(joint_ints, factor, columns, row_of, pivot, impulse)
    if row_reals.shape[0]:
        set_constant_impulses(row_ints, row_reals, impulse)
    apply_impulses(mechanism, workspace, impulse)
    done = _solve_positions(
        mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, h, gap, max_iterations,
        stats,
    )  # fmt: skip
    if done != DONE:
        return done
    record_gap(joint_ints, error, stats)
    record_limit_gap(row_ints, row_reals, stats)
    _shift_history(row_ints, row_reals, total, history)
    # positions and the second half of the external impulses, then J v = 0 at the new positions
    end_drift(mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, h)
    if factor_constraints(mechanism, pattern, workspace, stats):
        history[:, :, :] = 0.0
    worst = project_velocities(mechanism, pattern, workspace, row_ints, row_reals, h, True)
    return DONE if math.isfinite(worst) else NOT_FINITE


@inner_kernel
def _copy_rows(given, out):
    for n in range(given.shape[0]):
        for k in range(given.shape[1]):
            out[n, k] = given[n, k]


@inner_kernel
def _copy_constraints(joint_ints, joint_reals, columns, workspace, store, keep):
    """Saves rows, factored K and unwrapped angles of the start of a step, or restores them."""
    jacobian, _, delassus, factor, _, diagonal, _, _, _, pivot = workspace
    j_kept, raw_kept, blocks_kept, diagonal_kept, pivot_kept, arcs_kept = store
    arcs = joint_reals[:, S : TURNS + 2]
    for n in range(joint_ints.shape[0]):
        for side in range(joint_ints[n, SIDES]):
            for i in range(6):
                for k in range(6):
                    if keep:
                        j_kept[n, side, i, k] = jacobian[n, side, i, k]
                    else:
                        jacobian[n, side, i, k] = j_kept[n, side, i, k]
    if keep:
        _copy_rows(arcs, arcs_kept)
        _copy_rows(diagonal, diagonal_kept)
        _copy_rows(pivot, pivot_kept)
        copy_blocks(joint_ints, columns, delassus, raw_kept)
        copy_blocks(joint_ints, columns, factor, blocks_kept)
    else:
        _copy_rows(arcs_kept, arcs)
        _copy_rows(diagonal_kept, diagonal)
        _copy_rows(pivot_kept, pivot)
        copy_blocks(joint_ints, columns, raw_kept, delassus)
        copy_blocks(joint_ints, columns, blocks_kept, factor)


@flat_kernel
def restore_step_start(bodies):
    """Restores all bodies to the start of the step."""
    for n in range(bodies.shape[0]):
        body = bodies[n]
        for i in range(3):
            body[X + i], body[V + i], body[L + i] = body[XO + i], body[VO + i], body[LO + i]
        for i in range(4):
            body[Q + i] = body[QO + i]
        rotation_matrix(body, Q, R)
        if body[MASS_INV] > 0.0:
            world_inverse_inertia(body)


@flat_kernel
def _add_to_mean(bodies, weight, mean, begin, before):
    """Adds a result of a step to the weighted mean of displacements, rotations and velocities.

    ``before`` is the sum of the previous weights: rotations are unwrapped to their mean.
    """
    for n in range(bodies.shape[0]):
        body, row = bodies[n], mean[n]
        if begin:
            row[:] = 0.0
        for i in range(3):
            row[i] += weight * (body[X + i] - body[XO + i])
            row[6 + i] += weight * (body[V + i] - body[VO + i])
            row[9 + i] += weight * (body[L + i] - body[LO + i])
        # rotation from QO to Q, in world axes: Q QO⁻¹
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
                turned = unwrap_angle(turned, (x * row[3] + y * row[4] + z * row[5]) / (before * s))
            f = turned / s
        row[3] += weight * f * x
        row[4] += weight * f * y
        row[5] += weight * f * z


@flat_kernel
def _apply_mean(bodies, mean):
    """Sets all bodies to the weighted mean.

    Returns the kinetic energy of the velocity change [J].
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
        apply_rotation(body)
    return energy


@flat_kernel
def extrapolated_step(
    mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, history,
    history_length, mean, start, store, h, order, gap, max_iterations, max_energy_drift, reduced,
    fresh, stats,
):  # fmt: skip
    """Takes one step of an order; ``history_length`` (3) counts the steps of ``history`` (3×4×n×6).

    A ``reduced`` step is not extrapolated: it is the result of the finest substeps, of order 2. A
    step is too coarse if it changes the energy by more than the share ``max_energy_drift``; 0
    disables the check.
    """
    bodies, joint_ints, joint_reals, _ = mechanism
    columns, _, _, _, _ = pattern
    _, _, _, _, _, _, error, _, _, _ = workspace
    save_step_start(bodies)
    substeps = order // 2
    usual = stats[ITERATIONS] + _USUAL_ITERATIONS * (substeps * (substeps + 1) // 2)
    if substeps > 1:
        if not fresh:
            assemble_constraints(mechanism, pattern, workspace, scratch)
            factor_constraints(mechanism, pattern, workspace, stats)
            fresh = True
        _copy_rows(row_reals, start)
        _copy_constraints(joint_ints, joint_reals, columns, workspace, store, True)
    weight_sum = 0.0
    for m in range(1, substeps + 1):
        if reduced and m < substeps:
            history_length[m - 1] = 0
            continue
        if m > 1 and not reduced:
            restore_step_start(bodies)
            _copy_rows(start, row_reals)
            _copy_constraints(joint_ints, joint_reals, columns, workspace, store, False)
        for _ in range(m):
            done = rattle_step(
                mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench,
                history[m - 1], history_length[m - 1], h / m, gap, max_iterations, fresh, stats,
            )  # fmt: skip
            if done != DONE:
                history_length[:] = 0
                return done
            history_length[m - 1] = min(4, history_length[m - 1] + 1)
        if substeps == 1:
            if stats[ITERATIONS] > usual and gains_energy(
                mechanism, workspace, row_ints, row_reals, wrench, h, 1
            ):
                return NOT_CLOSED
            coarse = max_energy_drift > 0.0 and drifts_in_energy(
                bodies, wrench, h, max_energy_drift
            )
            return TOO_COARSE if coarse else DONE
        weight = 1.0
        for other in range(1, substeps + 1):
            if other != m:
                weight *= m * m / (m * m - other * other)
        if reduced or stats[EVENTS] > 0.0:  # not smooth: use the finest result only
            weight = 1.0 if m == substeps else 0.0
            _add_to_mean(bodies, weight, mean, True, 0.0)
        else:
            _add_to_mean(bodies, weight, mean, m == 1, weight_sum)
        weight_sum += weight
        for n in range(row_reals.shape[0]):
            alone = m == 1 or reduced or stats[EVENTS] > 0.0
            before = 0.0 if alone else start[n, law.MEAN_CARRIED]
            start[n, law.MEAN_CARRIED] = before + weight * row_reals[n, law.CARRIED_FORCE]
    spread = _apply_mean(bodies, mean)
    if stats[EVENTS] == 0.0 and not reduced:
        stats[SPREAD_ENERGY], stats[TOTAL_ENERGY] = (
            spread,
            kinetic_energy(bodies) + rest_energy(bodies, wrench, h),
        )
    for n in range(row_reals.shape[0]):
        row_reals[n, law.CARRIED_FORCE] = start[n, law.MEAN_CARRIED]
    set_diagonal(workspace, row_ints, row_reals, h, True)
    if (
        project_positions_near(mechanism, pattern, workspace, scratch, gap, max_iterations, stats)
        != DONE
    ):
        return NOT_CLOSED
    record_gap(joint_ints, error, stats)
    record_limit_gap(row_ints, row_reals, stats)
    project_velocities(mechanism, pattern, workspace, row_ints, row_reals, h / substeps, False)
    if stats[ITERATIONS] > usual and gains_energy(
        mechanism, workspace, row_ints, row_reals, wrench, h, substeps
    ):
        return NOT_CLOSED
    coarse = max_energy_drift > 0.0 and drifts_in_energy(bodies, wrench, h, max_energy_drift)
    return TOO_COARSE if coarse else DONE
