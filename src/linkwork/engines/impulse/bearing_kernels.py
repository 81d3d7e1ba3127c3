"""What passes through joints: force and moment on the second body, from the impulses of a step."""

from __future__ import annotations

import math

from linkwork.engines.impulse.body_kernels import R, X
from linkwork.engines.impulse.joint_columns import (
    COUPLING,
    KIND,
    PB,
    SIZE,
    SPRING,
    TORSION_SPRING,
    B,
)
from linkwork.engines.impulse.joint_kernels import place
from linkwork.jit import flat_kernel

#: Columns of what passes through a joint: force [N], along x, y and z, moment [N m].
FORCE, ALONG, MOMENT = 0, 1, 4
BEARING_COLUMNS = 5


@flat_kernel
def give_bearings(bodies, whole, number, j, impulse, h, out):
    """Fills in what each joint puts on its second body, on average over a piece of ``h`` [s].

    Rows J give it the momentum Jᵀλ, of which the angular part is about its centre of mass; the
    moment is told about the joint's own point.
    """
    for n in range(whole.shape[0]):
        kind = whole[n, KIND]
        if kind == COUPLING or kind == SPRING or kind == TORSION_SPRING:
            continue
        fx = fy = fz = mx = my = mz = 0.0
        for k in range(whole[n, SIZE]):
            p = impulse[n, k] / h
            fx += p * j[n, 1, k, 0]
            fy += p * j[n, 1, k, 1]
            fz += p * j[n, 1, k, 2]
            mx += p * j[n, 1, k, 3]
            my += p * j[n, 1, k, 4]
            mz += p * j[n, 1, k, 5]
        b = whole[n, B]
        x, y, z = place(bodies, b, X, R, number, n, PB)
        x, y, z = x - bodies[b, X], y - bodies[b, X + 1], z - bodies[b, X + 2]
        mx, my, mz = mx - (y * fz - z * fy), my - (z * fx - x * fz), mz - (x * fy - y * fx)
        row = out[n]
        row[FORCE] = math.sqrt(fx * fx + fy * fy + fz * fz)
        row[ALONG], row[ALONG + 1], row[ALONG + 2] = fx, fy, fz
        row[MOMENT] = math.sqrt(mx * mx + my * my + mz * mz)
