"""Compiled errors and rows of all tasks.

An error points from the actual to the wanted value, so that the wanted motion solves rows · x =
error. Positions and directions are in world axes. Both are weighted; ``miss`` holds the plain size.
``seen`` (24 numbers per task) holds the frame's pose, the goal's pose and intermediate values for
the rows.
"""

from __future__ import annotations

from linkwork.core.jit import flat_kernel
from linkwork.kinematics.frame_task_kernels import (
    fill_task_frames,
    look_error,
    look_rows,
    pose_error,
    pose_rows,
)
from linkwork.kinematics.linear_kernels import UINT
from linkwork.kinematics.memory_layout_kernels import (
    ALIGN,
    CENTER_OF_MASS,
    COUNT,
    COUPLING,
    DISTANCE,
    KIND,
    LOOK,
    POSE,
    POSTURE,
    RANGE_COUNT,
    RANGE_FIRST,
    ROW,
    TWIST,
)
from linkwork.kinematics.twist_task_kernels import twist_error, twist_rows
from linkwork.kinematics.value_task_kernels import (
    com_error,
    com_rows,
    coupling_error,
    coupling_rows,
    distance_error,
    distance_rows,
    fill_moments,
    posture_max_error,
)


@flat_kernel
def task_errors(tree, columns, tasks, poses, out, q, nq):
    """Computes ``error`` and ``miss`` of all tasks; poses are those of ``q``."""
    index, _, _, _, dof_body, _ = tree
    _, dofq, _, _, _, _, _, _ = columns
    indices, params, _, _, bodies, table, com = tasks
    pose, _, seen, moments, scratch = poses
    error, _, miss = out
    for t in range(indices.shape[0]):
        miss[t, 0] = miss[t, 1] = 0.0
        kind = indices[t, KIND]
        if kind == CENTER_OF_MASS:
            com_error(t, indices, params, index, bodies, table, com, pose, moments, error, miss)
        elif kind == POSTURE:
            posture_max_error(t, indices, index, table, dof_body, q, miss, nq)
        elif kind == COUPLING:
            coupling_error(t, indices, params, table, dofq, q, error, miss)
        else:
            fill_task_frames(t, indices, params, pose, seen, scratch)
            if kind == POSE:
                pose_error(t, indices, params, seen, error, miss, scratch)
            elif kind == TWIST:
                twist_error(t, indices, params, seen, error, miss, scratch)
            elif kind == LOOK or kind == ALIGN:
                look_error(t, indices, params, seen, error, miss)
            elif kind == DISTANCE:
                distance_error(t, indices, params, seen, error, miss)


@flat_kernel
def task_rows(tree, columns, tasks, poses, out):
    """Computes ``rows`` of all tasks, after :func:`task_errors`."""
    index, _, _, _, _, dofs_of = tree
    col, _, _, scale, _, _, _, _ = columns
    indices, params, support, column_ranges, bodies, table, com = tasks
    pose, motion, seen, moments, scratch = poses
    _, rows, _ = out
    centers = 0
    for t in range(indices.shape[0]):
        centers += indices[t, KIND] == CENTER_OF_MASS
    for t in range(indices.shape[0]):
        first = UINT(indices[t, ROW])
        for r in range(first, first + UINT(indices[t, COUNT])):
            for p in range(
                indices[t, RANGE_FIRST], indices[t, RANGE_FIRST] + indices[t, RANGE_COUNT]
            ):
                for c in range(UINT(column_ranges[p, 0]), UINT(column_ranges[p, 1])):
                    rows[r, c] = 0.0
        kind = indices[t, KIND]
        if kind == POSE:
            pose_rows(t, indices, params, support, col, scale, motion, seen, rows)
        elif kind == TWIST:
            twist_rows(t, indices, params, support, col, scale, motion, seen, rows, scratch)
        elif kind == LOOK or kind == ALIGN:
            look_rows(t, indices, params, support, col, scale, motion, seen, rows)
        elif kind == CENTER_OF_MASS:
            if centers > 1:  # the moments are those of the last task
                fill_moments(t, indices, index, bodies, table, com, pose, moments)
            com_rows(
                t, indices, params, index, bodies, col, scale, motion, moments, rows, dofs_of
            )  # fmt: skip
        elif kind == COUPLING:
            coupling_rows(t, indices, params, table, col, scale, rows)
        elif kind == DISTANCE:
            distance_rows(t, indices, params, support, col, scale, motion, seen, rows)
