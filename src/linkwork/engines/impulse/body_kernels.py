"""Free rigid bodies: one row per body, moved by its momenta.

A body is described at its center of mass in the axes of its principal inertia. Its state is
position, attitude, velocity and *world angular momentum*, which is constant in free motion. Columns
of a row:

    X (3) center of mass, Q (4) attitude, R (9) its matrix by rows
    V (3) velocity, L (3) angular momentum, in world axes
    XN, QN, RN the same at the end of the step (look-ahead)
    MASS_INV, INERTIA_INV (3, principal), TENSOR (9): inverse inertia in world axes
    XO, QO, VO, LO the state at the start of the step
"""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel

X, Q, R, V, L = 0, 3, 7, 16, 19
XN, QN, RN = 22, 25, 29
MASS_INV, INERTIA_INV, TENSOR = 38, 39, 42
XO, QO, VO, LO = 51, 54, 58, 61
BODY_COLUMNS = 64

#: Number of terms of the free-rotation series, and its tolerance.
TERMS = 20
_SMALLEST = 1e-17
#: Largest rotation [rad] of one series.
_LARGEST_ROTATION = 0.35
#: Relative difference below which two inertias count as equal.
_EQUAL_INERTIAS = 1e-14


@inner_kernel
def rotation_matrix(body, q, r):
    """Writes the matrix of the quaternion at column ``q`` to the columns from ``r``."""
    w, x, y, z = body[q], body[q + 1], body[q + 2], body[q + 3]
    body[r] = 1.0 - 2.0 * (y * y + z * z)
    body[r + 1] = 2.0 * (x * y - w * z)
    body[r + 2] = 2.0 * (x * z + w * y)
    body[r + 3] = 2.0 * (x * y + w * z)
    body[r + 4] = 1.0 - 2.0 * (x * x + z * z)
    body[r + 5] = 2.0 * (y * z - w * x)
    body[r + 6] = 2.0 * (x * z - w * y)
    body[r + 7] = 2.0 * (y * z + w * x)
    body[r + 8] = 1.0 - 2.0 * (x * x + y * y)


@inner_kernel
def world_inverse_inertia(body):
    """Computes the inverse inertia in world axes: R diag Rᵀ."""
    a, b, c = body[INERTIA_INV], body[INERTIA_INV + 1], body[INERTIA_INV + 2]
    for i in range(3):
        x, y, z = body[R + 3 * i] * a, body[R + 3 * i + 1] * b, body[R + 3 * i + 2] * c
        for j in range(i, 3):
            value = x * body[R + 3 * j] + y * body[R + 3 * j + 1] + z * body[R + 3 * j + 2]
            body[TENSOR + 3 * i + j] = value
            body[TENSOR + 3 * j + i] = value


@inner_kernel
def _normalize(body, q):
    w, x, y, z = body[q], body[q + 1], body[q + 2], body[q + 3]
    n = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    body[q], body[q + 1], body[q + 2], body[q + 3] = w * n, x * n, y * n, z * n


