"""Compiled errors of tasks and their rows: how each column changes what a task looks at.

An error points from what is to what is wanted, so that the wanted motion solves rows · x = error.
Positions and directions are in world axes. Both come out weighted; ``miss`` keeps the plain size.
``seen`` (24 numbers by task) holds the frame's pose, the goal's pose and what the rows need again.
"""

from __future__ import annotations

import numpy as np

from linkwork.jit import flat_kernel
from linkwork.kinematics.frame_kernels import (
    look_at_frames,
    look_error,
    look_rows,
    pose_error,
    pose_rows,
)
from linkwork.kinematics.layout_kernels import (
    ALIGN,
    CENTRE,
    COUNT,
    COUPLING,
    DISTANCE,
    KIND,
    LOOK,
    PIECE,
    PIECE_COUNT,
    POSE,
    POSTURE,
    ROW,
    TWIST,
)
from linkwork.kinematics.twist_kernels import twist_error, twist_rows
from linkwork.kinematics.value_kernels import (
    centre_error,
    centre_rows,
    coupling_error,
    coupling_rows,
    distance_error,
    distance_rows,
    posture_miss,
    weigh,
)

_U = np.uint64  # counters without sign: see linear_kernels


@flat_kernel
def task_errors(tree, columns, tasks, places, out, q, nq):
    """Fills ``error`` and ``miss`` of all tasks; poses are those of ``q``."""
    index, dof_body = tree[0], tree[4]
    dofq = columns[1]
    what, how, _, _, bodies, table, com = tasks
    pose, _, seen, moments, scratch = places
    error, _, miss = out
    for t in range(what.shape[0]):
        miss[t, 0] = miss[t, 1] = 0.0
        kind = what[t, KIND]
        if kind == CENTRE:
            centre_error(t, what, how, index, bodies, table, com, pose, moments, error, miss)
        elif kind == POSTURE:
            posture_miss(t, what, index, table, dof_body, q, miss, nq)
        elif kind == COUPLING:
            coupling_error(t, what, how, table, dofq, q, error, miss)
        else:
            look_at_frames(t, what, how, pose, seen, scratch)
            if kind == POSE:
                pose_error(t, what, how, seen, error, miss, scratch)
            elif kind == TWIST:
                twist_error(t, what, how, seen, error, miss, scratch)
            elif kind == LOOK or kind == ALIGN:
                look_error(t, what, how, seen, error, miss)
            elif kind == DISTANCE:
                distance_error(t, what, how, seen, error, miss)


@flat_kernel
def task_rows(tree, columns, tasks, places, out):
    """Fills ``rows`` of all tasks; :func:`task_errors` was called before."""
    index, dofs_of = tree[0], tree[5]
    col, scale = columns[0], columns[3]
    what, how, support, pieces, bodies, table, com = tasks
    pose, motion, seen, moments, scratch = places
    rows = out[1]
    centres = 0
    for t in range(what.shape[0]):
        centres += what[t, KIND] == CENTRE
    for t in range(what.shape[0]):
        first = _U(what[t, ROW])
        for r in range(first, first + _U(what[t, COUNT])):
            for p in range(what[t, PIECE], what[t, PIECE] + what[t, PIECE_COUNT]):
                for c in range(_U(pieces[p, 0]), _U(pieces[p, 1])):
                    rows[r, c] = 0.0
        kind = what[t, KIND]
        if kind == POSE:
            pose_rows(t, what, how, support, col, scale, motion, seen, rows)
        elif kind == TWIST:
            twist_rows(t, what, how, support, col, scale, motion, seen, rows, scratch)
        elif kind == LOOK or kind == ALIGN:
            look_rows(t, what, how, support, col, scale, motion, seen, rows)
        elif kind == CENTRE:
            if centres > 1:  # the moments there are those of the last
                weigh(t, what, index, bodies, table, com, pose, moments)
            centre_rows(
                t, what, how, index, bodies, col, scale, motion, moments, rows, dofs_of
            )  # fmt: skip
        elif kind == COUPLING:
            coupling_rows(t, what, how, table, col, scale, rows)
        elif kind == DISTANCE:
            distance_rows(t, what, how, support, col, scale, motion, seen, rows)
