"""Kernels of the cycle: changes of watched signals, statistics of a run.

They read the state's flat array ``data`` at addresses resolved before the first step, so that no
step looks up a name.
"""

from __future__ import annotations

from linkwork.core.jit import kernel
from linkwork.geometry.kernels import quat_rotvec

#: Columns of the run statistics: steps, largest gap, its loop and step, energy after the first
#: step, its minimum and maximum since, and the last.
(
    RUN_STEPS,
    RUN_GAP,
    RUN_LOOP,
    RUN_GAP_STEP,
    RUN_FIRST_ENERGY,
    RUN_MIN_ENERGY,
    RUN_MAX_ENERGY,
    RUN_LAST_ENERGY,
) = 0, 1, 2, 3, 4, 5, 6, 7


@kernel
def changed_signals(data, addresses, by, last, found):
    """Lists the watched signals that changed by more than ``by`` since their last call.

    Fills ``found`` with their positions and ``last`` with their values; returns their number.
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
def update_run_stats(run, gap, energy, step):
    """Updates the run statistics; ``gap`` (2): width [m] and loop."""
    total = run[RUN_LAST_ENERGY] = energy[0] + energy[1]
    if run[RUN_STEPS] == 0.0:
        run[RUN_FIRST_ENERGY] = run[RUN_MIN_ENERGY] = run[RUN_MAX_ENERGY] = total
    run[RUN_STEPS] += 1.0
    run[RUN_MIN_ENERGY] = min(run[RUN_MIN_ENERGY], total)
    run[RUN_MAX_ENERGY] = max(run[RUN_MAX_ENERGY], total)
    if gap[0] > run[RUN_GAP]:
        run[RUN_GAP], run[RUN_LOOP], run[RUN_GAP_STEP] = gap[0], gap[1], step