@flat_kernel
def _series(body, px, py, pz, h, work):
    """Rotates the attitude at QN by the series of free rotation for the time ``h``.

    ``px, py, pz`` is the angular momentum in body axes. Returns it at the end.
    """
    a, b, c = body[INERTIA_INV], body[INERTIA_INV + 1], body[INERTIA_INV + 2]
    # rows of work: momentum (3), angular velocity (3), attitude (4), times powers of h
    work[0, 0], work[0, 1], work[0, 2] = px, py, pz
    work[0, 3], work[0, 4], work[0, 5] = a * px, b * py, c * pz
    for k in range(4):
        work[0, 6 + k] = body[QN + k]
    scale = abs(px) + abs(py) + abs(pz)
    last = TERMS
    for n in range(TERMS - 1):
        mx = my = mz = qw = qx = qy = qz = 0.0
        for i in range(n + 1):
            u, w = work[i], work[n - i]
            mx += u[1] * w[5] - u[2] * w[4]
            my += u[2] * w[3] - u[0] * w[5]
            mz += u[0] * w[4] - u[1] * w[3]
            qw -= u[7] * w[3] + u[8] * w[4] + u[9] * w[5]
            qx += u[6] * w[3] + u[8] * w[5] - u[9] * w[4]
            qy += u[6] * w[4] + u[9] * w[3] - u[7] * w[5]
            qz += u[6] * w[5] + u[7] * w[4] - u[8] * w[3]
        f = h / (n + 1.0)
        mx, my, mz = f * mx, f * my, f * mz
        f *= 0.5
        qw, qx, qy, qz = f * qw, f * qx, f * qy, f * qz
        row = work[n + 1]
        row[0], row[1], row[2] = mx, my, mz
        row[3], row[4], row[5] = a * mx, b * my, c * mz
        row[6], row[7], row[8], row[9] = qw, qx, qy, qz
        if (
            abs(qw) + abs(qx) + abs(qy) + abs(qz) < _SMALLEST
            and abs(mx) + abs(my) + abs(mz) < _SMALLEST * scale
        ):
            last = n + 2
            break
    for n in range(last - 1, 0, -1):
        px += work[n, 0]
        py += work[n, 1]
        pz += work[n, 2]
    qw = qx = qy = qz = 0.0
    for n in range(last - 1, -1, -1):
        qw += work[n, 6]
        qx += work[n, 7]
        qy += work[n, 8]
        qz += work[n, 9]
    body[QN], body[QN + 1], body[QN + 2], body[QN + 3] = qw, qx, qy, qz
    return px, py, pz


@inner_kernel
def _half_angle(half, square):
    """Returns cos(x) and sin(x)/x of half an angle x, given x and x²."""
    if square < 0.04:
        c = 1.0 / 40320.0 - square * (1.0 / 3628800.0 - square / 479001600.0)
        c = 1.0 - square * (0.5 - square * (1.0 / 24.0 - square * (1.0 / 720.0 - square * c)))
        s = 1.0 / 5040.0 - square * (1.0 / 362880.0 - square / 39916800.0)
        s = 1.0 - square * (1.0 / 6.0 - square * (1.0 / 120.0 - square * s))
        return c, s
    return math.cos(half), math.sin(half) / half


@inner_kernel
def _rotate_symmetric(body, axis, lx, ly, lz, h):
    """Rotates a body whose inertias about the two axes after ``axis`` are equal.

    The motion is a rotation about the constant angular momentum, as of a body with equal inertias,
    and one about the body's own axis.
    """
    even = body[INERTIA_INV + (axis + 1) % 3]
    x, y, z = 0.5 * h * even * lx, 0.5 * h * even * ly, 0.5 * h * even * lz
    square = x * x + y * y + z * z
    w, f = _half_angle(math.sqrt(square), square)
    x, y, z = f * x, f * y, f * z
    qw, qx, qy, qz = body[Q], body[Q + 1], body[Q + 2], body[Q + 3]
    pw = w * qw - x * qx - y * qy - z * qz
    px = w * qx + x * qw + y * qz - z * qy
    py = w * qy - x * qz + y * qw + z * qx
    pz = w * qz + x * qy - y * qx + z * qw
    own = body[R + axis] * lx + body[R + 3 + axis] * ly + body[R + 6 + axis] * lz
    half = 0.5 * h * (body[INERTIA_INV + axis] - even) * own
    if half != 0.0:
        w, f = _half_angle(abs(half), half * half)
        f *= half
        if axis == 0:
            pw, px, py, pz = pw * w - px * f, px * w + pw * f, py * w + pz * f, pz * w - py * f
        elif axis == 1:
            pw, px, py, pz = pw * w - py * f, px * w - pz * f, py * w + pw * f, pz * w + px * f
        else:
            pw, px, py, pz = pw * w - pz * f, px * w + py * f, py * w - px * f, pz * w + pw * f
    body[QN], body[QN + 1], body[QN + 2], body[QN + 3] = pw, px, py, pz


