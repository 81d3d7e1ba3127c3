"""Frames of a joint in the world, and what they say of each other: turns and coordinates."""

from __future__ import annotations

import math

import numpy as np

from linkwork.engines.impulse.body_kernels import RN, XN, R, X
from linkwork.engines.impulse.joint_columns import (
    AT_A,
    AT_B,
    AXES_A,
    AXES_B,
    BEND,
    KIND,
    PA,
    PB,
    POINT_ON_CURVE,
    RAIL_COUNT,
    RAIL_FIRST,
    ROWS_A,
    ROWS_B,
    SPRING,
    TORSION_SPRING,
    A,
    B,
    S,
)
from linkwork.engines.impulse.tie_kernels import aim, follow
from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.kernels import (
    BALL,
    CYLINDRICAL,
    HINGE,
    PLANAR,
    RAIL,
    SCREW,
    UNIVERSAL,
)
from linkwork.kinematics.rail_kernels import rail_curvature, rail_pose


@inner_kernel
def dot(frame, a, b):
    """Product of two directions of the frames."""
    return frame[a] * frame[b] + frame[a + 1] * frame[b + 1] + frame[a + 2] * frame[b + 2]


@inner_kernel
def turn_angle(frame):
    """Angle about z by which the frame of b is turned against that of a, within ±π."""
    # of the axes of b laid into the plane of a: (b_x · a_x + b_y · a_y, b_x · a_y − b_y · a_x)
    c = dot(frame, ROWS_B, ROWS_A) + dot(frame, ROWS_B + 3, ROWS_A + 3)
    s = dot(frame, ROWS_B, ROWS_A + 3) - dot(frame, ROWS_B + 3, ROWS_A)
    return math.atan2(s, c)


@flat_kernel
def turn_row(frame):
    """How the angle about z grows with the turn of b against a in the world, as three numbers.

    Where both have their z in one direction it is that. At half a turn aside there is no angle, and
    next to it one that jumps: a row that grows no further than a hundredfold.
    """
    c = dot(frame, ROWS_B, ROWS_A) + dot(frame, ROWS_B + 3, ROWS_A + 3)
    s = dot(frame, ROWS_B, ROWS_A + 3) - dot(frame, ROWS_B + 3, ROWS_A)
    f = 1.0 / max(c * c + s * s, 1e-4)
    x = y = z = 0.0
    for k in range(2):  # s grows by b_x × a_y − b_y × a_x, c by b_x × a_x + b_y × a_y
        for i in range(2):
            b, a = ROWS_B + 3 * k, ROWS_A + 3 * i
            by = f * (-s if k == i else (c if k == 0 else -c))
            x += by * (frame[b + 1] * frame[a + 2] - frame[b + 2] * frame[a + 1])
            y += by * (frame[b + 2] * frame[a] - frame[b] * frame[a + 2])
            z += by * (frame[b] * frame[a + 1] - frame[b + 1] * frame[a])
    return x, y, z


@inner_kernel
def near(angle, before):
    """The angle plus the whole turns that bring it nearest to what it was before."""
    return angle + 2.0 * math.pi * np.round((before - angle) / (2.0 * math.pi))


@inner_kernel
def _stand(body, x, r, number, p, axes, out, at, to):
    """Point and axes of a frame on a body, in the world."""
    for i in range(3):
        a, b, c = body[r + 3 * i], body[r + 3 * i + 1], body[r + 3 * i + 2]
        out[at + i] = body[x + i] + a * number[p] + b * number[p + 1] + c * number[p + 2]
        for k in range(3):
            n = axes + 3 * k
            out[to + 3 * k + i] = a * number[n] + b * number[n + 1] + c * number[n + 2]


