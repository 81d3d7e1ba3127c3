"""Loops are closed, and lose the speeds that open them, in the coordinates of the tree."""

from __future__ import annotations

import math

from linkwork.dynamics.branch_kernels import solve_up
from linkwork.engines.impulse.body_kernels import V, X, tensor
from linkwork.engines.impulse.closing_kernels import gap_of
from linkwork.engines.impulse.coordinate_kernels import put_body, turn_body
from linkwork.engines.impulse.joint_columns import SIZE
from linkwork.engines.impulse.phase_kernels import (
    COARSE,
    DONE,
    FORETOLD,
    GAP,
    ITERATIONS,
    LOST,
    OPEN,
    WHERE,
    set_row,
    tell_gap,
)
from linkwork.engines.impulse.tree_kernels import (
    accelerate_joints,
    answer_loops,
    move_ends,
    place_ends,
    solve_loops,
    twist_bodies,
)
from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.kernels import BALL, FREE, count_dofs

#: A step that leaves a loop open by more than this [m or rad] was too long for its rule.
TOO_FAR = 1e-2
#: Corrections after which the matrix of loops is made anew.
PATIENCE = 3


@inner_kernel
def spread(tree, q, v, out, at):
    """How coordinates change with speeds ``v``, into ``out`` from ``at`` on."""
    index, order = tree[0], tree[3]
    for n in range(order.shape[0]):
        b = order[n]
        kind, a, i = index[b, 1], index[b, 2], index[b, 3]
        count = count_dofs(kind)
        if kind == BALL or kind == FREE:
            count -= 3
        for k in range(count):
            out[at + a + k] = v[i + k]
        if kind == BALL or kind == FREE:
            a, i = a + count, i + count
            w, x, y, z = q[a], q[a + 1], q[a + 2], q[a + 3]
            wx, wy, wz = 0.5 * v[i], 0.5 * v[i + 1], 0.5 * v[i + 2]
            out[at + a] = -x * wx - y * wy - z * wz
            out[at + a + 1] = w * wx + y * wz - z * wy
            out[at + a + 2] = w * wy + z * wx - x * wz
            out[at + a + 3] = w * wz + x * wy - y * wx


@inner_kernel
def even(tree, q):
    """Gives quaternions their length again."""
    index, turning = tree[0], tree[8]
    for n in range(turning.shape[0]):
        b = turning[n]
        a = index[b, 2] + (3 if index[b, 1] == FREE else 0)
        f = 1.0 / math.sqrt(q[a] ** 2 + q[a + 1] ** 2 + q[a + 2] ** 2 + q[a + 3] ** 2)
        for k in range(4):
            q[a + k] *= f


@inner_kernel
def _answer(tree, room):
    """What joints do about ``by``, which is wanted of loops: M⁻¹ Gᵀ K⁻¹ of it, in ``x``."""
    above, dofs, rows, mass, x = tree[6], tree[7], tree[12], room[7], room[9]
    solve_loops(room, rows.shape[0])
    for n in range(dofs.shape[0]):
        x[dofs[n]] = 0.0
    answer_loops(tree, room, x)
    solve_up(mass, above, dofs, x)


@inner_kernel
def _open_by(mechanism, desk, scratch, tree, account):
    """Fills in how far loops are open, with the other sign; returns the worst."""
    loops = tree[11]
    worst, at = 0.0, 0
    for k in range(loops.shape[0]):
        size = gap_of(mechanism, desk, scratch, loops[k])
        if size > worst or size != size:
            worst, at = size, loops[k]
    account[GAP], account[WHERE] = worst, at
    return worst


@inner_kernel
def _open_at(mechanism, desk, tree, rates):
    """Fills in how fast rows of loops open, with the other sign; returns the worst."""
    bodies, whole = mechanism[0], mechanism[1]
    j, error, loops = desk[0], desk[6], tree[11]
    worst = 0.0
    for m in range(loops.shape[0]):
        n = loops[m]
        for k in range(whole[n, SIZE]):
            speed = 0.0
            for side in range(2):
                at = whole[n, side]
                for i in range(3):
                    speed += j[n, side, k, i] * bodies[at, V + i]
                    speed += j[n, side, k, 3 + i] * rates[at, i]
            error[n, k] = -speed
            if not abs(speed) <= worst:
                worst = abs(speed)
    return worst


