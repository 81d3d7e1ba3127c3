"""What is kept of every step: how far joints were open, how fast they opened, what it took."""

from __future__ import annotations

import math

from linkwork.engines.impulse.body_kernels import MASS_INV, L, V, X, spin
from linkwork.engines.impulse.joint_columns import HARD, MODE, SIDES
from linkwork.engines.impulse.phase_kernels import APART, GAP, ITERATIONS, MOVING, WHERE
from linkwork.jit import flat_kernel

#: Columns of what is kept: steps, widest gap, its joint and step, largest speed of a hard row,
#: iterations, steps taken in pieces, steps after which more was open than allowed, those pieces,
#: energies of what the combined steps differ by and of all that moves, summed over steps [J].
STEPS, WIDEST, JOINT, STEP, FASTEST, ALL_ITERATIONS, HALVED, EXCEEDED = 0, 1, 2, 3, 4, 5, 6, 7
PIECES, ROUGHNESS, MOVED = 8, 9, 10
KEPT_COLUMNS = 11


@flat_kernel
def opening(bodies, whole, j):
    """The largest speed of any hard row, as bodies stand [m/s or rad/s].

    Infinite if any number of a body is none.
    """
    worst = 0.0
    for n in range(bodies.shape[0]):
        for k in range(X, L + 3):
            if not math.isfinite(bodies[n, k]):
                return math.inf
    for n in range(whole.shape[0]):
        for k in range(6):
            if whole[n, MODE + k] != HARD:
                continue
            speed = 0.0
            for side in range(whole[n, SIDES]):
                body = bodies[whole[n, side]]
                if body[MASS_INV] == 0.0:
                    continue
                row = j[n, side, k]
                wx, wy, wz = spin(body)
                speed += row[0] * body[V] + row[1] * body[V + 1] + row[2] * body[V + 2]
                speed += row[3] * wx + row[4] * wy + row[5] * wz
            if not abs(speed) <= worst:
                worst = abs(speed)
    return worst


@flat_kernel
def keep_account(account, speed, pieces, gap, speed_gap, step, kept):
    """Adds a step to what is kept; ``pieces`` is how many it had to be taken in."""
    kept[STEPS] += 1.0
    kept[ALL_ITERATIONS] += account[ITERATIONS]
    kept[ROUGHNESS] += account[APART]
    kept[MOVED] += account[MOVING]
    kept[FASTEST] = max(kept[FASTEST], speed)
    if account[GAP] > kept[WIDEST]:
        kept[WIDEST], kept[JOINT], kept[STEP] = account[GAP], account[WHERE], step
    if pieces > 1:
        kept[HALVED] += 1.0
        kept[PIECES] += pieces
    if account[GAP] > gap or speed > speed_gap:
        kept[EXCEEDED] += 1.0
