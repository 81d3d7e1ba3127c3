"""Joint frames in the world, with the relative rotations and coordinates."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse.body_kernels import RN, XN, R, X
from linkwork.engines.impulse.mechanism import (
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
from linkwork.kinematics.curve_kernels import curve_axes, nearest, rail_curvature, rail_pose
from linkwork.kinematics.kernels import (
    BALL,
    CYLINDRICAL,
    HINGE,
    PLANAR,
    RAIL,
    SCREW,
    UNIVERSAL,
)


@flat_kernel
def move_along_curve(track, first, count, s, frame, work):
    """Moves the frame of ``a`` along its curve to the point nearest to ``b``; returns its position.

    The frame's x axis is then tangential. ``s`` is the previous position.
    """
    seen, place, axes, turned = work[0], work[1], work[2], work[3]
    for k in range(3):
        n = ROWS_A + 3 * k
        seen[k] = (
            frame[n] * (frame[AT_B] - frame[AT_A])
            + frame[n + 1] * (frame[AT_B + 1] - frame[AT_A + 1])
            + frame[n + 2] * (frame[AT_B + 2] - frame[AT_A + 2])
        )
    s = nearest(track, first, count, s, seen[0], seen[1], seen[2], place)
    piece = int(min(max(math.floor(s), 0.0), count - 1.0))
    curve_axes(track, first, piece, place, turned)
    for k in range(9):
        axes[k] = frame[ROWS_A + k]
    for i in range(3):
        frame[AT_A + i] += place[0] * axes[i] + place[1] * axes[3 + i] + place[2] * axes[6 + i]
        for k in range(3):
            frame[ROWS_A + 3 * k + i] = (
                turned[3 * k] * axes[i]
                + turned[3 * k + 1] * axes[3 + i]
                + turned[3 * k + 2] * axes[6 + i]
            )
    return s


@flat_kernel
def point_at(frame):
    """Turns the z axis of the frame of ``a`` toward the point of ``b``, unless they coincide."""
    x, y, z = (
        frame[AT_B] - frame[AT_A],
        frame[AT_B + 1] - frame[AT_A + 1],
        frame[AT_B + 2] - frame[AT_A + 2],
    )
    far = math.sqrt(x * x + y * y + z * z)
    if far > 1e-12:
        frame[ROWS_A + 6], frame[ROWS_A + 7], frame[ROWS_A + 8] = x / far, y / far, z / far


@inner_kernel
def dot(frame, a, b):
    """Returns the scalar product of two axes of the frames."""
    return frame[a] * frame[b] + frame[a + 1] * frame[b + 1] + frame[a + 2] * frame[b + 2]


@inner_kernel
def rotation_angle(frame):
    """Returns the angle about z from the frame of a to that of b, within ±π."""
    # of the axes of b projected into the plane of a: (b_x · a_x + b_y · a_y, b_x · a_y − b_y · a_x)
    c = dot(frame, ROWS_B, ROWS_A) + dot(frame, ROWS_B + 3, ROWS_A + 3)
    s = dot(frame, ROWS_B, ROWS_A + 3) - dot(frame, ROWS_B + 3, ROWS_A)
    return math.atan2(s, c)


@flat_kernel
def rotation_angle_row(frame):
    """Returns the gradient of the angle about z by the rotation of b relative to a, in the world.

    With parallel z axes it is that axis. With opposite z axes the angle is undefined, and jumps
    nearby: the gradient is limited to a hundredfold.
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
def unwrap_angle(angle, before):
    """Returns the angle plus the full turns that bring it nearest to ``before``."""
    return angle + 2.0 * math.pi * np.round((before - angle) / (2.0 * math.pi))


@inner_kernel
def _body_frame(body, x, r, joint_reals, p, axes, out, at, to):
    """Computes point and axes of a body-fixed frame in the world."""
    for i in range(3):
        a, b, c = body[r + 3 * i], body[r + 3 * i + 1], body[r + 3 * i + 2]
        out[at + i] = (
            body[x + i] + a * joint_reals[p] + b * joint_reals[p + 1] + c * joint_reals[p + 2]
        )
        for k in range(3):
            n = axes + 3 * k
            out[to + 3 * k + i] = (
                a * joint_reals[n] + b * joint_reals[n + 1] + c * joint_reals[n + 2]
            )


