"""Compiled pose error as one twist: the logarithm of SE(3) in the frame's own axes.

This is the pose error of mink and pink. ξ = log(T_b⁻¹ T_goal) = (V(ω)⁻¹ p, ω), and a motion of the
frame changes it by the inverse of the left Jacobian of SE(3) at ξ (Barfoot, eq. 7.85 and 7.95).
"""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel
from linkwork.geometry.kernels import quat_rotvec, relative
from linkwork.kinematics.linear_kernels import UINT
from linkwork.kinematics.memory_layout_kernels import FIRST, GAIN, MANY, ROW, WEIGHT
from linkwork.kinematics.trig_kernels import sine_cosine


@flat_kernel
def _inverse_weight(x, y, z):
    """Returns the factor c of V⁻¹ = 1 − ½ω× + c (ω×)²."""
    t2 = x * x + y * y + z * z
    if t2 < 1e-6:
        return 1.0 / 12.0 + t2 / 720.0
    t = math.sqrt(t2)
    sine, cosine = sine_cosine(0.5 * t)
    return (1.0 - 0.5 * t * cosine / sine) / t2


@flat_kernel
def _apply(x, y, z, c, a, b, d):
    """Returns V(x, y, z)⁻¹ times (a, b, d)."""
    ux, uy, uz = y * d - z * b, z * a - x * d, x * b - y * a
    vx, vy, vz = y * uz - z * uy, z * ux - x * uz, x * uy - y * ux
    return a - 0.5 * ux + c * vx, b - 0.5 * uy + c * vy, d - 0.5 * uz + c * vz


@flat_kernel
def twist_error(t, indices, params, seen, error, miss, scratch):
    """Computes the six errors; ``seen`` receives them without weights, and the factor of V⁻¹."""
    rel = scratch[0]
    relative(seen[t, 0:7], seen[t, 7:14], rel)
    x, y, z = quat_rotvec(rel[3:])
    weight = _inverse_weight(x, y, z)
    a, b, d = _apply(x, y, z, weight, rel[0], rel[1], rel[2])
    s = seen[t]
    s[14], s[15], s[16], s[17], s[18], s[19], s[20] = a, b, d, x, y, z, weight
    position, turn = 0.0, 0.0
    r = indices[t, ROW]
    for k in range(3):
        if params[t, WEIGHT + k] > 0.0:
            position += rel[k] * rel[k]
        if params[t, WEIGHT + 3 + k] > 0.0:
            turn += s[17 + k] * s[17 + k]
    for k in range(6):
        error[r + k] = params[t, GAIN] * params[t, WEIGHT + k] * s[14 + k]
    miss[t, 0], miss[t, 1] = math.sqrt(position), math.sqrt(turn)


@flat_kernel
def _cross(x, y, z, a, b, c):
    return y * c - z * b, z * a - x * c, x * b - y * a


@flat_kernel
def _coupled(ux, uy, uz, x, y, z, f, g, h, a, b, c):
    """Returns Q(ξ) times (a, b, c), ξ = (u, ω), with the factors of :func:`_factors`."""
    vx, vy, vz = _cross(ux, uy, uz, a, b, c)  # V
    wx, wy, wz = _cross(x, y, z, a, b, c)  # W
    wvx, wvy, wvz = _cross(x, y, z, vx, vy, vz)  # WV
    vwx, vwy, vwz = _cross(ux, uy, uz, wx, wy, wz)  # VW
    wwx, wwy, wwz = _cross(x, y, z, wx, wy, wz)  # WW
    wvwx, wvwy, wvwz = _cross(x, y, z, vwx, vwy, vwz)  # WVW
    wwvx, wwvy, wwvz = _cross(x, y, z, wvx, wvy, wvz)  # WWV
    vwwx, vwwy, vwwz = _cross(ux, uy, uz, wwx, wwy, wwz)  # VWW
    wwvwx, wwvwy, wwvwz = _cross(x, y, z, wvwx, wvwy, wvwz)  # WWVW
    wvwwx, wvwwy, wvwwz = _cross(x, y, z, vwwx, vwwy, vwwz)  # WVWW
    return (
        0.5 * vx + f * (wvx + vwx + wvwx) + g * (wwvx + vwwx - 3.0 * wvwx) + h * (wwvwx + wvwwx),
        0.5 * vy + f * (wvy + vwy + wvwy) + g * (wwvy + vwwy - 3.0 * wvwy) + h * (wwvwy + wvwwy),
        0.5 * vz + f * (wvz + vwz + wvwz) + g * (wwvz + vwwz - 3.0 * wvwz) + h * (wwvwz + wvwwz),
    )


