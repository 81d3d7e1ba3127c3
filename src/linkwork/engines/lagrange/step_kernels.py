"""Compiled motion in joint coordinates: accelerations by Cholesky, steps by Runge and Kutta.

Quaternions are integrated in the tangent space at the step's start (Munthe-Kaas), so that every
method keeps its order on them and their length stays 1.
"""

from __future__ import annotations

import math

from linkwork.dynamics.kernels import body_wrench, fill_masses, move_bodies
from linkwork.engines.lagrange.force_kernels import (
    COMPLY,
    COMPLY_DAMP,
    CREEP,
    STOP,
    STOP_DAMP,
    contact_force,
    joint_efforts,
    push,
    touch,
)
from linkwork.jit import kernel
from linkwork.kinematics.kernels import BALL, FREE, count_dofs, integrate_coordinates

DONE, DIVERGED, MASSLESS, STIFF = 0, 1, 2, 3
#: Step times rate of the fastest mode, up to which the methods are used.
STABLE = 2.0
MOST_PIECES = 2000


@kernel
def factorise(mass, above, dofs):
    """M = Lᵀ D L in place, along the tree: ``above`` is the next degree of freedom to the root.

    Returns false if M is not positive.
    """
    for n in range(dofs.shape[0] - 1, -1, -1):
        k = dofs[n]
        if not mass[k, k] > 1e-14:
            return False
        i = above[k]
        while i >= 0:
            share = mass[k, i] / mass[k, k]
            j = i
            while j >= 0:
                mass[i, j] -= share * mass[k, j]
                j = above[j]
            mass[k, i] = share
            i = above[i]
    return True


@kernel
def solve(mass, above, dofs, x):
    """X = M⁻¹ x with the factors of :func:`factorise`."""
    for n in range(dofs.shape[0] - 1, -1, -1):
        k = dofs[n]
        i = above[k]
        while i >= 0:
            x[i] -= mass[k, i] * x[k]
            i = above[i]
    for n in range(dofs.shape[0]):
        k = dofs[n]
        x[k] /= mass[k, k]
        i = above[k]
        while i >= 0:
            x[k] -= mass[k, i] * x[i]
            i = above[i]


@kernel
def accelerate(robot, ground, law, q, v, rotor, work, desk, a, b):
    """Fills accelerations ``a`` of joints and ``b`` of compliant rotors; false if M is singular."""
    tree, order, inert, armature, gravity, dofs, qaddr, above, wrench, com = robot
    points, planes, rub, grip, firm = ground
    laws, damping, friction, drive, rotors = law
    pose, motion, twist, rate, force, scratch = work
    composite, mass, effort, pull, at, made = desk
    index = tree[0]
    a[:] = 0.0
    move_bodies(tree, order, gravity, q, v, a, pose, motion, twist, rate, scratch)
    for n in range(order.shape[0]):
        body_wrench(inert, pose, twist, rate, order[n], force)
    for n in range(points.shape[0]):
        number = touch(points[n], planes, pose, twist, at)
        if number >= 0:
            contact_force(points[n], planes, number, grip[n], firm[0], firm[1],
                          rub[n, number], at, made)  # fmt: skip
            push(force, int(points[n, 0]), at[0], at[1], at[2], made[0], made[1], made[2])
    for n in range(order.shape[0]):
        c = order[n]
        if wrench[c, 0] != 0.0 or wrench[c, 1] != 0.0 or wrench[c, 2] != 0.0:
            _pull(force, pose, com, wrench, c)
    joint_efforts(dofs, qaddr, laws, damping, friction, drive, q, v, rotor, effort, pull)
    for n in range(order.shape[0] - 1, -1, -1):
        c = order[n]
        p, i = index[c, 0], index[c, 3]
        for k in range(count_dofs(index[c, 1])):
            total = effort[i + k]
            for m in range(6):
                total -= motion[i + k, m] * force[c, m]
            a[i + k] = total
        if p > 0:
            for m in range(6):
                force[p, m] += force[c, m]
    fill_masses(index, order, inert, armature, pose, motion, force[0], composite, mass)
    if not factorise(mass, above, dofs):
        return False
    solve(mass, above, dofs, a)
    for n in range(dofs.shape[0]):
        i = dofs[n]
        b[i] = pull[i] / rotors[i] if laws[i, COMPLY] > 0.0 else 0.0
    return True


@kernel
def _pull(force, pose, com, wrench, c):
    """A hand's force and moment at the centre of mass."""
    w, x, y, z = pose[c, 3], pose[c, 4], pose[c, 5], pose[c, 6]
    rx, ry, rz = com[c, 0], com[c, 1], com[c, 2]
    tx, ty, tz = 2.0 * (y * rz - z * ry), 2.0 * (z * rx - x * rz), 2.0 * (x * ry - y * rx)
    rx += pose[c, 0] + w * tx + y * tz - z * ty
    ry += pose[c, 1] + w * ty + z * tx - x * tz
    rz += pose[c, 2] + w * tz + x * ty - y * tx
    push(force, c, rx, ry, rz, wrench[c, 0], wrench[c, 1], wrench[c, 2])
    for m in range(3, 6):
        force[c, m] -= wrench[c, m]


