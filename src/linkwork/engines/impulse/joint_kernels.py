"""Joints as six rows each: how far they are apart, and which impulses push them together.

Rows and their modes are those of ``joint_columns``.
"""

from __future__ import annotations

from linkwork.engines.impulse.body_kernels import MASS_INV, RN, XN, L, R, V, X, spin
from linkwork.engines.impulse.frame_kernels import dot, near, turn_angle, turn_row, turn_vector
from linkwork.engines.impulse.joint_columns import (
    AT_A,
    AT_B,
    AXES_A,
    AXES_B,
    BEND,
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
    SIDES,
    SIZE,
    TORSION_SPRING,
    A,
    B,
    S,
)
from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.kernels import BALL, FIXED, HINGE, RAIL, SCREW, SLIDER, UNIVERSAL


@flat_kernel
def errors(whole, number, frame, out):
    """How far each hard row of a joint is from 0 [m or rad]; off and soft rows are left alone."""
    kind = whole[KIND]
    dx = frame[AT_B] - frame[AT_A]
    dy = frame[AT_B + 1] - frame[AT_A + 1]
    dz = frame[AT_B + 2] - frame[AT_A + 2]
    if whole[POINT]:
        out[0], out[1], out[2] = dx, dy, dz
    else:
        for k in range(3):
            if whole[MODE + k] == HARD:
                n = ROWS_A + 3 * k
                out[k] = frame[n] * dx + frame[n + 1] * dy + frame[n + 2] * dz
    if kind == BALL:
        return
    if kind == UNIVERSAL:
        if whole[MODE + 3] == HARD:
            out[3] = dot(frame, ROWS_A + 6, ROWS_B)
        return
    if kind == FIXED or kind == SLIDER or kind == RAIL:
        x, y, z = turn_vector(frame)
        if whole[MODE + 3] == HARD:
            out[3] = x
        if whole[MODE + 4] == HARD:
            out[4] = y
        if whole[MODE + 5] == HARD:
            out[5] = z
        return
    if whole[MODE + 3] == HARD:
        out[3] = -dot(frame, ROWS_A + 3, ROWS_B + 6)
    if whole[MODE + 4] == HARD:
        out[4] = dot(frame, ROWS_A, ROWS_B + 6)
    if kind == SCREW and whole[MODE + 2] == HARD:
        out[2] -= number[PITCH] * near(turn_angle(frame), number[S])


@inner_kernel
def place(bodies, at, x, r, number, n, p):
    """A point of a body in the world, as three numbers."""
    a, b, c = number[n, p], number[n, p + 1], number[n, p + 2]
    return (
        bodies[at, x] + bodies[at, r] * a + bodies[at, r + 1] * b + bodies[at, r + 2] * c,
        bodies[at, x + 1] + bodies[at, r + 3] * a + bodies[at, r + 4] * b + bodies[at, r + 5] * c,
        bodies[at, x + 2] + bodies[at, r + 6] * a + bodies[at, r + 7] * b + bodies[at, r + 8] * c,
    )


@inner_kernel
def direction(bodies, at, r, number, n, p):
    """A direction of a body in the world, as three numbers."""
    a, b, c = number[n, p], number[n, p + 1], number[n, p + 2]
    return (
        bodies[at, r] * a + bodies[at, r + 1] * b + bodies[at, r + 2] * c,
        bodies[at, r + 3] * a + bodies[at, r + 4] * b + bodies[at, r + 5] * c,
        bodies[at, r + 6] * a + bodies[at, r + 7] * b + bodies[at, r + 8] * c,
    )


@inner_kernel
def point_errors(bodies, whole, number, n, ahead, out):
    """The errors of a ball or a hinge without soft rows, straight from its bodies."""
    x, r = (XN, RN) if ahead else (X, R)
    a, b = whole[n, A], whole[n, B]
    ax, ay, az = place(bodies, a, x, r, number, n, PA)
    bx, by, bz = place(bodies, b, x, r, number, n, PB)
    out[n, 0], out[n, 1], out[n, 2] = bx - ax, by - ay, bz - az
    if whole[n, KIND] == HINGE:
        zx, zy, zz = direction(bodies, b, r, number, n, AXES_B + 6)
        ux, uy, uz = direction(bodies, a, r, number, n, AXES_A)
        vx, vy, vz = direction(bodies, a, r, number, n, AXES_A + 3)
        out[n, 3] = -(vx * zx + vy * zy + vz * zz)
        out[n, 4] = ux * zx + uy * zy + uz * zz


