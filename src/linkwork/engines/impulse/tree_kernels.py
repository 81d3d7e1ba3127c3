"""Accelerations in tree coordinates, with constraint forces of the loops.

M(q) v̇ + c(q, v) = Gᵀ λ with the loop constraints G v = 0: G v̇ + Ġ v = 0 gives (G M⁻¹ Gᵀ) λ = G
M⁻¹ c − Ġ v. M is computed by composite bodies and factored along the tree, M = Lᵀ D L; with Zᵀ =
L⁻ᵀ Gᵀ the loop matrix is Z D⁻¹ Zᵀ. Spatial vectors and poses are relative to a point of the
mechanism, ``origin``. The rows of loops are those of ``joint_kernels``, for the bodies at the poses
of the tree.

Kernels share two tuples of arrays, see ``TreeArrays`` and ``TreeWorkspace``.
"""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.dynamics.kernels import add_bias_acceleration, composite_inertia
from linkwork.dynamics.tree_cholesky_kernels import factor_tree, solve_to_leaves, solve_to_root
from linkwork.engines.impulse.body_kernels import V, X
from linkwork.engines.impulse.constraint_kernels import (
    FACTORS,
    NEGLIGIBLE_BESIDE,
    REDUNDANT,
    SOFTENED,
    compute_jacobian,
)
from linkwork.engines.impulse.coordinate_kernels import set_body_pose
from linkwork.engines.impulse.delassus_kernels import REDUNDANT_PIVOT
from linkwork.engines.impulse.force_kernels import constraint_residual
from linkwork.engines.impulse.mechanism import TreeArrays, TreeWorkspace
from linkwork.kinematics.kernels import count_dofs
from linkwork.kinematics.motion_kernels import place_bodies


@inner_kernel
def _twist(index, motion, v, twist, b):
    """Computes the twist of body ``b`` from its parent's."""
    p, i = index[b, 0], index[b, 3]
    for c in range(6):
        twist[b, c] = twist[p, c]
    for k in range(count_dofs(index[b, 1])):
        for c in range(6):
            twist[b, c] += motion[i + k, c] * v[i + k]


@inner_kernel
def _bias(index, motion, v, twist, rate, b):
    """Computes the bias acceleration of body ``b``, with all v̇ = 0."""
    p = index[b, 0]
    for c in range(6):
        rate[b, c] = rate[p, c]
    add_bias_acceleration(index, motion, v, twist, rate, b)


@inner_kernel
def _body_wrench(composite, twist, rate, wrench, n, b, force):
    """Computes the inertial wrench of body ``b`` minus the external one at its center of mass."""
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
def _mass_matrix(index, order, parent_dof, motion, force, composite, mass, x):
    """Computes the lower half of the mass matrix, and −c in ``x``, from the leaves to the root."""
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
                up = parent_dof[up]
        if p > 0:
            for c in range(10):
                composite[p, c] += composite[b, c]
            for c in range(6):
                force[p, c] += force[b, c]


@inner_kernel
def set_loop_velocities(tree, tree_workspace, bodies, rates):
    """Sets the velocities of bodies in loops, and their angular velocities in ``rates``."""
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    order, loop_bodies, o, twist = arrays.order, arrays.loop_bodies, arrays.origin, buffers.twist
    for k in range(loop_bodies.shape[0]):
        n = loop_bodies[k]
        b = order[n]
        x, y, z = bodies[n, X] - o[0], bodies[n, X + 1] - o[1], bodies[n, X + 2] - o[2]
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        bodies[n, V] = twist[b, 0] + wy * z - wz * y
        bodies[n, V + 1] = twist[b, 1] + wz * x - wx * z
        bodies[n, V + 2] = twist[b, 2] + wx * y - wy * x
        rates[n, 0], rates[n, 1], rates[n, 2] = wx, wy, wz


@inner_kernel
def _loop_bias(tree, rate, bodies, rates):
    """Computes the bias accelerations of bodies in loops, at their centers of mass."""
    arrays = TreeArrays(*tree)
    order, loop_bodies, o = arrays.order, arrays.loop_bodies, arrays.origin
    for k in range(loop_bodies.shape[0]):
        n = loop_bodies[k]
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
def body_twists(tree, tree_workspace, v):
    """Computes the twists of all bodies."""
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    index, order = arrays.index, arrays.order
    motion, twist = buffers.motion, buffers.twist
    for n in range(order.shape[0]):
        _twist(index, motion, v, twist, order[n])


