"""Worked example of Lima et al.: the planners of Table 1, the servo step of figure 7."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.model.scene.motion_limits import MotionLimits, MotorLosses
from linkwork.motion.profiles.profile import Profile
from linkwork.motion.profiles.span import Numbers, Span, Waypoint, span_of
from linkwork.motion.profiles.switch_times import (
    of_least_acceleration,
    of_least_energy,
    of_least_speed,
    of_least_work,
    piece_energy,
    span_energy,
)

_DEG = math.pi / 180.0

#: The conditions of Lima et al. §4.3: 0° at 20 deg/s at 3 s, 27° at 30 deg/s at 4 s.
START = Waypoint(3.0, 0.0, 20.0 * _DEG)
END = Waypoint(4.0, 27.0 * _DEG, 30.0 * _DEG)
#: The maximum acceleration of §4.4, 200 deg/s².
LIMITS = MotionLimits(acceleration=200.0 * _DEG)
#: The extended arm of §4.5: 0.174 kg, 0.2 m, I = mL²/3 [kg m²].
INERTIA = 0.174 * 0.2**2 / 3.0
#: A servo with losses, chosen after the kit ``bioloid``: at a stall torque of 1.5 N m a servo draws
#: 18 W, all of it copper loss (8 W/(N m)²); friction as in the humanoid's file.
SERVO = MotorLosses(inertia=INERTIA, copper=8.0, viscous=0.02, coulomb=0.02)


@dataclass(frozen=True)
class PublishedRow:
    """A row of Table 1 as printed: [s], [deg/s], [deg/s²], [mJ]."""

    switch: float
    middle: float
    acceleration: float
    energy: float


#: Table 1 as printed.
TABLE_1 = {
    "acceleration": PublishedRow(3.84, 32.39, 14.77, 0.1807),
    "speed": PublishedRow(3.02, 24.21, 200.0, 0.2004),
    "energy": PublishedRow(3.6, 30.0, 16.67, 0.1767),
}


@dataclass(frozen=True)
class PlannerComparison:
    """Result of a planner between two waypoints, SI units.

    Attributes:
        planner: Its name.
        switch: tm [s].
        middle: ωm.
        speed: The peak velocity.
        acceleration: The peak acceleration.
        as_printed: The energy with the error of Lima et al.: the second segment starts at ω2 [J].
        work: ∫P dt, the mechanical work; the same for every tm [J].
        effort: ∫|P| dt: braking costs as much as driving [J].
        drawn: Energy from the supply with a loss model [J].
    """

    planner: str
    switch: float
    middle: float
    speed: float
    acceleration: float
    as_printed: float
    work: float
    effort: float
    drawn: float


def energy_as_printed(span: Span, switch: Numbers, inertia: float) -> np.ndarray:
    """Returns the energies of Table 1 and figure 15 of Lima et al. [J].

    ½I[(ωm² − ω1²) + 2ω2(ω2 − ωm) + (ω2 − ωm)²]: the second segment starts at ω2 instead of ωm. The
    published saving of 13 % is due to this error; ∫P dt does not depend on tm.
    """
    middle = span.middle(switch)
    rest = span.last - middle
    square = (middle - span.first) * (middle + span.first)
    return 0.5 * inertia * (square + 2.0 * span.last * rest + rest * rest)


def mechanical(span: Span, switch: Numbers, inertia: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns ∫P dt and ∫|P| dt of P = I·a·ω [J]."""
    losses = MotorLosses(inertia=inertia, recuperation=1.0)
    middle, rest = span.middle(switch), span.time - np.asarray(switch)
    given, back = piece_energy(span.first, middle, switch, losses)
    more, less = piece_energy(middle, span.last, rest, losses)
    return given + more - back - less, given + more + back + less


def compare(
    start: Waypoint = START,
    end: Waypoint = END,
    limits: MotionLimits = LIMITS,
    losses: MotorLosses = SERVO,
) -> list[PlannerComparison]:
    """Compares all planners in two segments: least acceleration, velocity, |work|, energy.

    Planners without a feasible result are omitted.
    """
    span = span_of(start, end)
    distances = {
        "acceleration": of_least_acceleration(span, limits),
        "speed": of_least_speed(span, limits) if math.isfinite(limits.acceleration) else math.nan,
        "energy": of_least_work(span, limits),
        "energy with losses": of_least_energy(span, limits, losses),
    }
    made = []
    for planner, found in distances.items():
        s = float(found)
        if math.isnan(s):
            continue
        work, effort = mechanical(span, s, losses.inertia)
        figures = (
            span.middle(s), span.peak_speed(s), span.peak_acceleration(s),
            energy_as_printed(span, s, losses.inertia), work, effort, span_energy(span, s, losses),
        )  # fmt: skip
        made.append(PlannerComparison(planner, start.time + s, *(float(x) for x in figures)))
    return made


#: The servo of Lima et al. §4.1 [rad/s], [rad/s²], and its step [rad].
SPEED, ACCELERATION, STEP_ANGLE = math.radians(281.0), math.radians(1400.0), math.radians(50.0)


def servo_step() -> Profile:
    """Returns a step from 0 to 50° with both published figures: 1400 deg/s² up to 281 deg/s.

    Lima et al. print its curve only as a picture. If the velocity is reached, 21.8° are left to
    decelerate, which takes 1811 deg/s²: with 1400 deg/s² both ways 50° are too short, and the
    fastest step (``segment`` by "cruise") peaks at 264.6 deg/s. Samples at 30 Hz are in
    ``lima_step.csv`` of ``linkwork.components.actuators.models``.
    """
    up = SPEED / ACCELERATION
    down = 2.0 * (STEP_ANGLE - SPEED * up / 2.0) / SPEED
    phases = [(up, ACCELERATION), (down, -SPEED / down)]
    return Profile.of_phases(0.0, 0.0, 0.0, phases, (up + down, STEP_ANGLE, 0.0))
