"""Compiled closed form of arms whose first and last three axes meet in a point each (S-R-S).

Everything is seen from the shoulder, in axes whose z is the first joint's and whose y the second's,
and counted from a posture in which the third axis lies on the first and the seventh on the fifth
(:mod:`linkwork.kinematics.srs` moves the zeros there). Shoulder and wrist then are Euler angles
z-y-z, the elbow follows from the distance of the wrist, and one turn ψ of the elbow about the line
from shoulder to wrist is free.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.trig_kernels import arctangents

#: Places in the numbers of an arm.
SHOULDER, AXES, WRIST, LAST, ELBOW = 0, 3, 12, 15, 24
EVEN, SINE, STILL, ZEROS, LEAST, MOST, COSINES = 40, 49, 58, 67, 74, 81, 88
NUMBERS = 90

#: Rows of the scratch that a closed form needs, eight numbers each.
SCRATCH = 3

_FULL = 2.0 * math.pi


@flat_kernel
def _within(angle, arm, k):
    """The angle of joint ``k`` with whole turns put right, and whether it is in its range."""
    angle -= arm[ZEROS + k]
    if angle < arm[LEAST + k]:
        angle += _FULL * math.ceil((arm[LEAST + k] - angle) / _FULL - 1e-12)
    elif angle > arm[MOST + k]:
        angle -= _FULL * math.ceil((angle - arm[MOST + k]) / _FULL - 1e-12)
    return angle, angle >= arm[LEAST + k] - 1e-12 and angle <= arm[MOST + k] + 1e-12


@flat_kernel
def _turned(angle, near, arm, k):
    """The angle of joint ``k``, in its range, by as many whole turns as bring it next to ``near``.

    Whole turns that lead out of the range are taken back.
    """
    turns = np.floor((near - angle) / _FULL + 0.5)
    if turns > 0.0:
        turns = min(turns, np.floor((arm[MOST + k] - angle) / _FULL + 1e-12))
    elif turns < 0.0:
        turns = max(turns, np.ceil((arm[LEAST + k] - angle) / _FULL - 1e-12))
    return angle + _FULL * turns


@inner_kernel
def _nine(w, i):
    """A matrix by rows, as nine numbers."""
    return w[i], w[i + 1], w[i + 2], w[i + 3], w[i + 4], w[i + 5], w[i + 6], w[i + 7], w[i + 8]


@inner_kernel
def _times(a, b):
    """The product of two matrices."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6], a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8], a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7], a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6], a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )  # fmt: skip


@inner_kernel
def _apply(a, x, y, z):
    """A matrix times a vector."""
    return (
        a[0] * x + a[1] * y + a[2] * z, a[3] * x + a[4] * y + a[5] * z,
        a[6] * x + a[7] * y + a[8] * z,
    )  # fmt: skip


@inner_kernel
def _mixed(a, b, c, f, g, h):
    """The sum f a + g b + h c of matrices."""
    return (
        f * a[0] + g * b[0] + h * c[0], f * a[1] + g * b[1] + h * c[1],
        f * a[2] + g * b[2] + h * c[2], f * a[3] + g * b[3] + h * c[3],
        f * a[4] + g * b[4] + h * c[4], f * a[5] + g * b[5] + h * c[5],
        f * a[6] + g * b[6] + h * c[6], f * a[7] + g * b[7] + h * c[7],
        f * a[8] + g * b[8] + h * c[8],
    )  # fmt: skip


@flat_kernel
def _shortest(vx, vy, vz, ux, uy, uz):
    """The shortest turn from v to u: R = d 1 + [n]× + n nᵀ / (1 + d)."""
    d = vx * ux + vy * uy + vz * uz
    if d < -1.0 + 1e-9:  # straight back: half a turn about any axis across
        nx, ny, nz = (0.0, vz, -vy) if abs(vx) < 0.8 else (-vz, 0.0, vx)
        f = 2.0 / (nx * nx + ny * ny + nz * nz)
        return (
            f * nx * nx - 1, f * nx * ny, f * nx * nz, f * ny * nx, f * ny * ny - 1, f * ny * nz,
            f * nz * nx, f * nz * ny, f * nz * nz - 1,
        )  # fmt: skip
    nx, ny, nz = vy * uz - vz * uy, vz * ux - vx * uz, vx * uy - vy * ux
    f = 1.0 / (1.0 + d)
    return (
        d + f * nx * nx, f * nx * ny - nz, f * nx * nz + ny,
        f * nx * ny + nz, d + f * ny * ny, f * ny * nz - nx,
        f * nx * nz - ny, f * ny * nz + nx, d + f * nz * nz,
    )  # fmt: skip


