"""Kinematic loops of a mechanism: their joints, and their degrees of freedom."""

from __future__ import annotations

from collections import deque

import numpy as np

from linkwork.engines.constraint_report import LoopMobility
from linkwork.engines.impulse.mechanism import HARD, MODE, SIDES, SOFT, Mechanism
from linkwork.kinematics.closed_motion import SMALL


def mobilities(mechanism: Mechanism, j: np.ndarray) -> list[LoopMobility]:
    """Returns the mobility of each mechanism that has a loop.

    Args:
        mechanism: The mechanisms of an engine.
        j: Rows of all joints at the present pose (n×sides×6×6).
    """
    found, last = [], len(mechanism.own)
    for joints in _connected_joints(mechanism, last):
        loops = tuple(mechanism.names[n] for n in joints if mechanism.loops[n] >= 0)
        if not loops:
            continue
        ends = {
            int(b)
            for n in joints
            for b in mechanism.joint_ints[n, : mechanism.joint_ints[n, SIDES]]
        } - {last}
        column = {body: 6 * k for k, body in enumerate(sorted(ends))}
        rows = []
        for n in joints:
            for k in np.flatnonzero(mechanism.joint_ints[n, MODE : MODE + 6] == HARD):
                row = np.zeros(6 * len(column))
                for side, body in enumerate(
                    mechanism.joint_ints[n, : mechanism.joint_ints[n, SIDES]].tolist()
                ):
                    if body != last:
                        row[column[body] : column[body] + 6] += j[n, side, k]
                rows.append(row)
        matrix = np.array(rows)
        matrix /= np.linalg.norm(matrix, axis=1)[:, None]
        values = np.linalg.svd(matrix, compute_uv=False)
        rank = int((values > SMALL * values[0]).sum())
        found.append(LoopMobility(loops, len(column), len(rows), 6 * len(column) - rank))
    return found


def _connected_joints(mechanism: Mechanism, last: int) -> list[list[int]]:
    """Groups joints by mechanism: those that share moving bodies."""
    leader = list(range(last))

    def root(body: int) -> int:
        while leader[body] != body:
            body = leader[body]
        return body

    # static bodies connect nothing
    moving = [
        [int(b) for b in row[: row[SIDES]] if b != last and HARD in row[MODE : MODE + 6]]
        for row in mechanism.joint_ints
    ]
    for ends in moving:
        for other in ends[1:]:
            leader[root(other)] = root(ends[0])
    groups: dict[int, list[int]] = {}
    for n, ends in enumerate(moving):
        if ends:
            groups.setdefault(root(ends[0]), []).append(n)
    return list(groups.values())


def shortest_loop_through(mechanism: Mechanism, joint: int) -> list[str]:
    """Returns the names of the joints of the shortest loop through a joint, itself first.

    All static bodies count as one. A coupling connects all of its bodies.
    """
    at: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for n, joint_ints in enumerate(mechanism.joint_ints):
        if n != joint and not (joint_ints[MODE : MODE + 6] % SOFT).any():
            continue  # a spring constrains nothing
        ends[n] = [int(b) for b in joint_ints[: joint_ints[SIDES]]]
        for body in ends[n]:
            at.setdefault(body, []).append(n)
    first, *others = ends[joint]
    came: dict[int, tuple[int, int]] = {first: (-1, -1)}
    queue = deque([first])
    while queue:
        body = queue.popleft()
        if body in others:
            names = []
            while came[body][0] >= 0:
                before, by = came[body]
                names.append(mechanism.names[by])
                body = before
            return list(dict.fromkeys([mechanism.names[joint], *names]))
        for n in at.get(body, ()):
            if n == joint:
                continue
            for other in ends[n]:
                if other not in came:
                    came[other] = (body, n)
                    queue.append(other)
    return [mechanism.names[joint]]
