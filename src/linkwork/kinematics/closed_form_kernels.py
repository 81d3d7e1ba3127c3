"""Compiled closed forms of inverse kinematics: S-R-S arms, six-hinge legs."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.kinematics.trig_kernels import arctangents


@flat_kernel
def leg_angles(thigh, shank, foot, goal, bend, ankle_flipped, hip_flipped, q):
    """Computes ``q`` (6) for a foot at ``goal`` (matrix by rows, position; in the hip's frame).

    Args:
        thigh: From hip to knee [m].
        shank: From knee to ankle [m].
        foot: From ankle to the point at the goal [m].
        goal: Twelve numbers.
        bend: Sign of the knee's angle: −1 human-like, 1 bird-like.
        ankle_flipped: Whether q₆ is on its second branch, π away.
        hip_flipped: Whether q₂ is on its second branch, beyond π/2.
        q: Receives the angles [rad].

    Returns:
        1, or −1 if the goal is out of reach.
    """
    r = goal
    # from the ankle to the hip, in the foot's axes
    px, py, pz = r[9] + r[2] * foot, r[10] + r[5] * foot, r[11] + r[8] * foot
    vx = -(r[0] * px + r[3] * py + r[6] * pz)
    vy = -(r[1] * px + r[4] * py + r[7] * pz)
    vz = -(r[2] * px + r[5] * py + r[8] * pz)
    flip = -1.0 if ankle_flipped else 1.0
    up = math.sqrt(vx * vx + vz * vz)
    sixth = math.atan2(-flip * vx, flip * vz) if up > 1e-15 else 0.0
    up *= flip
    square = vx * vx + vy * vy + vz * vz
    cosine = (square - thigh * thigh - shank * shank) / (2.0 * thigh * shank)
    if cosine > 1.0 + 1e-12 or cosine < -1.0 - 1e-12:
        return -1
    fourth = bend * math.acos(min(1.0, max(-1.0, cosine)))
    fifth = math.atan2(vy, up) - math.atan2(
        thigh * math.sin(fourth), shank + thigh * math.cos(fourth)
    )
    # the hip's rotation: M = R Ry(−q₆) Rx(−q₅ − q₄)
    s, c = math.sin(sixth), math.cos(sixth)
    a0, a2 = r[0] * c + r[2] * s, r[2] * c - r[0] * s
    b0, b2 = r[3] * c + r[5] * s, r[5] * c - r[3] * s
    c0 = r[6] * c + r[8] * s
    s, c = math.sin(fifth + fourth), math.cos(fifth + fourth)
    m01, m02 = r[1] * c - a2 * s, a2 * c + r[1] * s
    m11, m12 = r[4] * c - b2 * s, b2 * c + r[4] * s
    flip = -1.0 if hip_flipped else 1.0
    # singular if z is parallel to x: the first angle is arbitrary
    first = math.atan2(flip * b0, flip * a0) if a0 * a0 + b0 * b0 > 1e-24 else 0.0
    s, c = math.sin(first), math.cos(first)
    second = math.atan2(-c0, c * a0 + s * b0)
    third = math.atan2(s * m02 - c * m12, c * m11 - s * m01)
    q[0], q[1], q[2] = first, second, third
    q[3], q[4], q[5] = fourth, fifth, sixth
    return 1


#: Offsets in the parameters of an arm.
SHOULDER, AXES, WRIST, LAST, ELBOW = 0, 3, 12, 15, 24
EVEN, SINE, STILL, ZEROS, LOWEST, HIGHEST, COSINES = 40, 49, 58, 67, 74, 81, 88
NUMBERS = 90

#: Rows of the workspace, eight numbers each.
SCRATCH = 3

_FULL = 2.0 * math.pi


@flat_kernel
def _within(angle, arm, k):
    """Returns the angle of joint ``k`` shifted by full turns into its range, and if it fits."""
    angle -= arm[ZEROS + k]
    if angle < arm[LOWEST + k]:
        angle += _FULL * math.ceil((arm[LOWEST + k] - angle) / _FULL - 1e-12)
    elif angle > arm[HIGHEST + k]:
        angle -= _FULL * math.ceil((angle - arm[HIGHEST + k]) / _FULL - 1e-12)
    return angle, angle >= arm[LOWEST + k] - 1e-12 and angle <= arm[HIGHEST + k] + 1e-12


@flat_kernel
def _unwrap(angle, seed, arm, k):
    """Returns the angle of joint ``k`` shifted by full turns next to ``seed``, within its range."""
    turns = np.floor((seed - angle) / _FULL + 0.5)
    if turns > 0.0:
        turns = min(turns, np.floor((arm[HIGHEST + k] - angle) / _FULL + 1e-12))
    elif turns < 0.0:
        turns = max(turns, np.ceil((arm[LOWEST + k] - angle) / _FULL - 1e-12))
    return angle + _FULL * turns


@inner_kernel
def _matrix_at(w, i):
    """Returns a matrix by rows, as nine numbers."""
    return w[i], w[i + 1], w[i + 2], w[i + 3], w[i + 4], w[i + 5], w[i + 6], w[i + 7], w[i + 8]


@inner_kernel
def _times(a, b):
    """Returns the product of two matrices."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6], a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8], a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7], a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6], a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )  # fmt: skip


@inner_kernel
def _apply(a, x, y, z):
    """Returns a matrix times a vector."""
    return (
        a[0] * x + a[1] * y + a[2] * z, a[3] * x + a[4] * y + a[5] * z,
        a[6] * x + a[7] * y + a[8] * z,
    )  # fmt: skip


@inner_kernel
def _combine(a, b, c, f, g, h):
    """Returns the sum f a + g b + h c of matrices."""
    return (
        f * a[0] + g * b[0] + h * c[0], f * a[1] + g * b[1] + h * c[1],
        f * a[2] + g * b[2] + h * c[2], f * a[3] + g * b[3] + h * c[3],
        f * a[4] + g * b[4] + h * c[4], f * a[5] + g * b[5] + h * c[5],
        f * a[6] + g * b[6] + h * c[6], f * a[7] + g * b[7] + h * c[7],
        f * a[8] + g * b[8] + h * c[8],
    )  # fmt: skip


@flat_kernel
def _shortest(vx, vy, vz, ux, uy, uz):
    """Returns the shortest rotation from v to u: R = d 1 + [n]× + n nᵀ / (1 + d)."""
    d = vx * ux + vy * uy + vz * uz
    if d < -1.0 + 1e-9:  # opposite: rotation by π about any perpendicular axis
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
def _rotations_about(a, ux, uy, uz):
    """Returns still, even and odd of a rotation about u by ψ after A.

    The rotation is still + cos ψ · even + sin ψ · odd.
    """
    rx, ry, rz = (
        ux * a[0] + uy * a[3] + uz * a[6],
        ux * a[1] + uy * a[4] + uz * a[7],
        ux * a[2] + uy * a[5] + uz * a[8],
    )
    still = ux * rx, ux * ry, ux * rz, uy * rx, uy * ry, uy * rz, uz * rx, uz * ry, uz * rz
    even = _combine(a, still, still, 1.0, -1.0, 0.0)
    odd = (
        uy * a[6] - uz * a[3], uy * a[7] - uz * a[4], uy * a[8] - uz * a[5],
        uz * a[0] - ux * a[6], uz * a[1] - ux * a[7], uz * a[2] - ux * a[8],
        ux * a[3] - uy * a[0], ux * a[4] - uy * a[1], ux * a[5] - uy * a[2],
    )  # fmt: skip
    return still, even, odd


@flat_kernel
def _zyz_angles(r, e, k, s):
    """Writes the Euler angles z-y-z of R and of X = (R E)ᵀ K to row 2 of ``s``."""
    p = _times(r, e)
    x02, x12 = p[0] * k[2] + p[3] * k[5] + p[6] * k[8], p[1] * k[2] + p[4] * k[5] + p[7] * k[8]
    x20, x21 = p[2] * k[0] + p[5] * k[3] + p[8] * k[6], p[2] * k[1] + p[5] * k[4] + p[8] * k[7]
    x22 = p[2] * k[2] + p[5] * k[5] + p[8] * k[8]
    one, two = math.sqrt(r[2] * r[2] + r[5] * r[5]), math.sqrt(x02 * x02 + x12 * x12)
    y, x = s[0], s[1]
    y[0], y[1], y[2], y[3], y[4], y[5] = r[5], one, r[7], x12, two, x21
    x[0], x[1], x[2], x[3], x[4], x[5] = r[2], r[8], -r[6], x02, x22, -x20
    # singular if z is parallel to z: the first angle is 0
    if one < 1e-9:
        y[0], x[0], y[2], x[2] = 0.0, 1.0, r[3], r[4]
    if two < 1e-9:
        y[3], x[3] = 0.0, 1.0
        y[5] = p[1] * k[0] + p[4] * k[3] + p[7] * k[6]
        x[5] = p[1] * k[1] + p[4] * k[4] + p[7] * k[7]
    arctangents(y, x, 8, s[2])


@inner_kernel
def _elbow_rotations(arm, side, bend, slant, inverse, ux, uy, uz):
    """Computes the rotations of the shoulder for one side of the elbow, and that of the elbow.

    Those of the shoulder are still + cos ψ · even + sin ψ · odd.
    """
    e = ELBOW
    c = arm[e + 12] * bend - side * arm[e + 13] * slant
    s = arm[e + 13] * bend + side * arm[e + 12] * slant
    a = _shortest(
        (arm[e] + c * arm[e + 3] + s * arm[e + 6]) * inverse,
        (arm[e + 1] + c * arm[e + 4] + s * arm[e + 7]) * inverse,
        (arm[e + 2] + c * arm[e + 5] + s * arm[e + 8]) * inverse, ux, uy, uz,
    )  # fmt: skip
    b = _combine(_matrix_at(arm, EVEN), _matrix_at(arm, SINE), _matrix_at(arm, STILL), c, s, 1.0)
    r0, r1, r2 = _rotations_about(a, ux, uy, uz)
    return r0, r1, r2, b


@flat_kernel
def _keep_nearest(arm, six, q3, seed, first, best, q):
    """Writes the posture nearest to ``seed`` of the four flips of shoulder and wrist to ``q``.

    Returns:
        Its largest distance to the seed [rad], or ``best`` if none is nearer; and whether any is
        within the ranges.
    """
    found = False
    for flip in range(2):
        half = math.pi if flip else 0.0
        q0, in0 = _within(six[0] + half, arm, 0)
        q1, in1 = _within(-six[1] if flip else six[1], arm, 1)
        q2, in2 = _within(six[2] + half, arm, 2)
        if not (in0 and in1 and in2):
            continue
        for twist in range(2):
            half = math.pi if twist else 0.0
            q4, in4 = _within(six[3] + half, arm, 4)
            q5, in5 = _within(-six[4] if twist else six[4], arm, 5)
            q6, in6 = _within(six[5] + half, arm, 6)
            if not (in4 and in5 and in6):
                continue
            found = True
            if first:
                q[0], q[1], q[2], q[3], q[4], q[5], q[6] = q0, q1, q2, q3, q4, q5, q6
                return best, found
            n0, n1 = _unwrap(q0, seed[0], arm, 0), _unwrap(q1, seed[1], arm, 1)
            n2, n3 = _unwrap(q2, seed[2], arm, 2), _unwrap(q3, seed[3], arm, 3)
            n4, n5 = _unwrap(q4, seed[4], arm, 4), _unwrap(q5, seed[5], arm, 5)
            n6 = _unwrap(q6, seed[6], arm, 6)
            distance = max(
                abs(n0 - seed[0]), abs(n1 - seed[1]), abs(n2 - seed[2]), abs(n3 - seed[3]),
                abs(n4 - seed[4]), abs(n5 - seed[5]), abs(n6 - seed[6]),
            )  # fmt: skip
            if distance < best:
                best = distance
                q[0], q[1], q[2], q[3], q[4], q[5], q[6] = n0, n1, n2, n3, n4, n5, n6
    return best, found


@flat_kernel
def srs_angles(arm, goal, seed, turns, first, scratch, q):
    """Fills ``q`` (7) with a posture whose tool is at ``goal`` (matrix by rows, position).

    Args:
        arm: The arm's numbers.
        goal: Twelve numbers.
        seed: Posture to be close to.
        turns: Number of elbow angles ψ to try, from that of zero twist outwards.
        first: Whether to return the first posture within the ranges, not the nearest.
        scratch: Workspace (SCRATCH×8).
        q: Receives the posture.

    Returns:
        1 if there is one, 0 if all are out of range, −1 if the goal is out of reach.
    """
    # the wrist from the shoulder, and the joint rotation of shoulder, elbow and wrist
    e = ELBOW
    axes, turn = _matrix_at(arm, AXES), _matrix_at(goal, 0)
    x, y, z = _apply(turn, arm[WRIST], arm[WRIST + 1], arm[WRIST + 2])
    tx, ty, tz = _apply(
        axes, goal[9] + x - arm[SHOULDER], goal[10] + y - arm[SHOULDER + 1],
        goal[11] + z - arm[SHOULDER + 2],
    )  # fmt: skip
    k = _times(axes, _times(turn, _matrix_at(arm, LAST)))
    # ELBOW: constant part of the wrist (3), its cosine part (3), its sine part (3), and of
    # |wrist|² the constant, the size, the phase and its cosine and sine (5)
    square = tx * tx + ty * ty + tz * tz
    bend = (square - arm[e + 9]) / arm[e + 10]
    if bend > 1.0 + 1e-9 or bend < -1.0 - 1e-9 or square < 1e-18:
        return -1
    bend = min(1.0, max(-1.0, bend))
    angle, slant = math.acos(bend), math.sqrt((1.0 - bend) * (1.0 + bend))
    inverse = 1.0 / math.sqrt(square)
    ux, uy, uz = tx * inverse, ty * inverse, tz * inverse
    best, found = np.inf, 0
    dc, ds = 1.0, 0.0
    for elbow in range(2):
        side = 1.0 if elbow == 0 else -1.0
        q3, fits = _within(arm[e + 11] + side * angle, arm, 3)
        if not fits:
            continue
        r0, r1, r2, b = _elbow_rotations(arm, side, bend, slant, inverse, ux, uy, uz)
        # the cosines of joints 2 and 6 have the same form, and exclude most ψ
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
            if r0[8] + cp * r1[8] + sign * r2[8] < arm[COSINES]:
                continue
            if x0 + cp * x1 + sign * x2 < arm[COSINES + 1]:
                continue
            _zyz_angles(_combine(r0, r1, r2, 1.0, cp, sign), b, k, scratch)
            best, fits = _keep_nearest(arm, scratch[2], q3, seed, first, best, q)
            if fits:
                found = 1
                if first:
                    return found
    return found


@flat_kernel
def srs_angles_many(arm, goals, seed, turns, first, scratch, q, found):
    """Solves for each row of ``goals`` (n×12) into the rows of ``q`` (n×7)."""
    for k in range(goals.shape[0]):
        found[k] = srs_angles(arm, goals[k], seed, turns, first, scratch, q[k])