@flat_kernel
def _rotate_asymmetric(body, lx, ly, lz, h, work):
    """Rotates a body with three different inertias."""
    px = body[R] * lx + body[R + 3] * ly + body[R + 6] * lz
    py = body[R + 1] * lx + body[R + 4] * ly + body[R + 7] * lz
    pz = body[R + 2] * lx + body[R + 5] * ly + body[R + 8] * lz
    a, b, c = body[INERTIA_INV], body[INERTIA_INV + 1], body[INERTIA_INV + 2]
    wx, wy, wz = a * px, b * py, c * pz
    # change of the angular velocity: I⁻¹ (p × w) h
    dx = a * (py * wz - pz * wy)
    dy = b * (pz * wx - px * wz)
    dz = c * (px * wy - py * wx)
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    change = h * (abs(dx) + abs(dy) + abs(dz))
    if change <= 1e-16 * speed:
        half = 0.5 * h * speed
        s = 0.5 * h * (1.0 - half * half / 6.0) if half < 1e-4 else math.sin(half) / speed
        w = math.cos(half)
        x, y, z = s * wx, s * wy, s * wz
        qw, qx, qy, qz = body[Q], body[Q + 1], body[Q + 2], body[Q + 3]
        body[QN] = qw * w - qx * x - qy * y - qz * z
        body[QN + 1] = qw * x + qx * w + qy * z - qz * y
        body[QN + 2] = qw * y - qx * z + qy * w + qz * x
        body[QN + 3] = qw * z + qx * y - qy * x + qz * w
    else:
        for k in range(4):
            body[QN + k] = body[Q + k]
        # bound of the nutation rate: (a − c) p_a² + (b − c) p_b² is constant
        most, own, even, other = a, px, b, c
        if b > most:
            most, own, even, other = b, py, c, a
        if c > most:
            most, own, even, other = c, pz, a, b
        quick = (most * abs(even - other) + max(even, other) ** 2) * (px * px + py * py + pz * pz)
        quick += (most * own) ** 2
        substeps = min(1000, 1 + int(abs(h) * max(speed, math.sqrt(quick)) / _LARGEST_ROTATION))
        for _ in range(substeps):
            px, py, pz = _series(body, px, py, pz, h / substeps, work)


@inner_kernel
def drift(body, h, work):
    """Moves a body freely for the time ``h``: from X, Q to XN, QN, RN by V and L.

    The rotation is exact: two plain rotations if two inertias are equal, otherwise one if the axis
    is constant, or the series of the equations of motion, in substeps for large angles.
    """
    for k in range(3):
        body[XN + k] = body[X + k] + h * body[V + k]
    lx, ly, lz = body[L], body[L + 1], body[L + 2]
    a, b, c = body[INERTIA_INV], body[INERTIA_INV + 1], body[INERTIA_INV + 2]
    if abs(b - c) <= _EQUAL_INERTIAS * b:
        _rotate_symmetric(body, 0, lx, ly, lz, h)
    elif abs(c - a) <= _EQUAL_INERTIAS * c:
        _rotate_symmetric(body, 1, lx, ly, lz, h)
    elif abs(a - b) <= _EQUAL_INERTIAS * a:
        _rotate_symmetric(body, 2, lx, ly, lz, h)
    else:
        _rotate_asymmetric(body, lx, ly, lz, h, work)
    _normalize(body, QN)
    rotation_matrix(body, QN, RN)


@inner_kernel
def finish_drift(body):
    """Makes the look-ahead pose the current pose."""
    for k in range(3):
        body[X + k] = body[XN + k]
    for k in range(4):
        body[Q + k] = body[QN + k]
    for k in range(9):
        body[R + k] = body[RN + k]
    world_inverse_inertia(body)


@inner_kernel
def angular_velocity(body):
    """Returns the angular velocity in world axes."""
    lx, ly, lz = body[L], body[L + 1], body[L + 2]
    return (
        body[TENSOR] * lx + body[TENSOR + 1] * ly + body[TENSOR + 2] * lz,
        body[TENSOR + 3] * lx + body[TENSOR + 4] * ly + body[TENSOR + 5] * lz,
        body[TENSOR + 6] * lx + body[TENSOR + 7] * ly + body[TENSOR + 8] * lz,
    )
