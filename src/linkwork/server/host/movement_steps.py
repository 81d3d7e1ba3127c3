"""MovementSteps: edits of a movement, to be undone and done again in turn with those of files."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.scene import Movement
from linkwork.scene.project import next_number

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
    number: int
    state: Edited


class MovementSteps:
    """Steps of two histories, the movement's and the files', are undone in the order of doing.

    Their numbers tell that order. All that is undone is later than all that is not: where a step
    of the files is later than what was undone here, somebody went another way, and that is lost.
    """

    def __init__(self) -> None:
        self._done: list[_Step] = []
        self._undone: list[_Step] = []

    def keep(self, what: str, gesture: tuple[str, int], files: int, before: Edited) -> None:
        """Keeps a step that is being done; a hand that goes on moving goes on with its own.

        Args:
            what: What is done, in words.
            gesture: Whose, and which movement of a hand.
            files: The number of the last step of the files that is not undone, 0 for none.
            before: The state before.
        """
        self._undone.clear()
        last = self._done[-1] if self._done else None
        own = last is not None and last.gesture == gesture and last.number > files
        if not gesture[1] or not own:
            self._done.append(_Step(what, gesture, next_number(), before))
            del self._done[:-_MOST]

    @property
    def last(self) -> int:
        """The number of the last step that is not undone, 0 for none."""
        return self._done[-1].number if self._done else 0

    def undo_words(self, files: int) -> str:
        """What would be undone; empty if nothing here, or a step of the files first.

        Args:
            files: The number of the last step of the files that is not undone, 0 for none.
        """
        return self._done[-1].what if self._done and self._done[-1].number > files else ""

    def redo_words(self, files: int, undone: int) -> str:
        """What would be done again; empty if nothing here, or a step of the files first.

        Args:
            files: As of :meth:`undo_words`.
            undone: The number of the step of the files that would be done again, 0 for none.
        """
        if not self._undone or self._undone[-1].number < files:
            return ""
        return "" if 0 < undone < self._undone[-1].number else self._undone[-1].what

    def undo(self, now: Edited) -> Edited:
        """The state to go back to."""
        return self._turn(self._done, self._undone, now)

    def redo(self, now: Edited) -> Edited:
        """The state to go on to again."""
        return self._turn(self._undone, self._done, now)

    def _turn(self, taken: list[_Step], given: list[_Step], now: Edited) -> Edited:
        step = taken.pop()
        given.append(_Step(step.what, ("", 0), step.number, now))
        return step.state
