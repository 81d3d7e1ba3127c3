"""Energy balance of steps: work of external forces and joint laws, unexplained gain."""

from __future__ import annotations

import math

from linkwork.core.jit import flat_kernel, inner_kernel
from linkwork.engines.impulse import joint_law_kernels as law
from linkwork.engines.impulse.body_kernels import (
    INERTIA_INV,
    LO,
    MASS_INV,
    QO,
    VO,
    XO,
    L,
    Q,
    R,
    V,
    X,
    angular_velocity,
    rotation_matrix,
    world_inverse_inertia,
)
from linkwork.engines.impulse.constraint_kernels import SPRING_ENERGY, SPRING_MOTION
from linkwork.engines.impulse.frame_kernels import coordinate, joint_frames
from linkwork.engines.impulse.joint_kernels import constraint_velocity
from linkwork.engines.impulse.mechanism import SIDES

#: Relative change of energy that a step may have beyond the work done.
_UNEXPLAINED = 0.05

#: Relative energy that may be left when an island is stopped, and a gain that is not removed yet.
_NEGLIGIBLE, _UNNOTICED = 1e-4, 1e-7


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
def save_step_start(bodies):
    """Saves the state at the start of a step."""
    for n in range(bodies.shape[0]):
        body = bodies[n]
        for i in range(3):
            body[XO + i], body[VO + i], body[LO + i] = body[X + i], body[V + i], body[L + i]
        for i in range(4):
            body[QO + i] = body[Q + i]


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


@inner_kernel
def _spring_energies(
    mechanism, workspace, scratch, row_ints, row_reals, island_of, begin, kinetic, energy
):  # fmt: skip
    """Sets ``energy`` to the energies of springs, and adds those of rotors to ``kinetic`` [J].

    With ``begin`` the present coordinates are kept as FROM, else as TO.
    """
    bodies, joint_ints, joint_reals, rail = mechanism
    jacobian, _, _, _, _, _, _, _, _, _ = workspace
    frame, ride, _, six = scratch
    energy[:] = 0.0
    last = -1
    for n in range(row_reals.shape[0]):
        row, at, k = row_reals[n], row_ints[n, law.JOINT], row_ints[n, law.ROW]
        if at != last:
            joint_frames(bodies, joint_ints[at], joint_reals[at], rail, False, frame, ride)
            constraint_velocity(bodies, joint_ints, jacobian, at, six, 0)
            last = at
        q = coordinate(
            joint_ints[at], frame, k, row[law.Q0] + row[law.DISPLACEMENT], joint_reals[at]
        )
        if begin:
            row[law.FROM] = q
        else:
            row[law.TO] = q
        stretch, speed = q - row[law.REST], six[0, k]
        i = island_of_joint(joint_ints, island_of, at)
        energy[i] += 0.5 * row[law.STIFFNESS] * stretch * stretch
        kinetic[i] += 0.5 * row[law.ROTOR] * speed * speed


@flat_kernel
def island_of_joint(joint_ints, island_of, at):
    """Returns the island of a joint: that of any of its moving bodies."""
    found = island_of[joint_ints[at, 0]]
    for side in range(1, joint_ints[at, SIDES]):
        found = max(found, island_of[joint_ints[at, side]])
    return found


@inner_kernel
def island_energies(
    mechanism, workspace, scratch, row_ints, row_reals, island_of, begin, kinetic, energy
):  # fmt: skip
    """Computes the kinetic energy of each island, and its sum with the energy of springs [J]."""
    bodies, _, _, _ = mechanism
    kinetic[:] = 0.0
    for n in range(bodies.shape[0] - 1):
        body = bodies[n]
        wx, wy, wz = angular_velocity(body)
        square = (body[V] ** 2 + body[V + 1] ** 2 + body[V + 2] ** 2) / body[MASS_INV]
        square += wx * body[L] + wy * body[L + 1] + wz * body[L + 2]
        kinetic[island_of[n]] += 0.5 * square
    _spring_energies(
        mechanism, workspace, scratch, row_ints, row_reals, island_of, begin, kinetic, energy
    )  # fmt: skip
    for i in range(energy.shape[0]):
        energy[i] += kinetic[i]


@inner_kernel
def _allow_work(bodies, joint_ints, row_ints, row_reals, drive, wrench, island_of, allowed, h):
    """Adds the work of external forces and drives since the start of the step to ``allowed`` [J].

    The work of a drive is known only roughly, that of a prescribed row not at all: it is infinite.
    """
    for n in range(bodies.shape[0] - 1):
        body = bodies[n]
        wx, wy, wz = angular_velocity(body)
        work = h * (wrench[n, 3] * wx + wrench[n, 4] * wy + wrench[n, 5] * wz)
        for i in range(3):
            work += wrench[n, i] * (body[X + i] - body[XO + i])
        allowed[island_of[n]] += work
    for n in range(row_reals.shape[0]):
        row, i = row_reals[n], island_of_joint(joint_ints, island_of, row_ints[n, law.JOINT])
        if row_ints[n, law.ROW_MODE] == law.PRESCRIBED:
            allowed[i] = math.inf
            continue
        push_by = drive[:, row_ints[n, law.DOF]]
        if push_by[0] == 0.0 and push_by[1] == 0.0 and push_by[2] == 0.0:
            continue
        displacement = row[law.TO] - row[law.FROM]
        middle = 0.5 * (row[law.TO] + row[law.FROM])
        push = push_by[0] - push_by[1] * middle - push_by[2] * displacement / h
        push = min(max(push, push_by[3]), push_by[4])
        allowed[i] += push * displacement + 0.5 * abs(push * displacement)


