"""Compiled forces on joints and contact points at one instant."""

from __future__ import annotations

import math

from linkwork.core.jit import kernel
from linkwork.dynamics.kernels import body_motions
from linkwork.geometry.kernels import rotate

#: Columns of a joint's law: spring, rest, spring and damper of the limits, lower and upper limit,
#: compliance, its damper.
SPRING, REST, STOP, STOP_DAMPING, LO, HI, COMPLIANCE, COMPLIANCE_DAMPING = range(8)
LAW_COLUMNS = 8

#: Columns of a stick point: whether it sticks, its position, and its plane.
GRIP_COLUMNS = 5

#: Velocity scale of joint friction [rad/s or m/s].
FRICTION_SPEED = 0.02


@kernel
def drive_effort(drive, i, x, speed):
    """Returns the affine effort of a drive within its limits."""
    return min(max(drive[0, i] - drive[1, i] * x - drive[2, i] * speed, drive[3, i]), drive[4, i])


@kernel
def joint_efforts(dofs, qaddr, laws, damping, friction, drive, q, v, rotor, effort, pull):
    """Computes ``effort`` of each degree of freedom, and ``pull`` (nv) of compliant rotors.

    ``rotor`` (2×nv) holds coordinates and velocities of rotors.
    """
    for n in range(dofs.shape[0]):
        i = dofs[n]
        x, speed, law = q[qaddr[i]], v[i], laws[i]
        made = -damping[i] * speed - friction[i] * math.tanh(speed / FRICTION_SPEED)
        if law[SPRING] > 0.0:
            made -= law[SPRING] * (x - law[REST])
        if x < law[LO]:
            made += max(0.0, law[STOP] * (law[LO] - x) - law[STOP_DAMPING] * speed)
        elif x > law[HI]:
            made += min(0.0, law[STOP] * (law[HI] - x) - law[STOP_DAMPING] * speed)
        if law[COMPLIANCE] > 0.0:
            twist = law[COMPLIANCE] * (rotor[0, i] - x) + law[COMPLIANCE_DAMPING] * (
                rotor[1, i] - speed
            )
            pull[i] = drive_effort(drive, i, rotor[0, i], rotor[1, i]) - twist
            made += twist
        else:
            made += drive_effort(drive, i, x, speed)
        effort[i] = made


@kernel
def find_contact(point, planes, pose, twist, out):
    """Computes position and velocity of a contact point, and its depth below the nearest plane.

    ``twist`` is at the world's origin. ``out``: position (3), velocity (3), depth; returns the
    index of the plane, or −1 if the point is above all.
    """
    b = int(point[0])
    x, y, z = rotate(pose[b, 3:], point[1], point[2], point[3])
    x, y, z = x + pose[b, 0], y + pose[b, 1], z + pose[b, 2]
    wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
    out[0], out[1], out[2] = x, y, z
    out[3] = twist[b, 0] + wy * z - wz * y
    out[4] = twist[b, 1] + wz * x - wx * z
    out[5] = twist[b, 2] + wx * y - wy * x
    found = -1
    deepest = 0.0
    for n in range(planes.shape[0]):
        plane = planes[n]
        depth = (plane[3] - x) * plane[0] + (plane[4] - y) * plane[1] + (plane[5] - z) * plane[2]
        if depth > deepest:
            found, deepest = n, depth
    out[6] = deepest
    return found


@kernel
def contact_force(point, planes, plane_index, stick_point, k, d, friction_coefficient, at, out):
    """Computes the force on a contact point (Schwanen 2002 eq. 4.7), with Coulomb friction.

    Spring and damper of the normal force only push. ``at`` is the output of :func:`find_contact`. A
    tangential spring to the stick point acts up to ``friction_coefficient`` times the normal force.
    ``out``: force (3), normal force, whether it slides.
    """
    plane = planes[plane_index]
    nx, ny, nz = plane[0], plane[1], plane[2]
    sink = -(at[3] * nx + at[4] * ny + at[5] * nz)
    normal = max(0.0, k * at[6] + d * sink)
    gx, gy, gz = 0.0, 0.0, 0.0
    if stick_point[0] > 0.0 and int(stick_point[4]) == plane_index:
        gx, gy, gz = stick_point[1] - at[0], stick_point[2] - at[1], stick_point[3] - at[2]
    vx, vy, vz = at[3] + sink * nx, at[4] + sink * ny, at[5] + sink * nz
    along = gx * nx + gy * ny + gz * nz
    fx = k * (gx - along * nx) - d * vx
    fy = k * (gy - along * ny) - d * vy
    fz = k * (gz - along * nz) - d * vz
    size = math.sqrt(fx * fx + fy * fy + fz * fz)
    out[4] = 0.0
    if size > friction_coefficient * normal:
        share = friction_coefficient * normal / size
        fx, fy, fz = fx * share, fy * share, fz * share
        out[4] = 1.0
    out[0], out[1], out[2] = fx + normal * nx, fy + normal * ny, fz + normal * nz
    out[3] = normal