@flat_kernel
def _move_along_rail(joint_ints, joint_reals, rail, frame, work):
    """Moves the frame of ``a`` along its rail to the point nearest to ``b``."""
    seen = work[3]
    for k in range(3):
        n = ROWS_A + 3 * k
        seen[k] = (
            frame[n] * (frame[AT_B] - frame[AT_A])
            + frame[n + 1] * (frame[AT_B + 1] - frame[AT_A + 1])
            + frame[n + 2] * (frame[AT_B + 2] - frame[AT_A + 2])
        )
    first, count = joint_ints[RAIL_FIRST], joint_ints[RAIL_COUNT]
    s = joint_reals[S]
    pose = work[0]
    for _ in range(20):
        rail_pose(rail, first, count, s, pose, work[1], work[2])
        w, x, y, z = pose[3], pose[4], pose[5], pose[6]
        tx, ty, tz = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
        more = tx * (seen[0] - pose[0]) + ty * (seen[1] - pose[1]) + tz * (seen[2] - pose[2])
        s += more
        if abs(more) < 1e-14:
            break
    joint_reals[S] = s
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
def joint_frames(bodies, joint_ints, joint_reals, rail, ahead, frame, work):
    """Computes both frames of a joint in the world, now or after the look-ahead."""
    x, r = (XN, RN) if ahead else (X, R)
    _body_frame(bodies[joint_ints[A]], x, r, joint_reals, PA, AXES_A, frame, AT_A, ROWS_A)
    _body_frame(bodies[joint_ints[B]], x, r, joint_reals, PB, AXES_B, frame, AT_B, ROWS_B)
    if joint_ints[KIND] == RAIL:
        _move_along_rail(joint_ints, joint_reals, rail, frame, work)
    elif joint_ints[KIND] == SCREW:
        joint_reals[S] = unwrap_angle(rotation_angle(frame), joint_reals[S])
    elif joint_ints[KIND] == POINT_ON_CURVE:
        joint_reals[S] = move_along_curve(
            rail, joint_ints[RAIL_FIRST], joint_ints[RAIL_COUNT], joint_reals[S], frame, work
        )
    elif joint_ints[KIND] == SPRING:
        point_at(frame)


@flat_kernel
def relative_rotation_vector(frame):
    """Returns the rotation vector from a to b, in the axes of either."""
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
    if s <= 1e-9 and c < 0.0:  # rotation by π about u, with the matrix 2 u uᵀ − 1
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
def ball_displacement(bodies, joint_ints, joint_reals, rail, frame, work):
    """Returns the rotation vector of a ball over the look-ahead, in the later axes of b.

    It is the same in the present axes of b, as the relative rotation is symmetric in time.
    """
    now, then = work[0], work[1]
    for ahead in range(2):
        joint_frames(bodies, joint_ints, joint_reals, rail, ahead == 1, frame, work)
        seen = then if ahead else now
        for k in range(3):
            for i in range(3):
                seen[3 * k + i] = dot(frame, ROWS_A + 3 * i, ROWS_B + 3 * k)
    for k in range(9):
        frame[ROWS_A + k], frame[ROWS_B + k] = now[k], then[k]
    return relative_rotation_vector(frame)


@flat_kernel
def coordinate(joint_ints, frame, k, before, joint_reals):
    """Returns the coordinate along a free row, with the full turns of ``before`` [rad or m]."""
    kind = joint_ints[KIND]
    turns = kind == HINGE or kind == SCREW or kind == TORSION_SPRING
    if turns or ((kind == CYLINDRICAL or kind == PLANAR) and k == 5):
        return unwrap_angle(rotation_angle(frame), before)
    if kind == UNIVERSAL:
        if k == 4:  # b_x lies in the plane of a
            return unwrap_angle(
                math.atan2(dot(frame, ROWS_B, ROWS_A + 3), dot(frame, ROWS_B, ROWS_A)), before
            )
        # a_z relative to b, which rotates about its x
        return unwrap_angle(
            math.atan2(dot(frame, ROWS_A + 6, ROWS_B + 3), dot(frame, ROWS_A + 6, ROWS_B + 6)),
            before,
        )
    if kind == RAIL:
        return joint_reals[S]
    if kind == BALL:
        x, y, z = relative_rotation_vector(frame)
        return x if k == 3 else (y if k == 4 else z)
    n = ROWS_A + 3 * k
    return (
        frame[n] * (frame[AT_B] - frame[AT_A])
        + frame[n + 1] * (frame[AT_B + 1] - frame[AT_A + 1])
        + frame[n + 2] * (frame[AT_B + 2] - frame[AT_A + 2])
    )