@inner_kernel
def place_loop_bodies(mechanism, tree, tree_workspace, q):
    """Computes the poses of all bodies, and of those in loops in ``mechanism`` as well."""
    bodies, _, _, _ = mechanism
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    index, frame, rail, order, principal_pose, loop_bodies = (
        arrays.index, arrays.frame, arrays.rail, arrays.order, arrays.principal_pose,
        arrays.loop_bodies,
    )  # fmt: skip
    origin = arrays.origin
    place_bodies(index, frame, rail, order, q, buffers.pose, buffers.motion, buffers.scratch)
    for k in range(loop_bodies.shape[0]):
        body = bodies[loop_bodies[k]]
        set_body_pose(principal_pose[loop_bodies[k]], buffers.pose, order[loop_bodies[k]], body)
        for i in range(3):
            body[X + i] += origin[i]


@inner_kernel
def _loop_jacobian(mechanism, workspace, scratch, tree, tree_workspace):
    """Computes the rows of loops by degree of freedom, in ``z``."""
    bodies, joint_ints, _, _ = mechanism
    jacobian, _, _, _, _, _, _, _, _, _ = workspace
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    parent_dof, dofs, last, loops, rows, o = (
        arrays.parent_dof, arrays.dofs, arrays.last_dof, arrays.loops, arrays.loop_rows,
        arrays.origin,
    )  # fmt: skip
    motion, inverse_diagonal, z, row_scale = (
        buffers.motion,
        buffers.inverse_diagonal,
        buffers.z,
        buffers.row_scale,
    )
    for k in range(loops.shape[0]):
        compute_jacobian(mechanism, workspace, scratch, loops[k])
    for r in range(rows.shape[0]):
        n, k = rows[r, 0], rows[r, 1]
        row_scale[r] = 0.0
        for d in range(dofs.shape[0]):
            z[r, dofs[d]] = 0.0
        for side in range(2):
            at = joint_ints[n, side]
            if at == bodies.shape[0] - 1:
                continue
            x, y, w = bodies[at, X] - o[0], bodies[at, X + 1] - o[1], bodies[at, X + 2] - o[2]
            a, b, c = jacobian[n, side, k, 0], jacobian[n, side, k, 1], jacobian[n, side, k, 2]
            d0 = jacobian[n, side, k, 3] + y * c - w * b
            d1 = jacobian[n, side, k, 4] + w * a - x * c
            d2 = jacobian[n, side, k, 5] + x * b - y * a
            size = a * a + b * b + c * c + d0 * d0 + d1 * d1 + d2 * d2
            d = last[at]
            while d >= 0:
                m0, m1, m2 = motion[d, 0], motion[d, 1], motion[d, 2]
                m3, m4, m5 = motion[d, 3], motion[d, 4], motion[d, 5]
                z[r, d] += m0 * a + m1 * b + m2 * c + m3 * d0 + m4 * d1 + m5 * d2
                motion_norm = m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3 + m4 * m4 + m5 * m5
                row_scale[r] += size * motion_norm * inverse_diagonal[d]
                d = parent_dof[d]


@inner_kernel
def _factor_loops(tree, tree_workspace, stats):
    """Factors the loop matrix; redundant rows have pivot 0."""
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    dofs, rows = arrays.dofs, arrays.loop_rows
    inverse_diagonal, z, delassus, factor, pivot = (
        buffers.inverse_diagonal,
        buffers.z,
        buffers.delassus,
        buffers.factor,
        buffers.pivot,
    )
    row_scale = buffers.row_scale
    count = rows.shape[0]
    for r in range(count):
        for s in range(r + 1):
            total = 0.0
            for n in range(dofs.shape[0]):
                d = dofs[n]
                total += z[r, d] * z[s, d] * inverse_diagonal[d]
            delassus[r, s] = total
    softening = 0.0
    while True:
        redundant, least = 0, 1.0
        for r in range(count):
            for s in range(r + 1):
                total = delassus[r, s]
                if r == s:
                    total += softening * delassus[r, r]
                for t in range(s):
                    total -= factor[r, t] * factor[s, t] * pivot[t]
                factor[r, s] = total
            if factor[r, r] > REDUNDANT_PIVOT * row_scale[r]:
                least = min(least, factor[r, r] / delassus[r, r])
                pivot[r] = 1.0 / factor[r, r]
            else:
                redundant += 1
                pivot[r] = 0.0
        stats[FACTORS] += 1.0
        if softening > 0.0:
            return
        stats[REDUNDANT] = redundant
        if redundant == 0 or least >= NEGLIGIBLE_BESIDE:
            return
        softening = SOFTENED


