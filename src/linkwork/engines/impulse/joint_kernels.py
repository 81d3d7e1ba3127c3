"""Joints as six rows each: how far they are apart, and which impulses push them together.

A joint holds a frame of body ``a`` and one of body ``b`` together; its axis is their z. Rows 0 to 2
are the distance along x, y and z of the frame of ``a`` (of joints that hold a point, along those of
the world), rows 3 to 5 the turn about them. A row is hard (it must be 0), soft (a spring, a drive
or a limit acts along it) or off. Off rows have no entries and a one on the diagonal.

Columns of a joint's numbers: PA (3) and AXES_A (9) the frame in ``a``, axes by rows; PB, AXES_B in
``b``; PITCH [m/rad]; S arc length on a rail [m], place on a curve or angle of a screw [rad], as
last seen; TURNS (2) the coordinates of a coupling's follower and leader, likewise.

Columns of its integers: its bodies (A, B and for a coupling up to two more), how many SIDES it has,
KIND, where its rail or curve begins and how many pieces it has, the MODE of its six rows, how many
soft rows it has and which is the first. A coupling holds the free row of one joint to another's:
FOLLOWER and LEADER are joint and row of each, SIDE_OF the side of their four bodies; its ratio is
in PITCH, its offset in S. SIZE is the number of its rows up to the last that acts, POINT 1 where it
holds a point in all three directions.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.engines.impulse.body_kernels import MASS_INV, RN, XN, L, R, V, X, spin
from linkwork.engines.impulse.tie_kernels import aim, follow
from linkwork.jit import flat_kernel, inner_kernel
from linkwork.kinematics.kernels import (
    BALL,
    CYLINDRICAL,
    FIXED,
    HINGE,
    PLANAR,
    RAIL,
    SCREW,
    SLIDER,
    UNIVERSAL,
    rail_curvature,
    rail_pose,
)

PA, AXES_A, PB, AXES_B, PITCH, S, TURNS = 0, 3, 12, 15, 24, 25, 26
JOINT_COLUMNS = 28
#: Columns that change with time: S and TURNS.
ARCS = slice(S, TURNS + 2)
A, B, SIDES, KIND, RAIL_FIRST, RAIL_COUNT, MODE, SOFT_COUNT, SOFT_FIRST = (
    0,
    1,
    4,
    5,
    6,
    7,
    8,
    14,
    15,
)
FOLLOWER, LEADER, SIDE_OF, SIZE, POINT = 16, 18, 20, 24, 25
JOINT_INTEGERS = 26
#: Kinds beside those of the world's joints: points that slide, a joint of joints, springs.
POINT_ON_PLANE, POINT_ON_CURVE, COUPLING, SPRING, TORSION_SPRING = 10, 11, 20, 21, 22
OFF, HARD, SOFT = 0, 1, 2

#: Columns of the frames of a joint in the world: points, axes by rows, and what a rail adds.
_PA, _A, _PB, _B, _TURN = 0, 3, 12, 15, 24
FRAME_COLUMNS = 40


@inner_kernel
def _dot(frame, a, b):
    return frame[a] * frame[b] + frame[a + 1] * frame[b + 1] + frame[a + 2] * frame[b + 2]


@inner_kernel
def turn_angle(frame):
    """Angle about z by which the frame of b is turned against that of a, within ±π."""
    # of the axes of b laid into the plane of a: (b_x · a_x + b_y · a_y, b_x · a_y − b_y · a_x)
    c = _dot(frame, _B, _A) + _dot(frame, _B + 3, _A + 3)
    s = _dot(frame, _B, _A + 3) - _dot(frame, _B + 3, _A)
    return math.atan2(s, c)


@flat_kernel
def turn_row(frame):
    """How the angle about z grows with the turn of b against a in the world, as three numbers.

    Where both have their z in one direction it is that. At half a turn aside there is no angle, and
    next to it one that jumps: a row that grows no further than a hundredfold.
    """
    c = _dot(frame, _B, _A) + _dot(frame, _B + 3, _A + 3)
    s = _dot(frame, _B, _A + 3) - _dot(frame, _B + 3, _A)
    f = 1.0 / max(c * c + s * s, 1e-4)
    x = y = z = 0.0
    for k in range(2):  # s grows by b_x × a_y − b_y × a_x, c by b_x × a_x + b_y × a_y
        for i in range(2):
            b, a = _B + 3 * k, _A + 3 * i
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
        n = _A + 3 * k
        seen[k] = (
            frame[n] * (frame[_PB] - frame[_PA])
            + frame[n + 1] * (frame[_PB + 1] - frame[_PA + 1])
            + frame[n + 2] * (frame[_PB + 2] - frame[_PA + 2])
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
        axes[k] = frame[_A + k]
    for i in range(3):
        frame[_PA + i] += pose[0] * axes[i] + pose[1] * axes[3 + i] + pose[2] * axes[6 + i]
    w, x, y, z = pose[3], pose[4], pose[5], pose[6]
    rows = (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
    for k in range(3):
        for i in range(3):
            frame[_A + 3 * k + i] = (
                rows[k][0] * axes[i] + rows[k][1] * axes[3 + i] + rows[k][2] * axes[6 + i]
            )
    frame[_TURN], frame[_TURN + 1], frame[_TURN + 2] = 0.0, -climb, turn


@flat_kernel
def stand(bodies, whole, number, rail, ahead, frame, work):
    """Fills in both frames of a joint in the world, now or after the look-ahead."""
    x, r = (XN, RN) if ahead else (X, R)
    _stand(bodies[whole[A]], x, r, number, PA, AXES_A, frame, _PA, _A)
    _stand(bodies[whole[B]], x, r, number, PB, AXES_B, frame, _PB, _B)
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
    xx, xy, xz = _dot(frame, _A, _B), _dot(frame, _A, _B + 3), _dot(frame, _A, _B + 6)
    yx, yy, yz = _dot(frame, _A + 3, _B), _dot(frame, _A + 3, _B + 3), _dot(frame, _A + 3, _B + 6)
    zx, zy, zz = _dot(frame, _A + 6, _B), _dot(frame, _A + 6, _B + 3), _dot(frame, _A + 6, _B + 6)
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
                seen[3 * k + i] = _dot(frame, _A + 3 * i, _B + 3 * k)
    for k in range(9):
        frame[_A + k], frame[_B + k] = now[k], then[k]
    return turn_vector(frame)


@flat_kernel
def errors(whole, number, frame, out):
    """How far each hard row of a joint is from 0 [m or rad]; off and soft rows are left alone."""
    kind = whole[KIND]
    dx = frame[_PB] - frame[_PA]
    dy = frame[_PB + 1] - frame[_PA + 1]
    dz = frame[_PB + 2] - frame[_PA + 2]
    if whole[POINT]:
        out[0], out[1], out[2] = dx, dy, dz
    else:
        for k in range(3):
            if whole[MODE + k] == HARD:
                n = _A + 3 * k
                out[k] = frame[n] * dx + frame[n + 1] * dy + frame[n + 2] * dz
    if kind == BALL:
        return
    if kind == UNIVERSAL:
        if whole[MODE + 3] == HARD:
            out[3] = _dot(frame, _A + 6, _B)
        return
    if kind == FIXED or kind == SLIDER or kind == RAIL:
        x, y, z = turn_vector(frame)
        if whole[MODE + 3] == HARD:
            out[3] = x
        if whole[MODE + 4] == HARD:
            out[4] = y
        if whole[MODE + 5] == HARD:
            out[5] = z
        return
    if whole[MODE + 3] == HARD:
        out[3] = -_dot(frame, _A + 3, _B + 6)
    if whole[MODE + 4] == HARD:
        out[4] = _dot(frame, _A, _B + 6)
    if kind == SCREW and whole[MODE + 2] == HARD:
        out[2] -= number[PITCH] * near(turn_angle(frame), number[S])


@inner_kernel
def place(bodies, at, x, r, number, n, p):
    """A point of a body in the world, as three numbers."""
    a, b, c = number[n, p], number[n, p + 1], number[n, p + 2]
    return (
        bodies[at, x] + bodies[at, r] * a + bodies[at, r + 1] * b + bodies[at, r + 2] * c,
        bodies[at, x + 1] + bodies[at, r + 3] * a + bodies[at, r + 4] * b + bodies[at, r + 5] * c,
        bodies[at, x + 2] + bodies[at, r + 6] * a + bodies[at, r + 7] * b + bodies[at, r + 8] * c,
    )


@inner_kernel
def direction(bodies, at, r, number, n, p):
    """A direction of a body in the world, as three numbers."""
    a, b, c = number[n, p], number[n, p + 1], number[n, p + 2]
    return (
        bodies[at, r] * a + bodies[at, r + 1] * b + bodies[at, r + 2] * c,
        bodies[at, r + 3] * a + bodies[at, r + 4] * b + bodies[at, r + 5] * c,
        bodies[at, r + 6] * a + bodies[at, r + 7] * b + bodies[at, r + 8] * c,
    )


@inner_kernel
def point_errors(bodies, whole, number, n, ahead, out):
    """The errors of a ball or a hinge without soft rows, straight from its bodies."""
    x, r = (XN, RN) if ahead else (X, R)
    a, b = whole[n, A], whole[n, B]
    ax, ay, az = place(bodies, a, x, r, number, n, PA)
    bx, by, bz = place(bodies, b, x, r, number, n, PB)
    out[n, 0], out[n, 1], out[n, 2] = bx - ax, by - ay, bz - az
    if whole[n, KIND] == HINGE:
        zx, zy, zz = direction(bodies, b, r, number, n, AXES_B + 6)
        ux, uy, uz = direction(bodies, a, r, number, n, AXES_A)
        vx, vy, vz = direction(bodies, a, r, number, n, AXES_A + 3)
        out[n, 3] = -(vx * zx + vy * zy + vz * zz)
        out[n, 4] = ux * zx + uy * zy + uz * zz


@inner_kernel
def point_rows(bodies, whole, number, n, j):
    """The rows of a ball or a hinge without soft rows; those of its places stay as they are."""
    a, b = whole[n, A], whole[n, B]
    px, py, pz = place(bodies, b, X, R, number, n, PB)
    _arms(j, n, 0, px - bodies[a, X], py - bodies[a, X + 1], pz - bodies[a, X + 2], -1.0)
    _arms(j, n, 1, px - bodies[b, X], py - bodies[b, X + 1], pz - bodies[b, X + 2], 1.0)
    if whole[n, KIND] == HINGE:
        for k in range(2):
            x, y, z = direction(bodies, a, R, number, n, AXES_A + 3 * k)
            j[n, 0, 3 + k, 3], j[n, 0, 3 + k, 4], j[n, 0, 3 + k, 5] = -x, -y, -z
            j[n, 1, 3 + k, 3], j[n, 1, 3 + k, 4], j[n, 1, 3 + k, 5] = x, y, z


@inner_kernel
def _arms(j, n, side, x, y, z, sign):
    """Rows of a place along the axes of the world, of a body from whose centre it is x, y, z."""
    x, y, z = sign * x, sign * y, sign * z
    for k in range(3):
        j[n, side, k, 0] = j[n, side, k, 1] = j[n, side, k, 2] = 0.0
        j[n, side, k, k] = sign
    j[n, side, 0, 3], j[n, side, 0, 4], j[n, side, 0, 5] = 0.0, z, -y
    j[n, side, 1, 3], j[n, side, 1, 4], j[n, side, 1, 5] = -z, 0.0, x
    j[n, side, 2, 3], j[n, side, 2, 4], j[n, side, 2, 5] = y, -x, 0.0


@flat_kernel
def rows(bodies, whole, number, frame, ja, jb):
    """Fills in the six rows of a joint for both bodies: its errors' speed by that of the body."""
    kind = whole[KIND]
    a, b = bodies[whole[A]], bodies[whole[B]]
    px, py, pz = frame[_PB], frame[_PB + 1], frame[_PB + 2]
    ax, ay, az = px - a[X], py - a[X + 1], pz - a[X + 2]
    bx, by, bz = px - b[X], py - b[X + 1], pz - b[X + 2]
    ja[:, :] = 0.0
    jb[:, :] = 0.0
    mixed = kind == SCREW or kind == RAIL
    for k in range(3):
        if whole[MODE + k] == OFF and not mixed:
            continue
        n = _A + 3 * k
        x, y, z = frame[n], frame[n + 1], frame[n + 2]
        if whole[POINT]:
            x, y, z = 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)
        ja[k, 0], ja[k, 1], ja[k, 2] = -x, -y, -z
        ja[k, 3], ja[k, 4], ja[k, 5] = az * y - ay * z, ax * z - az * x, ay * x - ax * y
        jb[k, 0], jb[k, 1], jb[k, 2] = x, y, z
        jb[k, 3], jb[k, 4], jb[k, 5] = by * z - bz * y, bz * x - bx * z, bx * y - by * x
    for k in range(3):
        if whole[MODE + 3 + k] == OFF and not mixed:
            continue
        n = (_B if kind == BALL else _A) + 3 * k
        x, y, z = frame[n], frame[n + 1], frame[n + 2]
        if kind == UNIVERSAL:
            if k == 0:  # b_x × a_z
                ux, uy, uz = frame[_B], frame[_B + 1], frame[_B + 2]
                wx, wy, wz = frame[_A + 6], frame[_A + 7], frame[_A + 8]
                x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
            elif k == 1:
                x, y, z = frame[_A + 6], frame[_A + 7], frame[_A + 8]
            else:
                x, y, z = frame[_B], frame[_B + 1], frame[_B + 2]
        elif kind == TORSION_SPRING:
            x, y, z = turn_row(frame)
        ja[3 + k, 3], ja[3 + k, 4], ja[3 + k, 5] = -x, -y, -z
        jb[3 + k, 3], jb[3 + k, 4], jb[3 + k, 5] = x, y, z
    if kind == SCREW:
        for i in range(3, 6):
            ja[2, i] -= number[PITCH] * ja[5, i]
            jb[2, i] -= number[PITCH] * jb[5, i]
    elif kind == RAIL:
        for k in range(3):
            for i in range(6):
                ja[3 + k, i] -= frame[_TURN + k] * ja[0, i]
                jb[3 + k, i] -= frame[_TURN + k] * jb[0, i]
    if mixed:
        for k in range(6):
            if whole[MODE + k] == OFF:
                ja[k, :] = 0.0
                jb[k, :] = 0.0


