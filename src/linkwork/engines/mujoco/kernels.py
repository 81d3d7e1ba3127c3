"""Compiled copying between our state and MuJoCo's arrays."""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import kernel
from linkwork.engines.common.kernels import spring_deflection
from linkwork.geometry.kernels import quat_rotvec, relative, rotate, rotate_back
from linkwork.kinematics.kernels import forward_poses, forward_twists

#: Outcomes of :func:`finish_step`.
SETTLED, DIVERGED, RETRY = 0, 1, 2

#: How integrators use the forces of actuators: as they are at the start of the step, with their
#: change by speed, with that by length too, or in several stages.
EXPLICIT, IMPLICIT, DISCRETE, STAGES = 0, 1, 2, 3


@kernel
def prepare_step(
    q_map, v_map, driven, side, first, explicit, saturation, laws, damping, q, v, drive,
    qpos, qvel, stiffness, damper, push,
):  # fmt: skip
    """Writes our coordinates and affine efforts into MuJoCo's arrays.

    An effort b − kp·q − kd·v becomes a force, a spring and a damper of its joint, which MuJoCo's
    discrete integrator evaluates at the end of the step. ``driven`` (n×4): our degree of freedom,
    MuJoCo's joint, coordinate and degree of freedom. ``side`` is the assumed saturation of the
    effort at the end of the step: none (0), upper limit (1) or lower limit (−1); ``first`` takes it
    from the last step. ``explicit`` uses the present force of the spring, and the damper, which
    the other integrators except RK4 evaluate implicitly too, or the limit if the present effort is
    beyond it; only for degrees of freedom with one coordinate.
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
            spring = force - kp * qpos[driven[n, 2]]
            total = spring - kd * qvel[driven[n, 3]]
            force, kp, side[n] = spring, 0.0, 0.0
            if total < drive[3, i] or total > drive[4, i]:
                force, kd = min(max(total, drive[3, i]), drive[4, i]), 0.0
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
def _update_saturation(driven, side, drive, qpos, qvel):
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
        if found != side[n]:  # between the two limits try the law first
            side[n] = found if side[n] == 0.0 else 0.0
            right = False
    return right


@kernel
def finish_step(
    index, frame, rail, com, q_map, v_map, driven, side, drive, laws, damping,
    prescribed, qaddr, q_next, v_next, qpos, qvel, warm,
    q, v, acceleration, effort, warmstart, saturation, pose, twist, h, last,
):  # fmt: skip
    """Reads MuJoCo's coordinates into ours and computes poses, twists and efforts.

    Returns ``DIVERGED`` if a number is not finite or beyond 1e10, and ``RETRY`` (unless this is the
    ``last`` try) if a drive saturated differently than assumed; only ``side`` has changed then.
    Prescribed degrees of freedom are set exactly to their targets. ``laws`` (nv×4): see
    :func:`~linkwork.engines.common.joint_springs`.
    """
    for n in range(qpos.shape[0]):
        if not abs(qpos[n]) < 1e10:
            return DIVERGED
    for n in range(qvel.shape[0]):
        if not abs(qvel[n]) < 1e10:
            return DIVERGED
    if not _update_saturation(driven, side, drive, qpos, qvel) and not last:
        return RETRY
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
            effort[i] -= laws[i, 0] * spring_deflection(laws[i], q, qaddr[i])
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
def add_friction(first, count, dof_of, force, v_map, effort):
    """Adds Coulomb friction, the ``count`` constraints after ``first``, to the efforts."""
    for n in range(v_map.shape[0]):
        for row in range(first, first + count):
            if dof_of[row] == v_map[n, 1]:
                effort[v_map[n, 0]] += force[row]


@kernel
def foreign_speeds(bodies, pose, twist, com, out):
    """Computes velocities ``out`` (n×6) of bodies in the convention of MuJoCo's free joints."""
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
def foreign_motion(bodies, ahead, start_pose, pose, last, h, start, end):
    """Computes the motion of foreign bodies in this step.

    Bodies whose engine is ``ahead`` have reached their new pose, which gives their velocity.
    Others, with velocities ``start``, continue with constant acceleration; ``last`` (n×6) holds the
    velocities of the previous step.
    """
    move = np.empty(7)
    for n in range(bodies.shape[0]):
        b = bodies[n]
        if not ahead[n]:
            for k in range(6):
                end[n, k] = 2.0 * start[n, k] - last[n, k]
            continue
        relative(start_pose[b], pose[b], move)
        rx, ry, rz = quat_rotvec(move[3:])
        end[n, 3], end[n, 4], end[n, 5] = rx / h, ry / h, rz / h
        for k in range(3):
            end[n, k] = (pose[b, k] - start_pose[b, k]) / h
        for k in range(6):
            start[n, k] = last[n, k]