@flat_kernel
def limit_island_energies(
    mechanism, workspace, scratch, row_ints, row_reals, drive, wrench, islands, h, allowed,
    returned, coarse, most,
):  # fmt: skip
    """Slows islands down that have gained more energy than the work of the steps.

    The gain of an island is summed over steps. The part beyond the share ``allowed`` of its largest
    energy in the last thousand steps is removed, up to the share ``most`` of the kinetic energy in
    one step. Energy lost before may return, up to the share ``returned``: errors of resolved
    motions oscillate, and removing each rise would damp them. Returns False, and changes nothing,
    if the gain of this step exceeds the share ``coarse``, or cannot be removed although ``most``
    is 1.
    """
    bodies, joint_ints, _, _ = mechanism
    island_of, before, kinetic, after, gain, scale = islands
    island_energies(
        mechanism, workspace, scratch, row_ints, row_reals, island_of, False, kinetic, after
    )
    _allow_work(bodies, joint_ints, row_ints, row_reals, drive, wrench, island_of, before, h)
    for i in range(before.shape[0]):
        excess, size = after[i] - before[i], max(after[i], 0.999 * scale[i])
        over = max(gain[i] + excess, excess) - allowed * size
        beyond = over > kinetic[i] + _NEGLIGIBLE * size
        if excess > coarse * size or (most == 1.0 and coarse < math.inf and beyond):
            return False
    for i in range(before.shape[0]):
        scale[i] = max(after[i], 0.999 * scale[i])
        if before[i] == math.inf:  # prescribed motion: its work is unknown
            before[i] = 1.0
            continue
        total = max(gain[i] + after[i] - before[i], -returned * scale[i])
        removed = min(max(total - allowed * scale[i], 0.0), most * kinetic[i])
        if total <= (allowed + _UNNOTICED) * scale[i]:
            removed = 0.0
        gain[i] = total - removed
        before[i] = math.sqrt(max(0.0, 1.0 - removed / kinetic[i])) if removed > 0.0 else 1.0
    for n in range(bodies.shape[0] - 1):
        slower = before[island_of[n]]
        if slower < 1.0:
            for i in range(3):
                bodies[n, V + i] *= slower
                bodies[n, L + i] *= slower
    for n in range(row_reals.shape[0]):
        row_reals[n, law.CARRIED_FORCE] *= before[
            island_of_joint(joint_ints, island_of, row_ints[n, law.JOINT])
        ]
    return True


@flat_kernel
def stop_islands(mechanism, row_ints, row_reals, islands):
    """Returns islands to the start of the step, at rest, whose gain is beyond all removal.

    They have stored more energy in springs than they had in all; the next step begins anew. Returns
    whether there was such an island.
    """
    bodies, joint_ints, _, _ = mechanism
    island_of, _, _, _, gain, scale = islands
    for n in range(bodies.shape[0] - 1):
        i, body = island_of[n], bodies[n]
        if gain[i] > _NEGLIGIBLE * scale[i]:
            for k in range(3):
                body[X + k], body[V + k], body[L + k] = body[XO + k], 0.0, 0.0
            for k in range(4):
                body[Q + k] = body[QO + k]
            rotation_matrix(body, Q, R)
            world_inverse_inertia(body)
    for n in range(row_reals.shape[0]):
        i = island_of_joint(joint_ints, island_of, row_ints[n, law.JOINT])
        if gain[i] > _NEGLIGIBLE * scale[i]:
            row = row_reals[n]
            row[law.Q0], row[law.DISPLACEMENT], row[law.CARRIED_FORCE] = row[law.FROM], 0.0, 0.0
    stopped = False
    for i in range(gain.shape[0]):
        if gain[i] > _NEGLIGIBLE * scale[i]:
            gain[i], stopped = 0.0, True
    return stopped


@flat_kernel
def add_spring_motion(row_reals, stats):
    """Adds the energies by which marked springs are stretched in a step, and that they hold [J].

    A large ratio indicates an oscillation that the step does not resolve; a spring that only holds
    a load has a small one.
    """
    for n in range(row_reals.shape[0]):
        row = row_reals[n]
        k = row[law.PROBE] * row[law.PROBE]
        if k > 0.0:
            moved, stretch = row[law.TO] - row[law.FROM], row[law.FROM] - row[law.REST]
            stats[SPRING_MOTION] += 0.5 * k * moved * moved
            stats[SPRING_ENERGY] += 0.5 * k * max(stretch * stretch, moved * moved)
