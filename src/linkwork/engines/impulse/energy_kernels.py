"""Energy balance of steps: work of external forces and joint laws, unexplained gain."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel
from linkwork.engines.impulse import joint_law_kernels as law
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
    angular_velocity,
)

#: Relative change of energy that a step may have beyond the work done.
_UNEXPLAINED = 0.05


@flat_kernel
def kinetic_energy(bodies):
    """Returns the kinetic energy of all bodies [J]."""
    energy = 0.0
    for n in range(bodies.shape[0]):
        body = bodies[n]
        if body[MASS_INV] > 0.0:
            wx, wy, wz = angular_velocity(body)
            energy += (body[V] ** 2 + body[V + 1] ** 2 + body[V + 2] ** 2) / body[MASS_INV]
            energy += wx * body[L] + wy * body[L + 1] + wz * body[L + 2]
    return 0.5 * energy


@flat_kernel
def save_energy_start(bodies):
    """Saves the poses from which work is counted; returns the kinetic energy [J]."""
    for n in range(bodies.shape[0]):
        for i in range(3):
            bodies[n, XO + i] = bodies[n, X + i]
    return kinetic_energy(bodies)


@flat_kernel
def _kinetic_energy_at_start(bodies):
    """Returns the kinetic energy of all bodies at the start of the step [J]."""
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
def external_work(bodies, wrench, h):
    """Returns the work of external forces since the start of the step, ``h`` ago [J]."""
    work = 0.0
    for n in range(bodies.shape[0]):
        body = bodies[n]
        if body[MASS_INV] == 0.0:
            continue
        wx, wy, wz = angular_velocity(body)
        for i in range(3):
            work += wrench[n, i] * (body[X + i] - body[XO + i])
        work += h * (wrench[n, 3] * wx + wrench[n, 4] * wy + wrench[n, 5] * wz)
    return work


@flat_kernel
def joint_law_work(workspace, row_ints, row_reals, h):
    """Returns the work of joint laws and limits in the last substep of length ``h`` [J]."""
    _, _, _, _, _, _, _, impulse, _, _ = workspace
    work = stops = 0.0
    for n in range(row_reals.shape[0]):
        at, k = row_ints[n, law.JOINT], row_ints[n, law.ROW]
        given = impulse[at, k] * row_reals[n, law.DISPLACEMENT] / h
        if row_reals[n, law.STOP] != 0.0:
            stops += abs(impulse[at, k]) * (
                abs(row_reals[n, law.DISPLACEMENT]) / h + abs(row_reals[n, law.V0])
            )
        else:
            work += given
    return work, stops


@flat_kernel
def gains_energy(mechanism, workspace, row_ints, row_reals, wrench, h, count):
    """Returns whether a step changed the energy by much more than the work done in it.

    Joints do no work: if they seem to, the mechanism has changed its assembly. Only the last of the
    ``count`` substeps is known; each is assumed to do the same work.
    """
    bodies, _, _, _ = mechanism
    before, after = _kinetic_energy_at_start(bodies), kinetic_energy(bodies)
    outer = external_work(bodies, wrench, h)
    work, stops = joint_law_work(workspace, row_ints, row_reals, h / count)
    work *= count
    scale = max(before, after) + abs(outer)
    allowed = _UNEXPLAINED * scale + 0.5 * abs(work) + count * stops
    return abs(after - before - outer - work) > allowed


@flat_kernel
def rest_energy(bodies, wrench, h):
    """Returns the energy that external forces would give bodies at rest in ten steps [J]."""
    energy = 0.0
    for n in range(bodies.shape[0]):
        pull = wrench[n, 0] ** 2 + wrench[n, 1] ** 2 + wrench[n, 2] ** 2
        energy += 50.0 * h * h * pull * bodies[n, MASS_INV]
    return energy


@flat_kernel
def drifts_in_energy(bodies, wrench, h, part):
    """Returns whether a step of ideal joints changed the energy by more than a share of it.

    Only external forces do work then, which is known exactly. Near rest the share is one of the
    energy that these forces would give in ten steps.
    """
    before, after = _kinetic_energy_at_start(bodies), kinetic_energy(bodies)
    scale, turned = max(before, after) + rest_energy(bodies, wrench, h), 0.0
    for n in range(bodies.shape[0]):
        body = bodies[n]
        if body[MASS_INV] == 0.0:
            continue
        wx, wy, wz = angular_velocity(body)
        turned += abs(wrench[n, 3] * wx) + abs(wrench[n, 4] * wy) + abs(wrench[n, 5] * wz)
    return abs(after - before - external_work(bodies, wrench, h)) > part * scale + h * turned


@flat_kernel
def limit_energy(mechanism, workspace, row_ints, row_reals, wrench, before, h):
    """Slows all bodies down if open joints gave them more energy than the work done."""
    bodies, _, _, _ = mechanism
    after = kinetic_energy(bodies)
    work, stops = joint_law_work(workspace, row_ints, row_reals, h)
    allowed = max(0.0, before + external_work(bodies, wrench, h) + work + 0.1 * abs(work)) + stops
    if after > allowed:
        slower = math.sqrt(allowed / after)
        for n in range(bodies.shape[0]):
            for i in range(3):
                bodies[n, V + i] *= slower
                bodies[n, L + i] *= slower
