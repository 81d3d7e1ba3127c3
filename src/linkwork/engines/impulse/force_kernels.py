"""Forces that hold joints at an instant: accelerations of all bodies as they stand and move.

A row's speed J v stays zero where J a + J̇ v = 0. With a = M⁻¹ (f + Jᵀ λ) and outer forces f this is
K λ = −(J M⁻¹ f + J̇ v), the same K as that of impulses. Angular momentum L changes by torques alone;
the angular acceleration without joints is I⁻¹ (τ − ω × L).

Columns of ``rates``: angular velocity (3); acceleration (3) and angular acceleration (3) without
joints. What comes out is, in the order of a body's state (place, attitude, velocity, angular
momentum), its change in time: 13 numbers for each, one body behind the other.
"""

from __future__ import annotations

from linkwork.engines.impulse.body_kernels import (
    MASS_INV,
    TENSOR,
    L,
    Q,
    R,
    V,
    X,
    matrix,
    spin,
    tensor,
)
from linkwork.engines.impulse.joint_columns import (
    AXES_A,
    AXES_B,
    KIND,
    PB,
    PITCH,
    POINT,
    SIZE,
    A,
    B,
)
from linkwork.engines.impulse.joint_kernels import direction, place
from linkwork.engines.impulse.mobility_kernels import assemble
from linkwork.engines.impulse.phase_kernels import (
    FACTORS,
    REDUNDANT,
    factor_rows,
    is_weak,
    lay_rows,
    set_rows,
)
from linkwork.engines.impulse.solve_kernels import factor, solve
from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.kernels import SCREW, UNIVERSAL

STATE_COLUMNS, RATE_COLUMNS = 13, 9


@inner_kernel
def _begin(bodies, wrench, n, rates, out):
    """What a body does without its joints."""
    matrix(bodies[n], Q, R)
    tensor(bodies[n])
    wx, wy, wz = spin(bodies[n])
    lx, ly, lz = bodies[n, L], bodies[n, L + 1], bodies[n, L + 2]
    tx = wrench[n, 3] - (wy * lz - wz * ly)
    ty = wrench[n, 4] - (wz * lx - wx * lz)
    tz = wrench[n, 5] - (wx * ly - wy * lx)
    rates[n, 0], rates[n, 1], rates[n, 2] = wx, wy, wz
    o = STATE_COLUMNS * n
    for i in range(3):
        t = TENSOR + 3 * i
        a = bodies[n, MASS_INV] * wrench[n, i]
        rates[n, 3 + i] = a
        rates[n, 6 + i] = bodies[n, t] * tx + bodies[n, t + 1] * ty + bodies[n, t + 2] * tz
        out[o + i], out[o + 7 + i], out[o + 10 + i] = bodies[n, V + i], a, wrench[n, 3 + i]
    w, x, y, z = bodies[n, Q], bodies[n, Q + 1], bodies[n, Q + 2], bodies[n, Q + 3]
    out[o + 3] = -0.5 * (wx * x + wy * y + wz * z)
    out[o + 4] = 0.5 * (wx * w + wy * z - wz * y)
    out[o + 5] = 0.5 * (wy * w + wz * x - wx * z)
    out[o + 6] = 0.5 * (wz * w + wx * y - wy * x)


@inner_kernel
def _point_miss(whole, j, rates, n, out):
    """−(J a + J̇ v) of rows along the axes of the world, whose arms are in ``j``."""
    sx = sy = sz = 0.0
    for side in range(2):
        at = whole[n, side]
        wx, wy, wz = rates[at, 0], rates[at, 1], rates[at, 2]
        ux, uy, uz = rates[at, 6], rates[at, 7], rates[at, 8]
        x, y, z = j[n, side, 1, 5], j[n, side, 2, 3], j[n, side, 0, 4]
        cx, cy, cz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
        s = 1.0 if side else -1.0
        sx += wy * cz - wz * cy + uy * z - uz * y + s * rates[at, 3]
        sy += wz * cx - wx * cz + uz * x - ux * z + s * rates[at, 4]
        sz += wx * cy - wy * cx + ux * y - uy * x + s * rates[at, 5]
    out[n, 0], out[n, 1], out[n, 2] = -sx, -sy, -sz


