"""Closing: bodies are moved together, without time, until every joint fits."""

from __future__ import annotations

import math

from linkwork.engines.impulse import row_kernels as law
from linkwork.engines.impulse.body_kernels import MASS_INV, TENSOR, XN, Q, R, X, matrix, tensor
from linkwork.engines.impulse.coupling_kernels import coupling_error
from linkwork.engines.impulse.frame_kernels import coordinate, stand
from linkwork.engines.impulse.joint_columns import COUPLING, KIND, POINT, SIDES, SIZE
from linkwork.engines.impulse.joint_kernels import errors, point_errors
from linkwork.engines.impulse.phase_kernels import DONE, GAP, OPEN, WHERE, factor_rows, lay_rows
from linkwork.engines.impulse.solve_kernels import solve
from linkwork.jit import flat_kernel, inner_kernel

#: How often the widest gap may grow from one correction to the next before a step is too long.
GROWTHS = 2


@flat_kernel
def close(mechanism, pattern, desk, scratch, soft_whole, soft, gap, most, account):
    """Moves bodies, by least mass times way squared, until every hard row is closed.

    Soft rows with nothing on K's diagonal are held: they go to their targets. Leaves rows and
    factored K of where bodies stand then. Returns ``DONE`` or ``OPEN``.
    """
    left = most
    while True:
        lay_rows(mechanism, pattern, desk, scratch)
        factor_rows(mechanism, pattern, desk, account)
        worst = gaps(mechanism, desk, scratch, account)
        worst = max(worst, _held_gaps(mechanism, desk, scratch, soft_whole, soft))
        if worst <= gap:
            return DONE
        if left == 0 or not math.isfinite(worst):
            return OPEN
        move(mechanism, pattern, desk)
        left -= 1


@flat_kernel
def _held_gaps(mechanism, desk, scratch, soft_whole, soft):
    """Fills in how far each held row is from its target, with the other sign; returns the worst."""
    bodies, whole, number, rail = mechanism
    diagonal, error = desk[5], desk[6]
    frame, ride = scratch[0], scratch[1]
    worst = 0.0
    for n in range(soft.shape[0]):
        at, k = soft_whole[n, law.JOINT], soft_whole[n, law.ROW]
        if diagonal[at, k] > 0.0:
            continue
        stand(bodies, whole[at], number[at], rail, False, frame, ride)
        error[at, k] = soft[n, law.TARGET] - coordinate(
            whole[at], frame, k, soft[n, law.TARGET], number[at]
        )
        worst = max(worst, abs(error[at, k]))
    return worst


@flat_kernel
def close_near(mechanism, pattern, desk, scratch, gap, most, account):
    """As :func:`close`, of bodies that stand almost where the rows and K on the desk belong.

    Gaps that grow lead to bodies that stand far from there, and it stays open.
    """
    before, growths = math.inf, 0
    left = most
    while True:
        worst = gaps(mechanism, desk, scratch, account)
        if worst <= gap:
            lay_rows(mechanism, pattern, desk, scratch)
            factor_rows(mechanism, pattern, desk, account)
            return DONE
        if worst >= before:
            growths += 1
        if left == 0 or growths > GROWTHS or not math.isfinite(worst):
            return OPEN
        before = worst
        move(mechanism, pattern, desk)
        left -= 1


@inner_kernel
def gap_of(mechanism, desk, scratch, n):
    """Fills in how far each hard row of a joint is open, with the other sign; returns the worst."""
    bodies, whole, number, rail = mechanism
    error = desk[6]
    frame, ride = scratch[0], scratch[1]
    if whole[n, POINT] == 2:
        point_errors(bodies, whole, number, n, False, error)
    else:
        for k in range(6):
            error[n, k] = 0.0
        if whole[n, KIND] == COUPLING:
            error[n, 0] = coupling_error(bodies, whole, number, rail, n, False, 0.0, frame, ride)
        else:
            stand(bodies, whole[n], number[n], rail, False, frame, ride)
            errors(whole[n], number[n], frame, error[n])
    worst = 0.0
    for k in range(whole[n, SIZE]):
        size = abs(error[n, k])
        if size > worst or size != size:  # what is no number stays the worst
            worst = size
        error[n, k] = -error[n, k]
    return worst


@inner_kernel
def gaps(mechanism, desk, scratch, account):
    """Fills in how far each hard row is open, with the other sign; returns the worst."""
    worst, at = 0.0, 0
    for n in range(mechanism[1].shape[0]):
        size = gap_of(mechanism, desk, scratch, n)
        if size > worst or size != size:
            worst, at = size, n
    account[GAP], account[WHERE] = worst, at
    return worst


@inner_kernel
def move(mechanism, pattern, desk):
    """Moves bodies by what closes the gaps, as far as that is straight."""
    bodies, whole, _number, _rail = mechanism
    j, _y, _raw, blocks, _first, _diagonal, error, _impulse, _total, pivot = desk
    solve(whole, blocks, pattern[0], pattern[1], pivot, error)
    for n in range(whole.shape[0]):
        for side in range(whole[n, SIDES]):
            _shift(bodies[whole[n, side]], j[n, side], error[n])
    for n in range(bodies.shape[0]):
        if bodies[n, MASS_INV] > 0.0:
            turn(bodies[n])


@flat_kernel
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


@flat_kernel
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