@kernel
def place_foreign(bodies, q_to, v_to, pose, start, end, h, heavy, qpos, qvel, push):
    """Writes foreign bodies into MuJoCo's free joints.

    ``push`` receives the force that changes the velocity of the infinite mass from ``start`` to
    ``end``, so that bodies riding on it do not lag.
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

    Returns the number of rows required, which may exceed the table.
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
def write_gains(data, gains, gainprm, biasprm):
    """Copies three gain and three bias parameters of each actuator from the state."""
    for n in range(gains.shape[0]):
        for k in range(3):
            gainprm[gains[n, 1], k] = data[gains[n, 0] + k]
            biasprm[gains[n, 1], k] = data[gains[n, 0] + 3 + k]


@kernel
def enter_actuators(data, controls, activations, ctrl, act):
    """Copies controls and activations (pairs of addresses) from the state."""
    for n in range(controls.shape[0]):
        ctrl[controls[n, 1]] = data[controls[n, 0]]
    for n in range(activations.shape[0]):
        act[activations[n, 1]] = data[activations[n, 0]]


@kernel
def leave_actuators(data, activations, forces, used, act, force, ctrl, ctrl_range):
    """Copies activations, forces and ``used`` controls, within their range, into the state."""
    for n in range(activations.shape[0]):
        data[activations[n, 0]] = act[activations[n, 1]]
    for n in range(forces.shape[0]):
        data[forces[n, 0]] = force[forces[n, 1]]
    for n in range(used.shape[0]):
        c = used[n, 1]
        data[used[n, 0]] = min(max(ctrl[c], ctrl_range[c, 0]), ctrl_range[c, 1])


@kernel
def meter_actuators(
    data, meter, mode, h, laws, gainprm, biasprm, force_range, ctrl, ctrl_range, act, force,
    velocity, moment, row_size, row_start, column, start_speed, speed, joint_of, limited,
    effort_range, gravity_effort, total, share, effort,
):  # fmt: skip
    """Adds up the work of a step, and computes the efforts that have acted on the joints.

    The work on a joint is h · effort · mean of its speeds at the start and the end of the step.
    The force that acts in the step is F0 + dF/dv · (v1 − v0) with an ``IMPLICIT`` integrator,
    F0 + dF/dv · (v1 − v0) + dF/dl · h · v1 with the ``DISCRETE`` one, and F0 with ``EXPLICIT``
    ones, where F0 is the force at the start, v0 and v1 are the speeds of the transmission. A force
    at its limit is constant; so are those on a joint at its limit, which share it. With ``STAGES``
    the mean of the powers at both ends of the step counts. The derivatives are those of affine
    laws, 0 for others.

    ``meter`` (n×7): addresses of power, energy and activation (−1: none), MuJoCo's output,
    actuator, control, activation (−1: that at the start of the step is used). ``laws`` (n×2):
    whether gain and bias are affine. ``moment``, ``row_size``, ``row_start``, ``column``: the
    moments at the start of the step, sparse. ``gravity_effort``: efforts of actuators that
    compensate gravity. ``total``, ``share``: working memory. ``effort``: MuJoCo's efforts of
    actuators at the start; receives those that have acted.
    """
    for j in range(total.shape[0]):
        total[j], share[j] = gravity_effort[j], -1.0  # no limit acts
    for n in range(meter.shape[0]):
        out = meter[n, 3]
        for k in range(row_start[out], row_start[out] + row_size[out]):
            total[column[k]] += moment[k] * force[out]
    for j in range(total.shape[0]):
        lowest, highest = effort_range[joint_of[j], 0], effort_range[joint_of[j], 1]
        if limited[joint_of[j]] and not lowest < total[j] < highest:
            share[j] = effort[j] / total[j] if total[j] != 0.0 else 0.0
    for n in range(meter.shape[0]):
        out, a = meter[n, 3], meter[n, 4]
        first, last = row_start[out], row_start[out] + row_size[out]
        if mode == STAGES:
            power = 0.0
            for k in range(first, last):
                acting = force[out] if share[column[k]] < 0.0 else force[out] * share[column[k]]
                power += moment[k] * acting * speed[column[k]]
            data[meter[n, 1]] += h * (data[meter[n, 0]] + power) / 2.0
            data[meter[n, 0]] = power
            continue
        more = 0.0
        if mode != EXPLICIT and force_range[a, 0] < force[out] < force_range[a, 1]:
            end_speed = 0.0
            for k in range(first, last):
                end_speed += moment[k] * speed[column[k]]
            if meter[n, 6] >= 0:
                used = act[meter[n, 6]]
            elif meter[n, 2] >= 0:
                used = data[meter[n, 2]]
            else:
                c = meter[n, 5]
                used = min(max(ctrl[c], ctrl_range[c, 0]), ctrl_range[c, 1])
            by_speed = laws[a, 0] * gainprm[a, 2] * used + laws[a, 1] * biasprm[a, 2]
            more = by_speed * (end_speed - velocity[out])
            if mode == DISCRETE:
                by_length = laws[a, 0] * gainprm[a, 1] * used + laws[a, 1] * biasprm[a, 1]
                more += by_length * h * end_speed
        power = 0.0
        for k in range(first, last):
            j = column[k]
            acting = force[out] * share[j]
            if share[j] < 0.0:
                acting = force[out] + more
                effort[j] += moment[k] * more
            power += moment[k] * acting * (start_speed[j] + speed[j]) / 2.0
        data[meter[n, 0]] = power
        data[meter[n, 1]] += h * power


@kernel
def add_actuator_efforts(v_map, actuator_effort, effort):
    """Adds the efforts of MuJoCo's actuators to those of our degrees of freedom."""
    for n in range(v_map.shape[0]):
        effort[v_map[n, 0]] += actuator_effort[v_map[n, 1]]


@kernel
def tendon_energy(length, slack, stiffness, further):
    """Returns the energy of the springs of tendons [J].

    A spring acts beyond its slack range: x is the length outside of it, and the force
    (k + a x + b x²) x.

    Args:
        length: Of each tendon (n) [m].
        slack: Shortest and longest slack length (n×2) [m].
        stiffness: k (n).
        further: a and b (n×2).
    """
    made = 0.0
    for t in range(len(length)):
        x = length[t] - min(max(length[t], slack[t, 0]), slack[t, 1])
        square = x * x
        made += square * (
            stiffness[t] / 2.0 + further[t, 0] * x / 3.0 + further[t, 1] * square / 4.0
        )
    return made
