"""Joints as six constraint rows each, with couplings: errors, Jacobians, impulses."""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse.body_kernels import MASS_INV, RN, XN, L, R, V, X, angular_velocity
from linkwork.engines.impulse.frame_kernels import (
    coordinate,
    dot,
    joint_frames,
    relative_rotation_vector,
    rotation_angle,
    rotation_angle_row,
    unwrap_angle,
)
from linkwork.engines.impulse.mechanism import (
    AT_A,
    AT_B,
    AXES_A,
    AXES_B,
    BEND,
    COUPLING,
    FOLLOWER,
    HARD,
    KIND,
    MODE,
    OFF,
    PA,
    PB,
    PITCH,
    POINT,
    ROWS_A,
    ROWS_B,
    SIDE_OF,
    SIDES,
    SIZE,
    TORSION_SPRING,
    TURNS,
    A,
    B,
    S,
)
from linkwork.kinematics.kernels import BALL, FIXED, HINGE, RAIL, SCREW, SLIDER, UNIVERSAL


@flat_kernel
def joint_errors(joint_ints, joint_reals, frame, out):
    """Computes the error of each hard row of a joint [m or rad]; other rows are unchanged."""
    kind = joint_ints[KIND]
    dx = frame[AT_B] - frame[AT_A]
    dy = frame[AT_B + 1] - frame[AT_A + 1]
    dz = frame[AT_B + 2] - frame[AT_A + 2]
    if joint_ints[POINT]:
        out[0], out[1], out[2] = dx, dy, dz
    else:
        for k in range(3):
            if joint_ints[MODE + k] == HARD:
                n = ROWS_A + 3 * k
                out[k] = frame[n] * dx + frame[n + 1] * dy + frame[n + 2] * dz
    if kind == BALL:
        return
    if kind == UNIVERSAL:
        if joint_ints[MODE + 3] == HARD:
            out[3] = dot(frame, ROWS_A + 6, ROWS_B)
        return
    if kind == FIXED or kind == SLIDER or kind == RAIL:
        x, y, z = relative_rotation_vector(frame)
        if joint_ints[MODE + 3] == HARD:
            out[3] = x
        if joint_ints[MODE + 4] == HARD:
            out[4] = y
        if joint_ints[MODE + 5] == HARD:
            out[5] = z
        return
    if joint_ints[MODE + 3] == HARD:
        out[3] = -dot(frame, ROWS_A + 3, ROWS_B + 6)
    if joint_ints[MODE + 4] == HARD:
        out[4] = dot(frame, ROWS_A, ROWS_B + 6)
    if kind == SCREW and joint_ints[MODE + 2] == HARD:
        out[2] -= joint_reals[PITCH] * unwrap_angle(rotation_angle(frame), joint_reals[S])


@inner_kernel
def world_point(bodies, at, x, r, joint_reals, n, p):
    """Returns a body-fixed point in the world."""
    a, b, c = joint_reals[n, p], joint_reals[n, p + 1], joint_reals[n, p + 2]
    return (
        bodies[at, x] + bodies[at, r] * a + bodies[at, r + 1] * b + bodies[at, r + 2] * c,
        bodies[at, x + 1] + bodies[at, r + 3] * a + bodies[at, r + 4] * b + bodies[at, r + 5] * c,
        bodies[at, x + 2] + bodies[at, r + 6] * a + bodies[at, r + 7] * b + bodies[at, r + 8] * c,
    )


@inner_kernel
def world_direction(bodies, at, r, joint_reals, n, p):
    """Returns a body-fixed direction in the world."""
    a, b, c = joint_reals[n, p], joint_reals[n, p + 1], joint_reals[n, p + 2]
    return (
        bodies[at, r] * a + bodies[at, r + 1] * b + bodies[at, r + 2] * c,
        bodies[at, r + 3] * a + bodies[at, r + 4] * b + bodies[at, r + 5] * c,
        bodies[at, r + 6] * a + bodies[at, r + 7] * b + bodies[at, r + 8] * c,
    )


