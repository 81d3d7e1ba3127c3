"""Compiled curves that joints follow: poses along rails, points on splines."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel
from linkwork.geometry.kernels import compose, rotvec_quat

#: Rows of a segment: head, four coefficients, side.
_HEAD, _C0, _C1, _C2, _C3, _SIDE = 0, 1, 2, 3, 4, 5
_ROWS = 6
#: Samples per segment in a global search for the nearest point.
_SAMPLES = 24


@flat_kernel
def curve_at(track, first, segment, u, ends, out):
    """Fills ``out`` (9): position, first and second derivative at ``u`` of a segment.

    ``ends`` is 1 if the segment extends linearly before 0, 2 if past 1, 3 for both.
    """
    row = first + _ROWS * segment
    at = u
    if u < 0.0 and (ends == 1 or ends == 3):
        at = 0.0
    elif u > 1.0 and ends >= 2:
        at = 1.0
    if track[row, 0] == 1.0:
        angle = track[row, 1]
        c, s = math.cos(angle * at), math.sin(angle * at)
        for i in range(3):
            x, y = track[row + _C1, i], track[row + _C2, i]
            out[i] = track[row + _C0, i] + c * x + s * y
            out[3 + i] = angle * (c * y - s * x)
            out[6 + i] = -angle * angle * (c * x + s * y)
    else:
        for i in range(3):
            a, b = track[row + _C1, i], track[row + _C2, i]
            c = track[row + _C3, i]
            out[i] = track[row + _C0, i] + at * (a + at * (b + at * c))
            out[3 + i] = a + at * (2.0 * b + 3.0 * at * c)
            out[6 + i] = 2.0 * b + 6.0 * at * c
    if at != u:
        for i in range(3):
            out[i] += (u - at) * out[3 + i]
            out[6 + i] = 0.0


@flat_kernel
def _ends(track, first, count, segment):
    """Returns which ends of the curve a segment has: 1 its beginning, 2 its end."""
    if track[first, 2] != 0.0:
        return 0
    return (1 if segment == 0 else 0) + (2 if segment == count - 1 else 0)


@flat_kernel
def nearest(track, first, count, s, x, y, z, out):
    """Returns the parameter nearest to a point, starting from ``s``; fills ``out`` (9) there."""
    piece = int(min(max(math.floor(s), 0.0), count - 1.0))
    u = s - piece
    closed = track[first, 2] != 0.0
    for _ in range(50):
        curve_at(track, first, piece, u, _ends(track, first, count, piece), out)
        dx, dy, dz = x - out[0], y - out[1], z - out[2]
        along = dx * out[3] + dy * out[4] + dz * out[5]
        square = out[3] * out[3] + out[4] * out[4] + out[5] * out[5]
        slope = square - (dx * out[6] + dy * out[7] + dz * out[8])
        if slope < 0.2 * square:  # beyond the center of curvature: use the tangent only
            slope = square
        more = min(max(along / slope, -0.5), 0.5)
        u += more
        if u > 1.0 and (closed or piece < count - 1):
            after = (piece + 1) % count
            if _distance_along(track, first, count, after, 0.0, x, y, z, out) >= 0.0:
                piece, u = after, 0.0
                continue
            if abs(more) * math.sqrt(square) < 1e-15:
                break
        elif u < 0.0 and (closed or piece > 0):
            before = (piece + count - 1) % count
            if _distance_along(track, first, count, before, 1.0, x, y, z, out) <= 0.0:
                piece, u = before, 1.0
                continue
            if abs(more) * math.sqrt(square) < 1e-15:
                break
        elif abs(more) * math.sqrt(square) < 1e-15:
            break
    curve_at(track, first, piece, u, _ends(track, first, count, piece), out)
    return piece + u


@flat_kernel
def _distance_along(track, first, count, segment, u, x, y, z, out):
    """Returns the distance of a point from a position of the curve along its tangent."""
    curve_at(track, first, segment, u, 0, out)
    return (x - out[0]) * out[3] + (y - out[1]) * out[4] + (z - out[2]) * out[5]


@flat_kernel
def nearest_global(track, first, count, x, y, z, out):
    """Returns the parameter of the whole curve nearest to a point."""
    best, least = 0.0, math.inf
    for piece in range(count):
        for k in range(_SAMPLES):
            u = (k + 0.5) / _SAMPLES
            curve_at(track, first, piece, u, 0, out)
            dx, dy, dz = x - out[0], y - out[1], z - out[2]
            far = dx * dx + dy * dy + dz * dz
            if far < least:
                best, least = piece + u, far
    return nearest(track, first, count, best, x, y, z, out)


@flat_kernel
def curve_axes(track, first, segment, place, axes):
    """Fills ``axes`` (9, by rows): the tangent and two perpendicular directions."""
    row = first + _ROWS * segment + _SIDE
    tx, ty, tz = place[3], place[4], place[5]
    n = 1.0 / math.sqrt(tx * tx + ty * ty + tz * tz)
    tx, ty, tz = n * tx, n * ty, n * tz
    sx, sy, sz = track[row, 0], track[row, 1], track[row, 2]
    bx, by, bz = sy * tz - sz * ty, sz * tx - sx * tz, sx * ty - sy * tx
    n = 1.0 / math.sqrt(bx * bx + by * by + bz * bz)
    bx, by, bz = n * bx, n * by, n * bz
    axes[0], axes[1], axes[2] = tx, ty, tz
    axes[3], axes[4], axes[5] = bx, by, bz
    axes[6], axes[7], axes[8] = ty * bz - tz * by, tz * bx - tx * bz, tx * by - ty * bx


@flat_kernel
def _rail_piece(length, turn, climb, s, out):
    """Computes the pose at arc length ``s`` of a segment: exp of a constant twist, x forward."""
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
    """Computes ``out`` = out ∘ a; ``b`` is workspace."""
    for k in range(7):
        b[k] = out[k]
    compose(b, a, out)


@flat_kernel
def rail_pose(rail, first, count, s, out, a, b):
    """Computes the pose at arc length ``s`` [m]; beyond its ends the rail is straight."""
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
    """Returns turn and climb rates [rad/m] at arc length ``s``."""
    done = 0.0
    for k in range(first, first + count):
        if s >= done and s <= done + rail[k, 0]:
            return rail[k, 1] / rail[k, 0], rail[k, 2] / rail[k, 0]
        done += rail[k, 0]
    return 0.0, 0.0
