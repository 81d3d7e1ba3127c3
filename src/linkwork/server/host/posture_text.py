"""A posture as text in a scene's file."""

from __future__ import annotations

import math
from typing import Any

from linkwork.kinematics.kernels import BALL, FREE
from linkwork.scene.edits import read_data
from linkwork.scene.toml_text import append_table, remove_at, set_at
from linkwork.state import State
from linkwork.world import World

#: Joint, or ``joint.freedom``, to its value [rad or m] and whether that is an angle.
Values = dict[str, tuple[float, bool]]

#: More than what is lost by writing with so many digits [rad or m].
_INSIDE = 1e-6
_FORMS = ("joints", "joints_deg", "joints_mm", "joints_cm")


def values_of(world: World, state: State) -> Values:
    """The value of every joint that a posture can hold, well within its range."""
    made: Values = {}
    for number in range(len(world.joints)):
        body = int(world.joint_body[number])
        if world.kind[body] in (BALL, FREE):
            continue
        q, v = int(world.qadr[body]), int(world.vadr[body])
        for k in range(world.joints[number].kind.nv):
            lo, hi = float(world.dof_lo[v + k]), float(world.dof_hi[v + k])
            value = float(state.q[q + k])
            if hi - lo > 2 * _INSIDE:  # else the rounding could lead out of the range
                value = min(max(value, lo + _INSIDE), hi - _INSIDE)
            made[world.dof_name(v + k)] = (value, world.dof_is_angle(v + k))
    return made


def posture_text(text: str, name: str, values: Values) -> str:
    """The text of a scene with a posture, new or in place of the one of that name.

    Angles are written in degrees to 0.0001, lengths in metres to the micrometre.

    Args:
        text: The scene's text.
        name: Name of the posture.
        values: The joints' values.
    """
    made: dict[str, dict[str, float]] = {}
    for joint, (value, angle) in values.items():
        key, number = ("joints_deg", math.degrees(value)) if angle else ("joints", value)
        made.setdefault(key, {})[joint] = round(number, 4 if angle else 6) + 0.0
    made = made or {"joints": {}}
    known: list[dict[str, Any]] = read_data(text).get("posture", [])
    for number, table in enumerate(known):
        if table.get("name") == name:
            for key in [key for key in _FORMS if key in table]:
                text = remove_at(text, ("posture", number, key))
            for key, joints in made.items():
                text = set_at(text, ("posture", number, key), joints)
            return text
    return append_table(text, "posture", {"name": name, **made}, array=True)
