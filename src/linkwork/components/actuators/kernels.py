"""Kernels of actuators: one call per type over the state's flat array.

``where`` (int64) and ``form`` (float64) hold a row per actuator. An actuator writes its column of
the affine efforts (bias, kp, kd, lowest, highest), whose five numbers are ``stride`` apart.
"""

from __future__ import annotations

import math

import numpy as np

from linkwork.core.jit import kernel


@kernel
def _write(data, place, stride, bias, kp, kd, most):
    data[place] = bias
    data[place + stride] = kp
    data[place + 2 * stride] = kd
    data[place + 3 * stride] = -most
    data[place + 4 * stride] = most


@kernel
def drive_servos(h, stride, data, where, form):
    """Moves each setpoint toward its target and computes the effort that holds the joint there.

    ``where``: effort, target, target speed, setpoint, gains (kp, kd, largest effort).
    ``form``: lowest and highest value, highest speed.
    """
    for n in range(where.shape[0]):
        wanted = min(max(data[where[n, 1]], form[n, 0]), form[n, 1])
        speed = min(max(data[where[n, 2]], 0.0), form[n, 2])
        before = data[where[n, 3]]
        after = wanted
        moving = 0.0
        if not math.isinf(speed):
            after = min(max(wanted, before - speed * h), before + speed * h)
            # A moving setpoint has a speed. A target reached within the step has none: a staircase
            # (a program with its own period) must not excite the joint.
            if after != wanted:
                moving = (after - before) / h
        data[where[n, 3]] = after
        gains = where[n, 4]
        kp, kd = data[gains], data[gains + 1]
        _write(data, where[n, 0], stride, kp * after + kd * moving, kp, kd, data[gains + 2])


@kernel
def drive_motors(stride, data, where, form):
    """Turns joints at their target speeds.

    ``where``: effort, target speed, gains (gain, largest effort). ``form``: highest speed.
    """
    for n in range(where.shape[0]):
        speed = min(max(data[where[n, 1]], -form[n, 0]), form[n, 0])
        gain, most = data[where[n, 2]], data[where[n, 2] + 1]
        _write(data, where[n, 0], stride, gain * speed, 0.0, gain, most)


@kernel
def drive_efforts(stride, data, where):
    """Passes target efforts on, within the limit. ``where``: effort, target effort, limit."""
    for n in range(where.shape[0]):
        most = data[where[n, 2]]
        effort = min(max(data[where[n, 1]], -most), most)
        _write(data, where[n, 0], stride, effort, 0.0, 0.0, most)


#: Columns of the fixed parameters of a general drive.
DYNAMICS, TIME, EARLY, CONTROL_LO, CONTROL_HI, ACT_LO, ACT_HI, FORCE_LO, FORCE_HI = range(9)


@kernel
def drive_general(
    h, dofs, limits, rows, terms, weights, alone, fixed, laws, coordinate, q, v, data, control,
    activation, force, drive,
):  # fmt: skip
    """Turns controls into forces on weighted sums of joints.

    ``rows`` are the drives that no engine computes. ``terms`` (n×2): drive and degree of freedom,
    with its ``weights``. ``laws``: gain (3) and bias (3). ``control`` are addresses in ``data``. A
    drive that has its joint ``alone`` passes its law on; others add their present force.
    """
    count = laws.shape[0]
    length, speed = np.zeros(count), np.zeros(count)
    for t in range(terms.shape[0]):
        length[terms[t, 0]] += weights[t] * q[coordinate[terms[t, 1]]]
        speed[terms[t, 0]] += weights[t] * v[terms[t, 1]]
    for k in range(dofs.shape[0]):
        i = dofs[k]
        drive[0, i] = drive[1, i] = drive[2, i] = 0.0
        drive[3, i], drive[4, i] = limits[k, 0], limits[k, 1]
    used = np.empty(count)
    for r in range(rows.shape[0]):
        n = rows[r]
        law, form = laws[n], fixed[n]
        u = min(max(data[control[n]], form[CONTROL_LO]), form[CONTROL_HI])
        if form[DYNAMICS] == 0.0:
            activation[n] = used[n] = u
        else:
            after = activation[n] + h * u
            if form[DYNAMICS] == 2.0:
                after = activation[n] + h * (u - activation[n]) / form[TIME]
            elif form[DYNAMICS] == 3.0:
                after = activation[n] + (u - activation[n]) * (1.0 - math.exp(-h / form[TIME]))
            after = min(max(after, form[ACT_LO]), form[ACT_HI])
            used[n] = after if form[EARLY] else activation[n]
            activation[n] = after
        total = (law[0] + law[1] * length[n] + law[2] * speed[n]) * used[n]
        total += law[3] + law[4] * length[n] + law[5] * speed[n]
        force[n] = min(max(total, form[FORCE_LO]), form[FORCE_HI])
    for t in range(terms.shape[0]):
        n, i, w = terms[t, 0], terms[t, 1], weights[t]
        if not alone[n]:
            drive[0, i] += w * force[n]
            continue
        law, lowest, highest = laws[n], fixed[n, FORCE_LO], fixed[n, FORCE_HI]
        drive[0, i] = w * (law[0] * used[n] + law[3])
        drive[1, i] = -w * w * (law[1] * used[n] + law[4])
        drive[2, i] = -w * w * (law[2] * used[n] + law[5])
        drive[3, i] = max(drive[3, i], min(w * lowest, w * highest))
        drive[4, i] = min(drive[4, i], max(w * lowest, w * highest))


@kernel
def meter_general(h, rows, terms, weights, v, force, power, energy):
    """Adds up the work of general drives: h · force · speed of the weighted sum."""
    for r in range(rows.shape[0]):
        power[rows[r]] = 0.0
    for t in range(terms.shape[0]):
        power[terms[t, 0]] += weights[t] * v[terms[t, 1]] * force[terms[t, 0]]
    for r in range(rows.shape[0]):
        energy[rows[r]] += h * power[rows[r]]
