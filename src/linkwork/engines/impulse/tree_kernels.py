"""Accelerations in the coordinates of the tree: its joints cannot open, forces hold the loops.

M(q) v̇ + c(q, v) = Gᵀ λ, where G v = 0 says that loops stay closed: G v̇ + Ġ v = 0 gives
(G M⁻¹ Gᵀ) λ = G M⁻¹ c − Ġ v. M is found by composite bodies and factored along the tree,
M = Lᵀ D L; with Zᵀ = L⁻ᵀ Gᵀ the matrix of loops is Z D⁻¹ Zᵀ. Every spatial vector is seen at a
point of the mechanism, ``origin``, from which poses count here. The rows of loops are those of
``joint_kernels``, of bodies as the tree places them.

What the kernels share is in two tuples of arrays, see ``tree.py``:
    tree: index, frame, rail; order (the body of each row of ``bodies``), inert, mount; above, dofs,
        turning (bodies with quaternions), last (the last degree of freedom that moves each row);
        ends (rows of bodies that loops hold), loops (their joints), rows (joint and row of each
        equation), origin
    room: pose, motion, twist, rate, force, scratch, composite, mass, ease (1/D), x (what joints
        do), z, held, factor, pivot, by (what loops do), step,
        first (squares of rows, as if all of them lay along what joints do)
"""

from __future__ import annotations

from linkwork.dynamics.branch_kernels import factorise, solve_down, solve_up
from linkwork.dynamics.kernels import composite_inertia
from linkwork.engines.impulse.body_kernels import V, X
from linkwork.engines.impulse.coordinate_kernels import put_body
from linkwork.engines.impulse.force_kernels import row_misses
from linkwork.engines.impulse.phase_kernels import (
    BESIDE_LOST,
    FACTORS,
    REDUNDANT,
    SOFTENED,
    set_row,
)
from linkwork.engines.impulse.solve_kernels import REDUNDANT_PART
from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.kernels import HINGE, count_dofs
from linkwork.kinematics.motion_kernels import place_bodies, rides_on_parent


@inner_kernel
def _twist(index, motion, v, twist, b):
    """Twist of body ``b`` from its parent's."""
    p, i = index[b, 0], index[b, 3]
    for c in range(6):
        twist[b, c] = twist[p, c]
    for k in range(count_dofs(index[b, 1])):
        for c in range(6):
            twist[b, c] += motion[i + k, c] * v[i + k]


@inner_kernel
def _bias(index, motion, v, twist, rate, b):
    """How its twist changes while no speed does."""
    p, kind, i = index[b, 0], index[b, 1], index[b, 3]
    for c in range(6):
        rate[b, c] = rate[p, c]
    for k in range(count_dofs(kind)):
        r = p if kind != HINGE and rides_on_parent(kind, k) else b
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


@inner_kernel
def _resist(composite, twist, rate, wrench, n, b, force):
    """Wrench that body ``b`` takes to move so, less that which acts on its centre of mass."""
    m, mx, my, mz = composite[b, 0], composite[b, 1], composite[b, 2], composite[b, 3]
    xx, yy, zz = composite[b, 4], composite[b, 5], composite[b, 6]
    xy, xz, yz = composite[b, 7], composite[b, 8], composite[b, 9]
    vx, vy, vz = twist[b, 0], twist[b, 1], twist[b, 2]
    wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
    px, py, pz = m * vx + wy * mz - wz * my, m * vy + wz * mx - wx * mz, m * vz + wx * my - wy * mx
    lx = my * vz - mz * vy + xx * wx + xy * wy + xz * wz
    ly = mz * vx - mx * vz + xy * wx + yy * wy + yz * wz
    lz = mx * vy - my * vx + xz * wx + yz * wy + zz * wz
    ax, ay, az = rate[b, 0], rate[b, 1], rate[b, 2]
    ux, uy, uz = rate[b, 3], rate[b, 4], rate[b, 5]
    fx, fy, fz = wrench[n, 0], wrench[n, 1], wrench[n, 2]
    f = 1.0 / m
    cx, cy, cz = f * mx, f * my, f * mz
    force[b, 0] = m * ax + uy * mz - uz * my + wy * pz - wz * py - fx
    force[b, 1] = m * ay + uz * mx - ux * mz + wz * px - wx * pz - fy
    force[b, 2] = m * az + ux * my - uy * mx + wx * py - wy * px - fz
    force[b, 3] = (
        my * az - mz * ay + xx * ux + xy * uy + xz * uz + wy * lz - wz * ly + vy * pz - vz * py
        - wrench[n, 3] - cy * fz + cz * fy
    )  # fmt: skip
    force[b, 4] = (
        mz * ax - mx * az + xy * ux + yy * uy + yz * uz + wz * lx - wx * lz + vz * px - vx * pz
        - wrench[n, 4] - cz * fx + cx * fz
    )  # fmt: skip
    force[b, 5] = (
        mx * ay - my * ax + xz * ux + yz * uy + zz * uz + wx * ly - wy * lx + vx * py - vy * px
        - wrench[n, 5] - cx * fy + cy * fx
    )  # fmt: skip


