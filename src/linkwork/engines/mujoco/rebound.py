"""Rebound: the contact spring and damper that give back a wanted fraction of the speed.

MuJoCo has no restitution; a contact is a spring and a damper on the acceleration that only push.
Its discrete integrator evaluates both at the end of the step, which damps by itself: the faster
the spring, the more. So the spring is as fast as the wanted rebound allows, and slow enough not
to let bodies sink in too deep; very lively surfaces lose some of their rebound to that.
"""

from __future__ import annotations

import math
from functools import cache

#: Bounds of the contact's natural frequency [rad/s]. A body that falls from 0.5 m sinks in by
#: about 1 cm at the higher and 3 cm at the lower one.
SLOWEST, FASTEST = 80.0, 300.0

#: Impedance of the contacts; the same at all depths, so that the spring is linear.
IMPEDANCE = (0.95, 0.95, 0.001, 0.5, 2.0)

#: Moments within a step at which a body may arrive, whose rebounds are averaged.
_ARRIVALS = (0.125, 0.375, 0.625, 0.875)


@cache
def rebound(restitution: float, h: float) -> tuple[float, float, float]:
    """Finds the stiffest contact with a rebound.

    Args:
        restitution: Wanted fraction of the speed, more than 0.
        h: Time step [s].

    Returns:
        Spring k [1/s²], damper b [1/s], and the fraction of the speed that they give back.
    """
    frequency = FASTEST
    while frequency > SLOWEST and _given_back(frequency**2, 0.0, h) < restitution:
        frequency = max(0.95 * frequency, SLOWEST)
    spring = frequency**2
    low, high = 0.0, 20.0 * frequency
    if _given_back(spring, low, h) <= restitution:
        high = low
    for _ in range(40):
        middle = 0.5 * (low + high)
        if _given_back(spring, middle, h) > restitution:
            low = middle
        else:
            high = middle
    return spring, high, _given_back(spring, high, h)


def _given_back(spring: float, damper: float, h: float) -> float:
    """Fraction of the speed that is left when the contact no longer pushes."""
    total = 0.0
    for arrival in _ARRIVALS:
        depth, speed = arrival * h, 1.0  # has sunk in since it arrived within the last step
        for _ in range(math.ceil(0.2 / h)):
            after = (speed - spring * h * depth) / (1.0 + damper * h + spring * h * h)
            if after >= speed or depth <= 0.0:
                break
            speed = after
            depth += h * speed
        total += max(-speed, 0.0)
    return total / len(_ARRIVALS)
