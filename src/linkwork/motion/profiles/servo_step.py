"""Servo step: 004's step of a servo (figure 7) as a profile, made from the figures it states."""

from __future__ import annotations

import math

import numpy as np

from linkwork.motion.profiles.profile import Profile

#: The servo of 004 §4.1 [rad/s], [rad/s²], and its step [rad].
SPEED, ACCELERATION, HEIGHT = math.radians(281.0), math.radians(1400.0), math.radians(50.0)
#: Samples a second.
RATE = 30.0


def servo_step() -> Profile:
    """From 0 to 50° at rest, reaching both stated figures: 1400 deg/s² up to 281 deg/s.

    004 prints its curve only as a picture. If the speed is reached, 21.8° are left to brake in,
    which takes 1811 deg/s²: within 1400 deg/s² both ways 50° are too short, and the quickest step
    (``segment`` by "cruise") peaks at 264.6 deg/s. The samples are ``step_004.csv`` of
    ``linkwork.actuators.models``.
    """
    up = SPEED / ACCELERATION
    down = 2.0 * (HEIGHT - SPEED * up / 2.0) / SPEED
    pieces = [(up, ACCELERATION), (down, -SPEED / down)]
    return Profile.of_pieces(0.0, 0.0, 0.0, pieces, (up + down, HEIGHT, 0.0))


def servo_step_samples(duration: float = 0.8, rate: float = RATE) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and angles [rad] of the step as sampled at 30 Hz."""
    times = np.arange(round(duration * rate) + 1) / rate
    return times, servo_step().states(times)[0]