@inner_kernel
def solve_loops(tree_workspace, count):
    """Solves K λ = r in place of ``loop_force``: K = L D Lᵀ with L in ``factor``."""
    buffers = TreeWorkspace(*tree_workspace)
    factor, pivot, loop_force = buffers.factor, buffers.pivot, buffers.loop_force
    for r in range(count):
        total = loop_force[r]
        for s in range(r):
            total -= factor[r, s] * pivot[s] * loop_force[s]
        loop_force[r] = total
    for r in range(count - 1, -1, -1):
        total = loop_force[r]
        for s in range(r + 1, count):
            total -= factor[s, r] * loop_force[s]
        loop_force[r] = total * pivot[r]


@inner_kernel
def apply_loop_forces(tree, tree_workspace, x):
    """Adds the response to the loop forces to ``x``, before back substitution."""
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    dofs, z, loop_force = arrays.dofs, buffers.z, buffers.loop_force
    for r in range(loop_force.shape[0]):
        f = loop_force[r]
        if f != 0.0:
            for n in range(dofs.shape[0]):
                x[dofs[n]] += f * z[r, dofs[n]]


@flat_kernel
def joint_accelerations(
    mechanism, workspace, scratch, tree, tree_workspace, wrench, q, v, rates, stats
):
    """Computes v̇ at ``q``, ``v`` in ``x``; returns false if M is singular.

    Leaves M and the loop matrix factored.
    """
    bodies, _, _, _ = mechanism
    _, _, _, _, _, _, error, _, _, _ = workspace
    arrays, buffers = TreeArrays(*tree), TreeWorkspace(*tree_workspace)
    index, order, inertia, parent_dof, dofs = (
        arrays.index,
        arrays.order,
        arrays.inertia,
        arrays.parent_dof,
        arrays.dofs,
    )
    loops, rows = arrays.loops, arrays.loop_rows
    pose, motion, twist, rate, force = (
        buffers.pose,
        buffers.motion,
        buffers.twist,
        buffers.rate,
        buffers.force,
    )
    composite, mass, inverse_diagonal, x, z, loop_force = (
        buffers.composite, buffers.mass, buffers.inverse_diagonal, buffers.x, buffers.z,
        buffers.loop_force,
    )  # fmt: skip
    place_loop_bodies(mechanism, tree, tree_workspace, q)
    for n in range(order.shape[0]):
        b = order[n]
        composite_inertia(inertia, pose, b, composite[b])
        _twist(index, motion, v, twist, b)
        _bias(index, motion, v, twist, rate, b)
        _body_wrench(composite, twist, rate, wrench, n, b, force)
    _mass_matrix(index, order, parent_dof, motion, force, composite, mass, x)
    if not factor_tree(mass, parent_dof, dofs):
        return False
    solve_to_root(mass, parent_dof, dofs, x)
    if rows.shape[0]:
        for n in range(dofs.shape[0]):
            inverse_diagonal[dofs[n]] = 1.0 / mass[dofs[n], dofs[n]]
        _loop_jacobian(mechanism, workspace, scratch, tree, tree_workspace)
        set_loop_velocities(tree, tree_workspace, bodies, rates)
        _loop_bias(tree, rate, bodies, rates)
        for k in range(loops.shape[0]):
            constraint_residual(mechanism, workspace, rates, loops[k])
        for r in range(rows.shape[0]):
            solve_to_root(mass, parent_dof, dofs, z[r])
            total = error[rows[r, 0], rows[r, 1]]
            for n in range(dofs.shape[0]):
                d = dofs[n]
                total -= z[r, d] * x[d] * inverse_diagonal[d]
            loop_force[r] = total
        _factor_loops(tree, tree_workspace, stats)
        solve_loops(tree_workspace, rows.shape[0])
        apply_loop_forces(tree, tree_workspace, x)
    solve_to_leaves(mass, parent_dof, dofs, x)
    return True