@flat_kernel
def coordinate(whole, frame, k, before, number):
    """Value of the coordinate along a free row, its whole turns as they were before [rad or m]."""
    kind = whole[KIND]
    turns = kind == HINGE or kind == SCREW or kind == TORSION_SPRING
    if turns or ((kind == CYLINDRICAL or kind == PLANAR) and k == 5):
        return near(turn_angle(frame), before)
    if kind == UNIVERSAL:
        if k == 4:  # b_x lies in the plane of a
            return near(math.atan2(_dot(frame, _B, _A + 3), _dot(frame, _B, _A)), before)
        # a_z seen from b, which turns about its x
        return near(math.atan2(_dot(frame, _A + 6, _B + 3), _dot(frame, _A + 6, _B + 6)), before)
    if kind == RAIL:
        return number[S]
    if kind == BALL:
        x, y, z = turn_vector(frame)
        return x if k == 3 else (y if k == 4 else z)
    n = _A + 3 * k
    return (
        frame[n] * (frame[_PB] - frame[_PA])
        + frame[n + 1] * (frame[_PB + 1] - frame[_PA + 1])
        + frame[n + 2] * (frame[_PB + 2] - frame[_PA + 2])
    )


@flat_kernel
def free_row(bodies, whole, frame, k, ja, jb):
    """The row along a degree of freedom of a joint, for both of its bodies (six numbers each)."""
    kind = whole[KIND]
    a, b = bodies[whole[A]], bodies[whole[B]]
    if k < 3:
        n = _A + 3 * k
        x, y, z = frame[n], frame[n + 1], frame[n + 2]
        px, py, pz = frame[_PB], frame[_PB + 1], frame[_PB + 2]
        ax, ay, az = px - a[X], py - a[X + 1], pz - a[X + 2]
        bx, by, bz = px - b[X], py - b[X + 1], pz - b[X + 2]
        ja[0], ja[1], ja[2] = -x, -y, -z
        ja[3], ja[4], ja[5] = az * y - ay * z, ax * z - az * x, ay * x - ax * y
        jb[0], jb[1], jb[2] = x, y, z
        jb[3], jb[4], jb[5] = by * z - bz * y, bz * x - bx * z, bx * y - by * x
        return
    n = (_B if kind == BALL else _A) + 3 * (k - 3)
    if kind == UNIVERSAL:
        n = _A + 6 if k == 4 else _B
    x, y, z = frame[n], frame[n + 1], frame[n + 2]
    ja[0] = ja[1] = ja[2] = jb[0] = jb[1] = jb[2] = 0.0
    ja[3], ja[4], ja[5] = -x, -y, -z
    jb[3], jb[4], jb[5] = x, y, z


