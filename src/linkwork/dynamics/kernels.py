"""Compiled recursive algorithms of rigid-body dynamics: RNEA, CRBA, ABA."""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.geometry.kernels import rotate, rotate_back
from linkwork.kinematics.kernels import HINGE, count_dofs
from linkwork.kinematics.motion_kernels import is_fixed_in_parent, place_bodies


@flat_kernel
def _rotate_inertia(inert, pose, b, x, y, z):
    """Returns the inertia about the center of mass times (x, y, z), world axes."""
    x, y, z = rotate_back(pose[b, 3:], x, y, z)
    return rotate(
        pose[b, 3:],
        inert[b, 4] * x + inert[b, 5] * y + inert[b, 6] * z,
        inert[b, 7] * x + inert[b, 8] * y + inert[b, 9] * z,
        inert[b, 10] * x + inert[b, 11] * y + inert[b, 12] * z,
    )


@inner_kernel
def add_bias_acceleration(index, motion, v, twist, rate, b):
    """Adds the bias acceleration of the joint of body ``b`` to the body's ``rate``.

    A column fixed in a body that moves with the twist X changes at the rate X × column.
    """
    p, kind, i = index[b, 0], index[b, 1], index[b, 3]
    for k in range(count_dofs(kind)):
        r = p if kind != HINGE and is_fixed_in_parent(kind, k) else b
        vx, vy, vz = twist[r, 0], twist[r, 1], twist[r, 2]
        wx, wy, wz = twist[r, 3], twist[r, 4], twist[r, 5]
        speed = v[i + k]
        lx, ly, lz = motion[i + k, 0] * speed, motion[i + k, 1] * speed, motion[i + k, 2] * speed
        ax, ay, az = motion[i + k, 3] * speed, motion[i + k, 4] * speed, motion[i + k, 5] * speed
        rate[b, 0] += wy * lz - wz * ly + vy * az - vz * ay
        rate[b, 1] += wz * lx - wx * lz + vz * ax - vx * az
        rate[b, 2] += wx * ly - wy * lx + vx * ay - vy * ax
        rate[b, 3] += wy * az - wz * ay
        rate[b, 4] += wz * ax - wx * az
        rate[b, 5] += wx * ay - wy * ax


@flat_kernel
def body_motion(index, motion, v, a, twist, rate, b):
    """Computes the twist of body ``b`` and its rate of change from the parent's."""
    p, i = index[b, 0], index[b, 3]
    for c in range(6):
        twist[b, c] = twist[p, c]
        rate[b, c] = rate[p, c]
    for k in range(count_dofs(index[b, 1])):
        for c in range(6):
            twist[b, c] += motion[i + k, c] * v[i + k]
            rate[b, c] += motion[i + k, c] * a[i + k]
    add_bias_acceleration(index, motion, v, twist, rate, b)


@flat_kernel
def center_of_mass_motion(inert, pose, twist, rate, b):
    """Returns the center of mass of body ``b``, its velocity and its acceleration (9)."""
    cx, cy, cz = rotate(pose[b, 3:], inert[b, 1], inert[b, 2], inert[b, 3])
    cx, cy, cz = cx + pose[b, 0], cy + pose[b, 1], cz + pose[b, 2]
    wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
    vx = twist[b, 0] + wy * cz - wz * cy
    vy = twist[b, 1] + wz * cx - wx * cz
    vz = twist[b, 2] + wx * cy - wy * cx
    ax = rate[b, 0] + rate[b, 4] * cz - rate[b, 5] * cy + wy * vz - wz * vy
    ay = rate[b, 1] + rate[b, 5] * cx - rate[b, 3] * cz + wz * vx - wx * vz
    az = rate[b, 2] + rate[b, 3] * cy - rate[b, 4] * cx + wx * vy - wy * vx
    return cx, cy, cz, vx, vy, vz, ax, ay, az


@flat_kernel
def body_wrench(inert, pose, twist, rate, b, force):
    """Computes the row of ``force`` that moves body ``b`` with twist and rate."""
    cx, cy, cz, _, _, _, ax, ay, az = center_of_mass_motion(inert, pose, twist, rate, b)
    m = inert[b, 0]
    fx, fy, fz = m * ax, m * ay, m * az
    wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
    nx, ny, nz = _rotate_inertia(inert, pose, b, rate[b, 3], rate[b, 4], rate[b, 5])
    hx, hy, hz = _rotate_inertia(inert, pose, b, wx, wy, wz)
    force[b, 0], force[b, 1], force[b, 2] = fx, fy, fz
    force[b, 3] = nx + wy * hz - wz * hy + cy * fz - cz * fy
    force[b, 4] = ny + wz * hx - wx * hz + cz * fx - cx * fz
    force[b, 5] = nz + wx * hy - wy * hx + cx * fy - cy * fx


