"""MovementHistory: undo and redo of movement edits, interleaved with edits of the files."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.model.scene import Movement
from linkwork.project import next_step_number

#: Maximum number of kept steps.
_MAX_STEPS = 200


@dataclass(frozen=True)
class MovementSnapshot:
    """The state of a movement between two edits.

    Attributes:
        movement: The movement, or None.
        on: The moved part.
        selected: The selected posture, −1 for none.
        file_number: The number of its file entry.
    """

    movement: Movement | None = None
    on: str = ""
    selected: int = -1
    file_number: int = 0


@dataclass(frozen=True)
class _HistoryStep:
    what: str
    gesture: tuple[str, int]
    number: int
    state: MovementSnapshot


class MovementHistory:
    """Undo history of a movement, kept in one order with the undo history of the files.

    Step numbers define the order. Undone steps are later than all others: if a step of the files is
    later than the steps undone here, those can no longer be redone.
    """

    def __init__(self) -> None:
        self._done: list[_HistoryStep] = []
        self._undone: list[_HistoryStep] = []

    def keep(
        self, what: str, gesture: tuple[str, int], files: int, before: MovementSnapshot
    ) -> None:
        """Adds a step; a continued gesture extends its own step.

        Args:
            what: Description of the step.
            gesture: Client and gesture number.
            files: The number of the last step of the files that is not undone, 0 for none.
            before: The state before the step.
        """
        self._undone.clear()
        last = self._done[-1] if self._done else None
        own = last is not None and last.gesture == gesture and last.number > files
        if not gesture[1] or not own:
            self._done.append(_HistoryStep(what, gesture, next_step_number(), before))
            del self._done[:-_MAX_STEPS]

    @property
    def last(self) -> int:
        """The number of the last step that is not undone, 0 for none."""
        return self._done[-1].number if self._done else 0

    def undo_words(self, files: int) -> str:
        """The step to undo; empty if there is none here, or a step of the files is later.

        Args:
            files: The number of the last step of the files that is not undone, 0 for none.
        """
        return self._done[-1].what if self._done and self._done[-1].number > files else ""

    def redo_words(self, files: int, undone: int) -> str:
        """The step to redo; empty if there is none here, or a step of the files comes first.

        Args:
            files: As for :meth:`undo_words`.
            undone: The number of the step of the files that would be redone, 0 for none.
        """
        if not self._undone or self._undone[-1].number < files:
            return ""
        return "" if 0 < undone < self._undone[-1].number else self._undone[-1].what

    def undo(self, now: MovementSnapshot) -> MovementSnapshot:
        """Returns the state before the last step."""
        return self._turn(self._done, self._undone, now)

    def redo(self, now: MovementSnapshot) -> MovementSnapshot:
        """Returns the state after the last undone step."""
        return self._turn(self._undone, self._done, now)

    def _turn(
        self, taken: list[_HistoryStep], given: list[_HistoryStep], now: MovementSnapshot
    ) -> MovementSnapshot:
        step = taken.pop()
        given.append(_HistoryStep(step.what, ("", 0), step.number, now))
        return step.state
