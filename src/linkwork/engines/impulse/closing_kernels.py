"""Closing: bodies are moved together, without time, until every joint fits."""

from __future__ import annotations

import math

from linkwork.engines.impulse.body_kernels import MASS_INV, TENSOR, XN, Q, R, X, matrix, tensor
from linkwork.engines.impulse.joint_kernels import (
    COUPLING,
    KIND,
    SIDES,
    coupling_error,
    errors,
    stand,
)
from linkwork.engines.impulse.phase_kernels import DONE, GAP, OPEN, WHERE, factor_rows, lay_rows
from linkwork.engines.impulse.solve_kernels import solve
from linkwork.jit import kernel


@kernel
def close(mechanism, pattern, desk, scratch, gap, most, account):
    """Moves bodies, by least mass times way squared, until every hard row is closed.

    Leaves rows and factored K of where they stand then. Returns ``DONE`` or ``OPEN``.
    """
    bodies, whole, number, rail = mechanism
    j, _y, _raw, blocks, _first, _diagonal, error, _impulse, _total = desk
    frame, ride, _series, _six = scratch
    for left in range(most, -1, -1):
        lay_rows(mechanism, pattern, desk, scratch)
        factor_rows(pattern, desk, scratch, account)
        worst, at = 0.0, 0
        for n in range(whole.shape[0]):
            for k in range(6):
                error[n, k] = 0.0
            if whole[n, KIND] == COUPLING:
                error[n, 0] = coupling_error(bodies, whole, number, rail, n, False, frame, ride)
            else:
                stand(bodies, whole[n], number[n], rail, False, frame, ride)
                errors(whole[n], number[n], frame, error[n])
            for k in range(6):
                if not abs(error[n, k]) <= worst:
                    worst, at = abs(error[n, k]), n
                error[n, k] = -error[n, k]
        account[GAP], account[WHERE] = worst, at
        if worst <= gap:
            return DONE
        if left == 0 or not math.isfinite(worst):
            return OPEN
        solve(blocks, pattern[0], pattern[1], error)
        for n in range(whole.shape[0]):
            for side in range(whole[n, SIDES]):
                _shift(bodies[whole[n, side]], j[n, side], error[n])
        for n in range(bodies.shape[0]):
            if bodies[n, MASS_INV] > 0.0:
                turn(bodies[n])
    return OPEN


@kernel
def _shift(body, j, by):
    """Adds a row's way to the body's place, and its turn to the columns of the next place."""
    m = body[MASS_INV]
    if m == 0.0:
        return
    tx = ty = tz = 0.0
    for k in range(6):
        for i in range(3):
            body[X + i] += m * j[k, i] * by[k]
        tx += j[k, 3] * by[k]
        ty += j[k, 4] * by[k]
        tz += j[k, 5] * by[k]
    for i in range(3):
        n = TENSOR + 3 * i
        body[XN + i] += body[n] * tx + body[n + 1] * ty + body[n + 2] * tz


@kernel
def turn(body):
    """Turns a body by the rotation vector in XN, world axes, and clears it."""
    x, y, z = body[XN], body[XN + 1], body[XN + 2]
    angle = math.sqrt(x * x + y * y + z * z)
    s = 0.5 if angle < 1e-9 else math.sin(0.5 * angle) / angle
    w = math.cos(0.5 * angle)
    x, y, z = s * x, s * y, s * z
    qw, qx, qy, qz = body[Q], body[Q + 1], body[Q + 2], body[Q + 3]
    body[Q] = w * qw - x * qx - y * qy - z * qz
    body[Q + 1] = w * qx + x * qw + y * qz - z * qy
    body[Q + 2] = w * qy - x * qz + y * qw + z * qx
    body[Q + 3] = w * qz + x * qy - y * qx + z * qw
    n = 1.0 / math.sqrt(body[Q] ** 2 + body[Q + 1] ** 2 + body[Q + 2] ** 2 + body[Q + 3] ** 2)
    for k in range(4):
        body[Q + k] *= n
    body[XN] = body[XN + 1] = body[XN + 2] = 0.0
    matrix(body, Q, R)
    tensor(body)
