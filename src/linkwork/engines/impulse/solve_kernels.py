"""The equations of all impulses at once: K = J M⁻¹ Jᵀ in blocks of six, factored and solved.

Joints that share a moving body share a block. They are numbered in the order of elimination, which
leaves no fill in trees and little in loops (``order.py``). A diagonal block is replaced by the
inverse of its Cholesky factor, the blocks below it by those of the factor itself. ``blocks`` has
the diagonal ones first.
"""

from __future__ import annotations

import math

from linkwork.engines.impulse.body_kernels import MASS_INV, TENSOR
from linkwork.engines.impulse.joint_kernels import MODE, OFF, SIDES
from linkwork.jit import kernel

#: A pivot below this part of its first value belongs to a row that says nothing new.
_REDUNDANT = 1e-11


@kernel
def weigh(body, j, y):
    """``y`` = M⁻¹ Jᵀ: how a body answers to unit impulses along the rows ``j``, by columns."""
    m = body[MASS_INV]
    for i in range(3):
        a, b, c = body[TENSOR + 3 * i], body[TENSOR + 3 * i + 1], body[TENSOR + 3 * i + 2]
        for k in range(6):
            y[i, k] = m * j[k, i]
            y[3 + i, k] = a * j[k, 3] + b * j[k, 4] + c * j[k, 5]


@kernel
def _add_product(a, b, out):
    """``out`` += a b, a row at a time, in numbers that the processor takes several at once."""
    for i in range(6):
        s0, s1, s2, s3, s4, s5 = out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5]
        for k in range(6):
            f = a[i, k]
            s0 += f * b[k, 0]
            s1 += f * b[k, 1]
            s2 += f * b[k, 2]
            s3 += f * b[k, 3]
            s4 += f * b[k, 4]
            s5 += f * b[k, 5]
        out[i, 0], out[i, 1], out[i, 2] = s0, s1, s2
        out[i, 3], out[i, 4], out[i, 5] = s3, s4, s5


@kernel
def _subtract_product(a, b, out, work):
    """``out`` −= a bᵀ."""
    for i in range(6):
        for j in range(6):
            work[j, i] = b[i, j]
    for i in range(6):
        s0, s1, s2, s3, s4, s5 = out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5]
        for k in range(6):
            f = a[i, k]
            s0 -= f * work[k, 0]
            s1 -= f * work[k, 1]
            s2 -= f * work[k, 2]
            s3 -= f * work[k, 3]
            s4 -= f * work[k, 4]
            s5 -= f * work[k, 5]
        out[i, 0], out[i, 1], out[i, 2] = s0, s1, s2
        out[i, 3], out[i, 4], out[i, 5] = s3, s4, s5


@kernel
def assemble(bodies, whole, j, y, pairs, blocks):
    """Fills in K; off rows have a one on the diagonal.

    ``pairs`` (n×5): block, joint of its rows and which of its sides, the same of its columns.
    """
    blocks[:, :, :] = 0.0
    for n in range(whole.shape[0]):
        for side in range(whole[n, SIDES]):
            body = bodies[whole[n, side]]
            if body[MASS_INV] > 0.0:
                weigh(body, j[n, side], y[n, side])
                _add_product(j[n, side], y[n, side], blocks[n])
        for k in range(6):
            if whole[n, MODE + k] == OFF:
                blocks[n, k, k] = 1.0
    for n in range(pairs.shape[0]):
        left, right = j[pairs[n, 1], pairs[n, 2]], y[pairs[n, 3], pairs[n, 4]]
        _add_product(left, right, blocks[pairs[n, 0]])


