"""Report of a step: constraint errors since the start, joint reaction forces."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel
from linkwork.engines.impulse.body_kernels import MASS_INV, L, R, V, X, angular_velocity
from linkwork.engines.impulse.constraint_kernels import (
    ENERGY_SCALE,
    FREQUENCY,
    GAP,
    GAP_JOINT,
    ITERATIONS,
    REDUCED,
    REMOVED_ENERGY,
    SOLVED_DIRECTLY,
    SPREAD_ENERGY,
    SPRING_ENERGY,
    SPRING_JOINT,
    SPRING_MOTION,
    SPRING_SUBSTEPS,
    STOPPED,
    TOTAL_ENERGY,
    UNRESOLVED,
)
from linkwork.engines.impulse.joint_kernels import world_point
from linkwork.engines.impulse.mechanism import (
    COUPLING,
    HARD,
    KIND,
    MODE,
    PB,
    SIDES,
    SIZE,
    SPRING,
    TORSION_SPRING,
    B,
)

#: Columns of the accuracy: steps, largest gap, its joint and step, largest velocity of a hard row,
#: iterations, subdivided steps, steps beyond the tolerance, substeps, sums over steps of the energy
#: of the extrapolation difference and of the kinetic energy [J]; highest frequency of springs
#: [rad/s] and its joint, steps of reduced order, steps that do not resolve springs, sums of the
#: energies by which these are stretched in a step and that they hold [J], steps that stopped any,
#: steps of the anytime solver that were solved directly, steps and substeps that resolve springs,
#: removed energy and the largest energy it is compared with [J].
STEPS, LARGEST_GAP, JOINT, STEP, LARGEST_SPEED_GAP, ALL_ITERATIONS, HALVED, EXCEEDED = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
)
SUBSTEPS, ROUGHNESS, KINETIC_SUM = 8, 9, 10
HIGHEST_FREQUENCY, OSCILLATING_JOINT, REDUCED_STEPS, UNRESOLVED_STEPS = 11, 12, 13, 14
MOTION_SUM, SPRING_SUM, STOPPED_STEPS = 15, 16, 17
DIRECT_STEPS, RESOLVING_STEPS, RESOLVING_SUBSTEPS = 18, 19, 20
REMOVED_SUM, LARGEST_ENERGY = 21, 22
ACCURACY_COLUMNS = 23


@flat_kernel
def largest_constraint_velocity(bodies, joint_ints, j):
    """Returns the largest velocity of any hard row [m/s or rad/s]; infinite if not finite."""
    worst = 0.0
    for n in range(bodies.shape[0]):
        for k in range(X, L + 3):
            if not math.isfinite(bodies[n, k]):
                return math.inf
    for n in range(joint_ints.shape[0]):
        for k in range(6):
            if joint_ints[n, MODE + k] != HARD:
                continue
            speed = 0.0
            for side in range(joint_ints[n, SIDES]):
                body = bodies[joint_ints[n, side]]
                if body[MASS_INV] == 0.0:
                    continue
                row = j[n, side, k]
                wx, wy, wz = angular_velocity(body)
                speed += row[0] * body[V] + row[1] * body[V + 1] + row[2] * body[V + 2]
                speed += row[3] * wx + row[4] * wy + row[5] * wz
            if not abs(speed) <= worst:
                worst = abs(speed)
    return worst


@flat_kernel
def accumulate_accuracy(stats, speed, substeps, gap, speed_gap, step, kept):
    """Adds a step, taken in ``substeps`` substeps, to the accuracy."""
    kept[STEPS] += 1.0
    kept[ALL_ITERATIONS] += stats[ITERATIONS]
    kept[ROUGHNESS] += stats[SPREAD_ENERGY]
    kept[KINETIC_SUM] += stats[TOTAL_ENERGY]
    kept[MOTION_SUM] += stats[SPRING_MOTION]
    kept[SPRING_SUM] += stats[SPRING_ENERGY]
    kept[STOPPED_STEPS] += stats[STOPPED]
    kept[DIRECT_STEPS] += stats[SOLVED_DIRECTLY]
    kept[REMOVED_SUM] += stats[REMOVED_ENERGY]
    kept[LARGEST_ENERGY] = max(kept[LARGEST_ENERGY], stats[ENERGY_SCALE])
    if stats[SPRING_SUBSTEPS] > 1.0 and substeps == 1:
        kept[RESOLVING_STEPS] += 1.0
        kept[RESOLVING_SUBSTEPS] += stats[SPRING_SUBSTEPS]
    kept[REDUCED_STEPS] += min(stats[REDUCED], 1.0)
    kept[UNRESOLVED_STEPS] += min(stats[UNRESOLVED], 1.0)
    if stats[FREQUENCY] > kept[HIGHEST_FREQUENCY]:
        kept[HIGHEST_FREQUENCY], kept[OSCILLATING_JOINT] = stats[FREQUENCY], stats[SPRING_JOINT]
    kept[LARGEST_SPEED_GAP] = max(kept[LARGEST_SPEED_GAP], speed)
    if stats[GAP] > kept[LARGEST_GAP]:
        kept[LARGEST_GAP], kept[JOINT], kept[STEP] = stats[GAP], stats[GAP_JOINT], step
    if substeps > 1:
        kept[HALVED] += 1.0
        kept[SUBSTEPS] += substeps
    if stats[GAP] > gap or speed > speed_gap:
        kept[EXCEEDED] += 1.0


#: Columns of joint reactions: force [N], its x, y and z components, moment [N m].
FORCE, FORCE_XYZ, MOMENT = 0, 1, 4
REACTION_COLUMNS = 5


@flat_kernel
def write_reactions(bodies, joint_ints, joint_reals, j, impulse, h, out):
    """Computes the mean reaction of each joint on its second body over a substep of ``h`` [s].

    Rows J give the body the momentum Jᵀλ, whose angular part is about its center of mass; the
    reported moment is about the joint's own point.
    """
    for n in range(joint_ints.shape[0]):
        kind = joint_ints[n, KIND]
        if kind == COUPLING or kind == SPRING or kind == TORSION_SPRING:
            continue
        fx = fy = fz = mx = my = mz = 0.0
        for k in range(joint_ints[n, SIZE]):
            p = impulse[n, k] / h
            fx += p * j[n, 1, k, 0]
            fy += p * j[n, 1, k, 1]
            fz += p * j[n, 1, k, 2]
            mx += p * j[n, 1, k, 3]
            my += p * j[n, 1, k, 4]
            mz += p * j[n, 1, k, 5]
        b = joint_ints[n, B]
        x, y, z = world_point(bodies, b, X, R, joint_reals, n, PB)
        x, y, z = x - bodies[b, X], y - bodies[b, X + 1], z - bodies[b, X + 2]
        mx, my, mz = mx - (y * fz - z * fy), my - (z * fx - x * fz), mz - (x * fy - y * fx)
        row = out[n]
        row[FORCE] = math.sqrt(fx * fx + fy * fy + fz * fz)
        row[FORCE_XYZ], row[FORCE_XYZ + 1], row[FORCE_XYZ + 2] = fx, fy, fz
        row[MOMENT] = math.sqrt(mx * mx + my * my + mz * mz)