@inner_kernel
def _gather(index, order, above, motion, force, composite, mass, x):
    """The mass matrix below its diagonal, and −c in ``x``, from the leaves to the root."""
    for n in range(order.shape[0] - 1, -1, -1):
        b = order[n]
        p, i = index[b, 0], index[b, 3]
        m, mx, my, mz = composite[b, 0], composite[b, 1], composite[b, 2], composite[b, 3]
        xx, yy, zz = composite[b, 4], composite[b, 5], composite[b, 6]
        xy, xz, yz = composite[b, 7], composite[b, 8], composite[b, 9]
        for k in range(i, i + count_dofs(index[b, 1])):
            sx, sy, sz = motion[k, 0], motion[k, 1], motion[k, 2]
            tx, ty, tz = motion[k, 3], motion[k, 4], motion[k, 5]
            x[k] = -(
                sx * force[b, 0] + sy * force[b, 1] + sz * force[b, 2]
                + tx * force[b, 3] + ty * force[b, 4] + tz * force[b, 5]
            )  # fmt: skip
            fx = m * sx + ty * mz - tz * my
            fy = m * sy + tz * mx - tx * mz
            fz = m * sz + tx * my - ty * mx
            gx = my * sz - mz * sy + xx * tx + xy * ty + xz * tz
            gy = mz * sx - mx * sz + xy * tx + yy * ty + yz * tz
            gz = mx * sy - my * sx + xz * tx + yz * ty + zz * tz
            up = k
            while up >= 0:
                mass[k, up] = (
                    motion[up, 0] * fx + motion[up, 1] * fy + motion[up, 2] * fz
                    + motion[up, 3] * gx + motion[up, 4] * gy + motion[up, 5] * gz
                )  # fmt: skip
                up = above[up]
        if p > 0:
            for c in range(10):
                composite[p, c] += composite[b, c]
            for c in range(6):
                force[p, c] += force[b, c]


@inner_kernel
def move_ends(tree, room, bodies, rates):
    """Gives bodies that loops hold their velocity, and their angular velocity to ``rates``."""
    order, ends, o, twist = tree[3], tree[10], tree[13], room[2]
    for k in range(ends.shape[0]):
        n = ends[k]
        b = order[n]
        x, y, z = bodies[n, X] - o[0], bodies[n, X + 1] - o[1], bodies[n, X + 2] - o[2]
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        bodies[n, V] = twist[b, 0] + wy * z - wz * y
        bodies[n, V + 1] = twist[b, 1] + wz * x - wx * z
        bodies[n, V + 2] = twist[b, 2] + wx * y - wy * x
        rates[n, 0], rates[n, 1], rates[n, 2] = wx, wy, wz


