"""The equations of all impulses at once: K = J M⁻¹ Jᵀ in blocks of up to six, factored and solved.

Joints that share a moving body share a block. They are numbered in the order of elimination, which
leaves no fill in trees and little in loops (``order.py``). K = L D Lᵀ: a diagonal block is replaced
by the inverse of its unit factor, with the inverse of D in ``pivot``; a block below it, kept
transposed, by what the factor's is before it is divided by D. ``blocks`` has the diagonal ones
first. A joint's block has as many rows as the joint has up to the last that acts (``SIZE``); the
inner loops always go over six numbers, which the processor takes several at once.
"""

from __future__ import annotations

from linkwork.engines.impulse.body_kernels import MASS_INV, TENSOR
from linkwork.engines.impulse.joint_kernels import MODE, OFF, POINT, SIDES, SIZE
from linkwork.jit import flat_kernel, inner_kernel

#: A pivot below this part of its first value belongs to a row that says nothing new.
_REDUNDANT = 1e-11


@inner_kernel
def _weigh(bodies, at, size, j, y, n, side):
    """``y`` = M⁻¹ Jᵀ: how a body answers to unit impulses along the rows ``j``, by columns."""
    m = bodies[at, MASS_INV]
    for k in range(size):
        x, y_, z = j[n, side, k, 3], j[n, side, k, 4], j[n, side, k, 5]
        for i in range(3):
            t = TENSOR + 3 * i
            y[n, side, i, k] = m * j[n, side, k, i]
            y[n, side, 3 + i, k] = (
                bodies[at, t] * x + bodies[at, t + 1] * y_ + bodies[at, t + 2] * z
            )


@inner_kernel
def _add_product(j, one, side_one, size, y, two, side_two, first, blocks, b):
    """``blocks[b]`` += j y, of which the parts before ``first`` are left out."""
    for i in range(size):
        s0, s1, s2 = blocks[b, i, 0], blocks[b, i, 1], blocks[b, i, 2]
        s3, s4, s5 = blocks[b, i, 3], blocks[b, i, 4], blocks[b, i, 5]
        for k in range(first, 6):
            f = j[one, side_one, i, k]
            s0 += f * y[two, side_two, k, 0]
            s1 += f * y[two, side_two, k, 1]
            s2 += f * y[two, side_two, k, 2]
            s3 += f * y[two, side_two, k, 3]
            s4 += f * y[two, side_two, k, 4]
            s5 += f * y[two, side_two, k, 5]
        blocks[b, i, 0], blocks[b, i, 1], blocks[b, i, 2] = s0, s1, s2
        blocks[b, i, 3], blocks[b, i, 4], blocks[b, i, 5] = s3, s4, s5


@inner_kernel
def _add_arms(j, one, side_one, y, two, side_two, blocks, b):
    """As :func:`_add_product` of the arms of two balls: rows of two numbers and a zero."""
    x, y_, z = j[one, side_one, 1, 5], j[one, side_one, 2, 3], j[one, side_one, 0, 4]
    for k in range(3):
        a0, a1, a2 = y[two, side_two, 3, k], y[two, side_two, 4, k], y[two, side_two, 5, k]
        blocks[b, 0, k] += z * a1 - y_ * a2
        blocks[b, 1, k] += x * a2 - z * a0
        blocks[b, 2, k] += y_ * a0 - x * a1


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
def _assemble_point(bodies, whole, j, y, size, blocks, n):
    """The diagonal block of a ball or a hinge; what its bodies' masses add is m on the diagonal."""
    m = 0.0
    for side in range(2):
        at = whole[n, side]
        m += bodies[at, MASS_INV]
        for k in range(3):
            y[n, side, k, k] = bodies[at, MASS_INV] * j[n, side, k, k]
        for k in range(size):
            a, b, c = j[n, side, k, 3], j[n, side, k, 4], j[n, side, k, 5]
            for i in range(3):
                t = TENSOR + 3 * i
                y[n, side, 3 + i, k] = (
                    bodies[at, t] * a + bodies[at, t + 1] * b + bodies[at, t + 2] * c
                )
    for i in range(size):
        a, b, c = j[n, 0, i, 3], j[n, 0, i, 4], j[n, 0, i, 5]
        d, e, f = j[n, 1, i, 3], j[n, 1, i, 4], j[n, 1, i, 5]
        for k in range(size):
            blocks[n, i, k] = (
                a * y[n, 0, 3, k] + b * y[n, 0, 4, k] + c * y[n, 0, 5, k]
                + d * y[n, 1, 3, k] + e * y[n, 1, 4, k] + f * y[n, 1, 5, k]
            )  # fmt: skip
    for k in range(3):
        blocks[n, k, k] += m


