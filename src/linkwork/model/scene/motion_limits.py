"""Motion limits of joints for planners."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

from linkwork.core.errors import SceneError

#: Planners of ``linkwork.motion.profiles``, by what they minimize or limit.
PLANNERS = ("acceleration", "speed", "energy", "cruise", "jerk")


#: Limited quantities.
LIMITED_QUANTITIES = ("speed", "acceleration", "jerk")


@dataclass(frozen=True)
class MotionLimits:
    """Limits of the motion of a joint.

    Attributes:
        speed: [rad/s or m/s].
        acceleration: [rad/s² or m/s²].
        jerk: [rad/s³ or m/s³].
        whose: Source of each limit, for messages: "its servo".
    """

    speed: float = math.inf
    acceleration: float = math.inf
    jerk: float = math.inf
    whose: tuple[str, str, str] = field(default=("", "", ""), compare=False)

    def __post_init__(self) -> None:
        for name, value in zip(LIMITED_QUANTITIES, self.numbers, strict=True):
            if not value > 0.0:
                raise SceneError(f"the maximum {name} must be above 0, not {value:g}.")

    @property
    def numbers(self) -> tuple[float, float, float]:
        """Speed, acceleration, jerk."""
        return self.speed, self.acceleration, self.jerk

    def within(self, other: MotionLimits) -> MotionLimits:
        """Returns the lower limit of each quantity."""
        pairs = zip(self.numbers, other.numbers, strict=True)
        lower = [self if mine <= theirs else other for mine, theirs in pairs]
        speed, acceleration, jerk = (each.numbers[n] for n, each in enumerate(lower))
        whose = lower[0].whose[0], lower[1].whose[1], lower[2].whose[2]
        return MotionLimits(speed, acceleration, jerk, whose)


UNLIMITED = MotionLimits()


@dataclass(frozen=True)
class MotorLosses:
    """Power that a motor needs to move a joint.

    With the effort τ = inertia·a + viscous·ω + coulomb·sign ω, the supply delivers the power
    P = τω + copper·τ². If P < 0, the share ``recuperation`` of it is recovered and the rest is
    dissipated. The defaults are those of Lima et al. §4.5 for an arm of 1 kg m²: inertia alone,
    and no recuperation.

    Attributes:
        inertia: Inertia driven by the motor, with its rotor [kg m² or kg].
        copper: R/(k·n)², of winding resistance, torque constant and gear [W/(N m)² or W/N²].
        viscous: Viscous friction [N m s/rad or N s/m].
        coulomb: Coulomb friction [N m or N].
        recuperation: Share of the braking power that is recovered, 0 to 1.
    """

    inertia: float = 1.0
    copper: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    recuperation: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            top = 1.0 if each.name == "recuperation" else math.inf
            if not (0.0 <= value <= top and math.isfinite(value)):
                allowed = "from 0 to 1" if top == 1.0 else "a finite number of 0 or more"
                raise SceneError(f"the loss {each.name!r} must be {allowed}, not {value:g}.")
        if self.inertia == 0.0:
            raise SceneError("the loss 'inertia' must be above 0.")

    @property
    def lossless(self) -> bool:
        """Whether only the inertia needs power."""
        return not (self.copper or self.viscous or self.coulomb)
