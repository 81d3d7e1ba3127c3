"""MovementPapers: which file a movement is of, and what that file holds."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.scene import Movement


@dataclass
class Paper:
    """Where a movement is written.

    Attributes:
        file: Its file; empty if it has none, or one of a kit.
        saved: What was last written there or read from it, or None.
    """

    file: str = ""
    saved: Movement | None = None


class MovementPapers:
    """Each movement that was begun or opened has a paper, by number.

    An edited movement carries the number, so that an undone Open brings the file back too; what is
    saved stays saved, however far is undone.
    """

    def __init__(self) -> None:
        self._papers = [Paper()]

    def __getitem__(self, number: int) -> Paper:
        return self._papers[number]

    def begin(self, file: str = "", saved: Movement | None = None) -> int:
        """The number of a new paper."""
        self._papers.append(Paper(file, saved))
        return len(self._papers) - 1

    def write(self, number: int, file: str, movement: Movement) -> None:
        """A movement was written to a file; what others knew of it is old."""
        self._papers[number].file = file
        for paper in self._papers:
            if paper.file == file:
                paper.saved = movement
