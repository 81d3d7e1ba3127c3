"""Compiled pose error as one twist: the logarithm of SE(3) in the frame's own axes.

This is how mink and pink measure a pose. ξ = log(T_b⁻¹ T_goal) = (V(ω)⁻¹ p, ω), and a motion of the
frame changes it by the inverse of the left Jacobian of SE(3) at ξ (Barfoot, eq. 7.85 and 7.95).
"""

from __future__ import annotations

import math

from linkwork.jit import flat_kernel
from linkwork.kinematics.layout_kernels import FIRST, GAIN, MANY, ROW, WEIGHT
from linkwork.spatial.kernels import quat_rotvec, relative


@flat_kernel
def _inverse_weight(x, y, z):
    """The factor c of V⁻¹ = 1 − ½ω× + c (ω×)²."""
    t2 = x * x + y * y + z * z
    if t2 < 1e-6:
        return 1.0 / 12.0 + t2 / 720.0
    t = math.sqrt(t2)
    return (1.0 - 0.5 * t * math.cos(0.5 * t) / math.sin(0.5 * t)) / t2


@flat_kernel
def _apply(x, y, z, c, a, b, d):
    """V(x, y, z)⁻¹ times (a, b, d)."""
    ux, uy, uz = y * d - z * b, z * a - x * d, x * b - y * a
    vx, vy, vz = y * uz - z * uy, z * ux - x * uz, x * uy - y * ux
    return a - 0.5 * ux + c * vx, b - 0.5 * uy + c * vy, d - 0.5 * uz + c * vz


@flat_kernel
def twist_error(t, what, how, seen, error, miss, scratch):
    """Fills the six errors; ``seen`` keeps them unweighted behind the two poses."""
    rel = scratch[0]
    relative(seen[t, 0:7], seen[t, 7:14], rel)
    x, y, z = quat_rotvec(rel[3:])
    a, b, d = _apply(x, y, z, _inverse_weight(x, y, z), rel[0], rel[1], rel[2])
    s = seen[t]
    s[14], s[15], s[16], s[17], s[18], s[19] = a, b, d, x, y, z
    position, turn = 0.0, 0.0
    r = what[t, ROW]
    for k in range(3):
        if how[t, WEIGHT + k] > 0.0:
            position += rel[k] * rel[k]
        if how[t, WEIGHT + 3 + k] > 0.0:
            turn += s[17 + k] * s[17 + k]
    for k in range(6):
        error[r + k] = how[t, GAIN] * how[t, WEIGHT + k] * s[14 + k]
    miss[t, 0], miss[t, 1] = math.sqrt(position), math.sqrt(turn)


@flat_kernel
def _cross(x, y, z, a, b, c):
    return y * c - z * b, z * a - x * c, x * b - y * a


@flat_kernel
def _coupled(ux, uy, uz, x, y, z, a, b, c):
    """Q(ξ) times (a, b, c), ξ = (u, ω)."""
    t2 = x * x + y * y + z * z
    if t2 < 1e-4:
        f, g = 1.0 / 6.0 - t2 / 120.0, 1.0 / 24.0 - t2 / 720.0
        h = 1.0 / 120.0 - t2 / 2520.0
    else:
        t = math.sqrt(t2)
        sine, cosine = math.sin(t), math.cos(t)
        f = (t - sine) / (t2 * t)
        g = (t2 + 2.0 * cosine - 2.0) / (2.0 * t2 * t2)
        h = (2.0 * t - 3.0 * sine + t * cosine) / (2.0 * t2 * t2 * t)
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
def twist_rows(t, what, how, support, col, scale, motion, seen, rows, scratch):
    """Fills the six rows: the inverse left Jacobian times the frame's own twist by column."""
    s = seen[t]
    ux, uy, uz, ox, oy, oz = s[14], s[15], s[16], s[17], s[18], s[19]
    weight = _inverse_weight(ox, oy, oz)
    w, qx, qy, qz = s[3], s[4], s[5], s[6]
    px, py, pz = s[0], s[1], s[2]
    # the frame's axes, and the twist that a turn about each of them makes of the error
    flat = scratch.reshape(-1)
    axes, turned = flat[0:9], flat[9:18]
    axes[0], axes[1], axes[2] = (
        1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy + w * qz), 2 * (qx * qz - w * qy)
    )  # fmt: skip
    axes[3], axes[4], axes[5] = (
        2 * (qx * qy - w * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz + w * qx)
    )  # fmt: skip
    axes[6], axes[7], axes[8] = (
        2 * (qx * qz + w * qy), 2 * (qy * qz - w * qx), 1 - 2 * (qx * qx + qy * qy)
    )  # fmt: skip
    for k in range(3):
        a, b, c = _apply(ox, oy, oz, weight, 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2))
        a, b, c = _coupled(ux, uy, uz, ox, oy, oz, a, b, c)
        a, b, c = _apply(ox, oy, oz, weight, a, b, c)
        turned[3 * k], turned[3 * k + 1], turned[3 * k + 2] = -a, -b, -c
    r = what[t, ROW]
    for n in range(what[t, FIRST], what[t, FIRST] + what[t, MANY]):
        d = support[n, 0]
        f = scale[d] if support[n, 1] == 0 else -scale[d]
        wx, wy, wz = motion[d, 3], motion[d, 4], motion[d, 5]
        vx = motion[d, 0] + wy * pz - wz * py
        vy = motion[d, 1] + wz * px - wx * pz
        vz = motion[d, 2] + wx * py - wy * px
        ax = axes[0] * wx + axes[1] * wy + axes[2] * wz
        ay = axes[3] * wx + axes[4] * wy + axes[5] * wz
        az = axes[6] * wx + axes[7] * wy + axes[8] * wz
        lx = axes[0] * vx + axes[1] * vy + axes[2] * vz
        ly = axes[3] * vx + axes[4] * vy + axes[5] * vz
        lz = axes[6] * vx + axes[7] * vy + axes[8] * vz
        lx, ly, lz = _apply(ox, oy, oz, weight, lx, ly, lz)
        lx += turned[0] * ax + turned[3] * ay + turned[6] * az
        ly += turned[1] * ax + turned[4] * ay + turned[7] * az
        lz += turned[2] * ax + turned[5] * ay + turned[8] * az
        ax, ay, az = _apply(ox, oy, oz, weight, ax, ay, az)
        c = col[d]
        rows[r, c] += f * how[t, WEIGHT] * lx
        rows[r + 1, c] += f * how[t, WEIGHT + 1] * ly
        rows[r + 2, c] += f * how[t, WEIGHT + 2] * lz
        rows[r + 3, c] += f * how[t, WEIGHT + 3] * ax
        rows[r + 4, c] += f * how[t, WEIGHT + 4] * ay
        rows[r + 5, c] += f * how[t, WEIGHT + 5] * az
