"""Compiled sampling of the places that a point can reach."""

from __future__ import annotations

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
from linkwork.kinematics.solve_kernels import throw
from linkwork.spatial.kernels import rotate


@flat_kernel
def scatter(ints, reals, work, seed, spread, start, q, out):
    """Fills ``out`` (n×3) with where random postures take the frame of the first task [m]."""
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    what, how = open_tasks(ints, reals)[0], open_tasks(ints, reals)[1]
    places = open_places(ints, work)
    _, _, _, line, v, _ = open_system(ints, work)
    b = what[0, BODY]
    for n in range(out.shape[0]):
        throw(tree, columns, ints[ROUND], start, seed, spread, q, line[1], v, places[4])
        place_bodies(tree[0], tree[1], tree[2], tree[3], q, places[0], places[1], places[4])
        pose = places[0]
        x, y, z = rotate(pose[b, 3:], how[0, LOCAL], how[0, LOCAL + 1], how[0, LOCAL + 2])
        out[n, 0], out[n, 1], out[n, 2] = pose[b, 0] + x, pose[b, 1] + y, pose[b, 2] + z
