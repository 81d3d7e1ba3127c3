"""Sequential impulses: a step joint by joint (Visum §5), with a result after any iteration."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.engines.impulse.body_kernels import MASS_INV, drift
from linkwork.engines.impulse.constraint_kernels import (
    DONE,
    EVENTS,
    FACTORS,
    ITERATIONS,
    NOT_FINITE,
    REDUNDANT,
    apply_external_forces,
    apply_impulses,
    assemble_constraints,
    record_gap,
    set_diagonal,
)
from linkwork.engines.impulse.delassus_kernels import (
    factor_diagonal_block,
    factor_diagonal_blocks,
    solve_diagonal_block,
)
from linkwork.engines.impulse.energy_kernels import (
    island_energies,
    limit_island_energies,
    save_step_start,
    stop_islands,
)
from linkwork.engines.impulse.joint_kernels import apply_joint_impulse, constraint_velocity
from linkwork.engines.impulse.lookahead_kernels import (
    predict_errors,
    predicted_joint_errors,
    record_limit_gap,
    set_constant_impulses,
    start_rows,
)
from linkwork.engines.impulse.mechanism import SIDES, SOFT_COUNT, SOFT_FIRST
from linkwork.engines.impulse.projection_kernels import carry_over, end_drift


@flat_kernel
def sequential_step(
    mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, h, gap, speed_gap,
    max_iterations, islands, unresolved, stats,
):  # fmt: skip
    """Takes one step joint by joint (Visum §5), with at most ``max_iterations`` sweeps.

    Each joint in turn closes its own gap after the step, regardless of the others, until all gaps
    are small or the sweeps are used up. ``stats`` then holds the remaining gap. Islands that this
    gap, or ``unresolved`` springs, accelerated beyond the work of all forces are slowed down. The
    force laws along the joint's rows are updated in the same turn: once the law is solved, a
    violated limit becomes active.
    """
    bodies, joint_ints, _, _ = mechanism
    jacobian, _, _, factor, _, diagonal, error, impulse, _, pivot = workspace
    _, _, series, _ = scratch
    count = joint_ints.shape[0]
    island_of, before, kinetic, _, _, _ = islands
    save_step_start(bodies)
    assemble_constraints(mechanism, pattern, workspace, scratch)
    island_energies(
        mechanism, workspace, scratch, row_ints, row_reals, island_of, True, kinetic, before
    )
    if row_reals.shape[0]:
        start_rows(mechanism, workspace, scratch, row_ints, row_reals, drive, h)
    set_diagonal(workspace, row_ints, row_reals, h, False)
    _factor_diagonal_blocks(joint_ints, workspace, stats)
    apply_external_forces(bodies, wrench, 0.5 * h)
    impulse[:, :] = 0.0
    set_constant_impulses(row_ints, row_reals, impulse)
    apply_impulses(mechanism, workspace, impulse)
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            drift(bodies[n], h, series)
    for _ in range(max_iterations):
        worst, held = 0.0, True
        for n in range(count):
            size = predicted_joint_errors(
                mechanism, workspace, scratch, row_ints, row_reals, h, gap, n
            )
            if not math.isfinite(size):
                return NOT_FINITE
            worst = max(worst, size)
            if size > gap:
                _correct_joint(mechanism, workspace, series, h, n, stats)
            if joint_ints[n, SOFT_COUNT] == 0:
                continue
            if size > gap:
                predicted_joint_errors(
                    mechanism, workspace, scratch, row_ints, row_reals, h, gap, n
                )
            if not _update_joint_laws(
                mechanism, workspace, series, row_ints, row_reals, drive, h, gap, n
            ):
                held = False
                stats[EVENTS] += 1.0
                predicted_joint_errors(
                    mechanism, workspace, scratch, row_ints, row_reals, h, gap, n
                )
                _correct_joint(mechanism, workspace, series, h, n, stats)
        if worst <= gap and held:
            break
    left = predict_errors(mechanism, workspace, scratch, row_ints, row_reals, h, gap, stats)
    record_gap(joint_ints, error, stats)
    record_limit_gap(row_ints, row_reals, stats)
    end_drift(mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, h)
    _factor_diagonal_blocks(joint_ints, workspace, stats)
    for _ in range(max_iterations):
        worst = 0.0
        for n in range(count):
            constraint_velocity(bodies, joint_ints, jacobian, n, error, n)
            for m in range(
                joint_ints[n, SOFT_FIRST], joint_ints[n, SOFT_FIRST] + joint_ints[n, SOFT_COUNT]
            ):
                k, row_mode = row_ints[m, law.ROW], row_ints[m, law.ROW_MODE]
                if diagonal[n, k] >= law.FREE_COMPLIANCE:
                    error[n, k] = 0.0
                else:
                    error[n, k] -= law.end_speed(row_reals[m], row_mode, h)
                    error[n, k] += diagonal[n, k] * row_reals[m, law.CARRIED_IMPULSE]
            for k in range(6):
                worst = max(worst, abs(error[n, k]))
                error[n, k] = -error[n, k]
            solve_diagonal_block(joint_ints, factor, pivot, error, n)
            for m in range(
                joint_ints[n, SOFT_FIRST], joint_ints[n, SOFT_FIRST] + joint_ints[n, SOFT_COUNT]
            ):
                carry_over(row_reals[m], error[n, row_ints[m, law.ROW]], h)
            for k in range(6):
                impulse[n, k] += error[n, k]
            apply_joint_impulse(bodies, joint_ints, jacobian, error, n)
        if worst <= speed_gap:
            break
    gains = left > gap or unresolved
    limit_island_energies(
        mechanism, workspace, scratch, row_ints, row_reals, drive, wrench, islands, h,
        0.0 if gains else 2.5e-3, math.inf, 1.0 if gains else 0.1,
    )  # fmt: skip
    if gains:
        stop_islands(mechanism, row_ints, row_reals, islands)
    return DONE


@inner_kernel
def _apply_joint_impulse(mechanism, workspace, series, h, n):
    """Applies the impulses in the errors of a joint to its bodies, and repeats their drift."""
    bodies, joint_ints, _, _ = mechanism
    jacobian, _, _, _, _, _, error, _, _, _ = workspace
    apply_joint_impulse(bodies, joint_ints, jacobian, error, n)
    for side in range(joint_ints[n, SIDES]):
        if bodies[joint_ints[n, side], MASS_INV] > 0.0:
            drift(bodies[joint_ints[n, side]], h, series)


@inner_kernel
def _correct_joint(mechanism, workspace, series, h, n, stats):
    """Closes a joint by its own block of K."""
    _, joint_ints, _, _ = mechanism
    _, _, _, factor, _, _, error, impulse, _, pivot = workspace
    stats[ITERATIONS] += 1.0
    for k in range(6):
        error[n, k] *= -1.0 / h
    solve_diagonal_block(joint_ints, factor, pivot, error, n)
    for k in range(6):
        impulse[n, k] += error[n, k]
    _apply_joint_impulse(mechanism, workspace, series, h, n)


@flat_kernel
def _update_joint_laws(mechanism, workspace, series, row_ints, row_reals, drive, h, gap, n):
    """Updates the active branches of a joint's force laws; returns whether none changed."""
    _, joint_ints, _, _ = mechanism
    _, _, delassus, factor, first_pivot, diagonal, error, impulse, _, pivot = workspace
    held = True
    for k in range(6):
        error[n, k] = 0.0
    for m in range(
        joint_ints[n, SOFT_FIRST], joint_ints[n, SOFT_FIRST] + joint_ints[n, SOFT_COUNT]
    ):
        k, row_mode = row_ints[m, law.ROW], row_ints[m, law.ROW_MODE]
        push_by = drive[:, row_ints[m, law.DOF]]
        if law.update_law(row_reals[m], row_mode, push_by, impulse[n, k], h, gap):
            continue
        held = False
        law.set_law(row_reals[m], push_by, h)
        diagonal[n, k] = law.compliance(row_reals[m], row_mode)
        if diagonal[n, k] < law.FREE_COMPLIANCE:
            diagonal[n, k] /= h
        else:  # its impulse does not depend on the displacement
            error[n, k] = law.constant_impulse(row_reals[m], row_mode) - impulse[n, k]
            impulse[n, k] += error[n, k]
    if not held:
        for i in range(6):
            for k in range(6):
                factor[n, i, k] = delassus[n, i, k]
            factor[n, i, i] += diagonal[n, i]
        factor_diagonal_block(joint_ints, factor, first_pivot, pivot, n)
        _apply_joint_impulse(mechanism, workspace, series, h, n)
    return held


@flat_kernel
def _factor_diagonal_blocks(joint_ints, workspace, stats):
    """Factors each joint's own block, with the compliance of soft rows on its diagonal."""
    _, _, delassus, factor, first_pivot, diagonal, _, _, _, pivot = workspace
    for n in range(joint_ints.shape[0]):
        for i in range(6):
            for k in range(6):
                factor[n, i, k] = delassus[n, i, k]
        for k in range(6):
            factor[n, k, k] += diagonal[n, k]
    stats[REDUNDANT] = factor_diagonal_blocks(joint_ints, factor, first_pivot, pivot)
    stats[FACTORS] += 1.0