@inner_kernel
def _bend_ends(tree, rate, bodies, rates):
    """Accelerations of their centres, and angular ones, while no speed of a joint changes."""
    order, ends, o = tree[3], tree[10], tree[13]
    for k in range(ends.shape[0]):
        n = ends[k]
        b = order[n]
        x, y, z = bodies[n, X] - o[0], bodies[n, X + 1] - o[1], bodies[n, X + 2] - o[2]
        wx, wy, wz = rates[n, 0], rates[n, 1], rates[n, 2]
        vx, vy, vz = bodies[n, V], bodies[n, V + 1], bodies[n, V + 2]
        ux, uy, uz = rate[b, 3], rate[b, 4], rate[b, 5]
        rates[n, 3] = rate[b, 0] + uy * z - uz * y + wy * vz - wz * vy
        rates[n, 4] = rate[b, 1] + uz * x - ux * z + wz * vx - wx * vz
        rates[n, 5] = rate[b, 2] + ux * y - uy * x + wx * vy - wy * vx
        rates[n, 6], rates[n, 7], rates[n, 8] = ux, uy, uz


@inner_kernel
def twist_bodies(tree, room, v):
    """Twists of all bodies, which are placed."""
    index, order = tree[0], tree[3]
    motion, twist = room[1], room[2]
    for n in range(order.shape[0]):
        _twist(index, motion, v, twist, order[n])


@inner_kernel
def place_ends(mechanism, tree, room, q):
    """Places all bodies, and those that loops hold in ``mechanism`` too."""
    index, frame, rail, order, mount, ends = tree[0], tree[1], tree[2], tree[3], tree[5], tree[10]
    origin = tree[13]
    place_bodies(index, frame, rail, order, q, room[0], room[1], room[5])
    for k in range(ends.shape[0]):
        body = mechanism[0][ends[k]]
        put_body(mount[ends[k]], room[0], order[ends[k]], body)
        for i in range(3):
            body[X + i] += origin[i]


@inner_kernel
def _lay(mechanism, desk, scratch, tree, room):
    """Rows of loops, by degrees of freedom in ``z``, as bodies stand."""
    above, dofs, last, loops, rows, o = tree[6], tree[7], tree[9], tree[11], tree[12], tree[13]
    bodies, whole = mechanism[0], mechanism[1]
    j, motion, ease, z, first = desk[0], room[1], room[8], room[10], room[16]
    for k in range(loops.shape[0]):
        set_row(mechanism, desk, scratch, loops[k])
    for r in range(rows.shape[0]):
        n, k = rows[r, 0], rows[r, 1]
        first[r] = 0.0
        for d in range(dofs.shape[0]):
            z[r, dofs[d]] = 0.0
        for side in range(2):
            at = whole[n, side]
            if at == bodies.shape[0] - 1:
                continue
            x, y, w = bodies[at, X] - o[0], bodies[at, X + 1] - o[1], bodies[at, X + 2] - o[2]
            a, b, c = j[n, side, k, 0], j[n, side, k, 1], j[n, side, k, 2]
            d0 = j[n, side, k, 3] + y * c - w * b
            d1 = j[n, side, k, 4] + w * a - x * c
            d2 = j[n, side, k, 5] + x * b - y * a
            size = a * a + b * b + c * c + d0 * d0 + d1 * d1 + d2 * d2
            d = last[at]
            while d >= 0:
                m0, m1, m2 = motion[d, 0], motion[d, 1], motion[d, 2]
                m3, m4, m5 = motion[d, 3], motion[d, 4], motion[d, 5]
                z[r, d] += m0 * a + m1 * b + m2 * c + m3 * d0 + m4 * d1 + m5 * d2
                way = m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3 + m4 * m4 + m5 * m5
                first[r] += size * way * ease[d]
                d = above[d]


