"""Compiled bench: one smart servo that turns a flywheel, without an engine around it."""

from __future__ import annotations

from linkwork.actuators.smart_kernels import (
    AT_A,
    AT_Q,
    AT_TARGET,
    AT_V,
    EFFORT,
    drive_smart_servos,
    meter_smart_servos,
)
from linkwork.jit import flat_kernel


@flat_kernel
def _turn(h, wheel, law, q, v):
    """Speed at the end of a step of implicit Euler, with dry friction that sticks.

    ``wheel``: inertia, Coulomb friction, damping, load. ``law``: bias, kp, kd, lowest, highest.
    """
    inertia, rub, damping, load = wheel[0], wheel[1], wheel[2], wheel[3]
    speed = 0.0
    kp, kd, bias = law[1], law[2], law[0]
    for _ in range(3):  # within the limits, or at the one that is found
        push = inertia * v + h * (bias - kp * q - load)
        push -= min(max(push, -h * rub), h * rub)
        speed = push / (inertia + h * (kd + damping) + h * h * kp)
        effort = bias - kp * (q + h * speed) - kd * speed
        if effort > law[4]:
            bias, kp, kd = law[4], 0.0, 0.0
        elif effort < law[3]:
            bias, kp, kd = law[3], 0.0, 0.0
        else:
            break
    return speed


@flat_kernel
def respond(h, targets, wheel, law, data, where, form, gains, memory, robots, slopes, out):
    """Gives the servo a target in each step; ``out`` (n×3) gets angle, speed and energy."""
    at = where[0]
    for n in range(targets.shape[0]):
        data[at[AT_TARGET]] = targets[n]
        drive_smart_servos(h, n, 1, data, where, form, gains, memory, robots, slopes)
        for k in range(5):
            law[k] = data[at[EFFORT] + k]
        q, v = data[at[AT_Q]], data[at[AT_V]]
        after = _turn(h, wheel, law, q, v)
        data[at[AT_A]] = (after - v) / h
        data[at[AT_V]] = after
        data[at[AT_Q]] = q + h * after
        meter_smart_servos(h, 1, data, where, form, memory, robots)
        out[n, 0], out[n, 1], out[n, 2] = data[at[AT_Q]], after, robots[0, 2]