@flat_kernel
def body_motions(tree, order, gravity, q, v, a, pose, motion, twist, rate, scratch):
    """Computes poses, columns, twists and rates of all bodies, with gravity at the root."""
    index, frame, rail = tree
    place_bodies(index, frame, rail, order, q, pose, motion, scratch)
    twist[0, :] = 0.0
    rate[0, :] = 0.0
    for c in range(3):
        rate[0, c] = -gravity[c]
    for n in range(order.shape[0]):
        body_motion(index, motion, v, a, twist, rate, order[n])


@flat_kernel
def rnea(tree, order, inert, armature, gravity, q, v, a, work, effort):
    """Computes ``effort`` (nv) that moves the bodies with accelerations ``a`` (Newton–Euler).

    ``work`` is the tuple of :func:`linkwork.dynamics.workspace`.
    """
    pose, motion, twist, rate, force, scratch = work
    index, _, _ = tree
    body_motions(tree, order, gravity, q, v, a, pose, motion, twist, rate, scratch)
    for n in range(order.shape[0]):
        body_wrench(inert, pose, twist, rate, order[n], force)
    for n in range(order.shape[0] - 1, -1, -1):
        b = order[n]
        p, i = index[b, 0], index[b, 3]
        for k in range(count_dofs(index[b, 1])):
            total = armature[i + k] * a[i + k]
            for c in range(6):
                total += motion[i + k, c] * force[b, c]
            effort[i + k] = total
        if p > 0:
            for c in range(6):
                force[p, c] += force[b, c]


@flat_kernel
def composite_inertia(inert, pose, b, out):
    """Computes ``out`` (10): mass, first moments and inertia at the world origin.

    The inertia is xx yy zz xy xz yz.
    """
    w, x, y, z = pose[b, 3], pose[b, 4], pose[b, 5], pose[b, 6]
    r00, r01, r02 = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    r10, r11, r12 = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    r20, r21, r22 = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    i00, i01, i02 = inert[b, 4], inert[b, 5], inert[b, 6]
    i11, i12, i22 = inert[b, 8], inert[b, 9], inert[b, 12]
    a00 = r00 * i00 + r01 * i01 + r02 * i02
    a01 = r00 * i01 + r01 * i11 + r02 * i12
    a02 = r00 * i02 + r01 * i12 + r02 * i22
    a10 = r10 * i00 + r11 * i01 + r12 * i02
    a11 = r10 * i01 + r11 * i11 + r12 * i12
    a12 = r10 * i02 + r11 * i12 + r12 * i22
    a20 = r20 * i00 + r21 * i01 + r22 * i02
    a21 = r20 * i01 + r21 * i11 + r22 * i12
    a22 = r20 * i02 + r21 * i12 + r22 * i22
    cx = pose[b, 0] + r00 * inert[b, 1] + r01 * inert[b, 2] + r02 * inert[b, 3]
    cy = pose[b, 1] + r10 * inert[b, 1] + r11 * inert[b, 2] + r12 * inert[b, 3]
    cz = pose[b, 2] + r20 * inert[b, 1] + r21 * inert[b, 2] + r22 * inert[b, 3]
    m = inert[b, 0]
    out[0] = m
    out[1], out[2], out[3] = m * cx, m * cy, m * cz
    out[4] = a00 * r00 + a01 * r01 + a02 * r02 + m * (cy * cy + cz * cz)
    out[5] = a10 * r10 + a11 * r11 + a12 * r12 + m * (cx * cx + cz * cz)
    out[6] = a20 * r20 + a21 * r21 + a22 * r22 + m * (cx * cx + cy * cy)
    out[7] = a00 * r10 + a01 * r11 + a02 * r12 - m * cx * cy
    out[8] = a00 * r20 + a01 * r21 + a02 * r22 - m * cx * cz
    out[9] = a10 * r20 + a11 * r21 + a12 * r22 - m * cy * cz


@flat_kernel
def crba(tree, order, inert, armature, q, work, composite, mass):
    """Computes the mass matrix ``mass`` (nv×nv) by composite bodies; ``composite`` is nb×10."""
    pose, motion, _, _, force, scratch = work
    index, frame, rail = tree
    place_bodies(index, frame, rail, order, q, pose, motion, scratch)
    fill_masses(index, order, inert, armature, pose, motion, force[0], composite, mass)


@flat_kernel
def fill_masses(index, order, inert, armature, pose, motion, f, composite, mass):
    """Computes the mass matrix of bodies with known poses; ``f`` is workspace (6)."""
    mass[:, :] = 0.0
    for n in range(order.shape[0]):
        composite_inertia(inert, pose, order[n], composite[order[n]])
    for n in range(order.shape[0] - 1, -1, -1):
        b = order[n]
        p, i = index[b, 0], index[b, 3]
        count = count_dofs(index[b, 1])
        if p > 0:
            for c in range(10):
                composite[p, c] += composite[b, c]
        m, mx, my, mz = composite[b, 0], composite[b, 1], composite[b, 2], composite[b, 3]
        xx, yy, zz = composite[b, 4], composite[b, 5], composite[b, 6]
        xy, xz, yz = composite[b, 7], composite[b, 8], composite[b, 9]
        for k in range(count):
            s = motion[i + k]
            f[0] = m * s[0] + s[4] * mz - s[5] * my
            f[1] = m * s[1] + s[5] * mx - s[3] * mz
            f[2] = m * s[2] + s[3] * my - s[4] * mx
            f[3] = my * s[2] - mz * s[1] + xx * s[3] + xy * s[4] + xz * s[5]
            f[4] = mz * s[0] - mx * s[2] + xy * s[3] + yy * s[4] + yz * s[5]
            f[5] = mx * s[1] - my * s[0] + xz * s[3] + yz * s[4] + zz * s[5]
            up, last = b, k
            while up > 0:
                j = index[up, 3]
                for other in range(last + 1):
                    value = 0.0
                    for c in range(6):
                        value += motion[j + other, c] * f[c]
                    mass[i + k, j + other] = value
                    mass[j + other, i + k] = value
                up = index[up, 0]
                last = count_dofs(index[up, 1]) - 1
            mass[i + k, i + k] += armature[i + k]


