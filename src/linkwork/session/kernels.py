"""Compiled parts of the cycle: which watched signals moved, orientations as rotation vectors."""

from __future__ import annotations

from linkwork.jit import kernel
from linkwork.spatial.kernels import quat_rotvec


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