@flat_kernel
def _around(a, ux, uy, uz):
    """A turn about u by ψ after A is  still + cos ψ · even + sin ψ · odd: those three."""
    rx, ry, rz = (
        ux * a[0] + uy * a[3] + uz * a[6],
        ux * a[1] + uy * a[4] + uz * a[7],
        ux * a[2] + uy * a[5] + uz * a[8],
    )
    still = ux * rx, ux * ry, ux * rz, uy * rx, uy * ry, uy * rz, uz * rx, uz * ry, uz * rz
    even = _mixed(a, still, still, 1.0, -1.0, 0.0)
    odd = (
        uy * a[6] - uz * a[3], uy * a[7] - uz * a[4], uy * a[8] - uz * a[5],
        uz * a[0] - ux * a[6], uz * a[1] - ux * a[7], uz * a[2] - ux * a[8],
        ux * a[3] - uy * a[0], ux * a[4] - uy * a[1], ux * a[5] - uy * a[2],
    )  # fmt: skip
    return still, even, odd


@flat_kernel
def _six(r, e, k, s):
    """Fills row 2 of ``s`` with the Euler angles z-y-z of R and of X = (R E)ᵀ K."""
    p = _times(r, e)
    x02, x12 = p[0] * k[2] + p[3] * k[5] + p[6] * k[8], p[1] * k[2] + p[4] * k[5] + p[7] * k[8]
    x20, x21 = p[2] * k[0] + p[5] * k[3] + p[8] * k[6], p[2] * k[1] + p[5] * k[4] + p[8] * k[7]
    x22 = p[2] * k[2] + p[5] * k[5] + p[8] * k[8]
    one, two = math.sqrt(r[2] * r[2] + r[5] * r[5]), math.sqrt(x02 * x02 + x12 * x12)
    y, x = s[0], s[1]
    y[0], y[1], y[2], y[3], y[4], y[5] = r[5], one, r[7], x12, two, x21
    x[0], x[1], x[2], x[3], x[4], x[5] = r[2], r[8], -r[6], x02, x22, -x20
    # where z meets z the first angle is 0, and the last takes all
    if one < 1e-9:
        y[0], x[0], y[2], x[2] = 0.0, 1.0, r[3], r[4]
    if two < 1e-9:
        y[3], x[3] = 0.0, 1.0
        y[5] = p[1] * k[0] + p[4] * k[3] + p[7] * k[6]
        x[5] = p[1] * k[1] + p[4] * k[4] + p[7] * k[7]
    arctangents(y, x, 8, s[2])