@flat_kernel
def _spatial_inertia(ten, out):
    """Computes ``out`` (6×6), the spatial inertia of ten numbers."""
    m, x, y, z = ten[0], ten[1], ten[2], ten[3]
    out[:, :] = 0.0
    out[0, 0] = out[1, 1] = out[2, 2] = m
    out[0, 4] = out[4, 0] = z
    out[0, 5] = out[5, 0] = -y
    out[1, 3] = out[3, 1] = -z
    out[1, 5] = out[5, 1] = x
    out[2, 3] = out[3, 2] = y
    out[2, 4] = out[4, 2] = -x
    out[3, 3], out[4, 4], out[5, 5] = ten[4], ten[5], ten[6]
    out[3, 4] = out[4, 3] = ten[7]
    out[3, 5] = out[5, 3] = ten[8]
    out[4, 5] = out[5, 4] = ten[9]


@flat_kernel
def aba(tree, order, inert, armature, gravity, q, v, effort, work, articulated, hold, a):
    """Computes the accelerations ``a`` (nv) that ``effort`` causes.

    A joint of several degrees of freedom is eliminated one by one, the last first. ``articulated``
    is nb×6×6; ``hold`` (nv×8) stores the wrench, its resistance and the remaining effort.

    Returns:
        −1, or the first degree of freedom that moves no mass.
    """
    pose, motion, twist, rate, force, scratch = work
    index, _, _ = tree
    bad = -1
    a[:] = 0.0
    body_motions(tree, order, gravity, q, v, a, pose, motion, twist, rate, scratch)
    # `rate` holds the velocity terms; gravity is added in the last pass
    for n in range(order.shape[0] - 1, -1, -1):
        b = order[n]
        p = index[b, 0]
        for c in range(6):
            rate[b, c] -= rate[p, c]
    flat = scratch.reshape(-1)
    fall, aside, ten = flat[0:6], flat[6:12], flat[12:22]
    for c in range(6):
        fall[c] = rate[0, c]
        rate[0, c] = 0.0
    for n in range(order.shape[0]):
        b = order[n]
        # bias wrench of velocities alone: the rate row is saved meanwhile
        for c in range(6):
            aside[c] = rate[b, c]
            rate[b, c] = 0.0
        body_wrench(inert, pose, twist, rate, b, force)
        for c in range(6):
            rate[b, c] = aside[c]
        composite_inertia(inert, pose, b, ten)
        _spatial_inertia(ten, articulated[b])
    for n in range(order.shape[0] - 1, -1, -1):
        b = order[n]
        p, i = index[b, 0], index[b, 3]
        whole = articulated[b]
        for k in range(count_dofs(index[b, 1]) - 1, -1, -1):
            row = hold[i + k]
            resist, left = armature[i + k], effort[i + k]
            for c in range(6):
                total = 0.0
                for d in range(6):
                    total += whole[c, d] * motion[i + k, d]
                row[c] = total
            for c in range(6):
                resist += motion[i + k, c] * row[c]
                left -= motion[i + k, c] * force[b, c]
            row[6], row[7] = resist, left
            if resist <= 1e-14:
                bad = i + k
            inverse = 1.0 / resist
            for c in range(6):
                force[b, c] += row[c] * left * inverse
                for d in range(6):
                    whole[c, d] -= row[c] * row[d] * inverse
        if p > 0:
            above = articulated[p]
            for c in range(6):
                total = force[b, c]
                for d in range(6):
                    total += whole[c, d] * rate[b, d]
                    above[c, d] += whole[c, d]
                force[p, c] += total
    for c in range(6):
        rate[0, c] = fall[c]
    for n in range(order.shape[0]):
        b = order[n]
        p, i = index[b, 0], index[b, 3]
        for c in range(6):
            rate[b, c] += rate[p, c]
        for k in range(count_dofs(index[b, 1])):
            total = hold[i + k, 7]
            for c in range(6):
                total -= hold[i + k, c] * rate[b, c]
            a[i + k] = total / hold[i + k, 6]
            for c in range(6):
                rate[b, c] += motion[i + k, c] * a[i + k]
    return bad