@flat_kernel
def _slide_miss(bodies, whole, number, j, rates, n, out):
    """As :func:`_point_miss`, of rows along axes that turn with ``a``, with what Coriolis adds."""
    a, b = whole[n, A], whole[n, B]
    px, py, pz = place(bodies, b, X, R, number, n, PB)
    wx, wy, wz = rates[b, 0], rates[b, 1], rates[b, 2]
    rx, ry, rz = px - bodies[b, X], py - bodies[b, X + 1], pz - bodies[b, X + 2]
    ux, uy, uz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
    cx, cy, cz = wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux
    ux, uy, uz = ux + bodies[b, V], uy + bodies[b, V + 1], uz + bodies[b, V + 2]
    wx, wy, wz = rates[a, 0], rates[a, 1], rates[a, 2]
    rx, ry, rz = px - bodies[a, X], py - bodies[a, X + 1], pz - bodies[a, X + 2]
    dx, dy, dz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
    ux, uy, uz = ux - bodies[a, V] - dx, uy - bodies[a, V + 1] - dy, uz - bodies[a, V + 2] - dz
    dx, dy, dz = dx + 2.0 * ux, dy + 2.0 * uy, dz + 2.0 * uz
    cx, cy, cz = cx - wy * dz + wz * dy, cy - wz * dx + wx * dz, cz - wx * dy + wy * dx
    for k in range(3):
        s = j[n, 1, k, 0] * cx + j[n, 1, k, 1] * cy + j[n, 1, k, 2] * cz
        for side in range(2):
            at = whole[n, side]
            for i in range(6):
                s += j[n, side, k, i] * rates[at, 3 + i]
        out[n, k] = -s
    if whole[n, KIND] == SCREW:
        x, y, z = j[n, 1, 2, 0], j[n, 1, 2, 1], j[n, 1, 2, 2]
        dx, dy, dz = rates[b, 0] - wx, rates[b, 1] - wy, rates[b, 2] - wz
        out[n, 2] += number[n, PITCH] * (
            (wy * z - wz * y) * dx + (wz * x - wx * z) * dy + (wx * y - wy * x) * dz
        )


@inner_kernel
def _turn_miss(bodies, whole, number, j, rates, n, out):
    """−(J a + J̇ v) of rows about axes: of a universal joint b_x × a_z, of others fixed to ``a``."""
    a, b = whole[n, A], whole[n, B]
    ax, ay, az = rates[a, 0], rates[a, 1], rates[a, 2]
    bx, by, bz = rates[b, 0], rates[b, 1], rates[b, 2]
    dx, dy, dz = bx - ax, by - ay, bz - az
    ux, uy, uz = (
        rates[b, 6] - rates[a, 6],
        rates[b, 7] - rates[a, 7],
        rates[b, 8] - rates[a, 8],
    )
    for k in range(3, whole[n, SIZE]):
        x, y, z = j[n, 1, k, 3], j[n, 1, k, 4], j[n, 1, k, 5]
        cx, cy, cz = ay * z - az * y, az * x - ax * z, ax * y - ay * x
        if whole[n, KIND] == UNIVERSAL:
            ex, ey, ez = direction(bodies, b, R, number, n, AXES_B)
            fx, fy, fz = direction(bodies, a, R, number, n, AXES_A + 6)
            px, py, pz = by * ez - bz * ey, bz * ex - bx * ez, bx * ey - by * ex
            qx, qy, qz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
            cx = py * fz - pz * fy + ey * qz - ez * qy
            cy = pz * fx - px * fz + ez * qx - ex * qz
            cz = px * fy - py * fx + ex * qy - ey * qx
        out[n, k] = -(cx * dx + cy * dy + cz * dz + x * ux + y * uy + z * uz)


@inner_kernel
def _give(bodies, whole, j, force, n, out):
    """Gives a joint's bodies the accelerations and torques of its forces."""
    for side in range(2):
        at = whole[n, side]
        m, o = bodies[at, MASS_INV], STATE_COLUMNS * at
        if m == 0.0:
            continue
        vx = vy = vz = tx = ty = tz = 0.0
        for k in range(whole[n, SIZE]):
            p = force[n, k]
            vx += j[n, side, k, 0] * p
            vy += j[n, side, k, 1] * p
            vz += j[n, side, k, 2] * p
            tx += j[n, side, k, 3] * p
            ty += j[n, side, k, 4] * p
            tz += j[n, side, k, 5] * p
        out[o + 7] += m * vx
        out[o + 8] += m * vy
        out[o + 9] += m * vz
        out[o + 10] += tx
        out[o + 11] += ty
        out[o + 12] += tz


@inner_kernel
def row_misses(mechanism, desk, rates, n):
    """−(J a + J̇ v) of the rows of a joint, in ``error``."""
    bodies, whole, number, _rail = mechanism
    j, error = desk[0], desk[6]
    if whole[n, POINT]:
        _point_miss(whole, j, rates, n, error)
    else:
        _slide_miss(bodies, whole, number, j, rates, n, error)
    if whole[n, SIZE] > 3:
        _turn_miss(bodies, whole, number, j, rates, n, error)


@flat_kernel
def accelerate(mechanism, pattern, desk, scratch, wrench, rates, out, account):
    """Fills in how the state of all bodies changes; the forces along rows are in ``error``."""
    bodies, whole = mechanism[0], mechanism[1]
    columns, row_of, updates, update_of, pairs = pattern
    j, y, _raw, blocks, first, _diagonal, error, _impulse, _total, pivot = desk
    for n in range(bodies.shape[0] - 1):
        _begin(bodies, wrench, n, rates, out)
    set_rows(mechanism, desk, scratch)
    assemble(bodies, whole, j, y, columns, pairs, blocks)
    account[FACTORS] += 1.0
    lost = factor(whole, blocks, columns, row_of, updates, update_of, first, pivot)
    account[REDUNDANT] = lost
    if lost > 0 and is_weak(whole, first, pivot):
        lay_rows(mechanism, pattern, desk, scratch)
        factor_rows(mechanism, pattern, desk, account)
    for n in range(whole.shape[0]):
        row_misses(mechanism, desk, rates, n)
    solve(whole, blocks, columns, row_of, pivot, error)
    for n in range(whole.shape[0]):
        _give(bodies, whole, j, error, n, out)
