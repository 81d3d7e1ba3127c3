"""Compiled poses along a rail: pieces of even turn and climb behind each other."""

from __future__ import annotations

import math

from linkwork.jit import flat_kernel
from linkwork.spatial.kernels import compose, rotvec_quat


@flat_kernel
def _rail_piece(length, turn, climb, s, out):
    """Pose after the arc length ``s`` of one piece: exp of an even twist, x forward."""
    wy = -climb / length
    wz = turn / length
    rotvec_quat(0.0, wy * s, wz * s, out[3:])
    w = math.sqrt(wy * wy + wz * wz)
    a = w * s
    if abs(a) < 1e-6:
        sine, cosine = s * (1.0 - a * a / 6.0), 0.5 * s * s * w * (1.0 - a * a / 12.0)
    else:
        half = math.sin(0.5 * a)
        sine, cosine = math.sin(a) / w, 2.0 * half * half / w
    # p = (sin a / w) e_x + ((1 − cos a) / w) (w × e_x)/|w|
    k = cosine / w if w > 1e-12 else 0.0
    out[0] = sine
    out[1] = wz * k
    out[2] = -wy * k


@flat_kernel
def _after(out, a, b):
    """``out`` = out ∘ a; ``b`` is room."""
    for k in range(7):
        b[k] = out[k]
    compose(b, a, out)


@flat_kernel
def rail_pose(rail, first, count, s, out, a, b):
    """Pose on the rail at arc length ``s`` [m]; before 0 and past the end it runs straight on."""
    for k in range(7):
        out[k] = 1.0 if k == 3 else 0.0
    done = 0.0
    for k in range(first, first + count):
        length = rail[k, 0]
        part = s - done
        if k == first and part < 0.0:
            out[0] = part
            return
        if part <= length:
            _rail_piece(length, rail[k, 1], rail[k, 2], part, a)
            _after(out, a, b)
            return
        _rail_piece(length, rail[k, 1], rail[k, 2], length, a)
        _after(out, a, b)
        done += length
    for k in range(7):
        a[k] = 1.0 if k == 3 else 0.0
    a[0] = s - done
    _after(out, a, b)


@flat_kernel
def rail_curvature(rail, first, count, s):
    """Turn and climb rates [rad/m] at arc length ``s``."""
    done = 0.0
    for k in range(first, first + count):
        if s >= done and s <= done + rail[k, 0]:
            return rail[k, 1] / rail[k, 0], rail[k, 2] / rail[k, 0]
        done += rail[k, 0]
    return 0.0, 0.0
