"""Constraint equations: rows J of all joints and K = J M⁻¹ Jᵀ, assembled and factored.

Kernels share four tuples of arrays, see ``mechanism.py``:
    mechanism: bodies, joint_ints, joint_reals, rail (constant except bodies and arc lengths)
    pattern: columns, row_of, updates, update_of, pairs
    workspace: the fields of ``Workspace``
    scratch: frame, ride, series, six
and three arrays of soft rows: row_ints, row_reals, drive.
"""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.engines.impulse.body_kernels import (
    MASS_INV,
    L,
    Q,
    R,
    V,
    rotation_matrix,
    world_inverse_inertia,
)
from linkwork.engines.impulse.delassus_kernels import assemble_delassus, copy_blocks, factor_blocks
from linkwork.engines.impulse.frame_kernels import joint_frames
from linkwork.engines.impulse.joint_kernels import (
    apply_joint_impulse,
    coupling_row,
    joint_jacobian,
    point_jacobian,
)
from linkwork.engines.impulse.mechanism import COUPLING, HARD, KIND, MODE, POINT, SIZE

#: Outcome of a step: done, not closed within the iterations, not finite, cycling branches of force
#: laws, or too large a prediction error.
DONE, NOT_CLOSED, NOT_FINITE, UNSETTLED, TOO_COARSE = 0, 1, 2, 3, 4
#: Columns of the step statistics: largest gap [m or rad], its joint, iterations, factorizations,
#: redundant rows, changes of force-law branches, prediction error [m or half rad], kinetic energy
#: of the velocity difference between the finest substeps and the extrapolated step [J], total
#: energy [J]; the highest frequency of springs [rad/s] and its joint where it matters, whether the
#: order was reduced to 2 and whether the oscillation is not resolved, energies by which such
#: springs are stretched in the step and that they hold [J]; whether an island was stopped,
#: whether all joints were solved at once instead, substeps that resolve springs;
#: energy that was removed as a gain without a cause, and the energy it is compared with [J].
(
    GAP, GAP_JOINT, ITERATIONS, FACTORS, REDUNDANT, EVENTS, PREDICTION_ERROR, SPREAD_ENERGY,
    TOTAL_ENERGY, FREQUENCY, SPRING_JOINT, REDUCED, UNRESOLVED, SPRING_MOTION, SPRING_ENERGY,
    STOPPED, SOLVED_DIRECTLY, SPRING_SUBSTEPS, REMOVED_ENERGY, ENERGY_SCALE,
) = range(20)  # fmt: skip
STEP_STATS_COLUMNS = 20
#: Relative pivots below which K is regularized: anywhere, and in a joint with a redundant row; and
#: the relative regularization.
WEAK, NEGLIGIBLE_BESIDE, SOFTENED = 1e-5, 1e-3, 1e-9


@inner_kernel
def compute_jacobian(mechanism, workspace, scratch, n):
    """Computes the rows of joint ``n`` at the present pose."""
    bodies, joint_ints, joint_reals, rail = mechanism
    jacobian, _, _, _, _, _, _, _, _, _ = workspace
    frame, ride, _, six = scratch
    if joint_ints[n, POINT] == 2:
        point_jacobian(bodies, joint_ints, joint_reals, n, jacobian)
    elif joint_ints[n, KIND] == COUPLING:
        coupling_row(bodies, joint_ints, joint_reals, rail, n, frame, ride, six, jacobian[n])
    else:
        joint_frames(bodies, joint_ints[n], joint_reals[n], rail, False, frame, ride)
        joint_jacobian(bodies, joint_ints[n], joint_reals[n], frame, jacobian[n, 0], jacobian[n, 1])


@inner_kernel
def compute_jacobians(mechanism, workspace, scratch):
    """Computes the rows of all joints at the present pose."""
    _, joint_ints, _, _ = mechanism
    for n in range(joint_ints.shape[0]):
        compute_jacobian(mechanism, workspace, scratch, n)


@inner_kernel
def assemble_constraints(mechanism, pattern, workspace, scratch):
    """Computes the rows of all joints at the present pose, and K."""
    bodies, joint_ints, _, _ = mechanism
    columns, _, _, _, pairs = pattern
    jacobian, inverse_mass_jacobian, delassus, _, _, _, _, _, _, _ = workspace
    compute_jacobians(mechanism, workspace, scratch)
    assemble_delassus(
        bodies, joint_ints, jacobian, inverse_mass_jacobian, columns, pairs, delassus
    )  # fmt: skip


