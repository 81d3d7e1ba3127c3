"""Points on curves: where a piece is, and which place of a curve is nearest.

A curve is a table of pieces, see ``parts.curve``. A place on it is the number of its piece plus the
fraction of the way along it. A curve that is not closed runs straight on beyond its ends.
"""

from __future__ import annotations

import math

from linkwork.jit import flat_kernel

#: Rows of a piece: head, four coefficients, side.
_HEAD, _C0, _C1, _C2, _C3, _SIDE = 0, 1, 2, 3, 4, 5
_ROWS = 6
#: Places of each piece that are looked at when nothing is known of where the nearest is.
_LOOKS = 24


@flat_kernel
def curve_at(track, first, piece, u, ends, out):
    """Fills ``out`` (9): place, first and second derivative at ``u`` of a piece.

    ``ends`` says whether the piece runs straight on before 0 and past 1 (1, 2, or 3 for both).
    """
    row = first + _ROWS * piece
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
def _ends(track, first, count, piece):
    """Which ends of the curve a piece has: 1 its beginning, 2 its end."""
    if track[first, 2] != 0.0:
        return 0
    return (1 if piece == 0 else 0) + (2 if piece == count - 1 else 0)


@flat_kernel
def nearest(track, first, count, s, x, y, z, out):
    """The place nearest to a point, found from the place ``s``; ``out`` (9) is filled for it."""
    piece = int(min(max(math.floor(s), 0.0), count - 1.0))
    u = s - piece
    closed = track[first, 2] != 0.0
    for _ in range(50):
        curve_at(track, first, piece, u, _ends(track, first, count, piece), out)
        dx, dy, dz = x - out[0], y - out[1], z - out[2]
        along = dx * out[3] + dy * out[4] + dz * out[5]
        square = out[3] * out[3] + out[4] * out[4] + out[5] * out[5]
        slope = square - (dx * out[6] + dy * out[7] + dz * out[8])
        if slope < 0.2 * square:  # beyond the centre of curvature: go by the tangent alone
            slope = square
        more = min(max(along / slope, -0.5), 0.5)
        u += more
        if u > 1.0 and (closed or piece < count - 1):
            after = (piece + 1) % count
            if _ahead(track, first, count, after, 0.0, x, y, z, out) >= 0.0:
                piece, u = after, 0.0
                continue
            if abs(more) * math.sqrt(square) < 1e-15:
                break
        elif u < 0.0 and (closed or piece > 0):
            before = (piece + count - 1) % count
            if _ahead(track, first, count, before, 1.0, x, y, z, out) <= 0.0:
                piece, u = before, 1.0
                continue
            if abs(more) * math.sqrt(square) < 1e-15:
                break
        elif abs(more) * math.sqrt(square) < 1e-15:
            break
    curve_at(track, first, piece, u, _ends(track, first, count, piece), out)
    return piece + u


@flat_kernel
def _ahead(track, first, count, piece, u, x, y, z, out):
    """How far a point is ahead of a place, along the curve there."""
    curve_at(track, first, piece, u, 0, out)
    return (x - out[0]) * out[3] + (y - out[1]) * out[4] + (z - out[2]) * out[5]


@flat_kernel
def nearest_of_all(track, first, count, x, y, z, out):
    """The place of the whole curve that is nearest to a point."""
    best, least = 0.0, math.inf
    for piece in range(count):
        for k in range(_LOOKS):
            u = (k + 0.5) / _LOOKS
            curve_at(track, first, piece, u, 0, out)
            dx, dy, dz = x - out[0], y - out[1], z - out[2]
            far = dx * dx + dy * dy + dz * dz
            if far < least:
                best, least = piece + u, far
    return nearest(track, first, count, best, x, y, z, out)


@flat_kernel
def curve_axes(track, first, piece, place, axes):
    """Fills ``axes`` (9, by rows): along the curve, and two directions across it."""
    row = first + _ROWS * piece + _SIDE
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
