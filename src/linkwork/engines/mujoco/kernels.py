"""Compiled copying between our state and MuJoCo's arrays."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import kernel
from linkwork.kinematics.kernels import forward_poses, forward_twists
from linkwork.spatial.kernels import quat_rotvec, relative, rotate, rotate_back

#: What :func:`finish_step` found.
SETTLED, DIVERGED, AGAIN = 0, 1, 2


@kernel
def prepare_step(
    q_map, v_map, driven, side, first, explicit, saturation, laws, damping, q, v, drive,
    qpos, qvel, stiffness, damper, push,
):  # fmt: skip
    """Writes our coordinates and affine efforts into MuJoCo's arrays.

    An effort b − kp·q − kd·v becomes a force, a spring and a damper of its joint, which MuJoCo's
    discrete integrator evaluates at the end of the step. ``driven`` (n×4): our degree of freedom,
    MuJoCo's joint, coordinate and degree of freedom. ``side`` says whether the effort is thought
    to end within its limits (0), at its highest (1) or its lowest (−1); ``first`` takes it from
    the last step. ``explicit`` takes the effort as it is now, within its limits, in place of the
    law; only for degrees of freedom that have one coordinate.
    """
    for n in range(q_map.shape[0]):
        qpos[q_map[n, 1]] = q[q_map[n, 0]]
    for n in range(v_map.shape[0]):
        qvel[v_map[n, 1]] = v[v_map[n, 0]]
    for n in range(driven.shape[0]):
        i = driven[n, 0]
        if first:
            side[n] = saturation[n]
        force, kp, kd = drive[0, i], drive[1, i], drive[2, i]
        if explicit:
            force -= kp * qpos[driven[n, 2]] + kd * qvel[driven[n, 3]]
            force = min(max(force, drive[3, i]), drive[4, i])
            kp, kd, side[n] = 0.0, 0.0, 0.0
        if side[n] != 0.0:
            limit = drive[4, i] if side[n] > 0.0 else drive[3, i]
            if abs(limit) < math.inf:
                force, kp, kd = limit, 0.0, 0.0
            else:
                side[n] = 0.0
        stiffness[driven[n, 1]] = laws[i, 0] + kp
        damper[driven[n, 3]] = damping[i] + kd
        push[driven[n, 3]] = force + laws[i, 0] * laws[i, 1]


@kernel
def _choose_sides(driven, side, drive, qpos, qvel):
    """Compares each drive's law at the end of the step with its limits; false if one was wrong."""
    right = True
    for n in range(driven.shape[0]):
        i = driven[n, 0]
        law = drive[0, i] - drive[1, i] * qpos[driven[n, 2]] - drive[2, i] * qvel[driven[n, 3]]
        found = 0.0
        if law > drive[4, i]:
            found = 1.0
        elif law < drive[3, i]:
            found = -1.0
        if found != side[n]:  # from one limit to the other it goes by the law between them
            side[n] = found if side[n] == 0.0 else 0.0
            right = False
    return right


@kernel
def finish_step(
    index, frame, rail, com, q_map, v_map, driven, side, drive, laws, damping,
    prescribed, qaddr, q_next, v_next, qpos, qvel, warm,
    q, v, acceleration, effort, warmstart, saturation, pose, twist, h, last,
):  # fmt: skip
    """Reads MuJoCo's coordinates into ours and makes poses, twists and efforts fit them.

    Returns ``DIVERGED`` if a number is not finite or beyond 1e10, and ``AGAIN`` (unless this is
    the ``last`` try) if a drive ended on another side of its limits than was thought; nothing but
    ``side`` has changed then. Prescribed degrees of freedom are put exactly where they were told
    to go. ``laws`` (nv×4): stiffness, rest, first number of a ball's quaternion in ``q`` or −1,
    and which of its axes.
    """
    for n in range(qpos.shape[0]):
        if not abs(qpos[n]) < 1e10:
            return DIVERGED
    for n in range(qvel.shape[0]):
        if not abs(qvel[n]) < 1e10:
            return DIVERGED
    if not _choose_sides(driven, side, drive, qpos, qvel) and not last:
        return AGAIN
    for n in range(q_map.shape[0]):
        q[q_map[n, 0]] = qpos[q_map[n, 1]]
    for n in range(v_map.shape[0]):
        i = v_map[n, 0]
        speed = qvel[v_map[n, 1]]
        acceleration[i] = (speed - v[i]) / h
        v[i] = speed
    for n in range(prescribed.shape[0]):
        i = prescribed[n]
        q[qaddr[i]] = q_next[qaddr[i]]
        v[i] = v_next[i]
    for n in range(v_map.shape[0]):
        i = v_map[n, 0]
        effort[i] = -damping[i] * v[i]
        if laws[i, 0] > 0.0:
            effort[i] -= laws[i, 0] * _stretch(laws[i], q, qaddr[i])
    for n in range(driven.shape[0]):
        i = driven[n, 0]
        law = drive[0, i] - drive[1, i] * q[qaddr[i]] - drive[2, i] * v[i]
        effort[i] += min(max(law, drive[3, i]), drive[4, i])
        saturation[n] = side[n]
    for n in range(warm.shape[0]):
        warmstart[n] = warm[n]
    forward_poses(index, frame, rail, q, pose)
    forward_twists(index, frame, rail, com, q, v, pose, twist)
    return SETTLED


@kernel
def _stretch(law, q, a):
    """How far a joint's spring is from its rest [rad or m]."""
    first = int(law[2])
    if first < 0:
        return q[a] - law[1]
    turn = quat_rotvec(q[first : first + 4])
    return turn[int(law[3])]


