"""Elimination order of the joints, with the block pattern of the factor of K."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class EliminationPattern:
    """The blocks of K and of its factor; diagonal ones come first.

    Attributes:
        order: The joints in the order of elimination.
        columns: First block below each diagonal one (n+1).
        row_of: Row of each block; of a diagonal one itself.
        updates: Two blocks of a column, the upper one first, and the block from which their product
            is subtracted (m×3).
        update_of: First update of each column (n+1).
        pairs: Block, joint and side of its columns, joint and side of its rows (k×5); blocks below
            the diagonal are stored transposed.
    """

    order: list[int]
    columns: np.ndarray
    row_of: np.ndarray
    updates: np.ndarray
    update_of: np.ndarray
    pairs: np.ndarray


def find_elimination_pattern(ends: list[tuple[int, ...]]) -> EliminationPattern:
    """Orders joints by minimum degree.

    Args:
        ends: The moving bodies that each joint connects; −1 for a static one.
    """
    at: dict[int, list[int]] = {}
    for joint, pair in enumerate(ends):
        for body in pair:
            if body >= 0:
                at.setdefault(body, []).append(joint)
    beside: list[set[int]] = [set() for _ in ends]
    for joints in at.values():
        for joint in joints:
            beside[joint].update(joints)
    for joint, others in enumerate(beside):
        others.discard(joint)
    first = [set(others) for others in beside]
    order, below = _eliminate(beside)
    place = {joint: n for n, joint in enumerate(order)}
    count = len(ends)
    columns, rows, block = [count], list(range(count)), {}
    for joint in order:
        for other in sorted(place[each] for each in below[joint]):
            block[other, place[joint]] = len(rows)
            rows.append(other)
        columns.append(len(rows))
    updates, update_of = [], [0]
    for n in range(count):
        column = range(columns[n], columns[n + 1])
        for i in column:
            for j in column:
                if rows[i] > rows[j]:
                    updates.append((j, i, block[rows[i], rows[j]]))
                elif rows[i] == rows[j]:
                    updates.append((i, i, rows[i]))
        update_of.append(len(updates))
    pairs = []
    for (i, j), block_index in block.items():
        of_i, of_j = ends[order[i]], ends[order[j]]
        if order[j] not in first[order[i]]:
            continue
        for a in range(len(of_i)):
            for b in range(len(of_j)):
                if of_i[a] >= 0 and of_i[a] == of_j[b]:
                    pairs.append((block_index, j, b, i, a))
    return EliminationPattern(
        order, np.array(columns, np.int64), np.array(rows, np.int64),
        np.array(updates, np.int64).reshape(-1, 3), np.array(update_of, np.int64),
        np.array(pairs, np.int64).reshape(-1, 5),
    )  # fmt: skip


def _eliminate(beside: list[set[int]]) -> tuple[list[int], dict[int, set[int]]]:
    """Eliminates the joint with the fewest neighbors next, which then become neighbors."""
    import heapq

    heap = [(len(others), joint) for joint, others in enumerate(beside)]
    heapq.heapify(heap)
    done: set[int] = set()
    order: list[int] = []
    below: dict[int, set[int]] = {}
    while heap:
        degree, joint = heapq.heappop(heap)
        if joint in done or degree != len(beside[joint]):
            continue
        done.add(joint)
        order.append(joint)
        others = below[joint] = beside[joint]
        for each in others:
            beside[each] |= others
            beside[each] -= {each, joint}
            heapq.heappush(heap, (len(beside[each]), each))
    return order, below
