"""Compiled parts of the cycle: which signals moved, rotation vectors, what is kept of a run."""

from __future__ import annotations

from linkwork.jit import kernel
from linkwork.spatial.kernels import quat_rotvec

#: Columns of what is kept of a run: steps, widest gap, its loop and step, energy after the first
#: step, the least and the most since, and the last.
STEPS, GAP, LOOP, WHEN, FIRST, LEAST, MOST, LAST = 0, 1, 2, 3, 4, 5, 6, 7


@kernel
def moved(data, addresses, by, last, found):
    """Lists the watched numbers that moved by more than ``by`` since their last call.

    Fills ``found`` with their positions and remembers their values in ``last``; returns how many.
    """
    count = 0
    for n in range(addresses.shape[0]):
        value = data[addresses[n]]
        if abs(value - last[n]) > by[n]:
            last[n] = value
            found[count] = n
            count += 1
    return count


@kernel
def orientations(q, quaternions, out):
    """Rotation vectors [rad] of the quaternions that start at the listed coordinates."""
    for n in range(quaternions.shape[0]):
        a = quaternions[n]
        out[n, 0], out[n, 1], out[n, 2] = quat_rotvec(q[a : a + 4])


@kernel
def keep_run(run, gap, energy, step):
    """Adds a step to what is kept of a run; ``gap`` (2): how wide, and which loop."""
    total = run[LAST] = energy[0] + energy[1]
    if run[STEPS] == 0.0:
        run[FIRST] = run[LEAST] = run[MOST] = total
    run[STEPS] += 1.0
    run[LEAST] = min(run[LEAST], total)
    run[MOST] = max(run[MOST], total)
    if gap[0] > run[GAP]:
        run[GAP], run[LOOP], run[WHEN] = gap[0], gap[1], step
