"""Compiled Runge-Kutta steps in joint coordinates.

Quaternions are integrated in the tangent space at the start of the step (Munthe-Kaas), so that
every method keeps its order and their length stays 1.
"""

from __future__ import annotations

import math

from linkwork.core.jit import kernel
from linkwork.dynamics.tree_cholesky_kernels import inverse_quadratic_form
from linkwork.engines.lagrange.acceleration_kernels import FORWARD, accelerate, factor_masses
from linkwork.engines.lagrange.force_kernels import (
    COMPLIANCE,
    COMPLIANCE_DAMPING,
    FRICTION_SPEED,
    STOP,
    STOP_DAMPING,
    find_contact,
    update_contacts,
)
from linkwork.kinematics.kernels import BALL, FREE, count_dofs, integrate_coordinates

DONE, DIVERGED, MASSLESS, STIFF = 0, 1, 2, 3
#: Stability limit: largest step times rate of the fastest mode.
STABLE = 2.0
MAX_SUBSTEPS = 2000


@kernel
def _tangent(index, order, u, v, rate):
    """Computes the ``rate`` of the tangent vector ``u`` at the start, for velocities ``v``."""
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
def fastest_rate(robot, ground, law, h, work, workspace, column):
    """Returns the rate of the fastest mode of drives, dampers, limits and contacts [1/s].

    Uses the factors left by :func:`accelerate` or ``factor_masses``; sets the springs of the
    limits.
    """
    tree, _, _, _, _, dofs, _, parent_dof, _, _, _ = robot
    _, mass, _, _, contact, _ = workspace
    points, planes, _, _, contact_law = ground
    laws, damping, friction, drive, rotors = law
    pose, motion, twist, _, _, _ = work
    index, _, _ = tree
    most = 0.0
    for n in range(dofs.shape[0]):
        i = dofs[n]
        column[:] = 0.0
        column[i] = 1.0
        ease = inverse_quadratic_form(mass, parent_dof, i, column)
        stiff, damp = laws[i, 0], damping[i] + friction[i] / FRICTION_SPEED
        if laws[i, COMPLIANCE] > 0.0:
            k, d = laws[i, COMPLIANCE], laws[i, COMPLIANCE_DAMPING]
            inside = (drive[2, i] + d) / rotors[i]
            inside += math.sqrt((drive[1, i] + k) / rotors[i])
            most = max(most, inside)
            stiff, damp = stiff + k, damp + d
        elif drive[4, i] > 0.0:
            stiff, damp = stiff + drive[1, i], damp + drive[2, i]
        most = max(most, damp * ease + math.sqrt(stiff * ease))
        soft = 0.4 / h
        laws[i, STOP] = soft * soft / ease
        laws[i, STOP_DAMPING] = 2.0 * soft / ease
    felt_k = felt_d = 0.0
    for n in range(points.shape[0]):
        plane_index = find_contact(points[n], planes, pose, twist, contact)
        if plane_index < 0:
            continue
        worst = 0.0
        for axis in range(3):
            column[:] = 0.0
            c = int(points[n, 0])
            fx, fy, fz = 1.0 * (axis == 0), 1.0 * (axis == 1), 1.0 * (axis == 2)
            mx, my, mz = (
                contact[1] * fz - contact[2] * fy,
                contact[2] * fx - contact[0] * fz,
                contact[0] * fy - contact[1] * fx,
            )
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
            ease = inverse_quadratic_form(mass, parent_dof, last, column)
            worst = max(worst, ease)
        felt_k += contact_law[0] * worst
        felt_d += contact_law[1] * worst
    return max(most, felt_d + math.sqrt(felt_k))


@kernel
def runge_kutta_step(robot, ground, law, method, h, q, v, rotor, work, workspace, room):
    """Moves ``q``, ``v`` and ``rotor`` by ``h``; returns the outcome and the number of substeps."""
    tree, order, _, _, _, dofs, _, _, _, _, code = robot
    index, _, _ = tree
    weights, last = method
    stages = last.shape[0]
    u, gain, v_now, rotor_now, q_now, q_next, rate_q, rate_v, rate_t, rate_w = room
    if code[FORWARD] != 0:
        positive = factor_masses(robot, ground, q, v, work, workspace)
    else:
        positive = accelerate(
            robot, ground, law, q, v, rotor, work, workspace, rate_v[0], rate_w[0]
        )
    if not positive:
        return MASSLESS, 0
    speed = fastest_rate(robot, ground, law, h, work, workspace, rate_q[0])
    if not speed < 1e12:
        return DIVERGED, 0
    count = max(1, math.ceil(h * speed / STABLE))
    if count > MAX_SUBSTEPS:
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
                robot, ground, law, q_now, v_now, rotor_now, work, workspace, rate_v[s], rate_w[s]
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
            update_contacts(robot, ground, q, v, work, workspace)
    return DONE, count