@inner_kernel
def _assemble_ball(bodies, whole, j, y, blocks, n):
    """As :func:`_assemble_point`, of a ball, whose rows are arms: two numbers and a zero."""
    for i in range(3):
        for k in range(3):
            blocks[n, i, k] = 0.0
    for side in range(2):
        at = whole[n, side]
        m, s = bodies[at, MASS_INV], -1.0 + 2.0 * side
        x, y_, z = j[n, side, 1, 5], j[n, side, 2, 3], j[n, side, 0, 4]
        for i in range(3):
            t = TENSOR + 3 * i
            a, b, c = bodies[at, t], bodies[at, t + 1], bodies[at, t + 2]
            y[n, side, i, i] = s * m
            y[n, side, 3 + i, 0] = z * b - y_ * c
            y[n, side, 3 + i, 1] = x * c - z * a
            y[n, side, 3 + i, 2] = y_ * a - x * b
            blocks[n, i, i] += m
        _add_arms(j, n, side, y, n, side, blocks, n)


@inner_kernel
def assemble(bodies, whole, j, y, columns, pairs, blocks):
    """Fills in K; off rows have a one on the diagonal.

    ``columns`` as in :func:`factor`. ``pairs`` (n×5): block, joint of its columns and which of its
    sides, the same of its rows.
    Joints that hold a point have rows along the axes of the world (``POINT``): what their places
    add to a block is a number on its diagonal.
    """
    for n in range(whole.shape[0]):
        size = whole[n, SIZE]
        for m in range(columns[n], columns[n + 1]):
            for i in range(size):
                for k in range(6):
                    blocks[m, i, k] = 0.0
        if whole[n, POINT] == 2:
            if size == 5:
                _assemble_point(bodies, whole, j, y, 5, blocks, n)
            else:
                _assemble_ball(bodies, whole, j, y, blocks, n)
            continue
        for i in range(6):
            for k in range(6):
                blocks[n, i, k] = 0.0
        for side in range(whole[n, SIDES]):
            at = whole[n, side]
            if bodies[at, MASS_INV] > 0.0:
                _weigh(bodies, at, size, j, y, n, side)
                _add_product(j, n, side, size, y, n, side, 0, blocks, n)
        for k in range(size):
            if whole[n, MODE + k] == OFF:
                blocks[n, k, k] = 1.0
    for n in range(pairs.shape[0]):
        b, one, two = pairs[n, 0], pairs[n, 1], pairs[n, 3]
        side_one, side_two = pairs[n, 2], pairs[n, 4]
        size = whole[one, SIZE]
        if whole[one, POINT] and whole[two, POINT]:
            if size == 3 and whole[two, SIZE] == 3:
                _add_arms(j, one, side_one, y, two, side_two, blocks, b)
            else:
                _add_product(j, one, side_one, size, y, two, side_two, 3, blocks, b)
            m = bodies[whole[one, side_one], MASS_INV]
            if side_one != side_two:
                m = -m
            for k in range(3):
                blocks[b, k, k] += m
        else:
            _add_product(j, one, side_one, size, y, two, side_two, 0, blocks, b)


@inner_kernel
def _factor_block(blocks, n, size, first, pivot):
    """Replaces a diagonal block by the inverse of its unit factor, and fills in 1/D.

    Returns how many rows were found to say nothing new; they get no impulse.
    """
    lost = 0
    for j in range(size):
        s = blocks[n, j, j]
        if s > _REDUNDANT * first[n, j]:
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