@inner_kernel
def point_errors(bodies, joint_ints, joint_reals, n, ahead, out):
    """Computes the errors of a ball or hinge without soft rows, directly from its bodies."""
    x, r = (XN, RN) if ahead else (X, R)
    a, b = joint_ints[n, A], joint_ints[n, B]
    ax, ay, az = world_point(bodies, a, x, r, joint_reals, n, PA)
    bx, by, bz = world_point(bodies, b, x, r, joint_reals, n, PB)
    out[n, 0], out[n, 1], out[n, 2] = bx - ax, by - ay, bz - az
    if joint_ints[n, KIND] == HINGE:
        zx, zy, zz = world_direction(bodies, b, r, joint_reals, n, AXES_B + 6)
        ux, uy, uz = world_direction(bodies, a, r, joint_reals, n, AXES_A)
        vx, vy, vz = world_direction(bodies, a, r, joint_reals, n, AXES_A + 3)
        out[n, 3] = -(vx * zx + vy * zy + vz * zz)
        out[n, 4] = ux * zx + uy * zy + uz * zz


@inner_kernel
def point_jacobian(bodies, joint_ints, joint_reals, n, j):
    """Computes the rows of a ball or hinge without soft rows; translational ones are constant."""
    a, b = joint_ints[n, A], joint_ints[n, B]
    px, py, pz = world_point(bodies, b, X, R, joint_reals, n, PB)
    _point_jacobian(j, n, 0, px - bodies[a, X], py - bodies[a, X + 1], pz - bodies[a, X + 2], -1.0)
    _point_jacobian(j, n, 1, px - bodies[b, X], py - bodies[b, X + 1], pz - bodies[b, X + 2], 1.0)
    if joint_ints[n, KIND] == HINGE:
        for k in range(2):
            x, y, z = world_direction(bodies, a, R, joint_reals, n, AXES_A + 3 * k)
            j[n, 0, 3 + k, 3], j[n, 0, 3 + k, 4], j[n, 0, 3 + k, 5] = -x, -y, -z
            j[n, 1, 3 + k, 3], j[n, 1, 3 + k, 4], j[n, 1, 3 + k, 5] = x, y, z


@inner_kernel
def _point_jacobian(j, n, side, x, y, z, sign):
    """Sets the rows of a point along the world axes, at x, y, z from the center of mass."""
    x, y, z = sign * x, sign * y, sign * z
    for k in range(3):
        j[n, side, k, 0] = j[n, side, k, 1] = j[n, side, k, 2] = 0.0
        j[n, side, k, k] = sign
    j[n, side, 0, 3], j[n, side, 0, 4], j[n, side, 0, 5] = 0.0, z, -y
    j[n, side, 1, 3], j[n, side, 1, 4], j[n, side, 1, 5] = -z, 0.0, x
    j[n, side, 2, 3], j[n, side, 2, 4], j[n, side, 2, 5] = y, -x, 0.0


@flat_kernel
def joint_jacobian(bodies, joint_ints, joint_reals, frame, ja, jb):
    """Computes the six rows of a joint for both bodies: rate of its errors by body velocity."""
    kind = joint_ints[KIND]
    a, b = bodies[joint_ints[A]], bodies[joint_ints[B]]
    px, py, pz = frame[AT_B], frame[AT_B + 1], frame[AT_B + 2]
    ax, ay, az = px - a[X], py - a[X + 1], pz - a[X + 2]
    bx, by, bz = px - b[X], py - b[X + 1], pz - b[X + 2]
    ja[:, :] = 0.0
    jb[:, :] = 0.0
    mixed = kind == SCREW or kind == RAIL
    for k in range(3):
        if joint_ints[MODE + k] == OFF and not mixed:
            continue
        n = ROWS_A + 3 * k
        x, y, z = frame[n], frame[n + 1], frame[n + 2]
        if joint_ints[POINT]:
            x, y, z = 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)
        ja[k, 0], ja[k, 1], ja[k, 2] = -x, -y, -z
        ja[k, 3], ja[k, 4], ja[k, 5] = az * y - ay * z, ax * z - az * x, ay * x - ax * y
        jb[k, 0], jb[k, 1], jb[k, 2] = x, y, z
        jb[k, 3], jb[k, 4], jb[k, 5] = by * z - bz * y, bz * x - bx * z, bx * y - by * x
    for k in range(3):
        if joint_ints[MODE + 3 + k] == OFF and not mixed:
            continue
        n = (ROWS_B if kind == BALL else ROWS_A) + 3 * k
        x, y, z = frame[n], frame[n + 1], frame[n + 2]
        if kind == UNIVERSAL:
            if k == 0:  # b_x × a_z
                ux, uy, uz = frame[ROWS_B], frame[ROWS_B + 1], frame[ROWS_B + 2]
                wx, wy, wz = frame[ROWS_A + 6], frame[ROWS_A + 7], frame[ROWS_A + 8]
                x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
            elif k == 1:
                x, y, z = frame[ROWS_A + 6], frame[ROWS_A + 7], frame[ROWS_A + 8]
            else:
                x, y, z = frame[ROWS_B], frame[ROWS_B + 1], frame[ROWS_B + 2]
        elif kind == TORSION_SPRING:
            x, y, z = rotation_angle_row(frame)
        ja[3 + k, 3], ja[3 + k, 4], ja[3 + k, 5] = -x, -y, -z
        jb[3 + k, 3], jb[3 + k, 4], jb[3 + k, 5] = x, y, z
    if kind == SCREW:
        for i in range(3, 6):
            ja[2, i] -= joint_reals[PITCH] * ja[5, i]
            jb[2, i] -= joint_reals[PITCH] * jb[5, i]
    elif kind == RAIL:
        for k in range(3):
            for i in range(6):
                ja[3 + k, i] -= frame[BEND + k] * ja[0, i]
                jb[3 + k, i] -= frame[BEND + k] * jb[0, i]
    if mixed:
        for k in range(6):
            if joint_ints[MODE + k] == OFF:
                ja[k, :] = 0.0
                jb[k, :] = 0.0


