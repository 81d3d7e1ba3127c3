"""Worked example: two references planned in every way, beside what 004's Table 1 prints."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork.motion.profiles.power import of_least_energy, piece_energy, span_energy
from linkwork.motion.profiles.reference import Reference, span_between
from linkwork.motion.profiles.span import Numbers, Span
from linkwork.motion.profiles.switches import of_least_acceleration, of_least_speed, of_least_work
from linkwork.scene.planning import Limits, Losses

_DEG = math.pi / 180.0

#: The conditions of 004 §4.3: 0° at 20 deg/s at 3 s, 27° at 30 deg/s at 4 s.
START = Reference(3.0, 0.0, 20.0 * _DEG)
END = Reference(4.0, 27.0 * _DEG, 30.0 * _DEG)
#: The largest acceleration of §4.4, 200 deg/s².
LIMITS = Limits(acceleration=200.0 * _DEG)
#: The extended arm of §4.5: 0.174 kg, 0.2 m, I = mL²/3 [kg m²].
INERTIA = 0.174 * 0.2**2 / 3.0
#: A servo with losses, chosen after the kit ``bioloid``: at a stall torque of 1.5 N m a servo draws
#: 18 W, all of it copper loss (8 W/(N m)²); friction as in the humanoid's file.
SERVO = Losses(inertia=INERTIA, copper=8.0, viscous=0.02, coulomb=0.02)


@dataclass(frozen=True)
class Printed:
    """A row of Table 1 as it is printed: [s], [deg/s], [deg/s²], [mJ]."""

    switch: float
    middle: float
    acceleration: float
    energy: float


#: Table 1 as printed.
TABLE_1 = {
    "acceleration": Printed(3.84, 32.39, 14.77, 0.1807),
    "speed": Printed(3.02, 24.21, 200.0, 0.2004),
    "energy": Printed(3.6, 30.0, 16.67, 0.1767),
}


@dataclass(frozen=True)
class Comparison:
    """What a planner makes of two references, SI units.

    Attributes:
        planner: Its name.
        switch: tm [s].
        middle: ωm.
        speed: The largest speed.
        acceleration: The largest acceleration.
        as_printed: The energy by 004's slip: the second piece taken to begin at ω2 [J].
        work: ∫P dt, the mechanical work; the same for every tm [J].
        effort: ∫|P| dt: braking costs as much as driving [J].
        drawn: What a supply gives under a loss model, nothing coming back unless it says so [J].
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
    """The energies of 004's Table 1 and figure 15 [J].

    ½I[(ωm² − ω1²) + 2ω2(ω2 − ωm) + (ω2 − ωm)²]: the second piece begins at ω2 in place of ωm. The
    saving of 13 % that the document finds is this slip; ∫P dt does not depend on tm.
    """
    middle = span.middle(switch)
    rest = span.last - middle
    square = (middle - span.first) * (middle + span.first)
    return 0.5 * inertia * (square + 2.0 * span.last * rest + rest * rest)


def mechanical(span: Span, switch: Numbers, inertia: float) -> tuple[np.ndarray, np.ndarray]:
    """∫P dt and ∫|P| dt of P = I·a·ω [J]."""
    losses = Losses(inertia=inertia, recuperation=1.0)
    middle, rest = span.middle(switch), span.time - np.asarray(switch)
    given, back = piece_energy(span.first, middle, switch, losses)
    more, less = piece_energy(middle, span.last, rest, losses)
    return given + more - back - less, given + more + back + less


def compare(
    start: Reference = START,
    end: Reference = END,
    limits: Limits = LIMITS,
    losses: Losses = SERVO,
) -> list[Comparison]:
    """Every way in two pieces: least acceleration, speed, |work|, and energy with losses.

    Planners that the limits leave no way are left out.
    """
    span = span_between(start, end)
    ways = {
        "acceleration": of_least_acceleration(span, limits),
        "speed": of_least_speed(span, limits) if math.isfinite(limits.acceleration) else math.nan,
        "energy": of_least_work(span, limits),
        "energy with losses": of_least_energy(span, limits, losses),
    }
    made = []
    for planner, found in ways.items():
        s = float(found)
        if math.isnan(s):
            continue
        work, effort = mechanical(span, s, losses.inertia)
        figures = (
            span.middle(s), span.peak_speed(s), span.peak_acceleration(s),
            energy_as_printed(span, s, losses.inertia), work, effort, span_energy(span, s, losses),
        )  # fmt: skip
        made.append(Comparison(planner, start.time + s, *(float(x) for x in figures)))
    return made
