"""Compiled copying between our state and MuJoCo's arrays."""

from __future__ import annotations

from linkwork.jit import kernel
from linkwork.kinematics.kernels import forward_poses, forward_twists
from linkwork.spatial.kernels import rotate, rotate_back


@kernel
def prepare_step(q_map, v_map, driven, h, q, v, drive, qpos, qvel, biasprm, forcerange):
    """Writes our coordinates and affine efforts into MuJoCo's arrays.

    The efforts become actuators that are implicit in speed and position: a spring at the end of
    the step pulls by kp·(q + h v), so its gain times the step joins the damping, which MuJoCo's
    implicit integrator treats exactly.
    """
    for n in range(q_map.shape[0]):
        qpos[q_map[n, 1]] = q[q_map[n, 0]]
    for n in range(v_map.shape[0]):
        qvel[v_map[n, 1]] = v[v_map[n, 0]]
    for n in range(driven.shape[0]):
        i = driven[n]
        biasprm[n, 0] = drive[0, i]
        biasprm[n, 1] = -drive[1, i]
        biasprm[n, 2] = -(drive[2, i] + h * drive[1, i])
        forcerange[n, 0] = drive[3, i]
        forcerange[n, 1] = drive[4, i]


@kernel
def finish_step(
    index, frame, rail, com, q_map, v_map, prescribed, qaddr, q_next, v_next,
    qpos, qvel, qacc, warm, efforts, q, v, acceleration, effort, warmstart, pose, twist,
):  # fmt: skip
    """Reads MuJoCo's coordinates into ours and makes poses and twists fit them.

    Returns false, having changed nothing, if a number is not finite or beyond 1e10. Prescribed
    degrees of freedom are put exactly where they were told to go.
    """
    for n in range(qpos.shape[0]):
        if not abs(qpos[n]) < 1e10:
            return False
    for n in range(qvel.shape[0]):
        if not abs(qvel[n]) < 1e10:
            return False
    for n in range(q_map.shape[0]):
        q[q_map[n, 0]] = qpos[q_map[n, 1]]
    for n in range(v_map.shape[0]):
        i, j = v_map[n, 0], v_map[n, 1]
        v[i] = qvel[j]
        acceleration[i] = qacc[j]
        effort[i] = efforts[j]
    for n in range(warm.shape[0]):
        warmstart[n] = warm[n]
    for n in range(prescribed.shape[0]):
        i = prescribed[n]
        q[qaddr[i]] = q_next[qaddr[i]]
        v[i] = v_next[i]
    forward_poses(index, frame, rail, q, pose)
    forward_twists(index, frame, rail, com, q, v, pose, twist)
    return True


@kernel
def place_foreign(bodies, q_to, v_to, pose, twist, com, last, h, heavy, qpos, qvel, push):
    """Writes poses and velocities of bodies that others move into MuJoCo's free joints.

    ``last`` (n×6) holds their velocities one step ago: ``push`` gets the force under which the
    infinite mass goes on accelerating as it did, so that what rides on it does not lag.
    """
    for n in range(bodies.shape[0]):
        b = bodies[n]
        a, i = q_to[n], v_to[n]
        for k in range(7):
            qpos[a + k] = pose[b, k]
        quat = pose[b, 3:]
        rx, ry, rz = rotate(quat, com[b, 0], com[b, 1], com[b, 2])
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        qvel[i] = twist[b, 0] - (wy * rz - wz * ry)
        qvel[i + 1] = twist[b, 1] - (wz * rx - wx * rz)
        qvel[i + 2] = twist[b, 2] - (wx * ry - wy * rx)
        qvel[i + 3], qvel[i + 4], qvel[i + 5] = rotate_back(quat, wx, wy, wz)
        for k in range(6):
            push[i + k] = heavy * (qvel[i + k] - last[n, k]) / h
            last[n, k] = qvel[i + k]


@kernel
def read_contacts(
    count, geom, pos, frame, dist, address, dim, force, geom_body, geom_element, rows, table,
):  # fmt: skip
    """Adds MuJoCo's contacts (elliptic cones) to our table after ``rows``; returns rows used."""
    for n in range(count):
        if rows == table.shape[0]:
            break
        g1, g2 = geom[n, 0], geom[n, 1]
        if g1 < 0 or g2 < 0 or address[n] < 0:
            continue
        row = table[rows]
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
        rows += 1
    return rows


@kernel
def add_energies(
    bodies, pose, twist, mass, com, inertia, gravity, dofs, qaddr, q, stiffness, rest, energy
):
    """Adds kinetic and potential energy [J] of the listed bodies and their joints' springs."""
    kinetic = 0.0
    potential = 0.0
    for n in range(bodies.shape[0]):
        b = bodies[n]
        quat = pose[b, 3:]
        vx, vy, vz = twist[b, 0], twist[b, 1], twist[b, 2]
        wx, wy, wz = rotate_back(quat, twist[b, 3], twist[b, 4], twist[b, 5])
        i = inertia[b]
        kinetic += 0.5 * mass[b] * (vx * vx + vy * vy + vz * vz)
        kinetic += 0.5 * (
            wx * (i[0, 0] * wx + i[0, 1] * wy + i[0, 2] * wz)
            + wy * (i[1, 0] * wx + i[1, 1] * wy + i[1, 2] * wz)
            + wz * (i[2, 0] * wx + i[2, 1] * wy + i[2, 2] * wz)
        )
        cx, cy, cz = rotate(quat, com[b, 0], com[b, 1], com[b, 2])
        potential -= mass[b] * (
            gravity[0] * (pose[b, 0] + cx)
            + gravity[1] * (pose[b, 1] + cy)
            + gravity[2] * (pose[b, 2] + cz)
        )
    for n in range(dofs.shape[0]):
        i = dofs[n]
        if stiffness[i] > 0.0:
            d = q[qaddr[i]] - rest[i]
            potential += 0.5 * stiffness[i] * d * d
    energy[0] += kinetic
    energy[1] += potential