@inner_kernel
def factor_constraints(mechanism, pattern, workspace, stats):
    """Factors K with the compliance of soft rows; returns whether it had to be regularized.

    Beside redundant rows others may be nearly redundant, and which of two rows is redundant may
    change as axes rotate. Near such a change K is regularized by a small part of its diagonal. This
    opens no joint, as errors still converge to zero, but costs one or two more iterations, and
    impulses start from zero: extrapolated impulses of redundant rows would grow without bound.
    """
    _, joint_ints, _, _ = mechanism
    columns, row_of, updates, update_of, _ = pattern
    _, _, delassus, factor, first_pivot, diagonal, _, _, _, pivot = workspace
    softening = 0.0
    while True:
        copy_blocks(joint_ints, columns, delassus, factor)
        for n in range(diagonal.shape[0]):
            for k in range(6):
                factor[n, k, k] += diagonal[n, k] + softening * delassus[n, k, k]
        lost = factor_blocks(
            joint_ints, factor, columns, row_of, updates, update_of, first_pivot, pivot
        )
        stats[FACTORS] += 1.0
        if softening > 0.0:
            return True
        stats[REDUNDANT] = lost
        if lost == 0 or not is_weak(joint_ints, first_pivot, pivot):
            return False
        softening = SOFTENED


@flat_kernel
def is_weak(joint_ints, first, pivot):
    """Returns whether a row is so nearly redundant that its impulse would be rounding error."""
    for n in range(joint_ints.shape[0]):
        lost, least = False, 1.0
        for k in range(joint_ints[n, SIZE]):
            if pivot[n, k] == 0.0:
                lost = True
            else:
                least = min(least, 1.0 / (pivot[n, k] * first[n, k]))
        if least < (NEGLIGIBLE_BESIDE if lost else WEAK):
            return True
    return False


@inner_kernel
def apply_impulses(mechanism, workspace, impulse):
    """Applies the impulses along all rows to all bodies."""
    bodies, joint_ints, _, _ = mechanism
    jacobian, _, _, _, _, _, _, _, _, _ = workspace
    for n in range(joint_ints.shape[0]):
        apply_joint_impulse(bodies, joint_ints, jacobian, impulse, n)


@inner_kernel
def apply_external_forces(bodies, wrench, h):
    """Applies external forces for the time ``h``."""
    for n in range(bodies.shape[0]):
        body = bodies[n]
        m = body[MASS_INV]
        if m > 0.0:
            for i in range(3):
                body[V + i] += h * m * wrench[n, i]
                body[L + i] += h * wrench[n, 3 + i]


@inner_kernel
def set_diagonal(workspace, row_ints, row_reals, h, ends):
    """Sets the compliance of soft rows; returns whether it differs from the factored one."""
    _, _, delassus, _, _, diagonal, _, _, _, _ = workspace
    changed = False
    for n in range(row_reals.shape[0]):
        at, k, row_mode = row_ints[n, law.JOINT], row_ints[n, law.ROW], row_ints[n, law.ROW_MODE]
        if ends:
            c = law.end_compliance(row_reals[n], row_mode, delassus[at, k, k])
        else:
            c = law.compliance(row_reals[n], row_mode)
            if c < law.FREE_COMPLIANCE:
                c /= h
        if c != diagonal[at, k]:
            diagonal[at, k] = c
            changed = True
    return changed


@flat_kernel
def record_gap(joint_ints, error, stats):
    """Records the largest gap of a finished step from the remaining errors.

    A gap is a distance or an angle of a joint, over all of its hard rows.
    """
    worst, at = 0.0, 0
    for n in range(joint_ints.shape[0]):
        far = turn = 0.0
        for k in range(3):
            if joint_ints[n, MODE + k] == HARD:
                far += error[n, k] * error[n, k]
            if joint_ints[n, MODE + 3 + k] == HARD:
                turn += error[n, 3 + k] * error[n, 3 + k]
        size = max(far, turn)
        if size > worst:
            worst, at = size, n
    stats[GAP], stats[GAP_JOINT] = math.sqrt(worst), at


@flat_kernel
def refresh_rotations(bodies):
    """Computes rotation matrices and world inertias from the attitudes."""
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            rotation_matrix(bodies[n], Q, R)
            world_inverse_inertia(bodies[n])
