"""Compiled closed form of a leg: hip z-y-x, knee x, ankle x-y (002 §3.2, derived anew).

The foot stands at  Rz(q₁) Ry(q₂) Rx(q₃) T(−thigh) Rx(q₄) T(−shank) Rx(q₅) Ry(q₆) T(−foot), with T
along z. Seen from the foot, the hip lies in the ankle's plane once q₆ is undone; there thigh and
shank are two links of a planar arm; what is left of the turn is the hip's.
"""

from __future__ import annotations

import math

from linkwork.jit import flat_kernel


@flat_kernel
def leg_angles(thigh, shank, foot, goal, bend, turned, over, q):
    """Fills ``q`` (6) for a foot at ``goal`` (matrix by rows, place; in the hip's frame).

    Args:
        thigh: From hip to knee [m].
        shank: From knee to ankle [m].
        foot: From ankle to the point at the goal [m].
        goal: Twelve numbers.
        bend: Sign of the knee's angle: −1 human-like, 1 bird-like.
        turned: Whether the ankle looks down from the far side (q₆ half a turn on).
        over: Whether the hip goes the other way round (q₂ beyond a quarter turn).
        q: Takes the angles [rad].

    Returns:
        1, or −1 if the goal is out of reach.
    """
    r = goal
    # from the ankle to the hip, in the foot's axes
    px, py, pz = r[9] + r[2] * foot, r[10] + r[5] * foot, r[11] + r[8] * foot
    vx = -(r[0] * px + r[3] * py + r[6] * pz)
    vy = -(r[1] * px + r[4] * py + r[7] * pz)
    vz = -(r[2] * px + r[5] * py + r[8] * pz)
    flip = -1.0 if turned else 1.0
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
    # the hip's turn: M = R Ry(−q₆) Rx(−q₅ − q₄)
    s, c = math.sin(sixth), math.cos(sixth)
    a0, a2 = r[0] * c + r[2] * s, r[2] * c - r[0] * s
    b0, b2 = r[3] * c + r[5] * s, r[5] * c - r[3] * s
    c0 = r[6] * c + r[8] * s
    s, c = math.sin(fifth + fourth), math.cos(fifth + fourth)
    m01, m02 = r[1] * c - a2 * s, a2 * c + r[1] * s
    m11, m12 = r[4] * c - b2 * s, b2 * c + r[4] * s
    flip = -1.0 if over else 1.0
    # where z meets x any first turn will do: the others undo what it is wrong by
    first = math.atan2(flip * b0, flip * a0) if a0 * a0 + b0 * b0 > 1e-24 else 0.0
    s, c = math.sin(first), math.cos(first)
    second = math.atan2(-c0, c * a0 + s * b0)
    third = math.atan2(s * m02 - c * m12, c * m11 - s * m01)
    q[0], q[1], q[2] = first, second, third
    q[3], q[4], q[5] = fourth, fifth, sixth
    return 1
