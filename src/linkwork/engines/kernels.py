"""Compiled steps shared by engines: following targets, couplings, loop coordinates."""

from __future__ import annotations

import math

import numpy as np

from linkwork.jit import kernel
from linkwork.kinematics.curve_kernels import nearest, nearest_of_all
from linkwork.spatial.kernels import compose, quat_rotvec, relative, rotate


@kernel
def follow_targets(dofs, qaddr, q, target, target_speed, lo, hi, h, q_next, v_next):
    """Moves each listed degree of freedom towards its target, within range and speed."""
    for n in range(dofs.shape[0]):
        i = dofs[n]
        a = qaddr[i]
        wanted = min(max(target[i], lo[i]), hi[i])
        most = target_speed[i] * h
        move = min(max(wanted - q[a], -most), most)
        q_next[a] = q[a] + move
        v_next[i] = move / h


@kernel
def follow_speeds(dofs, qaddr, q, target_speed, fastest, lo, hi, h, q_next, v_next):
    """Moves each listed degree of freedom at its target speed, within range."""
    for n in range(dofs.shape[0]):
        i = dofs[n]
        a = qaddr[i]
        speed = min(max(target_speed[i], -fastest[i]), fastest[i])
        q_next[a] = min(max(q[a] + speed * h, lo[i]), hi[i])
        v_next[i] = (q_next[a] - q[a]) / h


@kernel
def couple(coupling_dof, coupling_law, qaddr, q, v):
    """Sets each following joint from its leader, in order."""
    for n in range(coupling_dof.shape[0]):
        f, m = coupling_dof[n, 0], coupling_dof[n, 1]
        q[qaddr[f]] = coupling_law[n, 0] * q[qaddr[m]] + coupling_law[n, 1]
        v[f] = coupling_law[n, 0] * v[m]


@kernel
def loop_state(
    which, loop_kind, loop_body, loop_pose, loop_axis, loop_track, track, pose, loop_q, turns
):
    """Coordinate of each listed loop's closing joint; returns the widest gap [m], and which has it.

    A hinge's coordinate counts full turns; that of a point on a curve is the piece that it is on,
    and how far along. Gaps along directions that the joint leaves free (a slider's axis) do not
    count, nor do those along a screw or a rail.
    """
    a, b, rel, place = np.empty(7), np.empty(7), np.empty(7), np.empty(9)
    worst, widest = 0.0, 0
    for n in which:
        compose(pose[loop_body[n, 0]], loop_pose[n, 0], a)
        compose(pose[loop_body[n, 1]], loop_pose[n, 1], b)
        relative(a, b, rel)
        kind = loop_kind[n]
        ax, ay, az = loop_axis[n, 0], loop_axis[n, 1], loop_axis[n, 2]
        along = rel[0] * ax + rel[1] * ay + rel[2] * az
        gx, gy, gz = rel[0], rel[1], rel[2]
        if kind == 2 or kind == 5:
            gx, gy, gz = gx - along * ax, gy - along * ay, gz - along * az
            loop_q[n] = along
        elif kind == 6:
            gx, gy, gz = gx - along * ax, gy - along * ay, gz - along * az
        elif kind == 8:
            gx = gy = gz = 0.0
        elif kind == 11:
            first, count = loop_track[n, 0], loop_track[n, 1]
            loop_q[n] = nearest(track, first, count, loop_q[n], rel[0], rel[1], rel[2], place)
            gx, gy, gz = rel[0] - place[0], rel[1] - place[1], rel[2] - place[2]
            if gx * gx + gy * gy + gz * gz > 1e-10:  # another piece may be nearer
                loop_q[n] = nearest_of_all(track, first, count, rel[0], rel[1], rel[2], place)
                gx, gy, gz = rel[0] - place[0], rel[1] - place[1], rel[2] - place[2]
        elif kind == 7 or kind == 10:
            gx, gy, gz = along * ax, along * ay, along * az
        elif kind == 1:
            rx, ry, rz = quat_rotvec(rel[3:])
            angle = rx * ax + ry * ay + rz * az
            before = loop_q[n] - 2.0 * math.pi * turns[n]
            if angle - before > math.pi:
                turns[n] -= 1
            elif angle - before < -math.pi:
                turns[n] += 1
            loop_q[n] = angle + 2.0 * math.pi * turns[n]
        gap = math.sqrt(gx * gx + gy * gy + gz * gz)
        if gap > worst:
            worst, widest = gap, n
    return worst, widest


@kernel
def grab_forces(grab, pose, twist, com, owned, wrench):
    """Adds the pull of each active grab slot to ``wrench`` (nb×6: force, torque at the com)."""
    for n in range(grab.shape[0]):
        if grab[n, 0] == 0.0:
            continue
        b = int(grab[n, 1])
        if not owned[b]:
            continue
        q = pose[b, 3:]
        rx, ry, rz = grab[n, 2] - com[b, 0], grab[n, 3] - com[b, 1], grab[n, 4] - com[b, 2]
        rx, ry, rz = rotate(q, rx, ry, rz)
        cx, cy, cz = rotate(q, com[b, 0], com[b, 1], com[b, 2])
        px, py, pz = pose[b, 0] + cx + rx, pose[b, 1] + cy + ry, pose[b, 2] + cz + rz
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        vx = twist[b, 0] + wy * rz - wz * ry
        vy = twist[b, 1] + wz * rx - wx * rz
        vz = twist[b, 2] + wx * ry - wy * rx
        k, d = grab[n, 8], grab[n, 9]
        fx = k * (grab[n, 5] - px) - d * vx
        fy = k * (grab[n, 6] - py) - d * vy
        fz = k * (grab[n, 7] - pz) - d * vz
        wrench[b, 0] += fx
        wrench[b, 1] += fy
        wrench[b, 2] += fz
        wrench[b, 3] += ry * fz - rz * fy
        wrench[b, 4] += rz * fx - rx * fz
        wrench[b, 5] += rx * fy - ry * fx
