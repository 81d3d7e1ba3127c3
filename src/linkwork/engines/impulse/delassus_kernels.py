"""The Delassus matrix K = J M⁻¹ Jᵀ in blocks of up to six: assembled, factored, solved."""

from __future__ import annotations

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse.body_kernels import MASS_INV, TENSOR
from linkwork.engines.impulse.mechanism import MODE, OFF, POINT, SIDES, SIZE


@inner_kernel
def _inverse_mass_times_jacobian(bodies, at, size, j, y, n, side):
    """Computes ``y`` = M⁻¹ Jᵀ, the response of a body to unit impulses along the rows ``j``."""
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
    """Adds j y to ``blocks[b]``, without the columns before ``first``."""
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
def _add_point_product(j, one, side_one, y, two, side_two, blocks, b):
    """Is :func:`_add_product` for the arms of two balls: rows of two numbers and a zero."""
    x, y_, z = j[one, side_one, 1, 5], j[one, side_one, 2, 3], j[one, side_one, 0, 4]
    for k in range(3):
        a0, a1, a2 = y[two, side_two, 3, k], y[two, side_two, 4, k], y[two, side_two, 5, k]
        blocks[b, 0, k] += z * a1 - y_ * a2
        blocks[b, 1, k] += x * a2 - z * a0
        blocks[b, 2, k] += y_ * a0 - x * a1


@inner_kernel
def _assemble_point(bodies, joint_ints, j, y, size, blocks, n):
    """Assembles the diagonal block of a ball or hinge, with 1/m of its bodies on the diagonal."""
    m = 0.0
    for side in range(2):
        at = joint_ints[n, side]
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
def _assemble_ball(bodies, joint_ints, j, y, blocks, n):
    """Is :func:`_assemble_point` for a ball, whose rows are arms: two numbers and a zero."""
    for i in range(3):
        for k in range(3):
            blocks[n, i, k] = 0.0
    for side in range(2):
        at = joint_ints[n, side]
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
        _add_point_product(j, n, side, y, n, side, blocks, n)


@inner_kernel
def assemble_delassus(bodies, joint_ints, j, y, columns, pairs, blocks):
    """Assembles K; inactive rows have a one on the diagonal.

    ``columns`` as in :func:`factor_blocks`. ``pairs`` (n×5): block, joint and side of its columns,
    joint and side of its rows. Joints that hold a point have rows along the world axes (``POINT``):
    their translational part is a number on the diagonal.
    """
    for n in range(joint_ints.shape[0]):
        size = joint_ints[n, SIZE]
        for m in range(columns[n], columns[n + 1]):
            for i in range(size):
                for k in range(6):
                    blocks[m, i, k] = 0.0
        if joint_ints[n, POINT] == 2:
            if size == 5:
                _assemble_point(bodies, joint_ints, j, y, 5, blocks, n)
            else:
                _assemble_ball(bodies, joint_ints, j, y, blocks, n)
            continue
        for i in range(6):
            for k in range(6):
                blocks[n, i, k] = 0.0
        for side in range(joint_ints[n, SIDES]):
            at = joint_ints[n, side]
            if bodies[at, MASS_INV] > 0.0:
                _inverse_mass_times_jacobian(bodies, at, size, j, y, n, side)
                _add_product(j, n, side, size, y, n, side, 0, blocks, n)
        for k in range(size):
            if joint_ints[n, MODE + k] == OFF:
                blocks[n, k, k] = 1.0
    for n in range(pairs.shape[0]):
        b, one, two = pairs[n, 0], pairs[n, 1], pairs[n, 3]
        side_one, side_two = pairs[n, 2], pairs[n, 4]
        size = joint_ints[one, SIZE]
        if joint_ints[one, POINT] and joint_ints[two, POINT]:
            if size == 3 and joint_ints[two, SIZE] == 3:
                _add_point_product(j, one, side_one, y, two, side_two, blocks, b)
            else:
                _add_product(j, one, side_one, size, y, two, side_two, 3, blocks, b)
            m = bodies[joint_ints[one, side_one], MASS_INV]
            if side_one != side_two:
                m = -m
            for k in range(3):
                blocks[b, k, k] += m
        else:
            _add_product(j, one, side_one, size, y, two, side_two, 0, blocks, b)


#: Relative pivot below which a row is redundant.
REDUNDANT_PIVOT = 1e-11


@inner_kernel
def copy_blocks(joint_ints, columns, given, out):
    """Copies K or its factor."""
    for n in range(joint_ints.shape[0]):
        for i in range(joint_ints[n, SIZE]):
            for k in range(6):
                out[n, i, k] = given[n, i, k]
        for m in range(columns[n], columns[n + 1]):
            for i in range(joint_ints[n, SIZE]):
                for k in range(6):
                    out[m, i, k] = given[m, i, k]


@inner_kernel
def _factor_block(blocks, n, size, first, pivot):
    """Replaces a diagonal block by the inverse of its unit factor, and fills in 1/D.

    Returns the number of redundant rows; they get no impulse.
    """
    lost = 0
    for j in range(size):
        s = blocks[n, j, j]
        if s > REDUNDANT_PIVOT * first[n, j]:
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
    # invert the unit factor in place, row by row
    for i in range(1, size):
        for j in range(i):
            s = -blocks[n, i, j]
            for k in range(j + 1, i):
                s -= blocks[n, i, k] * blocks[n, k, j]
            blocks[n, i, j] = s
    return lost


