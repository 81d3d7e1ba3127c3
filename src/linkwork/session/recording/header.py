"""Header of a recording: its world, seed, software versions, processor."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from linkwork.core.errors import RecordingError
from linkwork.core.state import Field

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
class RecordedWorld:
    """Description of a recorded world, for readers.

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
        """Length of one sample of the recorded signals [byte]."""
        return NUMBER * len(self.signals)

    def check(self) -> None:
        """Checks step and layout.

        Raises:
            RecordingError: If it is invalid.
        """
        if not _SHORTEST_STEP <= self.step <= _LONGEST_STEP:
            raise RecordingError(
                f"the recorded world has a step of {self.step!r} s; "
                f"allowed are {_SHORTEST_STEP:g} s to {_LONGEST_STEP:g} s."
            )
        _check_layout(self.layout)


#: Present names of state slots by their names in format 1, for each kind of block.
_RENAMED_SLOTS = {
    "bus": {"fed": "inputs", "aside": "saved"},
    "engine": {
        "arcs": "curve_positions",
        "pieces": "row_state",
        "written": "last_output",
        "account": "accuracy",
        "bearings": "reactions",
        "acting": "active_rows",
        "grip": "stick_points",
    },
}


def slot_name(recorded: str) -> str:
    """Returns the present name of a block of a recorded state."""
    room, _, slot = recorded.rpartition("/")
    present = _RENAMED_SLOTS.get(room.partition("/")[0], {}).get(slot)
    return f"{room}/{present}" if present else recorded


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
class Timebase:
    """Simulated time by step, bit-identical for writer and reader.

    Attributes:
        step: First step.
        time: Time of the first step [s].
        duration: Duration of a step [s].
    """

    step: int
    time: float
    duration: float

    def nanoseconds(self, step: int) -> int:
        """Time of a step [ns]."""
        return int(self.time * 1e9 + (step - self.step) * (self.duration * 1e9) + 0.5)

    def check(self) -> None:
        """Refuses an impossible start.

        Raises:
            RecordingError: The step or the time is below zero or far beyond a run's end.
        """
        if not (0 <= self.step < 2**62 and 0 <= self.time <= _LONGEST_RUN):
            raise RecordingError(
                f"step {self.step} at {self.time!r} s cannot be the start of a recorded world."
            )


#: Version of the content of the container. A reader refuses newer ones.
FORMAT = 2
#: The oldest version that is read; it has no checksums of records.
FIRST_FORMAT = 1

_DISTRIBUTIONS = {
    "linkwork": ("linkwork",),
    "numpy": ("numpy",),
    "numba": ("numba",),
    "mujoco": ("mujoco-core", "mujoco"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Description of a recorded run.

    Attributes:
        world: The world at the start.
        seed: Seed of all random numbers, 0 to 2⁶⁴ − 1.
        command: Command line that started the run; empty for a run from Python.
        cpu: Name and features of the processor, as far as compiled code depends on them.
        versions: Version of python, linkwork, numpy, numba and mujoco, by name, and of code
            generated for this run (``engine 1 (lagrange)``).
        created: Wall time of the start, ISO 8601, UTC.
        format: Version of the recording's content.
        withheld: Programs of the first world that did not run, because nobody had trusted them.
    """

    world: RecordedWorld
    seed: int
    command: str
    cpu: str
    versions: dict[str, str]
    created: str
    format: int = FORMAT
    withheld: tuple[str, ...] = ()

    @staticmethod
    def of_run(
        world: RecordedWorld, *, seed: int, cpu: str, command: str = "",
        codes: dict[str, str] | None = None, withheld: Iterable[str] = (),
    ) -> Header:  # fmt: skip
        """The header of a run that starts now, on this machine."""
        return Header(
            world=world,
            seed=seed,
            command=command,
            cpu=cpu,
            versions=installed_versions() | (codes or {}),
            created=datetime.now(UTC).isoformat(timespec="milliseconds"),
            withheld=tuple(withheld),
        )

    def differences(self, here: Header) -> list[str]:
        """Why a replay with the versions and processor of ``here`` may differ in the last bits.

        Returns:
            One phrase for each; none if a replay must agree bit for bit.
        """
        found = [
            f"{name} {self.versions.get(name, 'absent')} when recorded, "
            f"{here.versions.get(name, 'absent')} here"
            for name in sorted(self.versions.keys() | here.versions.keys())
            if self.versions.get(name) != here.versions.get(name)
        ]
        if self.cpu != here.cpu:
            found.append(f"processor {self.cpu!r} when recorded, {here.cpu!r} here")
        return found


def installed_versions() -> dict[str, str]:
    """Version of Python and of each package on which the bits of a run depend, by name.

    Reads the installed metadata, so that nothing heavy is imported.
    """
    versions = {"python": platform.python_version()}
    for name, distributions in _DISTRIBUTIONS.items():
        for distribution in distributions:
            try:
                versions[name] = importlib.metadata.version(distribution)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
    return versions
