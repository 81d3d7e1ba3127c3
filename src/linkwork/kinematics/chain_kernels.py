"""Compiled search for one pose of one chain of hinges and sliders.

``links`` (n+1×16) holds for each joint the transform from the last joint's frame to its own (a
matrix by rows and a position), whose z is the joint's axis; whether it slides; and its range. The
last row is the transform to the tool. The method is that of ``solve_kernels``, with the normal
equations of six rows instead of those of the columns.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import flat_kernel
from linkwork.kinematics.memory_layout_kernels import (
    CHAIN_ANGLE_TOLERANCE,
    CHAIN_MAX_STALLS,
    CHAIN_PROGRESS,
    CHAIN_TOLERANCE,
    COST_DAMPING,
    DAMPING_FLOOR,
    MAX_ITERATIONS,
    STARTS,
)
from linkwork.kinematics.solve_kernels import uniform_random
from linkwork.kinematics.trig_kernels import sines

SLIDES, LO, HI, WIDE = 12, 13, 14, 16

#: Rows of the search's workspace, n+1 numbers each.
SCRATCH = 32


@flat_kernel
def _forward(links, n, q, w):
    """Returns the tool frame (12); rows 2–7 of ``w`` receive axis and position of each joint."""
    s, c = w[0], w[1]
    sines(q, n, s, c)
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    x, y, z = 0.0, 0.0, 0.0
    for i in range(n + 1):
        a0, a1, a2 = links[i, 0], links[i, 1], links[i, 2]
        a3, a4, a5 = links[i, 3], links[i, 4], links[i, 5]
        a6, a7, a8 = links[i, 6], links[i, 7], links[i, 8]
        p0, p1, p2 = links[i, 9], links[i, 10], links[i, 11]
        x += r0 * p0 + r1 * p1 + r2 * p2
        y += r3 * p0 + r4 * p1 + r5 * p2
        z += r6 * p0 + r7 * p1 + r8 * p2
        b0, b1 = r0 * a0 + r1 * a3 + r2 * a6, r0 * a1 + r1 * a4 + r2 * a7
        b3, b4 = r3 * a0 + r4 * a3 + r5 * a6, r3 * a1 + r4 * a4 + r5 * a7
        b6, b7 = r6 * a0 + r7 * a3 + r8 * a6, r6 * a1 + r7 * a4 + r8 * a7
        r2, r5, r8 = (
            r0 * a2 + r1 * a5 + r2 * a8, r3 * a2 + r4 * a5 + r5 * a8, r6 * a2 + r7 * a5 + r8 * a8
        )  # fmt: skip
        r0, r1, r3, r4, r6, r7 = b0, b1, b3, b4, b6, b7
        if i == n:
            break
        if links[i, SLIDES] == 0.0:
            sine, cosine = s[i], c[i]
            r0, r1 = cosine * b0 + sine * b1, cosine * b1 - sine * b0
            r3, r4 = cosine * b3 + sine * b4, cosine * b4 - sine * b3
            r6, r7 = cosine * b6 + sine * b7, cosine * b7 - sine * b6
        else:
            x, y, z = x + r2 * q[i], y + r5 * q[i], z + r8 * q[i]
        w[2, i], w[3, i], w[4, i] = r2, r5, r8
        w[5, i], w[6, i], w[7, i] = x, y, z
    return r0, r1, r2, r3, r4, r5, r6, r7, r8, x, y, z


@flat_kernel
def _rotation_error(goal, r0, r1, r2, r3, r4, r5, r6, r7, r8):
    """Returns the rotation vector from the frame to the goal: the logarithm of R_goal Rᵀ."""
    g0, g1, g2, g3, g4, g5, g6, g7, g8 = (
        goal[0], goal[1], goal[2], goal[3], goal[4], goal[5], goal[6], goal[7], goal[8]
    )  # fmt: skip
    x = (g6 * r3 + g7 * r4 + g8 * r5) - (g3 * r6 + g4 * r7 + g5 * r8)
    y = (g0 * r6 + g1 * r7 + g2 * r8) - (g6 * r0 + g7 * r1 + g8 * r2)
    z = (g3 * r0 + g4 * r1 + g5 * r2) - (g0 * r3 + g1 * r4 + g2 * r5)
    d0 = g0 * r0 + g1 * r1 + g2 * r2
    d1 = g3 * r3 + g4 * r4 + g5 * r5
    d2 = g6 * r6 + g7 * r7 + g8 * r8
    cosine = 0.5 * (d0 + d1 + d2 - 1.0)
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    if sine > 1e-5:
        f = 0.5 * math.atan2(sine, cosine) / sine
        return f * x, f * y, f * z
    if cosine > 0.0:
        return 0.5 * x, 0.5 * y, 0.5 * z
    # rotation by π: the axis from the diagonal, as its signs are undetermined
    a = math.sqrt(max(0.0, 0.5 * (d0 + 1.0)))
    b = math.sqrt(max(0.0, 0.5 * (d1 + 1.0)))
    c = math.sqrt(max(0.0, 0.5 * (d2 + 1.0)))
    xy = g0 * r3 + g1 * r4 + g2 * r5
    xz = g0 * r6 + g1 * r7 + g2 * r8
    yz = g3 * r6 + g4 * r7 + g5 * r8
    if a >= b and a >= c:
        b, c = (b if xy >= 0.0 else -b), (c if xz >= 0.0 else -c)
    elif b >= c:
        a, c = (a if xy >= 0.0 else -a), (c if yz >= 0.0 else -c)
    else:
        a, b = (a if xz >= 0.0 else -a), (b if yz >= 0.0 else -b)
    return math.pi * a, math.pi * b, math.pi * c


@flat_kernel
def _step(n, damping, w, weight):
    """Computes the damped step within the ranges: joints at a limit stay, the others solve again.

    Rows of ``w``: 8–13 Jacobian, 14 error, 15 lower bound, 16 upper bound, 17 step, 18 free joints,
    20–25 the 6×6 matrix. ``weight`` is the inverse metric.
    """
    x = w[17]
    for i in range(n):
        w[18, i] = weight[i]
        x[i] = 0.0
    for _ in range(4):
        # A = J F Jᵀ + μ over the free joints; b = error minus the motion of the others
        for a in range(6):
            s = w[14, a]
            for i in range(n):
                s -= w[8 + a, i] * x[i]
            w[26, a] = s
            for i in range(n):
                w[19, i] = w[8 + a, i] * w[18, i]
            for b in range(a, 6):
                s = 0.0
                for i in range(n):
                    s += w[19, i] * w[8 + b, i]
                w[20 + a, b] = s
            w[20 + a, a] += damping
        for k in range(6):
            inverse = 1.0 / w[20 + k, k]
            w[20 + k, k] = inverse
            y = w[26, k]
            for a in range(k + 1, 6):
                f = w[20 + k, a] * inverse
                w[26, a] -= f * y
                for b in range(a, 6):
                    w[20 + a, b] -= f * w[20 + k, b]
        for k in range(5, -1, -1):
            s = w[26, k]
            for a in range(k + 1, 6):
                s -= w[20 + k, a] * w[26, a]
            w[26, k] = s * w[20 + k, k]
        held = False
        for i in range(n):
            if w[18, i] > 0.0:
                s = 0.0
                for a in range(6):
                    s += w[8 + a, i] * w[26, a]
                w[19, i] = s * w[18, i]
        for i in range(n):
            if w[18, i] > 0.0 and (w[19, i] < w[15, i] or w[19, i] > w[16, i]):
                x[i] = w[15, i] if w[19, i] < w[15, i] else w[16, i]
                w[18, i] = 0.0
                held = True
        if not held:
            break
    for i in range(n):
        if w[18, i] > 0.0:
            x[i] = min(max(w[19, i], w[15, i]), w[16, i])


@flat_kernel
def search_chain(links, goal, weight, seed, settings, w, q, found):
    """Moves ``q`` (n) until the tool is at ``goal``: its matrix by rows, its position.

    ``settings`` are those of a chain (``memory_layout_kernels``). ``weight`` is the inverse metric;
    ``w`` is the workspace; ``found``: reached (0/1), iterations, starts, squared error, distance,
    angle.
    """
    n = links.shape[0] - 1
    iterations, starts = int(settings[MAX_ITERATIONS]), int(settings[STARTS])
    near = settings[CHAIN_TOLERANCE] * settings[CHAIN_TOLERANCE]
    angle_tolerance = settings[CHAIN_ANGLE_TOLERANCE] * settings[CHAIN_ANGLE_TOLERANCE]
    best = w[27]
    best_cost, total = np.inf, 0
    for attempt in range(starts):
        for i in range(n):
            lo, hi = links[i, LO], links[i, HI]
            if attempt > 0:
                u = uniform_random(seed)
                q[i] = lo + u * (hi - lo) if hi - lo < 1e3 else (2.0 * u - 1.0) * math.pi
            else:
                q[i] = min(max(q[i], lo), hi)
        before, waited = np.inf, 0
        for _ in range(iterations):
            total += 1
            r0, r1, r2, r3, r4, r5, r6, r7, r8, px, py, pz = _forward(links, n, q, w)
            ex, ey, ez = goal[9] - px, goal[10] - py, goal[11] - pz
            tx, ty, tz = _rotation_error(goal, r0, r1, r2, r3, r4, r5, r6, r7, r8)
            far, turn = ex * ex + ey * ey + ez * ez, tx * tx + ty * ty + tz * tz
            cost = far + turn
            if cost < best_cost:
                best_cost = cost
                found[4], found[5] = far, turn
                for i in range(n):
                    best[i] = q[i]
            if far <= near and turn <= angle_tolerance:
                found[0], found[1], found[2], found[3] = 1.0, total, attempt + 1, cost
                found[4], found[5] = math.sqrt(far), math.sqrt(turn)
                return
            if cost > settings[CHAIN_PROGRESS] * before:
                waited += 1
                if waited >= settings[CHAIN_MAX_STALLS]:
                    break
            else:
                waited = 0
            before = min(before, cost)
            for i in range(n):
                ax, ay, az = w[2, i], w[3, i], w[4, i]
                if links[i, SLIDES] == 0.0:
                    dx, dy, dz = px - w[5, i], py - w[6, i], pz - w[7, i]
                    w[8, i], w[9, i], w[10, i] = (
                        ay * dz - az * dy,
                        az * dx - ax * dz,
                        ax * dy - ay * dx,
                    )
                    w[11, i], w[12, i], w[13, i] = ax, ay, az
                else:
                    w[8, i], w[9, i], w[10, i] = ax, ay, az
                    w[11, i] = w[12, i] = w[13, i] = 0.0
                w[15, i], w[16, i] = links[i, LO] - q[i], links[i, HI] - q[i]
            w[14, 0], w[14, 1], w[14, 2] = ex, ey, ez
            w[14, 3], w[14, 4], w[14, 5] = tx, ty, tz
            _step(n, settings[COST_DAMPING] * cost + settings[DAMPING_FLOOR], w, weight)
            for i in range(n):
                q[i] += w[17, i]
    for i in range(n):
        q[i] = best[i]
    found[0], found[1], found[2], found[3] = 0.0, total, starts, best_cost
    found[4], found[5] = math.sqrt(found[4]), math.sqrt(found[5])


@flat_kernel
def _goal_of(pose, goal):
    """Writes the matrix by rows and the position of a pose (7) to ``goal`` (12)."""
    w, x, y, z = pose[3], pose[4], pose[5], pose[6]
    goal[0], goal[1], goal[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    goal[3], goal[4], goal[5] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    goal[6], goal[7], goal[8] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    goal[9], goal[10], goal[11] = pose[0], pose[1], pose[2]


@flat_kernel
def search_poses(links, poses, weight, seed, settings, again, goal, w, q, found):
    """Searches for each row of ``poses`` (m×7) from the row of ``q`` (m×n) that receives it.

    If a pose is not reached, the search continues from the nearest posture with the settings
    ``again``. ``goal`` is workspace (12).
    """
    for k in range(poses.shape[0]):
        _goal_of(poses[k], goal)
        search_chain(links, goal, weight, seed, settings, w, q[k], found[k])
        if found[k, 0] == 0.0 and again[1] > 0.0:
            steps, starts = found[k, 1], found[k, 2]
            search_chain(links, goal, weight, seed, again, w, q[k], found[k])
            found[k, 1], found[k, 2] = found[k, 1] + steps, starts