@flat_kernel
def closed_form(arm, goal, near, turns, first, scratch, q):
    """Fills ``q`` (7) with a posture whose tool stands at ``goal`` (matrix by rows, place).

    Args:
        arm: The arm's numbers.
        goal: Twelve numbers.
        near: Posture to be close to.
        turns: How many turns ψ of the elbow are tried, from that of no twist outwards.
        first: Whether the first posture within the ranges will do; else the nearest is taken.
        scratch: Room (SCRATCH×8).
        q: Takes the posture.

    Returns:
        1 if there is one, 0 if all are out of range, −1 if the goal is out of reach.
    """
    # the wrist from the shoulder, and what shoulder, elbow and wrist turn together
    w, e = arm, ELBOW
    axes, turn = _nine(w, AXES), _nine(goal, 0)
    x, y, z = _apply(turn, w[WRIST], w[WRIST + 1], w[WRIST + 2])
    tx, ty, tz = _apply(
        axes, goal[9] + x - w[SHOULDER], goal[10] + y - w[SHOULDER + 1],
        goal[11] + z - w[SHOULDER + 2],
    )  # fmt: skip
    k = _times(axes, _times(turn, _nine(w, LAST)))
    # ELBOW: constant part of the wrist (3), what turns with cosine (3), with sine (3), and of
    # |wrist|² the constant, the size, the phase and its cosine and sine (5)
    square = tx * tx + ty * ty + tz * tz
    bend = (square - w[e + 9]) / w[e + 10]
    if bend > 1.0 + 1e-9 or bend < -1.0 - 1e-9 or square < 1e-18:
        return -1
    bend = min(1.0, max(-1.0, bend))
    angle, slant = math.acos(bend), math.sqrt((1.0 - bend) * (1.0 + bend))
    inverse = 1.0 / math.sqrt(square)
    ux, uy, uz = tx * inverse, ty * inverse, tz * inverse
    best, found = np.inf, 0
    dc, ds = 1.0, 0.0
    for knee in range(2):
        side = 1.0 if knee == 0 else -1.0
        q3, fits = _within(w[e + 11] + side * angle, w, 3)
        if not fits:
            continue
        c = w[e + 12] * bend - side * w[e + 13] * slant
        s = w[e + 13] * bend + side * w[e + 12] * slant
        a = _shortest(
            (w[e] + c * w[e + 3] + s * w[e + 6]) * inverse,
            (w[e + 1] + c * w[e + 4] + s * w[e + 7]) * inverse,
            (w[e + 2] + c * w[e + 5] + s * w[e + 8]) * inverse, ux, uy, uz,
        )  # fmt: skip
        b = _mixed(_nine(w, EVEN), _nine(w, SINE), _nine(w, STILL), c, s, 1.0)
        r0, r1, r2 = _around(a, ux, uy, uz)
        # the cosines of joints 2 and 6 go the same way, and most turns fail by them
        x, y, z = _apply(r0, b[2], b[5], b[8])
        x0 = x * k[2] + y * k[5] + z * k[8]
        x, y, z = _apply(r1, b[2], b[5], b[8])
        x1 = x * k[2] + y * k[5] + z * k[8]
        x, y, z = _apply(r2, b[2], b[5], b[8])
        x2 = x * k[2] + y * k[5] + z * k[8]
        cp, sp = 1.0, 0.0
        for n in range(turns):
            if n == 1 and ds == 0.0:
                dc, ds = math.cos(_FULL / turns), math.sin(_FULL / turns)
            if n % 2 == 1:
                cp, sp = cp * dc - sp * ds, cp * ds + sp * dc
            sign = sp if n % 2 == 0 else -sp
            if r0[8] + cp * r1[8] + sign * r2[8] < w[COSINES]:
                continue
            if x0 + cp * x1 + sign * x2 < w[COSINES + 1]:
                continue
            _six(_mixed(r0, r1, r2, 1.0, cp, sign), b, k, scratch)
            six = scratch[2]
            for flip in range(2):
                half = math.pi if flip else 0.0
                q0, in0 = _within(six[0] + half, w, 0)
                q1, in1 = _within(-six[1] if flip else six[1], w, 1)
                q2, in2 = _within(six[2] + half, w, 2)
                if not (in0 and in1 and in2):
                    continue
                for twist in range(2):
                    half = math.pi if twist else 0.0
                    q4, in4 = _within(six[3] + half, w, 4)
                    q5, in5 = _within(-six[4] if twist else six[4], w, 5)
                    q6, in6 = _within(six[5] + half, w, 6)
                    if not (in4 and in5 and in6):
                        continue
                    found = 1
                    if first:
                        q[0], q[1], q[2], q[3], q[4], q[5], q[6] = q0, q1, q2, q3, q4, q5, q6
                        return 1
                    n0, n1 = _turned(q0, near[0], w, 0), _turned(q1, near[1], w, 1)
                    n2, n3 = _turned(q2, near[2], w, 2), _turned(q3, near[3], w, 3)
                    n4, n5 = _turned(q4, near[4], w, 4), _turned(q5, near[5], w, 5)
                    n6 = _turned(q6, near[6], w, 6)
                    far = max(
                        abs(n0 - near[0]), abs(n1 - near[1]), abs(n2 - near[2]),
                        abs(n3 - near[3]), abs(n4 - near[4]), abs(n5 - near[5]),
                        abs(n6 - near[6]),
                    )  # fmt: skip
                    if far < best:
                        best = far
                        q[0], q[1], q[2], q[3], q[4], q[5], q[6] = n0, n1, n2, n3, n4, n5, n6
    return found


@flat_kernel
def closed_form_many(arm, goals, near, turns, first, scratch, q, found):
    """Solves for each row of ``goals`` (n×12) into the rows of ``q`` (n×7)."""
    for k in range(goals.shape[0]):
        found[k] = closed_form(arm, goals[k], near, turns, first, scratch, q[k])
