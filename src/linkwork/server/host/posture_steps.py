"""PostureSteps: postures given by hand while time stands, to be undone and done again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.server import messages as m
from linkwork.state import State

#: So many are kept.
_MOST = 100
#: A joint that is put back this near to where it was has not been moved [rad or m].
_BACK = 1e-9


@dataclass(frozen=True)
class _Step:
    """A posture that can be gone back to.

    Attributes:
        what: What was done since, in words.
        gesture: Whose, and which movement of a hand; what belongs to one is one step.
        state: The state before.
    """

    what: str
    gesture: tuple[str, int]
    state: State


class PostureSteps:
    """What Undo takes back before it turns to the files: only the posture, and never time.

    A step lasts as long as nothing but postures changes; :meth:`forget` ends them all.

    Attributes:
        elsewhere: Whether somebody else keeps the steps: what moves goes into a movement.
        gesture: Of the last step, kept here or elsewhere.
    """

    def __init__(self) -> None:
        self._done: list[_Step] = []
        self._undone: list[_Step] = []
        self.elsewhere = False
        self.gesture = ("", 0)

    def __bool__(self) -> bool:
        return bool(self._done or self._undone)

    @property
    def undo_words(self) -> str:
        """What would be undone; empty if nothing."""
        return self._done[-1].what if self._done else ""

    @property
    def redo_words(self) -> str:
        """What would be done again; empty if nothing."""
        return self._undone[-1].what if self._undone else ""

    def forget(self) -> None:
        """Time has moved, or something else has changed."""
        self._done.clear()
        self._undone.clear()

    def before(self, client: str, message: m.Place | m.Posture, state: State) -> _Step:
        """What a posture would be a step from."""
        if isinstance(message, m.Place):
            return _Step(f"place {message.joint}", (client, message.gesture), state.copy())
        return _Step(f"posture {message.name}", (client, 0), state.copy())

    def reached(self, gesture: tuple[str, int], tip: str, state: State) -> _Step:
        """What a drag of a tool would be a step from."""
        return _Step(f"reach with {tip}", gesture, state.copy())

    def keep(self, step: _Step, now: State) -> None:
        """Keeps a step that was done; a hand that goes on moving goes on with its own."""
        self.gesture = step.gesture
        if self.elsewhere:
            return
        self._undone.clear()
        last = self._done[-1] if self._done else None
        if last is None or not step.gesture[1] or last.gesture != step.gesture:
            self._done.append(step)
            del self._done[:-_MOST]
        if np.allclose(self._done[-1].state.q, now.q, rtol=0.0, atol=_BACK):
            self._done.pop()  # a drag that was given up

    def undo(self, now: State) -> bytes | None:
        """The state to go back to, or None."""
        return self._turn(self._done, self._undone, now)

    def redo(self, now: State) -> bytes | None:
        """The state to go on to again, or None."""
        return self._turn(self._undone, self._done, now)

    def _turn(self, taken: list[_Step], given: list[_Step], now: State) -> bytes | None:
        if not taken:
            return None
        step = taken.pop()
        given.append(_Step(step.what, ("", 0), now.copy()))
        return step.state.save()
