"""Compiled task priorities: strict levels within inequalities, or the nested form."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from linkwork.core.jit import kernel
from linkwork.kinematics.damping_kernels import SMALLEST
from linkwork.kinematics.level_kernels import (
    add_row,
    damped_step,
    damping_below,
    largest_row_norm,
    level_damping,
    level_rows,
    project,
)
from linkwork.kinematics.linear_kernels import factorize, substitute
from linkwork.kinematics.memory_layout_kernels import DAMPING, LEVELS

#: Priority schemes.
STRICT, NESTED = 0, 1

_MAX_PASSES = 8  # iterations over the violated inequalities
_VIOLATED_DAMPING = 1e-9  # relative λ² of the violated inequalities
_VIOLATION = 1e-12  # relative tolerance of an inequality


@kernel
def _wrong_multiplier(
    jac, m, err, damping, x, origin, rows, held, first, count, basis, top, gram, work
):
    """Returns the active inequality with the most negative multiplier; −1 if there is none."""
    n = x.shape[0]
    slope, multiplier = work[0], work[1]
    for c in range(n):
        slope[c] = damping * (x[c] - origin[c])
    for r in range(m):
        s = -err[r]
        for c in range(n):
            s += jac[r, c] * x[c]
        for c in range(n):
            slope[c] += jac[r, c] * s
    project(basis, top, slope)
    k = count - first
    for i in range(k):
        a = rows[held[first + i]]
        for c in range(n):
            work[2 + i, c] = a[c]
        project(basis, top, work[2 + i])
    for i in range(k):
        s = 0.0
        for c in range(n):
            s += work[2 + i, c] * slope[c]
        multiplier[i] = s
        for j in range(i, k):
            s = 0.0
            for c in range(n):
                s += work[2 + i, c] * work[2 + j, c]
            gram[i, j] = s
        gram[i, i] *= 1.0 + 1e-13
    if not factorize(gram, k):
        return -1
    substitute(gram, k, multiplier)
    worst, which = -1e-12, -1
    for i in range(k):
        if multiplier[i] < worst:
            worst, which = multiplier[i], first + i
    return which


@kernel
def _update_violated(rows, least, x, broken, is_last):
    """Removes satisfied inequalities from the violated ones, adds new ones; returns if any changed.

    None are removed the last time.
    """
    changed = False
    for i in range(rows.shape[0]):
        if least[i] <= 0.0:
            continue
        s = -least[i]
        for c in range(x.shape[0]):
            s += rows[i, c] * x[c]
        if broken[i] and s > _VIOLATION * least[i] and not is_last:
            broken[i] = False
            changed = True
        elif not broken[i] and s < -_VIOLATION * least[i]:
            broken[i] = True
            changed = True
    return changed


@kernel
def _residual_gradient(jac, m, err, x, basis, low, top, count, slope):
    """Returns the norm of a level's residual gradient along inequalities and bounds.

    Those span the rows of ``basis`` below ``low``, and from ``top`` to ``count``.
    """
    n = x.shape[0]
    for c in range(n):
        slope[c] = 0.0
    for r in range(m):
        s = err[r]
        for c in range(n):
            s -= jac[r, c] * x[c]
        for c in range(n):
            slope[c] += jac[r, c] * s
    total = 0.0
    for i in range(count):
        if i < low or i >= top:
            s = 0.0
            for c in range(n):
                s += basis[i, c] * slope[c]
            total += s * s
    return math.sqrt(total)


class LevelWorkspace(NamedTuple):
    """Arrays of one strict step.

    Attributes:
        jac, err: Rows and errors of a level, in columns scaled by the metric.
        projected: The rows, projected across all higher levels.
        gram, span, reduced, z: See ``damped_step``.
        step: Step of an iteration.
        origin: The step of the higher levels.
        basis: Orthonormal basis of the rows of higher levels, then of the active inequalities.
        work: Rows for multipliers.
    """

    jac: np.ndarray
    err: np.ndarray
    projected: np.ndarray
    gram: np.ndarray
    span: np.ndarray
    reduced: np.ndarray
    z: np.ndarray
    step: np.ndarray
    origin: np.ndarray
    basis: np.ndarray
    work: np.ndarray


@kernel
def _make_level_workspace(n, most):
    """Allocates the workspace of ``n`` columns and up to ``most`` rows."""
    size = max(most, n + 1)
    return LevelWorkspace(
        np.empty((most, n)), np.empty(most), np.empty((most, n)), np.empty((size, size)),
        np.empty((n + 1, n)), np.empty((most, n)), np.empty(most), np.empty(n), np.empty(n),
        np.zeros((n + 1, n)), np.empty((n + 4, n)),
    )  # fmt: skip


@kernel
def _inequality_system(lo, hi, root, inverse_root, inequality, bounds):
    """Returns a and b of bounds and inequalities as rows a · y ≥ b in scaled columns y."""
    n, k = lo.shape[0], inequality.shape[0]
    rows, least = np.zeros((2 * n + k, n)), np.empty(2 * n + k)
    for c in range(n):
        rows[c, c], least[c] = 1.0, lo[c] * root[c]
        rows[n + c, c], least[n + c] = -1.0, -hi[c] * root[c]
    for i in range(k):
        least[2 * n + i] = bounds[i]
        for c in range(n):
            rows[2 * n + i, c] = inequality[i, c] * inverse_root[c]
    return rows, least


@kernel
def _level_system(
    level, tree, columns, tasks, out, settings, q, nq, inverse_root, ignored, count, space
):  # fmt: skip
    """Computes rows and errors of a level; returns their number, and λ²."""
    jac, projected = space.jac, space.projected
    m, plain, damping = level_rows(
        level, tree, columns, tasks, out, q, nq, inverse_root, jac, space.err
    )  # fmt: skip
    for r in range(m):
        for c in range(jac.shape[1]):
            projected[r, c] = jac[r, c]
        project(space.basis, count, projected[r])
    if m > 0:
        damping += damping_below(
            jac, projected, m, plain, space.err, settings, space.span, space.reduced, space.gram,
            ignored,
        )  # fmt: skip
    return m, damping


@kernel
def _violated_rows(rows, least, broken, jac, err):
    """Computes the rows of the violated inequalities as a level; returns their number."""
    m = 0
    for i in range(rows.shape[0]):
        if broken[i]:
            for c in range(rows.shape[1]):
                jac[m, c] = rows[i, c]
            err[m] = least[i]
            m += 1
    return m


@kernel
def _blocking_row(rows, least, closed, skip_violated, x, step):
    """Returns the feasible share of ``step``, and the inactive inequality that limits it or −1."""
    part, stop = 1.0, -1
    for i in range(rows.shape[0]):
        if closed[i] or (skip_violated and least[i] > 0.0):
            continue
        speed = 0.0
        for c in range(x.shape[0]):
            speed += rows[i, c] * step[c]
        if speed < -1e-14:
            margin = -least[i]
            for c in range(x.shape[0]):
                margin += rows[i, c] * x[c]
            if margin + part * speed < 0.0:
                part, stop = max(0.0, -margin / speed), i
    return part, stop


@kernel
def _active_set_level(rows, least, closed, held, m, damping, top, skip_violated, x, space):
    """Solves one level within the inequalities by a primal active set.

    Inequalities become active where a step reaches them, and are released one at a time while their
    multiplier is negative, until the exact least-squares solution is reached.

    Returns:
        The number of rows of the basis in use, those of active inequalities from ``top`` on.
    """
    jac, err, basis, origin, step = space.jac, space.err, space.basis, space.origin, space.step
    n = x.shape[0]
    holding, count = 0, top
    for c in range(n):
        x[c] = origin[c]
    for _ in range(6 * n + 20):
        damped_step(
            jac, m, err, basis, count, damping, x, origin, space.projected, space.span,
            space.reduced, space.gram, space.z, step,
        )  # fmt: skip
        part, stop = _blocking_row(rows, least, closed, skip_violated, x, step)
        for c in range(n):
            x[c] += part * step[c]
        if stop >= 0:
            grown = add_row(basis, count, rows[stop], 0.0)
            closed[stop] = True
            if grown > count and holding < n:
                held[holding] = stop
                holding += 1
                count = grown
            continue
        if holding == 0:
            break
        which = _wrong_multiplier(
            jac, m, err, damping, x, origin, rows, held, 0, holding, basis, top, space.gram,
            space.work,
        )  # fmt: skip
        if which < 0:
            break
        closed[held[which]] = False
        for i in range(which, holding - 1):
            held[i] = held[i + 1]
        holding -= 1
        count = top
        for i in range(holding):
            count = add_row(basis, count, rows[held[i]], 0.0)
    return count


@kernel
def strict_step(
    ints, tree, columns, tasks, out, settings, q, nq, ignored, lo, hi, inequality, bounds, x
):  # fmt: skip
    """Solves the levels in order, each within the higher ones, the ranges and the inequalities.

    The recursion of Siciliano and Slotine, q̇ₖ = q̇ₖ₋₁ + (Jₖ Nₖ₋₁)⁺ (eₖ − Jₖ q̇ₖ₋₁), with N from an
    orthonormal basis of all higher rows, so that damping disturbs none of them. Inequalities that a
    zero step violates form a separate level, above all others.

    Returns:
        The largest λ² of the levels.
    """
    col, _, _, _, _, _, _, metric = columns
    indices, _, _, _, _, _, _ = tasks
    error, _, _ = out
    n = x.shape[0]
    root, inverse_root = np.empty(n), np.empty(n)
    for c in range(n):
        root[c] = math.sqrt(metric[c])
        inverse_root[c] = 1.0 / root[c]
    most = max(error.shape[0] + indices.shape[0] * col.shape[0], 2 * n + inequality.shape[0])
    space = _make_level_workspace(n, most)
    jac, err, basis = space.jac, space.err, space.basis
    rows, least = _inequality_system(lo, hi, root, inverse_root, inequality, bounds)
    closed, broken = np.zeros(rows.shape[0], np.bool_), np.zeros(rows.shape[0], np.bool_)
    held = np.zeros(n + 1, np.int64)
    for c in range(n):
        x[c] = 0.0
    for i in range(rows.shape[0]):
        broken[i] = least[i] > 0.0
    count, low, largest, damping = 0, 0, 0.0, 0.0
    for level in range(-1, ints[LEVELS]):
        m = 0
        if level >= 0:
            m, damping = _level_system(
                level, tree, columns, tasks, out, settings, q, nq, inverse_root, ignored[level],
                count, space,
            )  # fmt: skip
            if m > 0:
                largest = max(largest, damping)
        for c in range(n):
            space.origin[c] = x[c]
        top = count
        for turn in range(_MAX_PASSES):
            if level < 0:
                m = _violated_rows(rows, least, broken, jac, err)
                damping = _VIOLATED_DAMPING * largest_row_norm(jac, m)
            if m == 0:
                break
            closed[:] = broken
            count = _active_set_level(
                rows, least, closed, held, m, damping, top, level < 0, x, space
            )  # fmt: skip
            if level < 0:
                if not _update_violated(rows, least, x, broken, turn >= _MAX_PASSES - 2):
                    break
            elif turn > 0 or settings[DAMPING] != SMALLEST:
                break
            else:
                # the residual at active inequalities has curvature of this size: see ``step``
                pressed = _residual_gradient(
                    jac, m, err, x, basis, low, top, count, space.work[0]
                )  # fmt: skip
                if pressed <= 1e-9:
                    break
                damping += pressed
        if m == 0:
            continue
        # the level's rows join the basis; its active inequalities are inactive for the next one
        count = top
        closed[:] = broken
        scale = largest_row_norm(jac, m)
        for r in range(m):
            count = add_row(basis, count, jac[r], scale)
        if level < 0:
            low = count
        if count >= n:
            break
    for c in range(n):
        x[c] *= inverse_root[c]
    return largest


@kernel
def nested_step(ints, tree, columns, tasks, out, settings, q, nq, ignored, lo, hi, x):
    """Computes RoboTiX thesis eq. 3.16: q̇ = J⁺v + N (J₁⁺v₁ + N₁ (…)), from the last level inward.

    The first level is kept, but each lower one may lose to the one above it unnecessarily. The step
    is scaled to stay in the box.
    """
    col, _, _, _, _, _, _, metric = columns
    indices, _, _, _, _, _, _ = tasks
    error, _, _ = out
    n = x.shape[0]
    inverse_root = np.empty(n)
    for c in range(n):
        inverse_root[c] = 1.0 / math.sqrt(metric[c])
        x[c] = 0.0
    most = error.shape[0] + indices.shape[0] * col.shape[0]
    jac, err, z = np.empty((most, n)), np.empty(most), np.empty(most)
    projected, span, reduced = np.empty((most, n)), np.empty((n + 1, n)), np.empty((most, n))
    gram, step = np.empty((max(most, n + 1), max(most, n + 1))), np.empty(n)
    largest = 0.0
    for level in range(ints[LEVELS] - 1, -1, -1):
        m, plain, damping = level_rows(
            level, tree, columns, tasks, out, q, nq, inverse_root, jac, err
        )  # fmt: skip
        damping += level_damping(jac, m, plain, err, settings, gram, ignored[level])
        largest = max(largest, damping)
        damped_step(
            jac, m, err, span, 0, damping, x, x, projected, span, reduced, gram, z, step
        )  # fmt: skip
        for c in range(n):
            x[c] += step[c]
    part = 1.0
    for c in range(n):
        x[c] *= inverse_root[c]
        if x[c] > hi[c] and x[c] > 0.0:
            part = min(part, max(hi[c], 0.0) / x[c])
        elif x[c] < lo[c] and x[c] < 0.0:
            part = min(part, min(lo[c], 0.0) / x[c])
    for c in range(n):
        x[c] *= part
    return largest