@flat_kernel
def turning(bodies, whole, number, n, k):
    """How fast the coordinate along free row ``k`` of a joint turns [rad/s]; 0 if it is a way."""
    kind = whole[n, KIND]
    if k < 3 or kind == BALL:
        return 0.0
    a, b = whole[n, A], whole[n, B]
    x, y, z = direction(bodies, a, R, number, n, AXES_A + 6)
    if kind == UNIVERSAL and k == 5:
        x, y, z = direction(bodies, b, R, number, n, AXES_B)
    ax, ay, az = spin(bodies[a])
    bx, by, bz = spin(bodies[b])
    return x * (bx - ax) + y * (by - ay) + z * (bz - az)


@flat_kernel
def count_turns(bodies, whole, number, h):
    """Takes angles whose turns are counted to where they are after a flight of ``h``, nearly.

    What they are exactly is seen there, but for whole turns: a joint may make some in a step.
    """
    for n in range(whole.shape[0]):
        if whole[n, KIND] == SCREW:
            number[n, S] += h * turning(bodies, whole, number, n, 5)
        elif whole[n, KIND] == COUPLING:
            for end in range(2):
                other, k = whole[n, FOLLOWER + 2 * end], whole[n, FOLLOWER + 2 * end + 1]
                number[n, TURNS + end] += h * turning(bodies, whole, number, other, k)


