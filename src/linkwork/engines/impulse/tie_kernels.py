"""Frames of joints that are not where their body has them: on a curve, along a spring."""

from __future__ import annotations

import math

from linkwork.engines.impulse.joint_columns import AT_A, AT_B, ROWS_A
from linkwork.jit import flat_kernel
from linkwork.kinematics.curve_kernels import curve_axes, nearest


@flat_kernel
def follow(track, first, count, s, frame, work):
    """Moves the frame of ``a`` along its curve to where ``b`` is nearest; returns the place there.

    The frame's x is along the curve then. ``s`` is where it was.
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
def aim(frame):
    """Turns z of the frame of ``a`` to the point of ``b``, unless they are in one place."""
    x, y, z = (
        frame[AT_B] - frame[AT_A],
        frame[AT_B + 1] - frame[AT_A + 1],
        frame[AT_B + 2] - frame[AT_A + 2],
    )
    far = math.sqrt(x * x + y * y + z * z)
    if far > 1e-12:
        frame[ROWS_A + 6], frame[ROWS_A + 7], frame[ROWS_A + 8] = x / far, y / far, z / far
