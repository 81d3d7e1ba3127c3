"""Sequential impulses: a step joint by joint (Visum §5), with a result after any iteration."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.engines.impulse.body_kernels import MASS_INV, XN, drift
from linkwork.engines.impulse.constraint_kernels import (
    DONE,
    EVENTS,
    FACTORS,
    ITERATIONS,
    NOT_FINITE,
    REDUNDANT,
    STOPPED,
    apply_external_forces,
    apply_impulses,
    assemble_constraints,
    factor_constraints,
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
    island_of_joint,
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
from linkwork.engines.impulse.mechanism import HARD, MODE, SIDES, SOFT_COUNT, SOFT_FIRST
from linkwork.engines.impulse.projection_kernels import (
    apply_corrections,
    carry_over,
    constraint_errors,
    end_drift,
    project_velocities,
)

#: Maximum number of corrections of the positions of all bodies in a step.
_MAX_CORRECTIONS = 4


@flat_kernel
def sequential_step(
    mechanism, pattern, workspace, scratch, row_ints, row_reals, drive, wrench, h, gap, speed_gap,
    max_iterations, islands, most_open, unresolved, stats,
):  # fmt: skip
    """Takes one step joint by joint (Visum §5), with at most ``max_iterations`` sweeps.

    Each joint in turn closes its own gap after the step, regardless of the others, until all gaps
    are small or the sweeps are used up. What is left is closed by moving bodies without velocity.
    Islands that have gained energy from this, or from ``unresolved`` springs, are slowed down;
    those with a joint that is open by more than ``most_open`` (a distance and an angle) return to
    the start of the step and rest. The force laws along the joint's rows are updated in the same
    turn: once the law is solved, a violated limit becomes active.
    """
    bodies, joint_ints, _, _ = mechanism
    _, _, _, _, _, _, error, impulse, _, _ = workspace
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
    if left > gap:
        _close_gaps(
            mechanism, pattern, workspace, scratch, row_ints, row_reals, h, most_open, stats
        )
    _factor_diagonal_blocks(joint_ints, workspace, stats)
    _sweep_velocities(mechanism, workspace, row_ints, row_reals, h, speed_gap, max_iterations)
    gains = left > gap or unresolved
    limit_island_energies(
        mechanism, workspace, scratch, row_ints, row_reals, drive, wrench, islands, h,
        0.0 if gains else 2.5e-3, 0.0 if gains else 1e-2, math.inf, 1.0 if gains else 0.1,
    )  # fmt: skip
    if gains:
        _mark_open_islands(mechanism, workspace, scratch, islands, most_open, stats)
        record_gap(joint_ints, error, stats)
        record_limit_gap(row_ints, row_reals, stats)
        if stop_islands(mechanism, row_ints, row_reals, islands):
            stats[STOPPED] = 1.0
    return DONE


@inner_kernel
def _sweep_velocities(mechanism, workspace, row_ints, row_reals, h, speed_gap, max_iterations):
    """Removes the velocities that open joints, joint by joint."""
    bodies, joint_ints, _, _ = mechanism
    jacobian, _, _, factor, _, diagonal, error, impulse, _, pivot = workspace
    for _ in range(max_iterations):
        worst = 0.0
        for n in range(joint_ints.shape[0]):
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


@inner_kernel
def _open_joint(mechanism, workspace, scratch, most_open, stats):
    """Computes all gaps; returns the first joint that is open by more than allowed, or −1."""
    _, joint_ints, _, _ = mechanism
    _, _, _, _, _, _, error, _, _, _ = workspace
    constraint_errors(mechanism, workspace, scratch, stats)
    for n in range(joint_ints.shape[0]):
        if is_open(joint_ints, error, n, most_open):
            return n
    return -1


@flat_kernel
def is_open(joint_ints, error, n, most_open):
    """Returns whether a joint's gap exceeds the distance or angle ``most_open``."""
    distance = angle = 0.0
    for k in range(3):
        if joint_ints[n, MODE + k] == HARD:
            distance += error[n, k] * error[n, k]
        if joint_ints[n, MODE + 3 + k] == HARD:
            angle += error[n, 3 + k] * error[n, 3 + k]
    return not (distance <= most_open[0] * most_open[0] and angle <= most_open[1] * most_open[1])


@inner_kernel
def _close_gaps(mechanism, pattern, workspace, scratch, row_ints, row_reals, h, most_open, stats):
    """Moves all bodies once by the linearized correction of the remaining gaps, without velocity.

    Repeats this, a few times at most, while a joint is open by more than ``most_open``. Velocities
    that open joints are removed. ``error`` holds the gaps afterwards.
    """
    bodies, _, _, _ = mechanism
    for n in range(bodies.shape[0]):  # corrections add up rotations there
        bodies[n, XN] = bodies[n, XN + 1] = bodies[n, XN + 2] = 0.0
    constraint_errors(mechanism, workspace, scratch, stats)
    for _ in range(_MAX_CORRECTIONS):
        factor_constraints(mechanism, pattern, workspace, stats)
        apply_corrections(mechanism, pattern, workspace)
        assemble_constraints(mechanism, pattern, workspace, scratch)
        if _open_joint(mechanism, workspace, scratch, most_open, stats) < 0:
            break
    factor_constraints(mechanism, pattern, workspace, stats)
    project_velocities(mechanism, pattern, workspace, row_ints, row_reals, h, True)


@inner_kernel
def _mark_open_islands(mechanism, workspace, scratch, islands, most_open, stats):
    """Marks islands with a joint that is open by more than allowed by an infinite gain."""
    _, joint_ints, _, _ = mechanism
    _, _, _, _, _, _, error, _, _, _ = workspace
    island_of, _, _, _, gain, _ = islands
    if _open_joint(mechanism, workspace, scratch, most_open, stats) < 0:
        return
    for n in range(joint_ints.shape[0]):
        if is_open(joint_ints, error, n, most_open):
            gain[island_of_joint(joint_ints, island_of, n)] = math.inf
            for k in range(6):
                error[n, k] = 0.0


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
