"""The look-ahead: constraint errors and active force-law branches after the step."""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.engines.impulse.body_kernels import MASS_INV, drift
from linkwork.engines.impulse.constraint_kernels import GAP, GAP_JOINT
from linkwork.engines.impulse.frame_kernels import (
    ball_displacement,
    coordinate,
    joint_frames,
    relative_rotation_vector,
)
from linkwork.engines.impulse.joint_kernels import (
    constraint_velocity,
    coordinate_rate,
    coupling_error,
    joint_errors,
    point_errors,
)
from linkwork.engines.impulse.mechanism import COUPLING, KIND, POINT, SOFT_COUNT, SOFT_FIRST, S
from linkwork.kinematics.kernels import BALL, SCREW


@flat_kernel
def start_rows(mechanism, workspace, scratch, row_ints, row_reals, drive, h):
    """Sets coordinates and velocities of soft rows at the start of a step."""
    bodies, joint_ints, joint_reals, rail = mechanism
    jacobian, _, delassus, _, _, _, _, _, _, _ = workspace
    frame, ride, _, six = scratch
    last = -1
    for n in range(row_reals.shape[0]):
        at, k = row_ints[n, law.JOINT], row_ints[n, law.ROW]
        if at != last:
            joint_frames(bodies, joint_ints[at], joint_reals[at], rail, False, frame, ride)
            constraint_velocity(bodies, joint_ints, jacobian, at, six, 0)
            last = at
        q = coordinate(
            joint_ints[at],
            frame,
            k,
            row_reals[n, law.Q0] + row_reals[n, law.DISPLACEMENT],
            joint_reals[at],
        )
        push_by = drive[:, row_ints[n, law.DOF]]
        law.start_row(row_reals[n], push_by, q, six[0, k], h, delassus[at, k, k])
        law.set_law(row_reals[n], push_by, h)


@inner_kernel
def _largest_error(error, n):
    """Returns the largest error of a joint, which may be NaN."""
    worst = 0.0
    for k in range(6):
        size = abs(error[n, k])
        if size > worst or size != size:  # NaN stays the largest
            worst = size
    return worst


@inner_kernel
def predicted_joint_errors(mechanism, workspace, scratch, row_ints, row_reals, h, gap, n):
    """Computes the errors of joint ``n`` after the look-ahead; returns the largest.

    Errors of sticking rows are scaled, so that ``gap`` is the tolerance that friction needs.
    """
    bodies, joint_ints, joint_reals, rail = mechanism
    _, _, _, _, _, _, error, impulse, _, _ = workspace
    frame, ride, _, _ = scratch
    if joint_ints[n, POINT] == 2:
        point_errors(bodies, joint_ints, joint_reals, n, True, error)
        return _largest_error(error, n)
    for k in range(6):
        error[n, k] = 0.0
    if joint_ints[n, KIND] == COUPLING:
        error[n, 0] = coupling_error(bodies, joint_ints, joint_reals, rail, n, True, h, frame, ride)
        return abs(error[n, 0])
    arc = joint_reals[n, S]
    if joint_ints[n, KIND] == SCREW:
        joint_reals[n, S] = arc + h * coordinate_rate(bodies, joint_ints, joint_reals, n, 5)
    joint_frames(bodies, joint_ints[n], joint_reals[n], rail, True, frame, ride)
    joint_errors(joint_ints[n], joint_reals[n], frame, error[n])
    turn = displacement = 0.0, 0.0, 0.0
    if joint_ints[n, KIND] == BALL and joint_ints[n, SOFT_COUNT]:
        turn = relative_rotation_vector(frame)
        displacement = ball_displacement(bodies, joint_ints[n], joint_reals[n], rail, frame, ride)
    for m in range(
        joint_ints[n, SOFT_FIRST], joint_ints[n, SOFT_FIRST] + joint_ints[n, SOFT_COUNT]
    ):
        k, row_mode = row_ints[m, law.ROW], row_ints[m, law.ROW_MODE]
        if joint_ints[n, KIND] == BALL:
            law.set_ball_rotation(row_reals[m], turn[k - 3], displacement[k - 3], h)
        else:
            q = row_reals[m, law.Q0]
            if (
                h * max(abs(row_reals[m, law.V0]), abs(row_reals[m, law.RATE])) > 1.0
            ):  # its direction may reverse
                q += h * coordinate_rate(bodies, joint_ints, joint_reals, n, k)
            q = coordinate(joint_ints[n], frame, k, q, joint_reals[n])
            row_reals[m, law.DISPLACEMENT] = q - row_reals[m, law.Q0]
        error[n, k] = law.error(row_reals[m], row_mode, impulse[n, k])
    joint_reals[n, S] = arc
    worst = _largest_error(error, n)
    for m in range(
        joint_ints[n, SOFT_FIRST], joint_ints[n, SOFT_FIRST] + joint_ints[n, SOFT_COUNT]
    ):
        if law.is_sticking(row_reals[m], row_ints[m, law.ROW_MODE]):
            worst = max(worst, abs(error[n, row_ints[m, law.ROW]]) * gap / law.stick_tolerance(h))
    return worst


@inner_kernel
def predict_errors(mechanism, workspace, scratch, row_ints, row_reals, h, gap, stats):
    """Computes the errors of all rows after a free motion of ``h``; returns the largest."""
    bodies, joint_ints, _, _ = mechanism
    _, _, series, _ = scratch
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            drift(bodies[n], h, series)
    worst, at = 0.0, 0
    for n in range(joint_ints.shape[0]):
        size = predicted_joint_errors(mechanism, workspace, scratch, row_ints, row_reals, h, gap, n)
        if size > worst or size != size:
            worst, at = size, n
    stats[GAP], stats[GAP_JOINT] = worst, at
    return worst


@flat_kernel
def record_limit_gap(row_ints, row_reals, stats):
    """Records the distance beyond a limit or from a target, if it is the largest gap."""
    for n in range(row_reals.shape[0]):
        size = law.limit_violation(row_reals[n], row_ints[n, law.ROW_MODE])
        if size > stats[GAP]:
            stats[GAP], stats[GAP_JOINT] = size, row_ints[n, law.JOINT]


@flat_kernel
def update_active_laws(row_ints, row_reals, drive, impulse, h, gap, single):
    """Updates the force-law branches; returns the joint of the last change, or −1.

    Updates all of them, or a ``single`` one: simultaneous changes of coupled rows may cycle, single
    changes in a fixed order (Murty's rule) do not.
    """
    changed = -1
    for n in range(row_reals.shape[0]):
        at, k, row_mode = row_ints[n, law.JOINT], row_ints[n, law.ROW], row_ints[n, law.ROW_MODE]
        push_by = drive[:, row_ints[n, law.DOF]]
        if not law.update_law(row_reals[n], row_mode, push_by, impulse[at, k], h, gap):
            law.set_law(row_reals[n], push_by, h)
            changed = at
            if single:
                break
    return changed


@inner_kernel
def set_constant_impulses(row_ints, row_reals, impulse):
    """Sets the impulses of rows whose impulse does not depend on the displacement."""
    for n in range(row_reals.shape[0]):
        at, k, row_mode = row_ints[n, law.JOINT], row_ints[n, law.ROW], row_ints[n, law.ROW_MODE]
        if law.compliance(row_reals[n], row_mode) >= law.FREE_COMPLIANCE:
            impulse[at, k] = law.constant_impulse(row_reals[n], row_mode)