@inner_kernel
def _ask(desk, tree, room):
    """What is wanted of loops: what stands in their errors."""
    rows, by, error = tree[12], room[14], desk[6]
    for r in range(rows.shape[0]):
        by[r] = error[rows[r, 0], rows[r, 1]]


@inner_kernel
def _is_finite(q, v):
    """Whether all of them are numbers."""
    total = 0.0
    for k in range(q.shape[0]):
        total += abs(q[k])
    for k in range(v.shape[0]):
        total += abs(v[k])
    return math.isfinite(total)


@flat_kernel
def hold_loops(
    mechanism, desk, scratch, tree, room, wrench, rates, q, v, gap, speed_gap, most, account
):
    """Closes loops and takes away speeds that open them.

    The matrices of the foretold place are good enough, unless loops hardly hold in some direction:
    where it does not get there at once, they are made anew. Returns how it went, and the speed with
    which loops still open.
    """
    index, order, loops, x = tree[0], tree[3], tree[11], room[9]
    step = room[15]
    if not _is_finite(q, v):
        return LOST, math.inf
    left = most
    while True:
        place_ends(mechanism, tree, room, q)
        worst = _open_by(mechanism, desk, scratch, tree, account)
        if not worst <= TOO_FAR:
            account[FORETOLD] = worst
            return (COARSE if math.isfinite(worst) else LOST), math.inf
        if worst <= gap:
            break
        if left == 0:
            return OPEN, math.inf
        left -= 1
        if most - left > PATIENCE:
            accelerate_joints(
                mechanism, desk, scratch, tree, room, wrench, q, v, rates, account
            )  # fmt: skip
            _open_by(mechanism, desk, scratch, tree, account)
        account[ITERATIONS] += 1.0
        _ask(desk, tree, room)
        _answer(tree, room)
        spread(tree, q, x, step, 0)
        for n in range(order.shape[0]):
            b = order[n]
            count = count_dofs(index[b, 1]) + (1 if index[b, 1] in (BALL, FREE) else 0)
            for a in range(index[b, 2], index[b, 2] + count):
                q[a] += step[a]
        even(tree, q)
    tell_gap(mechanism[1], desk[6], account)
    for n in range(loops.shape[0]):
        set_row(mechanism, desk, scratch, loops[n])
    worst = 0.0
    for again in range(2 * PATIENCE):
        twist_bodies(tree, room, v)
        move_ends(tree, room, mechanism[0], rates)
        worst = _open_at(mechanism, desk, tree, rates)
        if not math.isfinite(worst):
            return LOST, math.inf
        if worst <= speed_gap:
            break
        if again == PATIENCE:
            accelerate_joints(
                mechanism, desk, scratch, tree, room, wrench, q, v, rates, account
            )  # fmt: skip
            _open_at(mechanism, desk, tree, rates)
        _ask(desk, tree, room)
        _answer(tree, room)
        for n in range(tree[7].shape[0]):
            v[tree[7][n]] += x[tree[7][n]]
    return DONE, worst


@flat_kernel
def give_bodies(mechanism, tree, room, q, v):
    """Writes places and momenta of all bodies, whose joints stand at ``q`` and move with ``v``."""
    order, mount, origin, pose, twist = tree[3], tree[5], tree[13], room[0], room[2]
    bodies = mechanism[0]
    place_ends(mechanism, tree, room, q)
    twist_bodies(tree, room, v)
    for n in range(order.shape[0]):
        b, body = order[n], bodies[n]
        put_body(mount[n], pose, b, body)
        tensor(body)
        x, y, z = body[X], body[X + 1], body[X + 2]
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        body[V] = twist[b, 0] + wy * z - wz * y
        body[V + 1] = twist[b, 1] + wz * x - wx * z
        body[V + 2] = twist[b, 2] + wx * y - wy * x
        turn_body(mount[n], wx, wy, wz, body)
        for i in range(3):
            body[X + i] += origin[i]
