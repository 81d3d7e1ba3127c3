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
from linkwork.kinematics.solve_kernels import search, throw
from linkwork.spatial.kernels import rotate


@flat_kernel
def scatter(ints, reals, work, seed, spread, settings, start, q, found, out):
    """Fills ``out`` (n×3) with where random postures take the frame of the first task [m].

    Where there are tasks behind it (loops to close), each posture is brought there first, by a
    search with ``settings``; one that does not get there is thrown anew, up to ``settings[1]``
    times.

    Returns:
        How many places were found.
    """
    tree, columns = open_tree(ints, reals), open_columns(ints, reals)
    what, how = open_tasks(ints, reals)[0], open_tasks(ints, reals)[1]
    places = open_places(ints, work)
    _, _, _, line, v, _ = open_system(ints, work)
    b = what[0, BODY]
    loops = what.shape[0] > 1
    tries = int(settings[1])
    settings[1] = 1.0
    for n in range(out.shape[0]):
        closed = False
        for _ in range(tries):
            throw(tree, columns, ints[ROUND], start, seed, spread, q, line[1], v, places[4])
            if loops:
                search(ints, reals, work, seed, settings, q, found)
                closed = found[0] > 0.0
            if closed or not loops:
                break
        if loops and not closed:
            settings[1] = tries
            return n
        place_bodies(tree[0], tree[1], tree[2], tree[3], q, places[0], places[1], places[4])
        pose = places[0]
        x, y, z = rotate(pose[b, 3:], how[0, LOCAL], how[0, LOCAL + 1], how[0, LOCAL + 2])
        out[n, 0], out[n, 1], out[n, 2] = pose[b, 0] + x, pose[b, 1] + y, pose[b, 2] + z
    settings[1] = tries
    return out.shape[0]