@inner_kernel
def point_rows(bodies, whole, number, n, j):
    """The rows of a ball or a hinge without soft rows; those of its places stay as they are."""
    a, b = whole[n, A], whole[n, B]
    px, py, pz = place(bodies, b, X, R, number, n, PB)
    _arms(j, n, 0, px - bodies[a, X], py - bodies[a, X + 1], pz - bodies[a, X + 2], -1.0)
    _arms(j, n, 1, px - bodies[b, X], py - bodies[b, X + 1], pz - bodies[b, X + 2], 1.0)
    if whole[n, KIND] == HINGE:
        for k in range(2):
            x, y, z = direction(bodies, a, R, number, n, AXES_A + 3 * k)
            j[n, 0, 3 + k, 3], j[n, 0, 3 + k, 4], j[n, 0, 3 + k, 5] = -x, -y, -z
            j[n, 1, 3 + k, 3], j[n, 1, 3 + k, 4], j[n, 1, 3 + k, 5] = x, y, z


@inner_kernel
def _arms(j, n, side, x, y, z, sign):
    """Rows of a place along the axes of the world, of a body from whose centre it is x, y, z."""
    x, y, z = sign * x, sign * y, sign * z
    for k in range(3):
        j[n, side, k, 0] = j[n, side, k, 1] = j[n, side, k, 2] = 0.0
        j[n, side, k, k] = sign
    j[n, side, 0, 3], j[n, side, 0, 4], j[n, side, 0, 5] = 0.0, z, -y
    j[n, side, 1, 3], j[n, side, 1, 4], j[n, side, 1, 5] = -z, 0.0, x
    j[n, side, 2, 3], j[n, side, 2, 4], j[n, side, 2, 5] = y, -x, 0.0


@flat_kernel
def rows(bodies, whole, number, frame, ja, jb):
    """Fills in the six rows of a joint for both bodies: its errors' speed by that of the body."""
    kind = whole[KIND]
    a, b = bodies[whole[A]], bodies[whole[B]]
    px, py, pz = frame[AT_B], frame[AT_B + 1], frame[AT_B + 2]
    ax, ay, az = px - a[X], py - a[X + 1], pz - a[X + 2]
    bx, by, bz = px - b[X], py - b[X + 1], pz - b[X + 2]
    ja[:, :] = 0.0
    jb[:, :] = 0.0
    mixed = kind == SCREW or kind == RAIL
    for k in range(3):
        if whole[MODE + k] == OFF and not mixed:
            continue
        n = ROWS_A + 3 * k
        x, y, z = frame[n], frame[n + 1], frame[n + 2]
        if whole[POINT]:
            x, y, z = 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)
        ja[k, 0], ja[k, 1], ja[k, 2] = -x, -y, -z
        ja[k, 3], ja[k, 4], ja[k, 5] = az * y - ay * z, ax * z - az * x, ay * x - ax * y
        jb[k, 0], jb[k, 1], jb[k, 2] = x, y, z
        jb[k, 3], jb[k, 4], jb[k, 5] = by * z - bz * y, bz * x - bx * z, bx * y - by * x
    for k in range(3):
        if whole[MODE + 3 + k] == OFF and not mixed:
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
            x, y, z = turn_row(frame)
        ja[3 + k, 3], ja[3 + k, 4], ja[3 + k, 5] = -x, -y, -z
        jb[3 + k, 3], jb[3 + k, 4], jb[3 + k, 5] = x, y, z
    if kind == SCREW:
        for i in range(3, 6):
            ja[2, i] -= number[PITCH] * ja[5, i]
            jb[2, i] -= number[PITCH] * jb[5, i]
    elif kind == RAIL:
        for k in range(3):
            for i in range(6):
                ja[3 + k, i] -= frame[BEND + k] * ja[0, i]
                jb[3 + k, i] -= frame[BEND + k] * jb[0, i]
    if mixed:
        for k in range(6):
            if whole[MODE + k] == OFF:
                ja[k, :] = 0.0
                jb[k, :] = 0.0


@inner_kernel
def push(bodies, whole, j, impulse, n):
    """Gives a joint's bodies the impulses along its rows."""
    size = whole[n, SIZE]
    for side in range(whole[n, SIDES]):
        at = whole[n, side]
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
def speeds(bodies, whole, j, n, out, to):
    """Speeds of a joint's rows, into row ``to`` of ``out``."""
    size = whole[n, SIZE]
    for k in range(6):
        out[to, k] = 0.0
    for side in range(whole[n, SIDES]):
        at = whole[n, side]
        if bodies[at, MASS_INV] == 0.0:
            continue
        vx, vy, vz = bodies[at, V], bodies[at, V + 1], bodies[at, V + 2]
        wx, wy, wz = spin(bodies[at])
        for k in range(size):
            out[to, k] += (
                j[n, side, k, 0] * vx + j[n, side, k, 1] * vy + j[n, side, k, 2] * vz
                + j[n, side, k, 3] * wx + j[n, side, k, 4] * wy + j[n, side, k, 5] * wz
            )  # fmt: skip
