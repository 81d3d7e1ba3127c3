"""Engine words: what only one engine understands of a shape, joint, element, loop or coupling.

Pure data that stands under the engine's name, ``mujoco = { solref = [0.02, 1] }``. The engine
takes them in place of its own values; all others ignore them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linkwork.errors import Origin, PartError, suggestion


@dataclass(frozen=True)
class EngineWord:
    """One word.

    Attributes:
        help: One sentence for people.
        kind: "number", "numbers", "whole", "flag" or "name".
        count: How many numbers, where it is "numbers".
        low: Lowest number, or None for any.
        high: Highest number, or None for any.
    """

    help: str
    kind: str = "number"
    count: int = 1
    low: float | None = None
    high: float | None = None

    def problem(self, value: Any) -> str:
        """What must be said of a value that is none of this word's, or nothing."""
        match self.kind:
            case "flag":
                return "" if isinstance(value, bool) else "must be true or false"
            case "name":
                fits = isinstance(value, str) and 0 < len(value) <= 100
                return "" if fits else "must be a name"
            case "numbers":
                if not isinstance(value, list | tuple) or len(value) != self.count:
                    return f"must be an array of {self.count} numbers"
                return next(filter(None, map(self._number, value)), "")
        return self._number(value)

    def _number(self, value: Any) -> str:
        if self.kind == "whole" and (isinstance(value, bool) or not isinstance(value, int)):
            return "must be a whole number"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "must be a number"
        if not (math.isfinite(value) and abs(value) <= 1e15):
            return "must be a finite number up to 1e15"
        if self.low is not None and value < self.low:
            return f"must be {self.low:g} or more"
        if self.high is not None and value > self.high:
            return f"must be {self.high:g} or less"
        return ""


_SOLREF = EngineWord("Time constant [s] and damping ratio; or −stiffness, −damping.", "numbers", 2)
_SOLIMP = EngineWord("Impedance: least, most, width [m or rad], midpoint, power.", "numbers", 5)
_MASK = {"kind": "whole", "low": -(2**31), "high": 2**31 - 1}

#: What MuJoCo understands of a shape.
MUJOCO_SHAPE: dict[str, EngineWord] = {
    "name": EngineWord("Name of the geom, for contact pairs.", "name"),
    "friction": EngineWord("Sliding, turning [m] and rolling [m] friction.", "numbers", 3, 0.0),
    "solref": _SOLREF,
    "solimp": _SOLIMP,
    "condim": EngineWord("Dimensions of its contacts: 1, 3, 4 or 6.", "whole", 1, 1, 6),
    "contype": EngineWord("Bits: what it is to others' conaffinity.", **_MASK),
    "conaffinity": EngineWord("Bits: whose contype it touches.", **_MASK),
    "priority": EngineWord("Of two surfaces the one with more counts.", **_MASK),
    "solmix": EngineWord("Weight of its softness in a contact.", low=0.0),
    "margin": EngineWord("Distance at which contacts begin [m].", low=0.0),
    "gap": EngineWord("Distance within the margin without force [m].", low=0.0),
    "adhesion": EngineWord("Force that holds a contact together [N]."),
    "surfacevel": EngineWord("Velocity of the surface itself [m/s, rad/s].", "numbers", 6),
    "fluid": EngineWord("Coefficients of the ellipsoid in a fluid.", "numbers", 5),
}

#: What MuJoCo understands of a joint.
MUJOCO_JOINT: dict[str, EngineWord] = {
    "solref_limit": _SOLREF,
    "solimp_limit": _SOLIMP,
    "solref_friction": _SOLREF,
    "solimp_friction": _SOLIMP,
    "margin": EngineWord("Distance at which the stops begin [rad or m].", low=0.0),
    "stiffness": EngineWord("Coefficients of the spring's second and third power.", "numbers", 2),
    "damping": EngineWord("Coefficients of the damper's second and third power.", "numbers", 2),
    "effort_range": EngineWord("Least and most of all its drives [N m or N].", "numbers", 2),
    "gravity_by_drive": EngineWord("Whether gravity compensation counts as drive.", "flag"),
}

#: What MuJoCo understands of an element.
MUJOCO_ELEMENT: dict[str, EngineWord] = {
    "gravcomp": EngineWord("Share of its weight that is held by itself."),
}

#: What MuJoCo understands of a loop.
MUJOCO_LOOP: dict[str, EngineWord] = {
    "solref": _SOLREF,
    "solimp": _SOLIMP,
    "torquescale": EngineWord("Weight of turning against moving [m], of a fixed loop.", low=0.0),
}

#: What MuJoCo understands of a coupling.
MUJOCO_COUPLING: dict[str, EngineWord] = {
    "solref": _SOLREF,
    "solimp": _SOLIMP,
    "polycoef": EngineWord("Coefficients of the powers 2, 3 and 4 beyond the ratio.", "numbers", 3),
}


def check_words(
    given: Mapping[str, Any], words: Mapping[str, EngineWord], who: str, *, origin: Origin
) -> None:
    """Refuses words that are not known, or whose values are of another kind.

    Raises:
        PartError: Naming the thing, the word and what is allowed.
    """
    for name, value in given.items():
        if name not in words:
            raise PartError(
                f"{who}: mujoco has no word {name!r} here.",
                origin=origin,
                hint=suggestion(name, words, kind="words"),
            )
        if why := words[name].problem(value):
            raise PartError(f"{who}: mujoco.{name} {why}, not {value!r}.", origin=origin)
