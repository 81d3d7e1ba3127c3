"""MovementSteps: edits of a movement, to be undone and done again in turn with those of files."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.scene import Movement

#: So many are kept.
_MOST = 200


@dataclass(frozen=True)
class Edited:
    """A movement as it stands between two edits.

    Attributes:
        movement: The movement, or None.
        on: The part that it moves.
        selected: The posture that is selected, −1 for none.
        paper: The number of what it is written on.
    """

    movement: Movement | None = None
    on: str = ""
    selected: int = -1
    paper: int = 0


@dataclass(frozen=True)
class _Step:
    what: str
    gesture: tuple[str, int]
    depth: int
    state: Edited


class MovementSteps:
    """Steps of two histories, the movement's and the files', are undone in the order of doing.

    Each step keeps how many edits the files had when it was done: as long as they have more, those
    are newer.
    """

    def __init__(self) -> None:
        self._done: list[_Step] = []
        self._undone: list[_Step] = []

    def keep(self, what: str, gesture: tuple[str, int], depth: int, before: Edited) -> None:
        """Keeps a step that is being done; a hand that goes on moving goes on with its own."""
        self._undone.clear()
        last = self._done[-1] if self._done else None
        if last is None or not gesture[1] or last.gesture != gesture:
            self._done.append(_Step(what, gesture, depth, before))
            del self._done[:-_MOST]

    def undo_words(self, depth: int) -> str:
        """What would be undone, while the files have so many edits; empty if nothing here."""
        return self._done[-1].what if self._done and self._done[-1].depth >= depth else ""

    def redo_words(self, depth: int) -> str:
        """What would be done again, while the files have so many edits; empty if nothing here."""
        return self._undone[-1].what if self._undone and self._undone[-1].depth <= depth else ""

    def undo(self, now: Edited) -> Edited:
        """The state to go back to."""
        return self._turn(self._done, self._undone, now)

    def redo(self, now: Edited) -> Edited:
        """The state to go on to again."""
        return self._turn(self._undone, self._done, now)

    def _turn(self, taken: list[_Step], given: list[_Step], now: Edited) -> Edited:
        step = taken.pop()
        given.append(_Step(step.what, ("", 0), step.depth, now))
        return step.state
