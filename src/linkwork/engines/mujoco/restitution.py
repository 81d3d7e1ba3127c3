"""Restitution: contact spring and damper with a given coefficient of restitution.

MuJoCo has no restitution; a contact is a spring and a damper on the acceleration that only push.
Its discrete integrator evaluates both at the end of the step, which adds damping: the faster the
spring, the more. The others evaluate them at its start. So the spring is as fast as the restitution
allows, but not so slow that bodies penetrate deeply; very elastic surfaces lose some restitution to
that with the discrete integrator.
"""

from __future__ import annotations

import math
from functools import cache

#: Bounds of the contact's natural frequency [rad/s]. A body that falls from 0.5 m penetrates by
#: about 1 cm at the higher and 3 cm at the lower one.
SLOWEST, FASTEST = 80.0, 300.0

#: Largest angle by which a contact may swing in a step of an integrator that evaluates it at the
#: start of the step [rad].
MAX_ANGLE_PER_STEP = 0.4

#: Impedance of the contacts; constant over depth, so that the spring is linear.
IMPEDANCE = (0.95, 0.95, 0.001, 0.5, 2.0)

#: Times of the impact within a step, as fractions, over which the restitution is averaged.
_IMPACT_PHASES = (0.125, 0.375, 0.625, 0.875)

#: RK4 is nearly exact: it is simulated in this many steps, which need not be shorter than this [s].
_RK4_STEPS, _RK4_STEP = 16, 5e-5


@cache
def contact_for_restitution(
    restitution: float, h: float, integrator: str
) -> tuple[float, float, float]:
    """Returns the stiffest contact with a coefficient of restitution.

    Args:
        restitution: Coefficient of restitution, above 0.
        h: Time step [s].
        integrator: Time integrator of the engine.

    Returns:
        Spring k [1/s²], damper b [1/s], and the resulting coefficient of restitution.
    """
    frequency, slowest = FASTEST, SLOWEST
    if integrator != "discrete":  # beyond this, a step adds energy to the impact
        frequency = min(frequency, MAX_ANGLE_PER_STEP / h)
        slowest = min(slowest, frequency)
    while (
        frequency > slowest
        and _simulated_restitution(frequency**2, 0.0, h, integrator) < restitution
    ):
        frequency = max(0.95 * frequency, slowest)
    spring = frequency**2
    low, high = 0.0, 20.0 * frequency
    if integrator != "discrete":  # one step may at most stop the body
        high = min(high, 1.0 / h)
    if _simulated_restitution(spring, low, h, integrator) <= restitution:
        high = low
    for _ in range(40):
        middle = 0.5 * (low + high)
        if _simulated_restitution(spring, middle, h, integrator) > restitution:
            low = middle
        else:
            high = middle
    return spring, high, _simulated_restitution(spring, high, h, integrator)


def _simulated_restitution(spring: float, damper: float, h: float, integrator: str) -> float:
    """Returns the velocity ratio when the contact force ends."""
    total = 0.0
    if integrator == "RK4":
        h = min(h, max(h / _RK4_STEPS, _RK4_STEP))
    for phase in _IMPACT_PHASES:
        depth, speed = phase * h, 1.0  # penetration since the impact within the last step
        for _ in range(math.ceil(0.2 / h)):
            if integrator == "discrete":
                after = (speed - spring * h * depth) / (1.0 + damper * h + spring * h * h)
            else:
                after = speed - h * (spring * depth + damper * speed)
            if after >= speed or depth <= 0.0:
                break
            speed = after
            depth += h * speed
        total += max(-speed, 0.0)
    return total / len(_IMPACT_PHASES)
