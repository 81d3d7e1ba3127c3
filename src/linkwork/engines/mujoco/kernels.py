"""Compiled copying between our state and MuJoCo's arrays."""

from __future__ import annotations

import math

from linkwork.jit import kernel
from linkwork.spatial.kernels import rotate, rotate_back


@kernel
def copy_in(q, v, q_from, q_to, v_from, v_to, qpos, qvel):
    """Writes our coordinates into MuJoCo's."""
    for n in range(q_from.shape[0]):
        qpos[q_to[n]] = q[q_from[n]]
    for n in range(v_from.shape[0]):
        qvel[v_to[n]] = v[v_from[n]]


@kernel
def copy_out(qpos, qvel, qacc, effort_of, q_from, q_to, v_from, v_to, q, v, acc, effort):
    """Reads MuJoCo's coordinates, accelerations and efforts into ours."""
    for n in range(q_from.shape[0]):
        q[q_from[n]] = qpos[q_to[n]]
    for n in range(v_from.shape[0]):
        v[v_from[n]] = qvel[v_to[n]]
        acc[v_from[n]] = qacc[v_to[n]]
        effort[v_from[n]] = effort_of[v_to[n]]


@kernel
def write_drives(drive, dofs, h, biasprm, forcerange):
    """Writes affine efforts as MuJoCo actuators, implicit in speed and position.

    A spring at the end of the step pulls by kp·(q + h v): its gain times the step joins the
    damping, which MuJoCo's implicit integrator treats exactly.
    """
    for n in range(dofs.shape[0]):
        i = dofs[n]
        biasprm[n, 0] = drive[0, i]
        biasprm[n, 1] = -drive[1, i]
        biasprm[n, 2] = -(drive[2, i] + h * drive[1, i])
        forcerange[n, 0] = drive[3, i]
        forcerange[n, 1] = drive[4, i]


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
    count, geom, pos, frame, dist, address, dim, force, geom_body, geom_element, table,
):  # fmt: skip
    """Fills our contact table from MuJoCo's (elliptic cones); returns the rows used."""
    rows = 0
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
    for n in range(rows, table.shape[0]):
        for k in range(table.shape[1]):
            table[n, k] = 0.0
    return rows


@kernel
def energies(bodies, pose, twist, mass, com, inertia, gravity, dofs, qaddr, q, stiffness, rest):
    """Kinetic and potential energy [J] of the listed bodies, springs of the joints included."""
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
    return kinetic, potential


@kernel
def all_finite(q, v):
    """Whether every number of both arrays is finite and below 1e10."""
    for n in range(q.shape[0]):
        if not math.isfinite(q[n]) or abs(q[n]) > 1e10:
            return False
    for n in range(v.shape[0]):
        if not math.isfinite(v[n]) or abs(v[n]) > 1e10:
            return False
    return True