@kernel
def add_friction(first, count, dof_of, force, v_map, effort):
    """Adds Coulomb friction, the ``count`` constraints after ``first``, to the efforts."""
    for n in range(v_map.shape[0]):
        for row in range(first, first + count):
            if dof_of[row] == v_map[n, 1]:
                effort[v_map[n, 0]] += force[row]


@kernel
def foreign_speeds(bodies, pose, twist, com, out):
    """Fills ``out`` (n×6) with velocities of bodies as MuJoCo's free joints hold them."""
    for n in range(bodies.shape[0]):
        b = bodies[n]
        quat = pose[b, 3:]
        rx, ry, rz = rotate(quat, com[b, 0], com[b, 1], com[b, 2])
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        out[n, 0] = twist[b, 0] - (wy * rz - wz * ry)
        out[n, 1] = twist[b, 1] - (wz * rx - wx * rz)
        out[n, 2] = twist[b, 2] - (wx * ry - wy * rx)
        out[n, 3], out[n, 4], out[n, 5] = rotate_back(quat, wx, wy, wz)


@kernel
def foreign_motion(bodies, ahead, seen_pose, pose, last, h, start, end):
    """Finds how bodies that others move go through this step.

    Those whose engine is ``ahead`` have reached their new pose: their speed is what takes them
    there. Others, whose speeds at the start are in ``start``, go on accelerating as they did;
    ``last`` (n×6) holds the speeds of the step before.
    """
    move = np.empty(7)
    for n in range(bodies.shape[0]):
        b = bodies[n]
        if not ahead[n]:
            for k in range(6):
                end[n, k] = 2.0 * start[n, k] - last[n, k]
            continue
        relative(seen_pose[b], pose[b], move)
        rx, ry, rz = quat_rotvec(move[3:])
        end[n, 3], end[n, 4], end[n, 5] = rx / h, ry / h, rz / h
        for k in range(3):
            end[n, k] = (pose[b, k] - seen_pose[b, k]) / h
        for k in range(6):
            start[n, k] = last[n, k]


@kernel
def place_foreign(bodies, q_to, v_to, pose, start, end, h, heavy, qpos, qvel, push):
    """Writes bodies that others move into MuJoCo's free joints.

    ``push`` gets the force under which the infinite mass changes its speed from ``start`` to
    ``end``, so that what rides on it does not lag.
    """
    for n in range(bodies.shape[0]):
        a, i = q_to[n], v_to[n]
        for k in range(7):
            qpos[a + k] = pose[bodies[n], k]
        for k in range(6):
            qvel[i + k] = start[n, k]
            push[i + k] = heavy * (end[n, k] - start[n, k]) / h


@kernel
def read_contacts(
    count, geom, pos, frame, dist, address, dim, force, geom_body, geom_element, rows, table,
):  # fmt: skip
    """Adds MuJoCo's contacts (elliptic cones) to our table after ``rows``.

    Returns the rows that were wanted: more than the table has if it was too small.
    """
    for n in range(count):
        g1, g2 = geom[n, 0], geom[n, 1]
        if g1 < 0 or g2 < 0 or address[n] < 0:
            continue
        rows += 1
        if rows > table.shape[0]:
            continue
        row = table[rows - 1]
        row[0] = geom_body[g1]
        row[1] = geom_body[g2]
        row[2] = geom_element[g1]
        row[3] = geom_element[g2]
        for k in range(3):
            row[4 + k] = pos[n, k]
            row[7 + k] = frame[n, k]
        row[10] = -dist[n]
        row[11] = force[address[n]]
        row[12] = force[address[n] + 1] if dim[n] > 1 else 0.0
        row[13] = force[address[n] + 2] if dim[n] > 1 else 0.0
    return rows


@kernel
def add_energies(
    bodies, pose, twist, mass, first_mass, com, inertia, gravity, dofs, qaddr, q, v, laws,
    armature, energy,
):  # fmt: skip
    """Adds kinetic and potential energy [J] of the listed bodies and their joints.

    ``inertia`` belongs to ``first_mass`` and grows with the mass; joints add their springs and
    rotors. A ball's spring counts by each axis.
    """
    kinetic = 0.0
    potential = 0.0
    for n in range(bodies.shape[0]):
        b = bodies[n]
        if mass[b] == 0.0:
            continue
        quat = pose[b, 3:]
        vx, vy, vz = twist[b, 0], twist[b, 1], twist[b, 2]
        wx, wy, wz = rotate_back(quat, twist[b, 3], twist[b, 4], twist[b, 5])
        i = inertia[b]
        turning = (
            wx * (i[0, 0] * wx + i[0, 1] * wy + i[0, 2] * wz)
            + wy * (i[1, 0] * wx + i[1, 1] * wy + i[1, 2] * wz)
            + wz * (i[2, 0] * wx + i[2, 1] * wy + i[2, 2] * wz)
        )
        kinetic += 0.5 * mass[b] * (vx * vx + vy * vy + vz * vz + turning / first_mass[b])
        cx, cy, cz = rotate(quat, com[b, 0], com[b, 1], com[b, 2])
        potential -= mass[b] * (
            gravity[0] * (pose[b, 0] + cx)
            + gravity[1] * (pose[b, 1] + cy)
            + gravity[2] * (pose[b, 2] + cz)
        )
    for n in range(dofs.shape[0]):
        i = dofs[n]
        kinetic += 0.5 * armature[i] * v[i] * v[i]
        if laws[i, 0] > 0.0:
            d = _stretch(laws[i], q, qaddr[i])
            potential += 0.5 * laws[i, 0] * d * d
    energy[0] += kinetic
    energy[1] += potential
