"""Compiled sizes of what tasks leave out: motion along axes that they give no weight.

A single row says nothing of its own size: that of a task that looks at one axis is short where the
joints hardly move its frame along that, compared with how they move it at all.
"""

from __future__ import annotations

from linkwork.jit import flat_kernel
from linkwork.kinematics.frame_kernels import into_goal
from linkwork.kinematics.layout_kernels import (
    CENTRE,
    DISTANCE,
    FIRST,
    KIND,
    LEVEL,
    MANY,
    MASK,
    POSE,
    WEIGHT,
)


@flat_kernel
def lost_size(level, tree, columns, tasks, places):
    """Sum of squares of what the tasks of a level (all if it is −1) leave out of their rows.

    For a level, columns are scaled by the metric as its rows are.
    """
    what, how = tasks[0], tasks[1]
    total = 0.0
    for t in range(what.shape[0]):
        if level >= 0 and what[t, LEVEL] != level:
            continue
        kind = what[t, KIND]
        if kind == POSE:
            if what[t, MASK] & 1:
                total += _left_out(t, 0, level, columns, tasks, places)
            if what[t, MASK] & 2:
                total += _left_out(t, 3, level, columns, tasks, places)
        elif kind == DISTANCE:
            total += _left_out(t, -1, level, columns, tasks, places)
        elif kind == CENTRE and min(how[t, WEIGHT], how[t, WEIGHT + 1], how[t, WEIGHT + 2]) == 0.0:
            total += _left_out_of_centre(t, level, tree, columns, tasks, places)
    return total


@flat_kernel
def _left_out(t, turn, level, columns, tasks, places):
    """Of a place (``turn`` 0), a turn (3) or a distance (−1)."""
    col, scale, metric = columns[0], columns[3], columns[7]
    what, how, support = tasks[0], tasks[1], tasks[2]
    motion, seen = places[1], places[2]
    at = WEIGHT + max(turn, 0)
    w0, w1, w2 = how[t, at], how[t, at + 1], how[t, at + 2]
    most, total = max(w0, w1, w2), 0.0
    if turn >= 0 and min(w0, w1, w2) > 0.0:
        return total
    for s in range(what[t, FIRST], what[t, FIRST] + what[t, MANY]):
        d = support[s, 0]
        x, y, z = motion[d, 3], motion[d, 4], motion[d, 5]
        if turn <= 0:
            on = 7 if turn < 0 and support[s, 1] != 0 else 0
            px, py, pz = seen[t, on], seen[t, on + 1], seen[t, on + 2]
            x, y, z = (
                motion[d, 0] + y * pz - z * py,
                motion[d, 1] + z * px - x * pz,
                motion[d, 2] + x * py - y * px,
            )
        if turn < 0:
            along = seen[t, 14] * x + seen[t, 15] * y + seen[t, 16] * z
            size = max(0.0, x * x + y * y + z * z - along * along)
        else:
            x, y, z = into_goal(seen, t, x, y, z)
            size = 0.0
            if w0 == 0.0:
                size += x * x
            if w1 == 0.0:
                size += y * y
            if w2 == 0.0:
                size += z * z
        size *= scale[d] * scale[d]
        total += size / metric[col[d]] if level >= 0 else size
    return most * most * total


@flat_kernel
def _left_out_of_centre(t, level, tree, columns, tasks, places):
    index, dofs_of = tree[0], tree[5]
    col, scale, metric = columns[0], columns[3], columns[7]
    what, how, bodies = tasks[0], tasks[1], tasks[4]
    motion, moments = places[1], places[3]
    w0, w1, w2 = how[t, WEIGHT], how[t, WEIGHT + 1], how[t, WEIGHT + 2]
    most, total = max(w0, w1, w2), 0.0
    inverse = 1.0 / moments[0, 0]
    for k in range(what[t, FIRST], what[t, FIRST] + what[t, MANY]):
        b = bodies[k]
        m = moments[b, 0] * inverse
        if m == 0.0:
            continue
        x, y, z = moments[b, 1] * inverse, moments[b, 2] * inverse, moments[b, 3] * inverse
        for d in range(index[b, 3], index[b, 3] + dofs_of[b]):
            if col[d] < 0:
                continue
            ax, ay, az = motion[d, 3], motion[d, 4], motion[d, 5]
            size = 0.0
            if w0 == 0.0:
                size += (m * motion[d, 0] + ay * z - az * y) ** 2
            if w1 == 0.0:
                size += (m * motion[d, 1] + az * x - ax * z) ** 2
            if w2 == 0.0:
                size += (m * motion[d, 2] + ax * y - ay * x) ** 2
            size *= scale[d] * scale[d]
            total += size / metric[col[d]] if level >= 0 else size
    return most * most * total
