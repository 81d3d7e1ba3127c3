"""Compiled sampling of the places that a point can reach."""

from __future__ import annotations

import math

from linkwork.jit import flat_kernel
from linkwork.kinematics.layout_kernels import (
    BODY,
    LOCAL,
    ROUND,
    open_columns,
    open_places,
    open_system,
    open_tasks,
    open_tree,
)
from linkwork.kinematics.motion_kernels import place_bodies
from linkwork.kinematics.solve_kernels import chance, search, throw
from linkwork.spatial.kernels import rotate


@flat_kernel
def _place(tree, tasks, places, q, out):
    """Fills ``out`` (3) with where ``q`` takes the frame of the first task [m]."""
    what, how, pose = tasks[0], tasks[1], places[0]
    b = what[0, BODY]
    place_bodies(tree[0], tree[1], tree[2], tree[3], q, pose, places[1], places[4])
    x, y, z = rotate(pose[b, 3:], how[0, LOCAL], how[0, LOCAL + 1], how[0, LOCAL + 2])
    out[0], out[1], out[2] = pose[b, 0] + x, pose[b, 1] + y, pose[b, 2] + z


@flat_kernel
def scatter(ints, reals, work, seed, spread, start, q, out):
    """Fills ``out`` (n×3) with where random postures take the frame of the first task [m]."""
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks, places = open_tasks(ints, reals), open_places(ints, work)
    _, _, _, line, v, _ = open_system(ints, work)
    for n in range(out.shape[0]):
        throw(tree, columns, ints[ROUND], start, seed, spread, q, line[1], v, places[4])
        _place(tree, tasks, places, q, out[n])


@flat_kernel
def scatter_closed(ints, reals, work, seed, stride, settings, start, drivers, wanted, q, out):
    """As :func:`scatter` where tasks behind the first keep loops closed, as they are at ``start``.

    The columns ``drivers`` go from there to random values, in strides so short that the loops,
    closed anew after each by a search with ``settings``, stay put together as they are. Where they
    close no more, the last posture that was closed counts. ``wanted`` (rows: values, steps, last
    posture) and ``q`` are room.
    """
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    tasks, places = open_tasks(ints, reals), open_places(ints, work)
    dofq, dof, lo, hi = columns[1], columns[2], columns[4], columns[5]
    value, low, high, last, found = wanted[0], wanted[1], wanted[2], wanted[3], wanted[4]
    k = drivers.shape[0]
    for i in range(k):
        low[i], high[i] = lo[drivers[i]], hi[drivers[i]]
    for n in range(out.shape[0]):
        far = 0.0
        for a in range(q.shape[0]):
            q[a] = last[a] = start[a]
        for i in range(k):
            a, u = dofq[dof[drivers[i]]], chance(seed)
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
        _place(tree, tasks, places, last[: q.shape[0]], out[n])
    for i in range(k):
        lo[drivers[i]], hi[drivers[i]] = low[i], high[i]
