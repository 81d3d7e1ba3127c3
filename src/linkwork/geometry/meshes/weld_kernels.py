"""Compiled search for equal vertices."""

from __future__ import annotations

import numpy as np

from linkwork.core.jit import kernel

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
#: Most places of the table that are looked at for all vertices, as multiple of their number: a file
#: made for it can put many vertices in one place.
_MOST_PROBES = 32


@kernel
def first_of_equal(bits, table, first):
    """Computes the first vertex that is equal to each vertex.

    Args:
        bits: Coordinates as 64-bit numbers (n×3), with no negative zero.
        table: Hash table of vertices, −1 where it is empty; a power of two, more than n.
        first: Number of the first equal vertex (n), computed.

    Returns:
        False if the table is too crowded; then ``first`` is not complete.
    """
    left = _MOST_PROBES * len(bits) + _MOST_PROBES
    mask = np.uint64(len(table) - 1)
    for n in range(len(bits)):
        mixed = np.uint64(0)
        for k in range(3):
            mixed = (mixed ^ bits[n, k]) * _SPREAD
            mixed ^= mixed >> _SHIFT
        place = mixed & mask
        while True:
            known = table[place]
            if known < 0:
                table[place] = first[n] = n
                break
            if (
                bits[known, 0] == bits[n, 0]
                and bits[known, 1] == bits[n, 1]
                and bits[known, 2] == bits[n, 2]
            ):
                first[n] = known
                break
            place = (place + np.uint64(1)) & mask
            left -= 1
            if left < 0:
                return False
    return True
