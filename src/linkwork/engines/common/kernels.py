"""Compiled steps that engines share: targets, couplings, loops, springs, grabs, energies."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import inner_kernel, kernel
from linkwork.geometry.kernels import compose, quat_mul, quat_rotvec, relative, rotate, rotate_back
from linkwork.kinematics.curve_kernels import nearest, nearest_global


@kernel
def follow_targets(dofs, qaddr, q, target, target_speed, lo, hi, h, q_next, v_next):
    """Moves each listed degree of freedom toward its target, within range and velocity limit."""
    for n in range(dofs.shape[0]):
        i = dofs[n]
        a = qaddr[i]
        goal = min(max(target[i], lo[i]), hi[i])
        max_move = target_speed[i] * h
        move = min(max(goal - q[a], -max_move), max_move)
        q_next[a] = q[a] + move
        v_next[i] = move / h


@kernel
def follow_speeds(dofs, qaddr, q, target_speed, fastest, lo, hi, h, q_next, v_next):
    """Moves each listed degree of freedom at its target velocity, within its range."""
    for n in range(dofs.shape[0]):
        i = dofs[n]
        a = qaddr[i]
        speed = min(max(target_speed[i], -fastest[i]), fastest[i])
        q_next[a] = min(max(q[a] + speed * h, lo[i]), hi[i])
        v_next[i] = (q_next[a] - q[a]) / h


#: Kinds of limits of a prescribed motion, and columns of their table: largest size, the limit, the
#: step of the largest size, one more than the step of the first (0 for never).
BY_RANGE, BY_SPEED, BY_ACCELERATION, BY_EFFORT = 0, 1, 2, 3
SIZE, ALLOWED, PEAK_STEP, FIRST_STEP = 0, 1, 2, 3
#: Rows of the prescribed motion: given or not, velocity, acceleration, position.
GIVEN, VELOCITY, ACCELERATION, POSITION = 0, 1, 2, 3
#: Relative excess that is rounding, and the rounding of a number.
ROUNDING, EPSILON = 1e-9, 2.3e-16


@kernel
def note_limit(row, size, allowed, step):
    """Updates one row of the table of limits; returns 1 if the limit binds for the first time."""
    if size <= ROUNDING * (1.0 + abs(allowed)):
        return 0
    first = row[FIRST_STEP] == 0.0
    if first:
        row[FIRST_STEP] = step + 1.0
    if first or size > row[SIZE]:
        row[SIZE], row[ALLOWED], row[PEAK_STEP] = size, allowed, step
    return 1 if first else 0


@kernel
def follow_prescribed(dofs, qaddr, lead, target, q_next, v_next, a_next):
    """Moves the listed degrees of freedom that have a prescribed motion along it, exactly."""
    for n in range(dofs.shape[0]):
        i = dofs[n]
        if lead[GIVEN, i] > 0.0:
            q_next[qaddr[i]] = target[i] = lead[POSITION, i]
            v_next[i] = lead[VELOCITY, i]
            a_next[i] = lead[ACCELERATION, i]


@kernel
def follow_within(
    dofs, qaddr, q, v, lead, fastest, target_speed, hardest, lo, hi, h, step, q_next, v_next,
    a_next, table,
):  # fmt: skip
    """As ``follow_prescribed`` within limits; returns how many bind for the first time.

    A joint that left its motion catches up: ṡ + sign(e) min(|e|/h, √(2 a |e|)), e the error at the
    end of the step with the prescribed velocity ṡ, within max_speed and max_acceleration. The size
    of a limit is the largest deviation from the prescribed motion.
    """
    new = 0
    for n in range(dofs.shape[0]):
        i = dofs[n]
        if lead[GIVEN, i] == 0.0:
            continue
        a = qaddr[i]
        wanted, speed = lead[POSITION, i], lead[VELOCITY, i]
        goal = min(max(wanted, lo[i]), hi[i])
        top, hard = min(fastest[i], target_speed[i]), hardest[i]
        if goal != wanted:
            speed = 0.0
        slack = 1.0 + ROUNDING
        mean = (goal - q[a]) / h
        slow = abs(speed) <= top * slack and abs(mean) <= top * slack
        soft = abs(speed - v[i]) <= hard * h * slack and abs(mean - v[i]) <= hard * h * slack
        if slow and soft:
            q_next[a], v_next[i] = goal, speed
            a_next[i] = lead[ACCELERATION, i] if goal == wanted else (speed - v[i]) / h
        else:
            error = goal - q[a] - speed * h
            closing = abs(error) / h
            if not math.isinf(hard):
                closing = min(closing, math.sqrt(2.0 * hard * abs(error)))
            move = speed + math.copysign(closing, error)
            move = min(max(move, -top), top)
            move = min(max(move, v[i] - hard * h), v[i] + hard * h)
            q_next[a] = min(max(q[a] + move * h, lo[i]), hi[i])
            v_next[i] = (q_next[a] - q[a]) / h
            a_next[i] = (v_next[i] - v[i]) / h
        off = abs(wanted - q_next[a])
        if goal != wanted and q_next[a] == goal:
            new += note_limit(table[i, BY_RANGE], off, goal, step)
        elif not slow:
            new += note_limit(table[i, BY_SPEED], off, top, step)
        elif not soft:
            new += note_limit(table[i, BY_ACCELERATION], off, hard, step)
    return new


@kernel
def note_exceeded(
    dofs, qaddr, q, v, a, q_before, lead, fastest, target_speed, hardest, lo, hi, h, step, table
):
    """Notes the limits that joints exceed after a step; returns how many for the first time.

    A position that jumps has the velocity of its mean over the step. ``h`` is 0 at the start.
    """
    new = 0
    for n in range(dofs.shape[0]):
        i = dofs[n]
        here = q[qaddr[i]]
        bound = hi[i] if here > hi[i] else lo[i]
        if here > hi[i] or here < lo[i]:
            new += note_limit(table[i, BY_RANGE], abs(here - bound), bound, step)
        top, speed = fastest[i], abs(v[i])
        if lead[GIVEN, i] > 0.0:
            top = min(top, target_speed[i])
            if h > 0.0:
                moved = abs(here - q_before[qaddr[i]]) - 4.0 * EPSILON * abs(here)
                speed = max(speed, moved / h)
            if abs(a[i]) > hardest[i]:
                size = abs(a[i]) - hardest[i]
                new += note_limit(table[i, BY_ACCELERATION], size, hardest[i], step)
        if speed > top:
            new += note_limit(table[i, BY_SPEED], speed - top, top, step)
    return new


@inner_kernel
def _rotation_motion(x, rate, change, quat, spin, twist):
    """Quaternion, angular velocity and acceleration in body axes of a rotation vector x(t).

    q = (cos φ/2, s x) with s = sin(φ/2)/φ and φ² = u = x·x; ω = 2 q̄ q̇ and ω̇ = 2 q̄ q̈. With
    ds/du = (cos(φ/2)/2 − s)/(2u), by its series near u = 0.
    """
    u = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    u1 = 2.0 * (x[0] * rate[0] + x[1] * rate[1] + x[2] * rate[2])
    u2 = 0.0
    for k in range(3):
        u2 += 2.0 * (rate[k] * rate[k] + x[k] * change[k])
    w = math.cos(0.5 * math.sqrt(u))
    if u < 1e-3:
        s = 0.5 - u / 48.0 + u * u / 3840.0 - u * u * u / 645120.0
        slope = -1.0 / 48.0 + u / 1920.0 - u * u / 215040.0
        bend = 1.0 / 1920.0 - u / 107520.0
    else:
        s = math.sin(0.5 * math.sqrt(u)) / math.sqrt(u)
        slope = (0.5 * w - s) / (2.0 * u)
        bend = -(0.125 * s + 3.0 * slope) / (2.0 * u)
    s1, s2 = slope * u1, bend * u1 * u1 + slope * u2
    w1, w2 = -0.25 * s * u1, -0.25 * (s1 * u1 + s * u2)
    quat[0] = w
    for k in range(3):
        quat[1 + k] = s * x[k]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        a, b, c = quat[1 + k], quat[1 + i], quat[1 + j]
        a1 = rate[k] * s + x[k] * s1
        b1, c1 = rate[i] * s + x[i] * s1, rate[j] * s + x[j] * s1
        a2 = change[k] * s + 2.0 * rate[k] * s1 + x[k] * s2
        b2 = change[i] * s + 2.0 * rate[i] * s1 + x[i] * s2
        c2 = change[j] * s + 2.0 * rate[j] * s1 + x[j] * s2
        spin[k] = 2.0 * (w * a1 - w1 * a - (b * c1 - c * b1))
        twist[k] = 2.0 * (w * a2 - w2 * a - (b * c2 - c * b2))


@kernel
def follow_free(bodies, qadr, vadr, q, v, lead, target, seen, h, q_next, v_next, a_next):
    """Moves free bodies along their prescribed motion, or to targets that were set.

    Coordinates that are neither prescribed nor set stay. A target that was set by hand is reached
    within the step; its velocity is the mean. ``seen`` has the targets of the step before.
    """
    x, rate, change = np.empty(3), np.empty(3), np.empty(3)
    quat, back, turned = np.empty(4), np.empty(4), np.empty(4)
    spin, twist = np.empty(3), np.empty(3)
    for n in range(bodies.shape[0]):
        a, i = qadr[bodies[n]], vadr[bodies[n]]
        for k in range(3):
            d = i + k
            q_next[a + k], v_next[d] = q[a + k], 0.0
            if lead[GIVEN, d] > 0.0:
                q_next[a + k] = target[d] = lead[POSITION, d]
                v_next[d], a_next[d] = lead[VELOCITY, d], lead[ACCELERATION, d]
            else:
                if target[d] != seen[n, k] and h > 0.0:
                    q_next[a + k] = target[d]
                    v_next[d] = (target[d] - q[a + k]) / h
                a_next[d] = (v_next[d] - v[d]) / h if h > 0.0 else 0.0
        now = quat_rotvec(q[a + 3 : a + 7])
        led, put = False, False
        for k in range(3):
            d = i + 3 + k
            x[k], rate[k], change[k] = now[k], 0.0, 0.0
            if lead[GIVEN, d] > 0.0:
                led = True
                x[k] = target[d] = lead[POSITION, d]
                rate[k], change[k] = lead[VELOCITY, d], lead[ACCELERATION, d]
            elif target[d] != seen[n, 3 + k] and h > 0.0:
                put = True
                x[k] = target[d]
        for k in range(4):
            q_next[a + 3 + k] = q[a + 3 + k]
        spin[:] = 0.0
        if led or put:
            _rotation_motion(x, rate, change, quat, spin, twist)
            if put:
                back[0] = q[a + 3]
                for k in range(3):
                    back[1 + k] = -q[a + 4 + k]
                quat_mul(back, quat, turned)
                spin[0], spin[1], spin[2] = quat_rotvec(turned)
                spin /= h
            for k in range(4):
                q_next[a + 3 + k] = quat[k]
        for k in range(3):
            d = i + 3 + k
            v_next[d] = spin[k]
            a_next[d] = (spin[k] - v[d]) / h if h > 0.0 else 0.0
            if led and not put:
                a_next[d] = twist[k]
        for k in range(6):
            seen[n, k] = target[i + k]


@kernel
def note_efforts(dofs, effort, most, step, table):
    """Notes the efforts beyond those of the drives; returns how many for the first time."""
    new = 0
    for n in range(dofs.shape[0]):
        i = dofs[n]
        if abs(effort[i]) > most[i]:
            new += note_limit(table[i, BY_EFFORT], abs(effort[i]) - most[i], most[i], step)
    return new


@kernel
def apply_couplings(coupling_dof, coupling_law, qaddr, q, v):
    """Sets each following joint from its leader, in order."""
    for n in range(coupling_dof.shape[0]):
        f, m = coupling_dof[n, 0], coupling_dof[n, 1]
        q[qaddr[f]] = coupling_law[n, 0] * q[qaddr[m]] + coupling_law[n, 1]
        v[f] = coupling_law[n, 0] * v[m]


@kernel
def loop_state(
    which, loop_kind, loop_body, loop_pose, loop_axis, loop_track, track, pose, loop_q, turns
):
    """Computes the coordinate of each listed loop; returns the largest gap [m] and its loop.

    A hinge's coordinate counts full turns; that of a point on a curve is its segment plus the
    parameter. Gaps along free directions of the joint (a slider's axis, a screw, a rail) are
    ignored.
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
            if gx * gx + gy * gy + gz * gz > 1e-10:  # another segment may be nearer
                loop_q[n] = nearest_global(track, first, count, rel[0], rel[1], rel[2], place)
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
    """Adds the force of each active grab slot to ``wrench`` (nb×6: force, torque at the com)."""
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


#: Kinds of springs, and columns of their laws and reports.
LINEAR, TORSION = 0, 1
STIFFNESS, REST, DAMPING = 0, 1, 2
LENGTH, FORCE = 0, 1


@kernel
def _speed(pose, twist, com, b, x, y, z):
    """Returns the velocity of the world point x, y, z of a body."""
    cx, cy, cz = rotate(pose[b, 3:], com[b, 0], com[b, 1], com[b, 2])
    rx, ry, rz = x - pose[b, 0] - cx, y - pose[b, 1] - cy, z - pose[b, 2] - cz
    wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
    return (
        twist[b, 0] + wy * rz - wz * ry,
        twist[b, 1] + wz * rx - wx * rz,
        twist[b, 2] + wx * ry - wy * rx,
    )


@kernel
def spring_state(which, kind, body, at, axis, law, pose, twist, com, report):
    """Computes length or angle, and force or torque, of each listed spring; returns their energy.

    An angle is the twist about the axis, 2 atan2(u · a, w) of the quaternion (w, u) from one end to
    the other; it counts full turns from the last reported value.
    """
    a, b, rel = np.empty(7), np.empty(7), np.empty(7)
    energy = 0.0
    for n in which:
        one, two = body[n, 0], body[n, 1]
        compose(pose[one], at[n, 0], a)
        compose(pose[two], at[n, 1], b)
        if kind[n] == LINEAR:
            dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            ax, ay, az = _speed(pose, twist, com, one, a[0], a[1], a[2])
            bx, by, bz = _speed(pose, twist, com, two, b[0], b[1], b[2])
            speed = 0.0
            if length > 1e-12:
                speed = (dx * (bx - ax) + dy * (by - ay) + dz * (bz - az)) / length
        else:
            relative(a, b, rel)
            x, y, z = axis[n, 0], axis[n, 1], axis[n, 2]
            w, ux, uy, uz = rel[3], rel[4], rel[5], rel[6]
            along = ux * x + uy * y + uz * z
            angle = 2.0 * math.atan2(along, w)
            turns = np.round((report[n, LENGTH] - angle) / (2.0 * math.pi))
            length = angle + 2.0 * math.pi * turns
            # its rate is (w² a + w u × a + (u · a) u) · ω / (w² + (u · a)²), relative to the first
            f = 1.0 / max(w * w + along * along, 1e-12)
            gx = f * (w * w * x + w * (uy * z - uz * y) + along * ux)
            gy = f * (w * w * y + w * (uz * x - ux * z) + along * uy)
            gz = f * (w * w * z + w * (ux * y - uy * x) + along * uz)
            x, y, z = rotate(a[3:], gx, gy, gz)
            speed = (
                x * (twist[two, 3] - twist[one, 3])
                + y * (twist[two, 4] - twist[one, 4])
                + z * (twist[two, 5] - twist[one, 5])
            )
        more = length - law[n, REST]
        report[n, LENGTH] = length
        report[n, FORCE] = law[n, STIFFNESS] * more + law[n, DAMPING] * speed
        energy += 0.5 * law[n, STIFFNESS] * more * more
    return energy


@kernel
def spring_deflection(law, q, a):
    """Returns the deflection of a joint's spring from its rest [rad or m]."""
    first = int(law[2])
    if first < 0:
        return q[a] - law[1]
    turn = quat_rotvec(q[first : first + 4])
    return turn[int(law[3])]


@kernel
def add_energies(
    bodies, pose, twist, mass, first_mass, com, inertia, gravity, dofs, qaddr, q, v, laws,
    armature, energy,
):  # fmt: skip
    """Adds kinetic and potential energy [J] of the listed bodies and their joints.

    ``inertia`` belongs to ``first_mass`` and scales with the mass; joints add their springs and
    rotors. A ball has a spring for each axis.
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
            d = spring_deflection(laws[i], q, qaddr[i])
            potential += 0.5 * laws[i, 0] * d * d
    energy[0] += kinetic
    energy[1] += potential