@flat_kernel
def couple(bodies, whole, number, rail, n, frame, ride, six, j):
    """Fills in the one row of coupling ``n``, for all of its bodies, and counts its turns."""
    for side in range(whole[n, SIDES]):
        j[side, :, :] = 0.0
    ratio = number[n, PITCH]
    for end in range(2):
        other, k = whole[n, FOLLOWER + 2 * end], whole[n, FOLLOWER + 2 * end + 1]
        stand(bodies, whole[other], number[other], rail, False, frame, ride)
        free_row(bodies, whole[other], frame, k, six[0], six[1])
        number[n, TURNS + end] = coordinate(
            whole[other], frame, k, number[n, TURNS + end], number[other]
        )
        by = -ratio if end else 1.0
        for half in range(2):
            row = j[whole[n, SIDE_OF + 2 * end + half], 0]
            for i in range(6):
                row[i] += by * six[half, i]


@flat_kernel
def coupling_error(bodies, whole, number, rail, n, ahead, h, frame, ride):
    """By how much the follower of a coupling is not where its leader says, now or after ``h``."""
    out = -number[n, S]
    for end in range(2):
        other, k = whole[n, FOLLOWER + 2 * end], whole[n, FOLLOWER + 2 * end + 1]
        arc, turn = number[other, S], h * turning(bodies, whole, number, other, k)
        if whole[other, KIND] == SCREW:
            number[other, S] = arc + turn
        stand(bodies, whole[other], number[other], rail, ahead, frame, ride)
        q = coordinate(whole[other], frame, k, number[n, TURNS + end] + turn, number[other])
        number[other, S] = arc
        out += (-number[n, PITCH] if end else 1.0) * q
    return out