@kernel
def _tangent(index, order, u, v, rate):
    """``rate`` of the way ``u`` in the tangent space at the start, for velocities ``v``."""
    rate[:] = v
    for n in range(order.shape[0]):
        c = order[n]
        kind = index[c, 1]
        if kind != BALL and kind != FREE:
            continue
        i = index[c, 3] + (3 if kind == FREE else 0)
        x, y, z = u[i], u[i + 1], u[i + 2]
        square = x * x + y * y + z * z
        if square < 1e-4:
            factor = 1.0 / 12.0 + square / 720.0 + square * square / 30240.0
        else:
            half = 0.5 * math.sqrt(square)
            factor = (1.0 - half / math.tan(half)) / square
        wx, wy, wz = v[i], v[i + 1], v[i + 2]
        cx, cy, cz = y * wz - z * wy, z * wx - x * wz, x * wy - y * wx
        rate[i] = wx + 0.5 * cx + factor * (y * cz - z * cy)
        rate[i + 1] = wy + 0.5 * cy + factor * (z * cx - x * cz)
        rate[i + 2] = wz + 0.5 * cz + factor * (x * cy - y * cx)


@kernel
def fastest(robot, ground, law, h, work, desk, column):
    """Rate of the fastest mode that drives, dampers, stops and contacts make [1/s].

    Uses the factors that the last :func:`accelerate` left; sets the stops' springs by them.
    """
    dofs, above = robot[5], robot[7]
    points, planes, _, _, firm = ground
    laws, damping, friction, drive, rotors = law
    pose, motion, twist, _, _, _ = work
    _, mass, _, _, at, _ = desk
    index = robot[0][0]
    most = 0.0
    for n in range(dofs.shape[0]):
        i = dofs[n]
        column[:] = 0.0
        column[i] = 1.0
        solve(mass, above, dofs, column)
        ease = column[i]
        stiff, damp = laws[i, 0], damping[i] + friction[i] / CREEP
        if laws[i, COMPLY] > 0.0:
            k, d = laws[i, COMPLY], laws[i, COMPLY_DAMP]
            inside = (drive[2, i] + d) / rotors[i]
            inside += math.sqrt((drive[1, i] + k) / rotors[i])
            most = max(most, inside)
            stiff, damp = stiff + k, damp + d
        elif drive[4, i] > 0.0:
            stiff, damp = stiff + drive[1, i], damp + drive[2, i]
        most = max(most, damp * ease + math.sqrt(stiff * ease))
        soft = 0.4 / h
        laws[i, STOP] = soft * soft / ease
        laws[i, STOP_DAMP] = 2.0 * soft / ease
    felt_k = felt_d = 0.0
    for n in range(points.shape[0]):
        number = touch(points[n], planes, pose, twist, at)
        if number < 0:
            continue
        worst = 0.0
        for axis in range(3):
            column[:] = 0.0
            c = int(points[n, 0])
            fx, fy, fz = 1.0 * (axis == 0), 1.0 * (axis == 1), 1.0 * (axis == 2)
            mx, my, mz = at[1] * fz - at[2] * fy, at[2] * fx - at[0] * fz, at[0] * fy - at[1] * fx
            while c > 0:
                i = index[c, 3]
                for k in range(count_dofs(index[c, 1])):
                    s = motion[i + k]
                    column[i + k] = (
                        s[0] * fx + s[1] * fy + s[2] * fz + s[3] * mx + s[4] * my + s[5] * mz
                    )
                c = index[c, 0]
            desk[2][:] = column
            solve(mass, above, dofs, column)
            ease = 0.0
            for k in range(dofs.shape[0]):
                ease += desk[2][dofs[k]] * column[dofs[k]]
            worst = max(worst, ease)
        felt_k += firm[0] * worst
        felt_d += firm[1] * worst
    return max(most, felt_d + math.sqrt(felt_k))


@kernel
def settle_grips(ground, work, desk):
    """After a step: points that left let go, those that slide take their grip along."""
    points, planes, rub, grip, firm = ground
    pose, _, twist, _, _, _ = work
    at, made = desk[4], desk[5]
    for n in range(points.shape[0]):
        number = touch(points[n], planes, pose, twist, at)
        if number < 0:
            grip[n, 0] = 0.0
            continue
        contact_force(
            points[n], planes, number, grip[n], firm[0], firm[1], rub[n, number], at, made
        )
        if grip[n, 0] == 0.0 or int(grip[n, 4]) != number:
            grip[n, 0], grip[n, 4] = 1.0, number
            for m in range(3):
                grip[n, 1 + m] = at[m]
        elif made[4] > 0.0:  # it slides: the spring keeps the length that friction can hold
            normal, d = made[3], firm[1]
            plane = planes[number]
            sink = -(at[3] * plane[0] + at[4] * plane[1] + at[5] * plane[2])
            for m in range(3):
                held = made[m] - normal * plane[m] + d * (at[3 + m] + sink * plane[m])
                grip[n, 1 + m] = at[m] + held / firm[0]


