"""Compiled sampling of reachable positions."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel
from linkwork.geometry.kernels import rotate
from linkwork.kinematics.memory_layout_kernels import (
    BODY,
    LOCAL,
    ROUND,
    open_columns,
    open_poses,
    open_system,
    open_tasks,
    open_tree,
)
from linkwork.kinematics.motion_kernels import place_bodies
from linkwork.kinematics.solve_kernels import random_posture, search, uniform_random


@flat_kernel
def _frame_position(tree, tasks, poses, q, out):
    """Computes the position ``out`` (3) of the frame of the first task at ``q`` [m]."""
    index, frame, rail, order, _, _ = tree
    indices, params, _, _, _, _, _ = tasks
    pose, motion, _, _, scratch = poses
    b = indices[0, BODY]
    place_bodies(index, frame, rail, order, q, pose, motion, scratch)
    x, y, z = rotate(pose[b, 3:], params[0, LOCAL], params[0, LOCAL + 1], params[0, LOCAL + 2])
    out[0], out[1], out[2] = pose[b, 0] + x, pose[b, 1] + y, pose[b, 2] + z


@flat_kernel
def sample_positions(ints, reals, work, seed, spread, start, q, out):
    """Computes positions ``out`` (n×3) of the frame of the first task at random postures [m]."""
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks, poses = open_tasks(ints, reals), open_poses(ints, work)
    _, _, _, line, v, _ = open_system(ints, work)
    _, _, _, _, scratch = poses
    for n in range(out.shape[0]):
        random_posture(tree, columns, ints[ROUND], start, seed, spread, q, line[1], v, scratch)
        _frame_position(tree, tasks, poses, q, out[n])


@flat_kernel
def sample_closed_positions(
    ints, reals, work, seed, stride, settings, start, drivers, wanted, q, out
):
    """Is :func:`sample_positions` with loops kept closed by the tasks after the first.

    The columns ``drivers`` move to random values in steps so short that the loops, closed after
    each step by a search with ``settings``, keep their assembly. If they do not close, the last
    closed posture is used. ``wanted`` (rows: values, steps, last posture) and ``q`` are workspace.
    """
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks, poses = open_tasks(ints, reals), open_poses(ints, work)
    _, dofq, dof, _, lo, hi, _, _ = columns
    value, low, high, last, found = wanted[0], wanted[1], wanted[2], wanted[3], wanted[4]
    k = drivers.shape[0]
    for i in range(k):
        low[i], high[i] = lo[drivers[i]], hi[drivers[i]]
    for n in range(out.shape[0]):
        far = 0.0
        for a in range(q.shape[0]):
            q[a] = last[a] = start[a]
        for i in range(k):
            a, u = dofq[dof[drivers[i]]], uniform_random(seed)
            value[i] = start[a] + (2.0 * u - 1.0) * math.pi
            if high[i] - low[i] < 1e3:
                value[i] = low[i] + u * (high[i] - low[i])
            far = max(far, abs(value[i] - start[a]))
        steps = math.ceil(far / stride)
        for step in range(steps):
            for i in range(k):
                a = dofq[dof[drivers[i]]]
                q[a] = start[a] + (value[i] - start[a]) * (step + 1) / steps
                lo[drivers[i]] = hi[drivers[i]] = q[a]
            search(ints, reals, work, seed, settings, q, found)
            if found[0] == 0.0:
                break
            for a in range(q.shape[0]):
                last[a] = q[a]
        _frame_position(tree, tasks, poses, last[: q.shape[0]], out[n])
    for i in range(k):
        lo[drivers[i]], hi[drivers[i]] = low[i], high[i]