@kernel
def _invert_factor(block, first, work):
    """Replaces a block by the inverse of its Cholesky factor; ``first`` is its first diagonal.

    Returns how many rows were found to say nothing new; they get no impulse.
    """
    lost = 0
    for j in range(6):
        s = block[j, j]
        for k in range(j):
            s -= work[j, k] * work[j, k]
        if s > _REDUNDANT * first[j]:
            d = 1.0 / math.sqrt(s)
        else:
            d = 0.0
            lost += 1
        work[j, j] = d
        for i in range(j + 1, 6):
            t = block[i, j]
            for k in range(j):
                t -= work[i, k] * work[j, k]
            work[i, j] = t * d
    for j in range(6):
        for i in range(6):
            block[j, i] = 0.0
    for j in range(6):
        block[j, j] = work[j, j]
        for i in range(j + 1, 6):
            s = 0.0
            for k in range(j, i):
                s -= work[i, k] * block[k, j]
            block[i, j] = s * work[i, i]
    return lost


@kernel
def _times_transposed(block, inverse, work):
    """``block`` = block · inverseᵀ, of a lower inverse."""
    for i in range(6):
        for j in range(6):
            work[j, i] = inverse[i, j]
    for i in range(6):
        s0 = s1 = s2 = s3 = s4 = s5 = 0.0
        for k in range(6):
            f = block[i, k]
            s0 += f * work[k, 0]
            s1 += f * work[k, 1]
            s2 += f * work[k, 2]
            s3 += f * work[k, 3]
            s4 += f * work[k, 4]
            s5 += f * work[k, 5]
        block[i, 0], block[i, 1], block[i, 2] = s0, s1, s2
        block[i, 3], block[i, 4], block[i, 5] = s3, s4, s5


@kernel
def factor(blocks, columns, updates, update_of, first, work):
    """Factors K in place.

    ``columns`` (n+1): where the blocks below each diagonal one begin. ``updates`` (m×3): two blocks
    of a column and the block from which their product is taken; ``update_of`` (n+1) where those of
    a column begin. ``first`` keeps the first diagonal. Returns how many rows say nothing new.
    """
    count = columns.shape[0] - 1
    lost = 0
    for n in range(count):
        for k in range(6):
            first[n, k] = blocks[n, k, k]
    for n in range(count):
        lost += _invert_factor(blocks[n], first[n], work)
        for m in range(columns[n], columns[n + 1]):
            _times_transposed(blocks[m], blocks[n], work)
        for m in range(update_of[n], update_of[n + 1]):
            _subtract_product(
                blocks[updates[m, 0]], blocks[updates[m, 1]], blocks[updates[m, 2]], work
            )
    return lost


@kernel
def solve(blocks, columns, row_of, x):
    """Solves K x = x in place (n×6); ``row_of`` is the row of each block below the diagonal."""
    count = columns.shape[0] - 1
    for n in range(count):
        c, xn = blocks[n], x[n]
        for i in range(5, -1, -1):
            s = 0.0
            for k in range(i + 1):
                s += c[i, k] * xn[k]
            xn[i] = s
        for m in range(columns[n], columns[n + 1]):
            block, to = blocks[m], x[row_of[m]]
            for i in range(6):
                s = 0.0
                for k in range(6):
                    s += block[i, k] * xn[k]
                to[i] -= s
    for n in range(count - 1, -1, -1):
        c, xn = blocks[n], x[n]
        for m in range(columns[n], columns[n + 1]):
            block, of = blocks[m], x[row_of[m]]
            for k in range(6):
                for i in range(6):
                    xn[i] -= block[k, i] * of[k]
        for i in range(6):
            s = 0.0
            for k in range(i, 6):
                s += c[k, i] * xn[k]
            xn[i] = s


@kernel
def factor_alone(blocks, count, first, work):
    """Factors the diagonal blocks only: each joint as if it were alone. Returns as ``factor``."""
    lost = 0
    for n in range(count):
        for k in range(6):
            first[n, k] = blocks[n, k, k]
        lost += _invert_factor(blocks[n], first[n], work)
    return lost


@kernel
def solve_alone(block, x):
    """Solves one joint's own equations in place, of a block that ``factor_alone`` left."""
    for i in range(5, -1, -1):
        s = 0.0
        for k in range(i + 1):
            s += block[i, k] * x[k]
        x[i] = s
    for i in range(6):
        s = 0.0
        for k in range(i, 6):
            s += block[k, i] * x[k]
        x[i] = s
