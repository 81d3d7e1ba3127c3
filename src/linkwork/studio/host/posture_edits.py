"""Posture edits: postures set by hand, undone in order or stored in the file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.core.state import State
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.world import World
from linkwork.project.edits import read_data
from linkwork.project.text import append_table, remove_at, set_at
from linkwork.studio import protocol as m

#: Maximum number of kept steps.
_MAX_STEPS = 100
#: A joint within this distance of its initial value counts as not moved [rad or m].
_BACK = 1e-9


@dataclass(frozen=True)
class _PostureEdit:
    """An undo step of postures.

    Attributes:
        what: Description of the step.
        gesture: Client and gesture number; one gesture is one step.
        state: The state before.
    """

    what: str
    gesture: tuple[str, int]
    state: State


class PostureHistory:
    """Undo history of postures, used before that of the files; undo never changes the time.

    Steps are valid while only postures change; :meth:`forget` discards them.

    Attributes:
        elsewhere: Whether steps are kept by the movement editor, since drags edit a movement.
        gesture: Gesture of the last step, kept here or by the movement editor.
    """

    def __init__(self) -> None:
        self._done: list[_PostureEdit] = []
        self._undone: list[_PostureEdit] = []
        self.elsewhere = False
        self.gesture = ("", 0)

    def __bool__(self) -> bool:
        return bool(self._done or self._undone)

    @property
    def undo_words(self) -> str:
        """The step to undo; empty if there is none."""
        return self._done[-1].what if self._done else ""

    @property
    def redo_words(self) -> str:
        """The step to redo; empty if there is none."""
        return self._undone[-1].what if self._undone else ""

    def forget(self) -> None:
        """Discards all steps: time or anything else has changed."""
        self._done.clear()
        self._undone.clear()

    def before(self, client: str, message: m.DragJoint | m.Posture, state: State) -> _PostureEdit:
        """The step for a posture message."""
        if isinstance(message, m.DragJoint):
            return _PostureEdit(f"place {message.joint}", (client, message.gesture), state.copy())
        return _PostureEdit(f"posture {message.name}", (client, 0), state.copy())

    def reached(self, gesture: tuple[str, int], tip: str, state: State) -> _PostureEdit:
        """The step for a drag of a tool."""
        return _PostureEdit(f"reach with {tip}", gesture, state.copy())

    def keep(self, step: _PostureEdit, now: State) -> None:
        """Adds a step; a continued gesture extends its own step."""
        self.gesture = step.gesture
        if self.elsewhere:
            return
        self._undone.clear()
        last = self._done[-1] if self._done else None
        if last is None or not step.gesture[1] or last.gesture != step.gesture:
            self._done.append(step)
            del self._done[:-_MAX_STEPS]
        if np.allclose(self._done[-1].state.q, now.q, rtol=0.0, atol=_BACK):
            self._done.pop()  # a canceled drag

    def undo(self, now: State) -> bytes | None:
        """The state before the last step, or None."""
        return self._turn(self._done, self._undone, now)

    def redo(self, now: State) -> bytes | None:
        """The state after the last undone step, or None."""
        return self._turn(self._undone, self._done, now)

    def _turn(
        self, taken: list[_PostureEdit], given: list[_PostureEdit], now: State
    ) -> bytes | None:
        if not taken:
            return None
        step = taken.pop()
        given.append(_PostureEdit(step.what, ("", 0), now.copy()))
        return step.state.save()


#: Joint, or ``joint.dof``, to its value [rad or m] and whether that is an angle.
Values = dict[str, tuple[float, bool]]

#: Margin above the rounding error of written values [rad or m].
_INSIDE = 1e-6
_FORMS = ("joints", "joints_deg", "joints_mm", "joints_cm")


def values_of(world: World, state: State) -> Values:
    """The value of every joint that a posture can hold, within its range by a margin."""
    made: Values = {}
    for number in range(len(world.joints)):
        body = int(world.joint_body[number])
        if world.kind[body] in (BALL, FREE):
            continue
        q, v = int(world.qadr[body]), int(world.vadr[body])
        for k in range(world.joints[number].kind.nv):
            lo, hi = float(world.dof_lo[v + k]), float(world.dof_hi[v + k])
            value = float(state.q[q + k])
            if hi - lo > 2 * _INSIDE:  # otherwise rounding could leave the range
                value = min(max(value, lo + _INSIDE), hi - _INSIDE)
            made[world.dof_name(v + k)] = (value, world.dof_is_angle(v + k))
    return made


def posture_text(text: str, name: str, values: Values) -> str:
    """The text of a scene with a new or replaced posture.

    Angles are written in degrees to 0.0001, lengths in meters to the micrometer.

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