@inner_kernel
def _scale_block(blocks, n, size, m):
    """Multiplies a block below the diagonal, stored transposed, by the inverse of the factor."""
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
    """Subtracts aᵀ D⁻¹ b of two transposed blocks of column ``n`` from ``blocks[to]``."""
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
    """Is :func:`_subtract_product` for blocks of three by three."""
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
def factor_blocks(joint_ints, blocks, columns, row_of, updates, update_of, first, pivot):
    """Factors K in place.

    ``columns`` (n+1): first block below each diagonal one. ``updates`` (m×3): two blocks of a
    column and the block from which their product is subtracted; ``update_of`` (n+1): first update
    of each column. ``first`` receives the diagonal before elimination. Returns the number of
    redundant rows.
    """
    count = columns.shape[0] - 1
    lost = 0
    for n in range(count):
        for k in range(6):
            first[n, k] = blocks[n, k, k]
    for n in range(count):
        size = joint_ints[n, SIZE]
        if size == 5:  # constant sizes let the compiler unroll the loops
            lost += _factor_block(blocks, n, 5, first, pivot)
            for m in range(columns[n], columns[n + 1]):
                _scale_block(blocks, n, 5, m)
        elif size == 3:
            lost += _factor_block(blocks, n, 3, first, pivot)
            for m in range(columns[n], columns[n + 1]):
                _scale_block(blocks, n, 3, m)
        else:
            lost += _factor_block(blocks, n, size, first, pivot)
            for m in range(columns[n], columns[n + 1]):
                _scale_block(blocks, n, size, m)
        for m in range(update_of[n], update_of[n + 1]):
            a, b, to = updates[m, 0], updates[m, 1], updates[m, 2]
            rows = joint_ints[row_of[a], SIZE]
            if size == 5:
                _subtract_product(blocks, a, b, to, 5, rows, pivot, n)
            elif size == 3 and rows == 3 and joint_ints[row_of[b], SIZE] == 3:
                _subtract_product_3(blocks, a, b, to, pivot, n)
            else:
                _subtract_product(blocks, a, b, to, size, rows, pivot, n)
    return lost


@inner_kernel
def _forward_substitute(blocks, n, size, pivot, x):
    """Computes ``x[n]`` = D⁻¹ L⁻¹ x for a diagonal block."""
    for i in range(size - 1, -1, -1):
        s = x[n, i]
        for k in range(i):
            s += blocks[n, i, k] * x[n, k]
        x[n, i] = s
    for k in range(size):
        x[n, k] *= pivot[n, k]


@inner_kernel
def _back_substitute(blocks, n, size, x):
    """Computes ``x[n]`` = L⁻ᵀ x for a diagonal block."""
    for i in range(size):
        s = x[n, i]
        for k in range(i + 1, size):
            s += blocks[n, k, i] * x[n, k]
        x[n, i] = s


@flat_kernel
def solve_blocks(joint_ints, blocks, columns, row_of, pivot, x):
    """Solves K x = x in place (n×6); ``row_of`` is the row of each block below the diagonal."""
    count = columns.shape[0] - 1
    for n in range(count):
        size = joint_ints[n, SIZE]
        if size == 5:
            _forward_substitute(blocks, n, 5, pivot, x)
        elif size == 3:
            _forward_substitute(blocks, n, 3, pivot, x)
        else:
            _forward_substitute(blocks, n, size, pivot, x)
        for m in range(columns[n], columns[n + 1]):
            to = row_of[m]
            if size == 3 and joint_ints[to, SIZE] == 3:
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
        size = joint_ints[n, SIZE]
        for m in range(columns[n], columns[n + 1]):
            of = row_of[m]
            if size == 3 and joint_ints[of, SIZE] == 3:
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
            _back_substitute(blocks, n, 5, x)
        elif size == 3:
            _back_substitute(blocks, n, 3, x)
        else:
            _back_substitute(blocks, n, size, x)


@flat_kernel
def factor_diagonal_blocks(joint_ints, blocks, first, pivot):
    """Factors the diagonal blocks only, without coupling; returns as :func:`factor_blocks`."""
    lost = 0
    for n in range(joint_ints.shape[0]):
        lost += factor_diagonal_block(joint_ints, blocks, first, pivot, n)
    return lost


@inner_kernel
def factor_diagonal_block(joint_ints, blocks, first, pivot, n):
    """Factors the diagonal block of one joint; returns as :func:`factor_blocks`."""
    for k in range(6):
        first[n, k] = blocks[n, k, k]
    return _factor_block(blocks, n, joint_ints[n, SIZE], first, pivot)


@inner_kernel
def solve_diagonal_block(joint_ints, blocks, pivot, x, n):
    """Solves one joint's diagonal block in place."""
    _forward_substitute(blocks, n, joint_ints[n, SIZE], pivot, x)
    _back_substitute(blocks, n, joint_ints[n, SIZE], x)