@flat_kernel
def _factors(t2):
    """Returns the three factors of Q for a rotation by √t2."""
    if t2 < 1e-4:
        return 1.0 / 6.0 - t2 / 120.0, 1.0 / 24.0 - t2 / 720.0, 1.0 / 120.0 - t2 / 2520.0
    t = math.sqrt(t2)
    sine, cosine = sine_cosine(t)
    return (
        (t - sine) / (t2 * t),
        (t2 + 2.0 * cosine - 2.0) / (2.0 * t2 * t2),
        (2.0 * t - 3.0 * sine + t * cosine) / (2.0 * t2 * t2 * t),
    )


@flat_kernel
def twist_rows(t, indices, params, support, col, scale, motion, seen, rows, scratch):
    """Computes the six rows: the inverse left Jacobian times the frame's own twist by column."""
    s = seen[t]
    ux, uy, uz, x, y, z, weight = s[14], s[15], s[16], s[17], s[18], s[19], s[20]
    f, g, h = _factors(x * x + y * y + z * z)
    w, qx, qy, qz = s[3], s[4], s[5], s[6]
    px, py, pz = s[0], s[1], s[2]
    # response of the error to velocity and rotation along each world axis
    flat = scratch.reshape(-1)
    for k in range(3):
        if k == 0:
            a, b, c = 1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - w * qz), 2 * (qx * qz + w * qy)
        elif k == 1:
            a, b, c = 2 * (qx * qy + w * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - w * qx)
        else:
            a, b, c = 2 * (qx * qz - w * qy), 2 * (qy * qz + w * qx), 1 - 2 * (qx * qx + qy * qy)
        a, b, c = _apply(x, y, z, weight, a, b, c)
        flat[3 * k], flat[3 * k + 1], flat[3 * k + 2] = a, b, c
        a, b, c = _coupled(ux, uy, uz, x, y, z, f, g, h, a, b, c)
        a, b, c = _apply(x, y, z, weight, a, b, c)
        flat[9 + 3 * k], flat[10 + 3 * k], flat[11 + 3 * k] = -a, -b, -c
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = (
        flat[0], flat[1], flat[2], flat[3], flat[4], flat[5], flat[6], flat[7], flat[8]
    )  # fmt: skip
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = (
        flat[9], flat[10], flat[11], flat[12], flat[13], flat[14], flat[15], flat[16], flat[17]
    )  # fmt: skip
    w0, w1, w2 = params[t, WEIGHT], params[t, WEIGHT + 1], params[t, WEIGHT + 2]
    w3, w4, w5 = params[t, WEIGHT + 3], params[t, WEIGHT + 4], params[t, WEIGHT + 5]
    r = UINT(indices[t, ROW])
    for n in range(UINT(indices[t, FIRST]), UINT(indices[t, FIRST] + indices[t, MANY])):
        d = UINT(support[n, 0])
        f = scale[d] if support[n, 1] == 0 else -scale[d]
        wx, wy, wz = motion[d, 3], motion[d, 4], motion[d, 5]
        vx = motion[d, 0] + wy * pz - wz * py
        vy = motion[d, 1] + wz * px - wx * pz
        vz = motion[d, 2] + wx * py - wy * px
        c = UINT(col[d])
        r1, r2, r3, r4, r5 = r + UINT(1), r + UINT(2), r + UINT(3), r + UINT(4), r + UINT(5)
        rows[r, c] += f * w0 * ((a0 * vx + a3 * vy + a6 * vz) + (b0 * wx + b3 * wy + b6 * wz))
        rows[r1, c] += f * w1 * ((a1 * vx + a4 * vy + a7 * vz) + (b1 * wx + b4 * wy + b7 * wz))
        rows[r2, c] += f * w2 * ((a2 * vx + a5 * vy + a8 * vz) + (b2 * wx + b5 * wy + b8 * wz))
        rows[r3, c] += f * w3 * (a0 * wx + a3 * wy + a6 * wz)
        rows[r4, c] += f * w4 * (a1 * wx + a4 * wy + a7 * wz)
        rows[r5, c] += f * w5 * (a2 * wx + a5 * wy + a8 * wz)
