"""Constraint forces at an instant: accelerations of all bodies.

The velocity J v of a row stays zero if J a + J̇ v = 0. With a = M⁻¹ (f + Jᵀ λ) and external forces
f this is K λ = −(J M⁻¹ f + J̇ v), with the same K as for impulses. Angular momentum L changes by
torques alone; the angular acceleration without joints is I⁻¹ (τ − ω × L).

Columns of ``rates``: angular velocity (3); acceleration (3) and angular acceleration (3) without
joints. The result is the time derivative of the state of all bodies in sequence, 13 numbers each:
position, attitude, velocity, angular momentum.
"""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse.body_kernels import (
    MASS_INV,
    TENSOR,
    L,
    Q,
    R,
    V,
    X,
    angular_velocity,
    rotation_matrix,
    world_inverse_inertia,
)
from linkwork.engines.impulse.constraint_kernels import (
    FACTORS,
    REDUNDANT,
    assemble_constraints,
    compute_jacobians,
    factor_constraints,
    is_weak,
)
from linkwork.engines.impulse.delassus_kernels import assemble_delassus, factor_blocks, solve_blocks
from linkwork.engines.impulse.joint_kernels import world_direction, world_point
from linkwork.engines.impulse.mechanism import (
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
from linkwork.kinematics.kernels import SCREW, UNIVERSAL

STATE_COLUMNS, RATE_COLUMNS = 13, 9


@inner_kernel
def _free_acceleration(bodies, wrench, n, rates, out):
    """Computes the acceleration of a body without its joints."""
    rotation_matrix(bodies[n], Q, R)
    world_inverse_inertia(bodies[n])
    wx, wy, wz = angular_velocity(bodies[n])
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
def _point_residual(joint_ints, j, rates, n, out):
    """Computes −(J a + J̇ v) of rows along the world axes, whose arms are in ``j``."""
    sx = sy = sz = 0.0
    for side in range(2):
        at = joint_ints[n, side]
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
def _slide_residual(bodies, joint_ints, joint_reals, j, rates, n, out):
    """Is :func:`_point_residual` along axes that rotate with ``a``, with the Coriolis term."""
    a, b = joint_ints[n, A], joint_ints[n, B]
    px, py, pz = world_point(bodies, b, X, R, joint_reals, n, PB)
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
            at = joint_ints[n, side]
            for i in range(6):
                s += j[n, side, k, i] * rates[at, 3 + i]
        out[n, k] = -s
    if joint_ints[n, KIND] == SCREW:
        x, y, z = j[n, 1, 2, 0], j[n, 1, 2, 1], j[n, 1, 2, 2]
        dx, dy, dz = rates[b, 0] - wx, rates[b, 1] - wy, rates[b, 2] - wz
        out[n, 2] += joint_reals[n, PITCH] * (
            (wy * z - wz * y) * dx + (wz * x - wx * z) * dy + (wx * y - wy * x) * dz
        )


@inner_kernel
def _rotation_residual(bodies, joint_ints, joint_reals, j, rates, n, out):
    """Computes −(J a + J̇ v) of rotational rows: b_x × a_z if universal, else fixed to ``a``."""
    a, b = joint_ints[n, A], joint_ints[n, B]
    ax, ay, az = rates[a, 0], rates[a, 1], rates[a, 2]
    bx, by, bz = rates[b, 0], rates[b, 1], rates[b, 2]
    dx, dy, dz = bx - ax, by - ay, bz - az
    ux, uy, uz = (
        rates[b, 6] - rates[a, 6],
        rates[b, 7] - rates[a, 7],
        rates[b, 8] - rates[a, 8],
    )
    for k in range(3, joint_ints[n, SIZE]):
        x, y, z = j[n, 1, k, 3], j[n, 1, k, 4], j[n, 1, k, 5]
        cx, cy, cz = ay * z - az * y, az * x - ax * z, ax * y - ay * x
        if joint_ints[n, KIND] == UNIVERSAL:
            ex, ey, ez = world_direction(bodies, b, R, joint_reals, n, AXES_B)
            fx, fy, fz = world_direction(bodies, a, R, joint_reals, n, AXES_A + 6)
            px, py, pz = by * ez - bz * ey, bz * ex - bx * ez, bx * ey - by * ex
            qx, qy, qz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
            cx = py * fz - pz * fy + ey * qz - ez * qy
            cy = pz * fx - px * fz + ez * qx - ex * qz
            cz = px * fy - py * fx + ex * qy - ey * qx
        out[n, k] = -(cx * dx + cy * dy + cz * dz + x * ux + y * uy + z * uz)


@inner_kernel
def _apply_constraint_force(bodies, joint_ints, j, force, n, out):
    """Adds the accelerations and torques of a joint's forces to its bodies."""
    for side in range(2):
        at = joint_ints[n, side]
        m, o = bodies[at, MASS_INV], STATE_COLUMNS * at
        if m == 0.0:
            continue
        vx = vy = vz = tx = ty = tz = 0.0
        for k in range(joint_ints[n, SIZE]):
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
def constraint_residual(mechanism, workspace, rates, n):
    """Computes −(J a + J̇ v) of the rows of a joint in ``error``."""
    bodies, joint_ints, joint_reals, _ = mechanism
    jacobian, _, _, _, _, _, error, _, _, _ = workspace
    if joint_ints[n, POINT]:
        _point_residual(joint_ints, jacobian, rates, n, error)
    else:
        _slide_residual(bodies, joint_ints, joint_reals, jacobian, rates, n, error)
    if joint_ints[n, SIZE] > 3:
        _rotation_residual(bodies, joint_ints, joint_reals, jacobian, rates, n, error)


@flat_kernel
def constrained_acceleration(mechanism, pattern, workspace, scratch, wrench, rates, out, stats):
    """Computes the rate of the state of all bodies; ``error`` receives the constraint forces."""
    bodies, joint_ints, _, _ = mechanism
    columns, row_of, updates, update_of, pairs = pattern
    jacobian, inverse_mass_jacobian, _, factor, first_pivot, _, error, _, _, pivot = workspace
    for n in range(bodies.shape[0] - 1):
        _free_acceleration(bodies, wrench, n, rates, out)
    compute_jacobians(mechanism, workspace, scratch)
    assemble_delassus(bodies, joint_ints, jacobian, inverse_mass_jacobian, columns, pairs, factor)
    stats[FACTORS] += 1.0
    lost = factor_blocks(
        joint_ints, factor, columns, row_of, updates, update_of, first_pivot, pivot
    )
    stats[REDUNDANT] = lost
    if lost > 0 and is_weak(joint_ints, first_pivot, pivot):
        assemble_constraints(mechanism, pattern, workspace, scratch)
        factor_constraints(mechanism, pattern, workspace, stats)
    for n in range(joint_ints.shape[0]):
        constraint_residual(mechanism, workspace, rates, n)
    solve_blocks(joint_ints, factor, columns, row_of, pivot, error)
    for n in range(joint_ints.shape[0]):
        _apply_constraint_force(bodies, joint_ints, jacobian, error, n, out)
