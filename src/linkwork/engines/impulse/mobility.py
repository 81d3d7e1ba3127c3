"""Mobility: how many degrees of freedom loops leave a mechanism."""

from __future__ import annotations

import numpy as np

from linkwork.engines.impulse.joint_columns import HARD, MODE, SIDES
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.mobility import Mobility
from linkwork.kinematics.closed import SMALL


def mobilities(made: Mechanism, j: np.ndarray) -> list[Mobility]:
    """The mobility of each mechanism that has a loop.

    Args:
        made: The mechanisms of an engine.
        j: Rows of all joints as bodies stand (n×sides×6×6).
    """
    found, last = [], len(made.own)
    for joints in _joined(made, last):
        loops = tuple(made.names[n] for n in joints if made.loops[n] >= 0)
        if not loops:
            continue
        ends = {int(b) for n in joints for b in made.whole[n, : made.whole[n, SIDES]]} - {last}
        column = {body: 6 * k for k, body in enumerate(sorted(ends))}
        rows = []
        for n in joints:
            for k in np.flatnonzero(made.whole[n, MODE : MODE + 6] == HARD):
                row = np.zeros(6 * len(column))
                for side, body in enumerate(made.whole[n, : made.whole[n, SIDES]].tolist()):
                    if body != last:
                        row[column[body] : column[body] + 6] += j[n, side, k]
                rows.append(row)
        matrix = np.array(rows)
        matrix /= np.linalg.norm(matrix, axis=1)[:, None]
        values = np.linalg.svd(matrix, compute_uv=False)
        rank = int((values > SMALL * values[0]).sum())
        found.append(Mobility(loops, len(column), len(rows), 6 * len(column) - rank))
    return found


def _joined(made: Mechanism, last: int) -> list[list[int]]:
    """Joints by mechanism: those that share bodies that move."""
    leader = list(range(last))

    def root(body: int) -> int:
        while leader[body] != body:
            body = leader[body]
        return body

    # what does not move joins nothing
    moving = [
        [int(b) for b in row[: row[SIDES]] if b != last and HARD in row[MODE : MODE + 6]]
        for row in made.whole
    ]
    for ends in moving:
        for other in ends[1:]:
            leader[root(other)] = root(ends[0])
    groups: dict[int, list[int]] = {}
    for n, ends in enumerate(moving):
        if ends:
            groups.setdefault(root(ends[0]), []).append(n)
    return list(groups.values())
