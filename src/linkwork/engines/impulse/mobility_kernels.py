"""K = J M⁻¹ Jᵀ in blocks of up to six: how speeds along rows answer to impulses along rows.

Joints that share a moving body share a block, see ``solve_kernels``.
"""

from __future__ import annotations

from linkwork.engines.impulse.body_kernels import MASS_INV, TENSOR
from linkwork.engines.impulse.joint_columns import MODE, OFF, POINT, SIDES, SIZE
from linkwork.jit import inner_kernel


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

    ``columns`` as in ``solve_kernels.factor``. ``pairs`` (n×5): block, joint of its columns and
    which of its sides, the same of its rows.
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
