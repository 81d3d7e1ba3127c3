"""Compiled steps in joint coordinates by methods of Runge and Kutta.

Quaternions are integrated in the tangent space at the step's start (Munthe-Kaas), so that every
method keeps its order on them and their length stays 1.
"""

from __future__ import annotations

import math

from linkwork.dynamics.branch_kernels import ease_along
from linkwork.engines.lagrange.acceleration_kernels import accelerate, weigh
from linkwork.engines.lagrange.force_kernels import (
    COMPLY,
    COMPLY_DAMP,
    CREEP,
    STOP,
    STOP_DAMP,
    touch,
)
from linkwork.engines.lagrange.generated_kernels import FORWARD
from linkwork.engines.lagrange.grip_kernels import settle_here
from linkwork.jit import kernel
from linkwork.kinematics.kernels import BALL, FREE, count_dofs, integrate_coordinates

DONE, DIVERGED, MASSLESS, STIFF = 0, 1, 2, 3
#: Step times rate of the fastest mode, up to which the methods are used.
STABLE = 2.0
MOST_PIECES = 2000


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

    Uses the factors that :func:`accelerate` or :func:`_weigh` left; sets the stops' springs by
    them.
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
        ease = ease_along(mass, above, i, column)
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
            last = -1
            while c > 0:
                i, count = index[c, 3], count_dofs(index[c, 1])
                if last < 0 and count:
                    last = i + count - 1
                for k in range(count):
                    s = motion[i + k]
                    column[i + k] = (
                        s[0] * fx + s[1] * fy + s[2] * fz + s[3] * mx + s[4] * my + s[5] * mz
                    )
                c = index[c, 0]
            ease = ease_along(mass, above, last, column)
            worst = max(worst, ease)
        felt_k += firm[0] * worst
        felt_d += firm[1] * worst
    return max(most, felt_d + math.sqrt(felt_k))


@kernel
def step(robot, ground, law, method, h, q, v, rotor, work, desk, room):
    """Moves ``q``, ``v`` and ``rotor`` by ``h``; returns an outcome and in how many pieces."""
    tree, order, dofs = robot[0], robot[1], robot[5]
    index = tree[0]
    weights, last = method
    stages = last.shape[0]
    u, gain, v_now, rotor_now, q_now, q_next, rate_q, rate_v, rate_t, rate_w = room
    if robot[10][FORWARD] != 0:
        positive = weigh(robot, ground, q, v, work, desk)
    else:
        positive = accelerate(robot, ground, law, q, v, rotor, work, desk, rate_v[0], rate_w[0])
    if not positive:
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