@inner_kernel
def _factor_loops(tree, room, account):
    """Factors the matrix of loops; rows that say nothing new have no pivot."""
    dofs, rows = tree[7], tree[12]
    ease, z, held, factor, pivot = room[8], room[10], room[11], room[12], room[13]
    first = room[16]
    count = rows.shape[0]
    for r in range(count):
        for s in range(r + 1):
            total = 0.0
            for n in range(dofs.shape[0]):
                d = dofs[n]
                total += z[r, d] * z[s, d] * ease[d]
            held[r, s] = total
    soft = 0.0
    while True:
        lost, least = 0, 1.0
        for r in range(count):
            for s in range(r + 1):
                total = held[r, s]
                if r == s:
                    total += soft * held[r, r]
                for t in range(s):
                    total -= factor[r, t] * factor[s, t] * pivot[t]
                factor[r, s] = total
            if factor[r, r] > REDUNDANT_PART * first[r]:
                least = min(least, factor[r, r] / held[r, r])
                pivot[r] = 1.0 / factor[r, r]
            else:
                lost += 1
                pivot[r] = 0.0
        account[FACTORS] += 1.0
        if soft > 0.0:
            return
        account[REDUNDANT] = lost
        if lost == 0 or least >= BESIDE_LOST:
            return
        soft = SOFTENED


@inner_kernel
def solve_loops(room, count):
    """Forces of loops for what is in ``by``, in its place: K = L D Lᵀ with L in ``factor``."""
    factor, pivot, by = room[12], room[13], room[14]
    for r in range(count):
        total = by[r]
        for s in range(r):
            total -= factor[r, s] * pivot[s] * by[s]
        by[r] = total
    for r in range(count - 1, -1, -1):
        total = by[r]
        for s in range(r + 1, count):
            total -= factor[s, r] * by[s]
        by[r] = total * pivot[r]


@inner_kernel
def answer_loops(tree, room, x):
    """Adds to ``x`` what forces of loops in ``by`` give joints, before its second half."""
    dofs, z, by = tree[7], room[10], room[14]
    for r in range(by.shape[0]):
        f = by[r]
        if f != 0.0:
            for n in range(dofs.shape[0]):
                x[dofs[n]] += f * z[r, dofs[n]]


@flat_kernel
def accelerate_joints(mechanism, desk, scratch, tree, room, wrench, q, v, rates, account):
    """Finds v̇ of joints that stand at ``q`` and move with ``v``, in ``x``; false if it cannot.

    Leaves M and the matrix of loops factored.
    """
    index, order, inert, above, dofs = tree[0], tree[3], tree[4], tree[6], tree[7]
    loops, rows = tree[11], tree[12]
    pose, motion, twist, rate, force = room[0], room[1], room[2], room[3], room[4]
    composite, mass, ease, x, z, by = room[6], room[7], room[8], room[9], room[10], room[14]
    error = desk[6]
    place_ends(mechanism, tree, room, q)
    for n in range(order.shape[0]):
        b = order[n]
        composite_inertia(inert, pose, b, composite[b])
        _twist(index, motion, v, twist, b)
        _bias(index, motion, v, twist, rate, b)
        _resist(composite, twist, rate, wrench, n, b, force)
    _gather(index, order, above, motion, force, composite, mass, x)
    if not factorise(mass, above, dofs):
        return False
    solve_down(mass, above, dofs, x)
    if rows.shape[0]:
        for n in range(dofs.shape[0]):
            ease[dofs[n]] = 1.0 / mass[dofs[n], dofs[n]]
        _lay(mechanism, desk, scratch, tree, room)
        move_ends(tree, room, mechanism[0], rates)
        _bend_ends(tree, rate, mechanism[0], rates)
        for k in range(loops.shape[0]):
            row_misses(mechanism, desk, rates, loops[k])
        for r in range(rows.shape[0]):
            solve_down(mass, above, dofs, z[r])
            total = error[rows[r, 0], rows[r, 1]]
            for n in range(dofs.shape[0]):
                d = dofs[n]
                total -= z[r, d] * x[d] * ease[d]
            by[r] = total
        _factor_loops(tree, room, account)
        solve_loops(room, rows.shape[0])
        answer_loops(tree, room, x)
    solve_up(mass, above, dofs, x)
    return True
