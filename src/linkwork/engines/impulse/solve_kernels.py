"""The equations of all impulses at once: K = J M⁻¹ Jᵀ in blocks of up to six, factored and solved.

Joints that share a moving body share a block. They are numbered in the order of elimination, which
leaves no fill in trees and little in loops (``order.py``). K = L D Lᵀ: a diagonal block is replaced
by the inverse of its unit factor, with the inverse of D in ``pivot``; a block below it, kept
transposed, by what the factor's is before it is divided by D. ``blocks`` has the diagonal ones
first. A joint's block has as many rows as the joint has up to the last that acts (``SIZE``); the
inner loops always go over six numbers, which the processor takes several at once.
"""

from __future__ import annotations

from linkwork.engines.impulse.joint_columns import SIZE
from linkwork.jit import flat_kernel, inner_kernel

#: A pivot below this part of its first value belongs to a row that says nothing new.
REDUNDANT_PART = 1e-11


@inner_kernel
def copy_blocks(whole, columns, given, out):
    """Copies K, or its factor."""
    for n in range(whole.shape[0]):
        for i in range(whole[n, SIZE]):
            for k in range(6):
                out[n, i, k] = given[n, i, k]
        for m in range(columns[n], columns[n + 1]):
            for i in range(whole[n, SIZE]):
                for k in range(6):
                    out[m, i, k] = given[m, i, k]


@inner_kernel
def _factor_block(blocks, n, size, first, pivot):
    """Replaces a diagonal block by the inverse of its unit factor, and fills in 1/D.

    Returns how many rows were found to say nothing new; they get no impulse.
    """
    lost = 0
    for j in range(size):
        s = blocks[n, j, j]
        if s > REDUNDANT_PART * first[n, j]:
            d = 1.0 / s
        else:
            d = 0.0
            lost += 1
        pivot[n, j] = d
        blocks[n, j, j] = 1.0
        for i in range(j + 1, size):
            a = blocks[n, i, j]
            blocks[n, i, j] = a * d
            for k in range(j + 1, i + 1):
                blocks[n, i, k] -= a * blocks[n, k, j]
    # the unit factor is inverted in place, row by row
    for i in range(1, size):
        for j in range(i):
            s = -blocks[n, i, j]
            for k in range(j + 1, i):
                s -= blocks[n, i, k] * blocks[n, k, j]
            blocks[n, i, j] = s
    return lost


@inner_kernel
def _fit(blocks, n, size, m):
    """Multiplies a block below the diagonal, kept transposed, by the inverse of the factor."""
    for j in range(size - 1, 0, -1):
        s0, s1, s2 = blocks[m, j, 0], blocks[m, j, 1], blocks[m, j, 2]
        s3, s4, s5 = blocks[m, j, 3], blocks[m, j, 4], blocks[m, j, 5]
        for k in range(j):
            f = blocks[n, j, k]
            s0 += f * blocks[m, k, 0]
            s1 += f * blocks[m, k, 1]
            s2 += f * blocks[m, k, 2]
            s3 += f * blocks[m, k, 3]
            s4 += f * blocks[m, k, 4]
            s5 += f * blocks[m, k, 5]
        blocks[m, j, 0], blocks[m, j, 1], blocks[m, j, 2] = s0, s1, s2
        blocks[m, j, 3], blocks[m, j, 4], blocks[m, j, 5] = s3, s4, s5


@inner_kernel
def _subtract_product(blocks, a, b, to, size, rows, pivot, n):
    """``blocks[to]`` −= aᵀ D⁻¹ b, of two blocks of column ``n`` that are kept transposed."""
    for i in range(rows):
        s0, s1, s2 = blocks[to, i, 0], blocks[to, i, 1], blocks[to, i, 2]
        s3, s4, s5 = blocks[to, i, 3], blocks[to, i, 4], blocks[to, i, 5]
        for k in range(size):
            f = blocks[a, k, i] * pivot[n, k]
            s0 -= f * blocks[b, k, 0]
            s1 -= f * blocks[b, k, 1]
            s2 -= f * blocks[b, k, 2]
            s3 -= f * blocks[b, k, 3]
            s4 -= f * blocks[b, k, 4]
            s5 -= f * blocks[b, k, 5]
        blocks[to, i, 0], blocks[to, i, 1], blocks[to, i, 2] = s0, s1, s2
        blocks[to, i, 3], blocks[to, i, 4], blocks[to, i, 5] = s3, s4, s5


@inner_kernel
def _subtract_product_3(blocks, a, b, to, pivot, n):
    """As :func:`_subtract_product`, of two blocks of three by three."""
    b00, b01, b02 = blocks[b, 0, 0], blocks[b, 0, 1], blocks[b, 0, 2]
    b10, b11, b12 = blocks[b, 1, 0], blocks[b, 1, 1], blocks[b, 1, 2]
    b20, b21, b22 = blocks[b, 2, 0], blocks[b, 2, 1], blocks[b, 2, 2]
    d0, d1, d2 = pivot[n, 0], pivot[n, 1], pivot[n, 2]
    for i in range(3):
        f0, f1, f2 = blocks[a, 0, i] * d0, blocks[a, 1, i] * d1, blocks[a, 2, i] * d2
        blocks[to, i, 0] -= f0 * b00 + f1 * b10 + f2 * b20
        blocks[to, i, 1] -= f0 * b01 + f1 * b11 + f2 * b21
        blocks[to, i, 2] -= f0 * b02 + f1 * b12 + f2 * b22


