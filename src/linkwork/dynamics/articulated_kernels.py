"""Compiled forward dynamics by articulated bodies (Featherstone's ABA) at the world's origin."""

from __future__ import annotations

from linkwork.dynamics.kernels import body_wrench, composite_inertia, move_bodies
from linkwork.jit import flat_kernel
from linkwork.kinematics.kernels import count_dofs


@flat_kernel
def _fill(ten, out):
    """``out`` (6×6) = the spatial inertia of ten numbers."""
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
    """Fills the accelerations ``a`` (nv) that ``effort`` causes.

    A joint of several degrees of freedom is eliminated one by one, the last first. ``articulated``
    is nb×6×6; ``hold`` (nv×8) keeps the wrench, its resistance and what is left of the effort.

    Returns:
        −1, or the first degree of freedom that moves no mass.
    """
    pose, motion, twist, rate, force, scratch = work
    index = tree[0]
    bad = -1
    a[:] = 0.0
    move_bodies(tree, order, gravity, q, v, a, pose, motion, twist, rate, scratch)
    # `rate` holds what velocities cause; the world's part of it comes back in the last pass
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
        # bias wrench of velocities alone: the rate row is set aside meanwhile
        for c in range(6):
            aside[c] = rate[b, c]
            rate[b, c] = 0.0
        body_wrench(inert, pose, twist, rate, b, force)
        for c in range(6):
            rate[b, c] = aside[c]
        composite_inertia(inert, pose, b, ten)
        _fill(ten, articulated[b])
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
