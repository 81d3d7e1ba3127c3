"""Compiled actuators: one call per type over the state's flat array.

``where`` (int64) and ``form`` (float64) hold a row per actuator. An actuator writes its column of
the affine efforts (bias, kp, kd, lowest, highest), whose five numbers stand ``stride`` apart.
"""

from __future__ import annotations

import math

from linkwork.jit import kernel


@kernel
def _write(data, place, stride, bias, kp, kd, most):
    data[place] = bias
    data[place + stride] = kp
    data[place + 2 * stride] = kd
    data[place + 3 * stride] = -most
    data[place + 4 * stride] = most


@kernel
def drive_servos(h, stride, data, where, form):
    """Moves each setpoint towards its target and holds the joint there.

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
            # On the way the setpoint has a speed. A target reached within the step has none: one
            # that comes as a staircase (a program at its own period) must not kick the joint.
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