@kernel
def step(robot, ground, law, method, h, q, v, rotor, work, desk, room):
    """Moves ``q``, ``v`` and ``rotor`` by ``h``; returns an outcome and in how many pieces."""
    tree, order, dofs = robot[0], robot[1], robot[5]
    index = tree[0]
    weights, last = method
    stages = last.shape[0]
    u, gain, v_now, rotor_now, q_now, q_next, rate_q, rate_v, rate_t, rate_w = room
    if not accelerate(robot, ground, law, q, v, rotor, work, desk, rate_v[0], rate_w[0]):
        return MASSLESS, 0
    speed = fastest(robot, ground, law, h, work, desk, rate_q[0])
    if not speed < 1e12:
        return DIVERGED, 0
    count = max(1, math.ceil(h * speed / STABLE))
    if count > MOST_PIECES:
        return STIFF, count
    piece = h / count
    for _ in range(count):
        for s in range(stages):
            u[:] = 0.0
            v_now[:] = v
            rotor_now[:, :] = rotor
            for j in range(s):
                share = piece * weights[s, j]
                if share == 0.0:
                    continue
                for n in range(dofs.shape[0]):
                    i = dofs[n]
                    u[i] += share * rate_q[j, i]
                    v_now[i] += share * rate_v[j, i]
                    rotor_now[0, i] += share * rate_t[j, i]
                    rotor_now[1, i] += share * rate_w[j, i]
            integrate_coordinates(index[:, 1], index[:, 2], index[:, 3], q, u, 1.0, q_now)
            if not accelerate(
                robot, ground, law, q_now, v_now, rotor_now, work, desk, rate_v[s], rate_w[s]
            ):
                return MASSLESS, count
            _tangent(index, order, u, v_now, rate_q[s])
            rate_t[s, :] = rotor_now[1]
        u[:] = 0.0
        gain[:] = 0.0
        for n in range(dofs.shape[0]):
            i = dofs[n]
            for s in range(stages):
                share = piece * last[s]
                u[i] += share * rate_q[s, i]
                gain[i] += share * rate_v[s, i]
                rotor[0, i] += share * rate_t[s, i]
                rotor[1, i] += share * rate_w[s, i]
        integrate_coordinates(index[:, 1], index[:, 2], index[:, 3], q, u, 1.0, q_next)
        for n in range(dofs.shape[0]):
            i = dofs[n]
            v[i] += gain[i]
            if not abs(v[i]) < 1e10:
                return DIVERGED, count
        q[:] = q_next
        if ground[0].shape[0]:
            settle_here(robot, ground, q, v, work, desk)
    return DONE, count


@kernel
def settle_here(robot, ground, q, v, work, desk):
    """Places the bodies as they are now, and settles the grips."""
    tree, order, gravity = robot[0], robot[1], robot[4]
    pose, motion, twist, rate, _, scratch = work
    desk[2][:] = 0.0
    move_bodies(tree, order, gravity, q, v, desk[2], pose, motion, twist, rate, scratch)
    settle_grips(ground, work, desk)


@kernel
def list_contacts(robot, ground, q, v, work, desk, points_element, planes_body, rows, table):
    """Adds a row for each point that touches to the table of contacts; returns how many wanted."""
    tree, order, gravity = robot[0], robot[1], robot[4]
    points, planes, rub, grip, firm = ground
    pose, motion, twist, rate, _, scratch = work
    at, made = desk[4], desk[5]
    desk[2][:] = 0.0
    move_bodies(tree, order, gravity, q, v, desk[2], pose, motion, twist, rate, scratch)
    for n in range(points.shape[0]):
        number = touch(points[n], planes, pose, twist, at)
        if number < 0:
            continue
        rows += 1
        if rows > table.shape[0]:
            continue
        contact_force(
            points[n], planes, number, grip[n], firm[0], firm[1], rub[n, number], at, made
        )
        row, plane = table[rows - 1], planes[number]
        row[0], row[1] = planes_body[number, 0], points[n, 0]
        row[2], row[3] = planes_body[number, 1], points_element[n]
        fx = made[0] - made[3] * plane[0]
        fy = made[1] - made[3] * plane[1]
        fz = made[2] - made[3] * plane[2]
        for m in range(3):
            row[4 + m], row[7 + m] = at[m], plane[m]
        row[10], row[11] = at[6], made[3]
        row[12] = fx * plane[6] + fy * plane[7] + fz * plane[8]
        row[13] = fx * plane[9] + fy * plane[10] + fz * plane[11]
    return rows