@flat_kernel
def factor(whole, blocks, columns, row_of, updates, update_of, first, pivot):
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
        size = whole[n, SIZE]
        if size == 5:  # numbers that the compiler knows make loops that it unrolls
            lost += _factor_block(blocks, n, 5, first, pivot)
            for m in range(columns[n], columns[n + 1]):
                _fit(blocks, n, 5, m)
        elif size == 3:
            lost += _factor_block(blocks, n, 3, first, pivot)
            for m in range(columns[n], columns[n + 1]):
                _fit(blocks, n, 3, m)
        else:
            lost += _factor_block(blocks, n, size, first, pivot)
            for m in range(columns[n], columns[n + 1]):
                _fit(blocks, n, size, m)
        for m in range(update_of[n], update_of[n + 1]):
            a, b, to = updates[m, 0], updates[m, 1], updates[m, 2]
            rows = whole[row_of[a], SIZE]
            if size == 5:
                _subtract_product(blocks, a, b, to, 5, rows, pivot, n)
            elif size == 3 and rows == 3 and whole[row_of[b], SIZE] == 3:
                _subtract_product_3(blocks, a, b, to, pivot, n)
            else:
                _subtract_product(blocks, a, b, to, size, rows, pivot, n)
    return lost


@inner_kernel
def _down(blocks, n, size, pivot, x):
    """``x[n]`` = D⁻¹ L⁻¹ x, of a diagonal block."""
    for i in range(size - 1, -1, -1):
        s = x[n, i]
        for k in range(i):
            s += blocks[n, i, k] * x[n, k]
        x[n, i] = s
    for k in range(size):
        x[n, k] *= pivot[n, k]


@inner_kernel
def _up(blocks, n, size, x):
    """``x[n]`` = L⁻ᵀ x, of a diagonal block."""
    for i in range(size):
        s = x[n, i]
        for k in range(i + 1, size):
            s += blocks[n, k, i] * x[n, k]
        x[n, i] = s


@flat_kernel
def solve(whole, blocks, columns, row_of, pivot, x):
    """Solves K x = x in place (n×6); ``row_of`` is the row of each block below the diagonal."""
    count = columns.shape[0] - 1
    for n in range(count):
        size = whole[n, SIZE]
        if size == 5:
            _down(blocks, n, 5, pivot, x)
        elif size == 3:
            _down(blocks, n, 3, pivot, x)
        else:
            _down(blocks, n, size, pivot, x)
        for m in range(columns[n], columns[n + 1]):
            to = row_of[m]
            if size == 3 and whole[to, SIZE] == 3:
                f0, f1, f2 = x[n, 0], x[n, 1], x[n, 2]
                for k in range(3):
                    x[to, k] -= f0 * blocks[m, 0, k] + f1 * blocks[m, 1, k] + f2 * blocks[m, 2, k]
                continue
            s0, s1, s2, s3, s4, s5 = x[to, 0], x[to, 1], x[to, 2], x[to, 3], x[to, 4], x[to, 5]
            for k in range(size):
                f = x[n, k]
                s0 -= f * blocks[m, k, 0]
                s1 -= f * blocks[m, k, 1]
                s2 -= f * blocks[m, k, 2]
                s3 -= f * blocks[m, k, 3]
                s4 -= f * blocks[m, k, 4]
                s5 -= f * blocks[m, k, 5]
            x[to, 0], x[to, 1], x[to, 2], x[to, 3], x[to, 4], x[to, 5] = s0, s1, s2, s3, s4, s5
    for n in range(count - 1, -1, -1):
        size = whole[n, SIZE]
        for m in range(columns[n], columns[n + 1]):
            of = row_of[m]
            if size == 3 and whole[of, SIZE] == 3:
                x0, x1, x2 = x[of, 0], x[of, 1], x[of, 2]
                for k in range(3):
                    x[n, k] -= pivot[n, k] * (
                        blocks[m, k, 0] * x0 + blocks[m, k, 1] * x1 + blocks[m, k, 2] * x2
                    )
                continue
            x0, x1, x2, x3, x4, x5 = x[of, 0], x[of, 1], x[of, 2], x[of, 3], x[of, 4], x[of, 5]
            for k in range(size):
                s = blocks[m, k, 0] * x0 + blocks[m, k, 1] * x1 + blocks[m, k, 2] * x2
                s += blocks[m, k, 3] * x3 + blocks[m, k, 4] * x4 + blocks[m, k, 5] * x5
                x[n, k] -= pivot[n, k] * s
        if size == 5:
            _up(blocks, n, 5, x)
        elif size == 3:
            _up(blocks, n, 3, x)
        else:
            _up(blocks, n, size, x)


@flat_kernel
def factor_alone(whole, blocks, first, pivot):
    """Factors the diagonal blocks only: each joint as if it were alone. Returns as ``factor``."""
    lost = 0
    for n in range(whole.shape[0]):
        lost += factor_one(whole, blocks, first, pivot, n)
    return lost


@inner_kernel
def factor_one(whole, blocks, first, pivot, n):
    """Factors the diagonal block of one joint. Returns as ``factor``."""
    for k in range(6):
        first[n, k] = blocks[n, k, k]
    return _factor_block(blocks, n, whole[n, SIZE], first, pivot)


@inner_kernel
def solve_alone(whole, blocks, pivot, x, n):
    """Solves one joint's own equations in place, of a block that ``factor_alone`` left."""
    _down(blocks, n, whole[n, SIZE], pivot, x)
    _up(blocks, n, whole[n, SIZE], x)