@flat_kernel
def _ride(whole, number, rail, frame, work):
    """Moves the frame of ``a`` along its rail to where ``b`` is nearest."""
    seen = work[3]
    for k in range(3):
        n = ROWS_A + 3 * k
        seen[k] = (
            frame[n] * (frame[AT_B] - frame[AT_A])
            + frame[n + 1] * (frame[AT_B + 1] - frame[AT_A + 1])
            + frame[n + 2] * (frame[AT_B + 2] - frame[AT_A + 2])
        )
    first, count = whole[RAIL_FIRST], whole[RAIL_COUNT]
    s = number[S]
    pose = work[0]
    for _ in range(20):
        rail_pose(rail, first, count, s, pose, work[1], work[2])
        w, x, y, z = pose[3], pose[4], pose[5], pose[6]
        tx, ty, tz = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
        more = tx * (seen[0] - pose[0]) + ty * (seen[1] - pose[1]) + tz * (seen[2] - pose[2])
        s += more
        if abs(more) < 1e-14:
            break
    number[S] = s
    rail_pose(rail, first, count, s, pose, work[1], work[2])
    turn, climb = rail_curvature(rail, first, count, s)
    axes = work[4]
    for k in range(9):
        axes[k] = frame[ROWS_A + k]
    for i in range(3):
        frame[AT_A + i] += pose[0] * axes[i] + pose[1] * axes[3 + i] + pose[2] * axes[6 + i]
    w, x, y, z = pose[3], pose[4], pose[5], pose[6]
    rows = (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
    for k in range(3):
        for i in range(3):
            frame[ROWS_A + 3 * k + i] = (
                rows[k][0] * axes[i] + rows[k][1] * axes[3 + i] + rows[k][2] * axes[6 + i]
            )
    frame[BEND], frame[BEND + 1], frame[BEND + 2] = 0.0, -climb, turn


@flat_kernel
def stand(bodies, whole, number, rail, ahead, frame, work):
    """Fills in both frames of a joint in the world, now or after the look-ahead."""
    x, r = (XN, RN) if ahead else (X, R)
    _stand(bodies[whole[A]], x, r, number, PA, AXES_A, frame, AT_A, ROWS_A)
    _stand(bodies[whole[B]], x, r, number, PB, AXES_B, frame, AT_B, ROWS_B)
    if whole[KIND] == RAIL:
        _ride(whole, number, rail, frame, work)
    elif whole[KIND] == SCREW:
        number[S] = near(turn_angle(frame), number[S])
    elif whole[KIND] == POINT_ON_CURVE:
        number[S] = follow(rail, whole[RAIL_FIRST], whole[RAIL_COUNT], number[S], frame, work)
    elif whole[KIND] == SPRING:
        aim(frame)


@flat_kernel
def turn_vector(frame):
    """Rotation vector from a to b, in the axes of either, as three numbers."""
    xx, xy, xz = (
        dot(frame, ROWS_A, ROWS_B),
        dot(frame, ROWS_A, ROWS_B + 3),
        dot(frame, ROWS_A, ROWS_B + 6),
    )
    yx, yy, yz = (
        dot(frame, ROWS_A + 3, ROWS_B),
        dot(frame, ROWS_A + 3, ROWS_B + 3),
        dot(frame, ROWS_A + 3, ROWS_B + 6),
    )
    zx, zy, zz = (
        dot(frame, ROWS_A + 6, ROWS_B),
        dot(frame, ROWS_A + 6, ROWS_B + 3),
        dot(frame, ROWS_A + 6, ROWS_B + 6),
    )
    x, y, z = zy - yz, xz - zx, yx - xy
    s = 0.5 * math.sqrt(x * x + y * y + z * z)
    c = 0.5 * (xx + yy + zz - 1.0)
    if s <= 1e-9 and c < 0.0:  # half a turn about u, whose matrix is 2 u uᵀ − 1
        if xx >= yy and xx >= zz:
            x, y, z = 1.0 + xx, xy, xz
        elif yy >= zz:
            x, y, z = yx, 1.0 + yy, yz
        else:
            x, y, z = zx, zy, 1.0 + zz
        f = math.pi / math.sqrt(x * x + y * y + z * z)
        return f * x, f * y, f * z
    angle = math.atan2(s, c)
    f = 0.5 * angle / s if s > 1e-9 else 0.5
    return f * x, f * y, f * z


@flat_kernel
def ball_way(bodies, whole, number, rail, frame, work):
    """Rotation vector of what a ball turns by until after the look-ahead, in the axes of b then.

    It is the same in those of b now: what the joint turns by in between is symmetric in time.
    """
    now, then = work[0], work[1]
    for ahead in range(2):
        stand(bodies, whole, number, rail, ahead == 1, frame, work)
        seen = then if ahead else now
        for k in range(3):
            for i in range(3):
                seen[3 * k + i] = dot(frame, ROWS_A + 3 * i, ROWS_B + 3 * k)
    for k in range(9):
        frame[ROWS_A + k], frame[ROWS_B + k] = now[k], then[k]
    return turn_vector(frame)


@flat_kernel
def coordinate(whole, frame, k, before, number):
    """Value of the coordinate along a free row, its whole turns as they were before [rad or m]."""
    kind = whole[KIND]
    turns = kind == HINGE or kind == SCREW or kind == TORSION_SPRING
    if turns or ((kind == CYLINDRICAL or kind == PLANAR) and k == 5):
        return near(turn_angle(frame), before)
    if kind == UNIVERSAL:
        if k == 4:  # b_x lies in the plane of a
            return near(
                math.atan2(dot(frame, ROWS_B, ROWS_A + 3), dot(frame, ROWS_B, ROWS_A)), before
            )
        # a_z seen from b, which turns about its x
        return near(
            math.atan2(dot(frame, ROWS_A + 6, ROWS_B + 3), dot(frame, ROWS_A + 6, ROWS_B + 6)),
            before,
        )
    if kind == RAIL:
        return number[S]
    if kind == BALL:
        x, y, z = turn_vector(frame)
        return x if k == 3 else (y if k == 4 else z)
    n = ROWS_A + 3 * k
    return (
        frame[n] * (frame[AT_B] - frame[AT_A])
        + frame[n + 1] * (frame[AT_B + 1] - frame[AT_A + 1])
        + frame[n + 2] * (frame[AT_B + 2] - frame[AT_A + 2])
    )