@kernel
def subtract_force(force, b, x, y, z, fx, fy, fz):
    """Subtracts a force at a world point from the force of body ``b``."""
    force[b, 0] -= fx
    force[b, 1] -= fy
    force[b, 2] -= fz
    force[b, 3] -= y * fz - z * fy
    force[b, 4] -= z * fx - x * fz
    force[b, 5] -= x * fy - y * fx


@kernel
def update_stick_points(ground, work, workspace):
    """Updates stick points after a step: points that lift release, sliding points move along."""
    _, _, _, _, contact, force = workspace
    points, planes, friction_coefficient, stick_point, contact_law = ground
    pose, _, twist, _, _, _ = work
    for n in range(points.shape[0]):
        plane_index = find_contact(points[n], planes, pose, twist, contact)
        if plane_index < 0:
            stick_point[n, 0] = 0.0
            continue
        contact_force(
            points[n], planes, plane_index, stick_point[n], contact_law[0], contact_law[1],
            friction_coefficient[n, plane_index], contact, force,
        )  # fmt: skip
        if stick_point[n, 0] == 0.0 or int(stick_point[n, 4]) != plane_index:
            stick_point[n, 0], stick_point[n, 4] = 1.0, plane_index
            for m in range(3):
                stick_point[n, 1 + m] = contact[m]
        elif force[4] > 0.0:  # sliding: the spring keeps the length of the friction limit
            normal, d = force[3], contact_law[1]
            plane = planes[plane_index]
            sink = -(contact[3] * plane[0] + contact[4] * plane[1] + contact[5] * plane[2])
            for m in range(3):
                held = force[m] - normal * plane[m] + d * (contact[3 + m] + sink * plane[m])
                stick_point[n, 1 + m] = contact[m] + held / contact_law[0]


@kernel
def update_contacts(robot, ground, q, v, work, workspace):
    """Computes the poses, and updates the stick points."""
    tree, order, _, _, gravity, _, _, _, _, _, _ = robot
    _, _, effort, _, _, _ = workspace
    pose, motion, twist, rate, _, scratch = work
    effort[:] = 0.0
    body_motions(tree, order, gravity, q, v, effort, pose, motion, twist, rate, scratch)
    update_stick_points(ground, work, workspace)


@kernel
def list_contacts(robot, ground, q, v, work, workspace, points_element, planes_body, rows, table):
    """Adds a row for each touching point to the table; returns the number of rows required."""
    tree, order, _, _, gravity, _, _, _, _, _, _ = robot
    _, _, effort, _, contact, force = workspace
    points, planes, friction_coefficient, stick_point, contact_law = ground
    pose, motion, twist, rate, _, scratch = work
    effort[:] = 0.0
    body_motions(tree, order, gravity, q, v, effort, pose, motion, twist, rate, scratch)
    for n in range(points.shape[0]):
        plane_index = find_contact(points[n], planes, pose, twist, contact)
        if plane_index < 0:
            continue
        rows += 1
        if rows > table.shape[0]:
            continue
        contact_force(
            points[n], planes, plane_index, stick_point[n], contact_law[0], contact_law[1],
            friction_coefficient[n, plane_index], contact, force,
        )  # fmt: skip
        row, plane = table[rows - 1], planes[plane_index]
        row[0], row[1] = planes_body[plane_index, 0], points[n, 0]
        row[2], row[3] = planes_body[plane_index, 1], points_element[n]
        fx = force[0] - force[3] * plane[0]
        fy = force[1] - force[3] * plane[1]
        fz = force[2] - force[3] * plane[2]
        for m in range(3):
            row[4 + m], row[7 + m] = contact[m], plane[m]
        row[10], row[11] = contact[6], force[3]
        row[12] = fx * plane[6] + fy * plane[7] + fz * plane[8]
        row[13] = fx * plane[9] + fy * plane[10] + fz * plane[11]
    return rows