@inner_kernel
def apply_joint_impulse(bodies, joint_ints, j, impulse, n):
    """Applies the impulses along a joint's rows to its bodies."""
    size = joint_ints[n, SIZE]
    for side in range(joint_ints[n, SIDES]):
        at = joint_ints[n, side]
        m = bodies[at, MASS_INV]
        if m == 0.0:
            continue
        vx = vy = vz = tx = ty = tz = 0.0
        for k in range(size):
            p = impulse[n, k]
            vx += j[n, side, k, 0] * p
            vy += j[n, side, k, 1] * p
            vz += j[n, side, k, 2] * p
            tx += j[n, side, k, 3] * p
            ty += j[n, side, k, 4] * p
            tz += j[n, side, k, 5] * p
        bodies[at, V] += m * vx
        bodies[at, V + 1] += m * vy
        bodies[at, V + 2] += m * vz
        bodies[at, L] += tx
        bodies[at, L + 1] += ty
        bodies[at, L + 2] += tz


@inner_kernel
def constraint_velocity(bodies, joint_ints, j, n, out, to):
    """Computes the velocities of a joint's rows, in row ``to`` of ``out``."""
    size = joint_ints[n, SIZE]
    for k in range(6):
        out[to, k] = 0.0
    for side in range(joint_ints[n, SIDES]):
        at = joint_ints[n, side]
        if bodies[at, MASS_INV] == 0.0:
            continue
        vx, vy, vz = bodies[at, V], bodies[at, V + 1], bodies[at, V + 2]
        wx, wy, wz = angular_velocity(bodies[at])
        for k in range(size):
            out[to, k] += (
                j[n, side, k, 0] * vx + j[n, side, k, 1] * vy + j[n, side, k, 2] * vz
                + j[n, side, k, 3] * wx + j[n, side, k, 4] * wy + j[n, side, k, 5] * wz
            )  # fmt: skip


@flat_kernel
def free_row(bodies, joint_ints, frame, k, ja, jb):
    """Computes the row along a degree of freedom of a joint, for both bodies (six numbers each)."""
    kind = joint_ints[KIND]
    a, b = bodies[joint_ints[A]], bodies[joint_ints[B]]
    if k < 3:
        n = ROWS_A + 3 * k
        x, y, z = frame[n], frame[n + 1], frame[n + 2]
        px, py, pz = frame[AT_B], frame[AT_B + 1], frame[AT_B + 2]
        ax, ay, az = px - a[X], py - a[X + 1], pz - a[X + 2]
        bx, by, bz = px - b[X], py - b[X + 1], pz - b[X + 2]
        ja[0], ja[1], ja[2] = -x, -y, -z
        ja[3], ja[4], ja[5] = az * y - ay * z, ax * z - az * x, ay * x - ax * y
        jb[0], jb[1], jb[2] = x, y, z
        jb[3], jb[4], jb[5] = by * z - bz * y, bz * x - bx * z, bx * y - by * x
        return
    n = (ROWS_B if kind == BALL else ROWS_A) + 3 * (k - 3)
    if kind == UNIVERSAL:
        n = ROWS_A + 6 if k == 4 else ROWS_B
    x, y, z = frame[n], frame[n + 1], frame[n + 2]
    ja[0] = ja[1] = ja[2] = jb[0] = jb[1] = jb[2] = 0.0
    ja[3], ja[4], ja[5] = -x, -y, -z
    jb[3], jb[4], jb[5] = x, y, z