@inner_kernel
def push(bodies, whole, j, impulse, n):
    """Gives a joint's bodies the impulses along its rows."""
    size = whole[n, SIZE]
    for side in range(whole[n, SIDES]):
        at = whole[n, side]
        m = bodies[at, MASS_INV]
        if m == 0.0:
            continue
        vx = vy = vz = tx = ty = tz = 0.0
        for k in range(size):
            p = impulse[n, k]
            vx += j[n, side, k, 0] * p
            vy += j[n, side, k, 1] * p
            vz += j[n, side, k, 2] * p
            tx += j[n, side, k, 3] * p
            ty += j[n, side, k, 4] * p
            tz += j[n, side, k, 5] * p
        bodies[at, V] += m * vx
        bodies[at, V + 1] += m * vy
        bodies[at, V + 2] += m * vz
        bodies[at, L] += tx
        bodies[at, L + 1] += ty
        bodies[at, L + 2] += tz


@inner_kernel
def speeds(bodies, whole, j, n, out, to):
    """Speeds of a joint's rows, into row ``to`` of ``out``."""
    size = whole[n, SIZE]
    for k in range(6):
        out[to, k] = 0.0
    for side in range(whole[n, SIDES]):
        at = whole[n, side]
        if bodies[at, MASS_INV] == 0.0:
            continue
        vx, vy, vz = bodies[at, V], bodies[at, V + 1], bodies[at, V + 2]
        wx, wy, wz = spin(bodies[at])
        for k in range(size):
            out[to, k] += (
                j[n, side, k, 0] * vx + j[n, side, k, 1] * vy + j[n, side, k, 2] * vz
                + j[n, side, k, 3] * wx + j[n, side, k, 4] * wy + j[n, side, k, 5] * wz
            )  # fmt: skip
