"""Energy of steps: what outer forces and laws along joints explain of it, and what nothing does."""

from __future__ import annotations

import math

from linkwork.engines.impulse import row_kernels as law
from linkwork.engines.impulse.body_kernels import (
    INERTIA_INV,
    LO,
    MASS_INV,
    QO,
    VO,
    XO,
    L,
    V,
    X,
    spin,
)
from linkwork.jit import flat_kernel

#: The part of its energy that a step may gain or lose without a reason.
_UNEXPLAINED = 0.05


@flat_kernel
def kinetic(bodies):
    """Kinetic energy of all bodies as they stand [J]."""
    energy = 0.0
    for n in range(bodies.shape[0]):
        body = bodies[n]
        if body[MASS_INV] > 0.0:
            wx, wy, wz = spin(body)
            energy += (body[V] ** 2 + body[V + 1] ** 2 + body[V + 2] ** 2) / body[MASS_INV]
            energy += wx * body[L] + wy * body[L + 1] + wz * body[L + 2]
    return 0.5 * energy


@flat_kernel
def mark(bodies):
    """Keeps where bodies stand, from where work is counted; returns their kinetic energy [J]."""
    for n in range(bodies.shape[0]):
        for i in range(3):
            bodies[n, XO + i] = bodies[n, X + i]
    return kinetic(bodies)


@flat_kernel
def _kinetic_before(bodies):
    """Kinetic energy of all bodies where the step started [J]."""
    energy = 0.0
    for n in range(bodies.shape[0]):
        body = bodies[n]
        if body[MASS_INV] == 0.0:
            continue
        energy += (body[VO] ** 2 + body[VO + 1] ** 2 + body[VO + 2] ** 2) / body[MASS_INV]
        w, x, y, z = body[QO], -body[QO + 1], -body[QO + 2], -body[QO + 3]
        lx, ly, lz = body[LO], body[LO + 1], body[LO + 2]
        tx, ty, tz = 2.0 * (y * lz - z * ly), 2.0 * (z * lx - x * lz), 2.0 * (x * ly - y * lx)
        energy += body[INERTIA_INV] * (lx + w * tx + y * tz - z * ty) ** 2
        energy += body[INERTIA_INV + 1] * (ly + w * ty + z * tx - x * tz) ** 2
        energy += body[INERTIA_INV + 2] * (lz + w * tz + x * ty - y * tx) ** 2
    return 0.5 * energy


@flat_kernel
def outer_work(bodies, wrench, h):
    """Work of outer forces since the step started, which was ``h`` ago [J]."""
    work = 0.0
    for n in range(bodies.shape[0]):
        body = bodies[n]
        if body[MASS_INV] == 0.0:
            continue
        wx, wy, wz = spin(body)
        for i in range(3):
            work += wrench[n, i] * (body[X + i] - body[XO + i])
        work += h * (wrench[n, 3] * wx + wrench[n, 4] * wy + wrench[n, 5] * wz)
    return work


@flat_kernel
def law_work(desk, soft_whole, soft, h):
    """Work of what acts along joints in the last leap, which took ``h``, and of stops [J]."""
    impulse = desk[7]
    work = stops = 0.0
    for n in range(soft.shape[0]):
        at, k = soft_whole[n, law.JOINT], soft_whole[n, law.ROW]
        given = impulse[at, k] * soft[n, law.WAY] / h
        if soft[n, law.STOP] != 0.0:
            stops += abs(impulse[at, k]) * (abs(soft[n, law.WAY]) / h + abs(soft[n, law.V0]))
        else:
            work += given
    return work, stops


@flat_kernel
def gained(mechanism, desk, soft_whole, soft, wrench, h, pieces):
    """Whether a step has changed the energy by much more than what acted in it explains.

    Joints do no work: where they seem to, the mechanism was put together in another way than it
    was. Of ``pieces`` of the step the last is known, and all count as much as it.
    """
    bodies = mechanism[0]
    before, after = _kinetic_before(bodies), kinetic(bodies)
    outer = outer_work(bodies, wrench, h)
    work, stops = law_work(desk, soft_whole, soft, h / pieces)
    work *= pieces
    scale = max(before, after) + abs(outer)
    allowed = _UNEXPLAINED * scale + 0.5 * abs(work) + pieces * stops
    return abs(after - before - outer - work) > allowed


@flat_kernel
def still(bodies, wrench, h):
    """What outer forces would give bodies at rest in ten steps [J]: less is as good as none."""
    energy = 0.0
    for n in range(bodies.shape[0]):
        pull = wrench[n, 0] ** 2 + wrench[n, 1] ** 2 + wrench[n, 2] ** 2
        energy += 50.0 * h * h * pull * bodies[n, MASS_INV]
    return energy


@flat_kernel
def strays(bodies, wrench, h, part):
    """Whether a step of joints alone has changed the energy by more than a part of it.

    Only outer forces do work then, and what it is they tell exactly. Where all nearly stands still,
    the part is one of what these forces would give in ten steps.
    """
    before, after = _kinetic_before(bodies), kinetic(bodies)
    scale, turned = max(before, after) + still(bodies, wrench, h), 0.0
    for n in range(bodies.shape[0]):
        body = bodies[n]
        if body[MASS_INV] == 0.0:
            continue
        wx, wy, wz = spin(body)
        turned += abs(wrench[n, 3] * wx) + abs(wrench[n, 4] * wy) + abs(wrench[n, 5] * wz)
    return abs(after - before - outer_work(bodies, wrench, h)) > part * scale + h * turned


@flat_kernel
def calm(mechanism, desk, soft_whole, soft, wrench, before, h):
    """Slows all bodies down, where joints that stay open have made them faster than they may be."""
    bodies = mechanism[0]
    after = kinetic(bodies)
    work, stops = law_work(desk, soft_whole, soft, h)
    allowed = max(0.0, before + outer_work(bodies, wrench, h) + work + 0.1 * abs(work)) + stops
    if after > allowed:
        slower = math.sqrt(allowed / after)
        for n in range(bodies.shape[0]):
            for i in range(3):
                bodies[n, V + i] *= slower
                bodies[n, L + i] *= slower