@flat_kernel
def coordinate_rate(bodies, joint_ints, joint_reals, n, k):
    """Returns the rate of the coordinate along free row ``k`` [rad/s]; 0 if translational."""
    kind = joint_ints[n, KIND]
    if k < 3 or kind == BALL:
        return 0.0
    a, b = joint_ints[n, A], joint_ints[n, B]
    x, y, z = world_direction(bodies, a, R, joint_reals, n, AXES_A + 6)
    if kind == UNIVERSAL and k == 5:
        x, y, z = world_direction(bodies, b, R, joint_reals, n, AXES_B)
    ax, ay, az = angular_velocity(bodies[a])
    bx, by, bz = angular_velocity(bodies[b])
    return x * (bx - ax) + y * (by - ay) + z * (bz - az)


@flat_kernel
def count_turns(bodies, joint_ints, joint_reals, h):
    """Advances unwrapped angles by their present rate over the time ``h``.

    Only their full turns are used afterwards: a joint may make several turns in a step.
    """
    for n in range(joint_ints.shape[0]):
        if joint_ints[n, KIND] == SCREW:
            joint_reals[n, S] += h * coordinate_rate(bodies, joint_ints, joint_reals, n, 5)
        elif joint_ints[n, KIND] == COUPLING:
            for end in range(2):
                other, k = joint_ints[n, FOLLOWER + 2 * end], joint_ints[n, FOLLOWER + 2 * end + 1]
                joint_reals[n, TURNS + end] += h * coordinate_rate(
                    bodies, joint_ints, joint_reals, other, k
                )


@flat_kernel
def coupling_row(bodies, joint_ints, joint_reals, rail, n, frame, ride, six, j):
    """Computes the one row of coupling ``n`` for all of its bodies, and unwraps its angles."""
    for side in range(joint_ints[n, SIDES]):
        j[side, :, :] = 0.0
    ratio = joint_reals[n, PITCH]
    for end in range(2):
        other, k = joint_ints[n, FOLLOWER + 2 * end], joint_ints[n, FOLLOWER + 2 * end + 1]
        joint_frames(bodies, joint_ints[other], joint_reals[other], rail, False, frame, ride)
        free_row(bodies, joint_ints[other], frame, k, six[0], six[1])
        joint_reals[n, TURNS + end] = coordinate(
            joint_ints[other], frame, k, joint_reals[n, TURNS + end], joint_reals[other]
        )
        by = -ratio if end else 1.0
        for half in range(2):
            row = j[joint_ints[n, SIDE_OF + 2 * end + half], 0]
            for i in range(6):
                row[i] += by * six[half, i]


@flat_kernel
def coupling_error(bodies, joint_ints, joint_reals, rail, n, ahead, h, frame, ride):
    """Returns the error of the follower of a coupling, now or after ``h``."""
    out = -joint_reals[n, S]
    for end in range(2):
        other, k = joint_ints[n, FOLLOWER + 2 * end], joint_ints[n, FOLLOWER + 2 * end + 1]
        arc, turn = (
            joint_reals[other, S],
            h * coordinate_rate(bodies, joint_ints, joint_reals, other, k),
        )
        if joint_ints[other, KIND] == SCREW:
            joint_reals[other, S] = arc + turn
        joint_frames(bodies, joint_ints[other], joint_reals[other], rail, ahead, frame, ride)
        q = coordinate(
            joint_ints[other], frame, k, joint_reals[n, TURNS + end] + turn, joint_reals[other]
        )
        joint_reals[other, S] = arc
        out += (-joint_reals[n, PITCH] if end else 1.0) * q
    return out
