"""Degrees of freedom of joints as rows, and couplings, which hold one to another."""

from __future__ import annotations

from linkwork.engines.impulse.body_kernels import R, X, spin
from linkwork.engines.impulse.frame_kernels import coordinate, stand
from linkwork.engines.impulse.joint_columns import (
    AT_B,
    AXES_A,
    AXES_B,
    COUPLING,
    FOLLOWER,
    KIND,
    PITCH,
    ROWS_A,
    ROWS_B,
    SIDE_OF,
    SIDES,
    TURNS,
    A,
    B,
    S,
)
from linkwork.engines.impulse.joint_kernels import direction
from linkwork.jit import flat_kernel
from linkwork.kinematics.kernels import BALL, SCREW, UNIVERSAL


@flat_kernel
def free_row(bodies, whole, frame, k, ja, jb):
    """The row along a degree of freedom of a joint, for both of its bodies (six numbers each)."""
    kind = whole[KIND]
    a, b = bodies[whole[A]], bodies[whole[B]]
    if k < 3:
        n = ROWS_A + 3 * k
        x, y, z = frame[n], frame[n + 1], frame[n + 2]
        px, py, pz = frame[AT_B], frame[AT_B + 1], frame[AT_B + 2]
        ax, ay, az = px - a[X], py - a[X + 1], pz - a[X + 2]
        bx, by, bz = px - b[X], py - b[X + 1], pz - b[X + 2]
        ja[0], ja[1], ja[2] = -x, -y, -z
        ja[3], ja[4], ja[5] = az * y - ay * z, ax * z - az * x, ay * x - ax * y
        jb[0], jb[1], jb[2] = x, y, z
        jb[3], jb[4], jb[5] = by * z - bz * y, bz * x - bx * z, bx * y - by * x
        return
    n = (ROWS_B if kind == BALL else ROWS_A) + 3 * (k - 3)
    if kind == UNIVERSAL:
        n = ROWS_A + 6 if k == 4 else ROWS_B
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
