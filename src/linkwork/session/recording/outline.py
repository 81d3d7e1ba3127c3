"""What a reader must know about a recorded world: its step, its state's layout, its signals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from linkwork.errors import RecordingError
from linkwork.state import Field

#: Bytes of one number of a state, and of one number of a frame.
NUMBER = 8
SHORT_NUMBER = 4

_SHORTEST_STEP = 1e-9
_LONGEST_STEP = 3600.0
_LONGEST_RUN = 1e10
_MOST_DIMENSIONS = 8
_MOST_NUMBERS = 2**27


@dataclass(frozen=True, slots=True)
class SignalColumn:
    """A signal whose values are recorded.

    Attributes:
        name: ``arm/J2.angle``.
        unit: "rad", "m", …; empty for pure numbers.
    """

    name: str
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a reader must know about a recorded world.

    Attributes:
        scene: Name of the scene's file among the recorded files, or of a scene made in Python.
        world_hash: Hash of the compiled world.
        step: Duration of a step [s].
        layout: Blocks of the state, in order and without gaps.
        signals: Signals whose values are recorded, in order.
    """

    scene: str
    world_hash: str
    step: float
    layout: tuple[Field, ...]
    signals: tuple[SignalColumn, ...] = ()

    @property
    def state_bytes(self) -> int:
        """Length of a state [byte]."""
        return NUMBER * sum(field.size for field in self.layout)

    @property
    def frame_bytes(self) -> int:
        """Length of a frame [byte]: a row for each row of the state's block ``pose``."""
        return sum(SHORT_NUMBER * each.size for each in self.layout if each.name == "pose")

    @property
    def signals_bytes(self) -> int:
        """Length of one reading of the recorded signals [byte]."""
        return NUMBER * len(self.signals)

    def check(self) -> None:
        """Refuses a step or a layout that no world can have.

        Raises:
            RecordingError: It says what is wrong.
        """
        if not _SHORTEST_STEP <= self.step <= _LONGEST_STEP:
            raise RecordingError(
                f"the recorded world has a step of {self.step!r} s; "
                f"allowed are {_SHORTEST_STEP:g} s to {_LONGEST_STEP:g} s."
            )
        _check_layout(self.layout)


def _check_layout(layout: Iterable[Field]) -> None:
    end, names = 0, set[str]()
    for field in layout:
        if field.name in names:
            raise RecordingError(f"the recorded state has two blocks named {field.name!r}.")
        names.add(field.name)
        sensible = len(field.shape) <= _MOST_DIMENSIONS and all(
            0 <= extent <= _MOST_NUMBERS for extent in field.shape
        )
        if not sensible or (field.name == "pose" and field.shape[1:] != (7,)):
            raise RecordingError(
                f"block {field.name!r} of the recorded state has the impossible shape "
                f"{field.shape[:_MOST_DIMENSIONS]}."
            )
        if field.offset != end:
            raise RecordingError(
                f"block {field.name!r} of the recorded state is at number {field.offset}, "
                f"but the blocks before it end at {end}."
            )
        end += field.size
        if end > _MOST_NUMBERS:
            raise RecordingError(f"the recorded state has more than {_MOST_NUMBERS} numbers.")


@dataclass(frozen=True, slots=True)
class Clock:
    """Simulated time by step, equal to the bit for writer and reader.

    Attributes:
        step: First step.
        time: Time of the first step [s].
        duration: Of one step [s].
    """

    step: int
    time: float
    duration: float

    def nanoseconds(self, step: int) -> int:
        """Time of a step [ns]."""
        return int(self.time * 1e9 + (step - self.step) * (self.duration * 1e9) + 0.5)

    def check(self) -> None:
        """Refuses a start that no run can have.

        Raises:
            RecordingError: The step or the time is below zero or far beyond a run's end.
        """
        if not (0 <= self.step < 2**62 and 0 <= self.time <= _LONGEST_RUN):
            raise RecordingError(
                f"step {self.step} at {self.time!r} s cannot be the start of a recorded world."
            )
