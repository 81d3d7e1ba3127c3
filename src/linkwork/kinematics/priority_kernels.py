"""Compiled task priorities: strict levels within a box and fences."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import kernel
from linkwork.kinematics.damping_kernels import SMALLEST
from linkwork.kinematics.layout_kernels import LEVELS
from linkwork.kinematics.level_kernels import (
    add_row,
    damped_step,
    damping_below,
    level_rows,
    longest,
    project,
)
from linkwork.kinematics.linear_kernels import factorise, substitute

#: Ways to go about priorities.
STRICT, NESTED = 0, 1

_TURNS = 8  # how often what is broken is sorted
_YIELDING = 1e-9  # λ² of what is broken, of its rows' squared length
_BEYOND = 1e-12  # part of what a broken fence asks for that is rounding


@kernel
def _weakest(jac, m, err, damping, x, origin, rows, held, first, count, basis, top, gram, work):
    """Which held bound pulls the wrong way (its multiplier is negative); −1 if none does."""
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
    if not factorise(gram, k):
        return -1
    substitute(gram, k, multiplier)
    worst, which = -1e-12, -1
    for i in range(k):
        if multiplier[i] < worst:
            worst, which = multiplier[i], first + i
    return which


@kernel
def _sort_broken(rows, least, x, broken, is_last):
    """Lets go of what a step passes anyway, takes up what it leaves broken; whether any changed.

    Nothing is let go the last time.
    """
    changed = False
    for i in range(rows.shape[0]):
        if least[i] <= 0.0:
            continue
        s = -least[i]
        for c in range(x.shape[0]):
            s += rows[i, c] * x[c]
        if broken[i] and s > _BEYOND * least[i] and not is_last:
            broken[i] = False
            changed = True
        elif not broken[i] and s < -_BEYOND * least[i]:
            broken[i] = True
            changed = True
    return changed


@kernel
def _pressed(jac, m, err, x, basis, low, top, count, slope):
    """How strongly the errors that a level leaves press against fences and bounds.

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


@kernel
def strict_step(
    ints, tree, columns, tasks, out, settings, q, nq, lost, lo, hi, fence, bounds, x
):  # fmt: skip
    """Levels in order, each as well as the higher ones, the ranges and the fences allow.

    The recursion of Siciliano and Slotine, q̇ₖ = q̇ₖ₋₁ + (Jₖ Nₖ₋₁)⁺ (eₖ − Jₖ q̇ₖ₋₁), with N from an
    orthonormal basis of all higher rows, so that damping disturbs none of them. Within a level
    bounds are held and let go one at a time (a primal active set), which ends at the exact least
    squares. Fences that standing still would break come before all levels.

    Returns:
        The largest λ² of the levels.
    """
    n = x.shape[0]
    metric = columns[7]
    root, inverse_root = np.empty(n), np.empty(n)
    for c in range(n):
        root[c] = math.sqrt(metric[c])
        inverse_root[c] = 1.0 / root[c]
    most = max(out[0].shape[0] + tasks[0].shape[0] * columns[0].shape[0], 2 * n + fence.shape[0])
    jac, err = np.empty((most, n)), np.empty(most)
    projected, gram = np.empty((most, n)), np.empty((max(most, n + 1), max(most, n + 1)))
    span, reduced = np.empty((n + 1, n)), np.empty((most, n))
    z, step, origin = np.empty(most), np.empty(n), np.empty(n)
    basis, work = np.zeros((n + 1, n)), np.empty((n + 4, n))
    # bounds and fences as rows a · y ≥ b in scaled columns y
    k = fence.shape[0]
    rows, least = np.zeros((2 * n + k, n)), np.empty(2 * n + k)
    for c in range(n):
        rows[c, c], least[c] = 1.0, lo[c] * root[c]
        rows[n + c, c], least[n + c] = -1.0, -hi[c] * root[c]
    for i in range(k):
        least[2 * n + i] = bounds[i]
        for c in range(n):
            rows[2 * n + i, c] = fence[i, c] * inverse_root[c]
    closed, broken = np.zeros(2 * n + k, np.bool_), np.zeros(2 * n + k, np.bool_)
    held = np.zeros(n + 1, np.int64)
    for c in range(n):
        x[c] = 0.0
    count, low, largest, damping = 0, 0, 0.0, 0.0
    # what is broken already: a level of its own, before all others
    levels = ints[LEVELS]
    for i in range(2 * n + k):
        broken[i] = least[i] > 0.0
    for level in range(-1, levels):
        m, plain = 0, 0
        if level >= 0:
            m, plain, damping = level_rows(
                level, tree, columns, tasks, out, q, nq, inverse_root, jac, err
            )  # fmt: skip
            for r in range(m):
                for c in range(n):
                    projected[r, c] = jac[r, c]
                project(basis, count, projected[r])
            if m > 0:
                damping += damping_below(
                    jac, projected, m, plain, err, settings, span, reduced, gram, lost[level]
                )  # fmt: skip
                largest = max(largest, damping)
        for c in range(n):
            origin[c] = x[c]
        top = count
        for turn in range(_TURNS):
            if level < 0:
                m = 0
                for i in range(2 * n + k):
                    if broken[i]:
                        for c in range(n):
                            jac[m, c] = rows[i, c]
                        err[m] = least[i]
                        m += 1
                damping = _YIELDING * longest(jac, m)
            if m == 0:
                break
            closed[:] = broken
            holding, count = 0, top
            for c in range(n):
                x[c] = origin[c]
            for _ in range(6 * n + 20):
                damped_step(
                    jac, m, err, basis, count, damping, x, origin, projected, span, reduced, gram,
                    z, step,
                )  # fmt: skip
                part, stop = 1.0, -1
                for i in range(2 * n + k):
                    if closed[i] or (level < 0 and least[i] > 0.0):
                        continue
                    speed = 0.0
                    for c in range(n):
                        speed += rows[i, c] * step[c]
                    if speed < -1e-14:
                        room = -least[i]
                        for c in range(n):
                            room += rows[i, c] * x[c]
                        if room + part * speed < 0.0:
                            part, stop = max(0.0, -room / speed), i
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
                which = _weakest(
                    jac, m, err, damping, x, origin, rows, held, 0, holding, basis, top, gram, work
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
            if level < 0:
                if not _sort_broken(rows, least, x, broken, turn >= _TURNS - 2):
                    break
            elif turn > 0 or settings[3] != SMALLEST:
                break
            else:
                # what fences and bounds leave of the errors curves as much: see ``tick``
                pressed = _pressed(jac, m, err, x, basis, low, top, count, work[0])
                if pressed <= 1e-9:
                    break
                damping += pressed
        if m == 0:
            continue
        # the level's rows join the basis; bounds that it leaned on are open again for the next
        count = top
        closed[:] = broken
        scale = longest(jac, m)
        for r in range(m):
            count = add_row(basis, count, jac[r], scale)
        if level < 0:
            low = count
        if count >= n:
            break
    for c in range(n):
        x[c] *= inverse_root[c]
    return largest
