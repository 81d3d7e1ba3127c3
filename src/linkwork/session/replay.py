"""Replay: simulates a recording again and compares it with what was recorded, bit for bit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from linkwork.errors import LinkworkError, RecordingError
from linkwork.jit import cpu_features
from linkwork.scene.archive import unpack
from linkwork.session.messages import Reload, Swap, Tried, decode_recorded
from linkwork.session.recording import Header, Recording
from linkwork.session.session import Session
from linkwork.session.tape import join

#: Called with the fraction done.
Progress = Callable[[float], object]
#: Called after each step with the session, for whoever wants to look.
Watch = Callable[[Session], object]


@dataclass
class Replay:
    """How a replay came out.

    Attributes:
        steps: Steps simulated.
        compared: Hashes that were equal.
        mismatch: Where and how it first differed; empty if it never did.
        different_versions: What is not as it was when the recording was made.
    """

    steps: int = 0
    compared: int = 0
    mismatch: str = ""
    different_versions: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether everything was the same, bit for bit."""
        return not self.mismatch


def replay(
    path: str | Path, *, progress: Progress | None = None, watch: Watch | None = None
) -> Replay:
    """Simulates a recording again from its first state and inbox.

    Args:
        path: The recording.
        progress: Called now and then with the fraction done.
        watch: Called after each step with the session, for whoever wants to look.

    Raises:
        RecordingError: If the recording cannot be read.
    """
    with Recording.open(path) as recording, tempfile.TemporaryDirectory() as folder:
        result = Replay()
        scene = unpack(join(recording.files), Path(folder))
        with Session(scene, watch=False, buses=False) as session:
            here = Header.of_run(
                recording.header.world, seed=recording.header.seed, cpu=cpu_features(),
                codes=session.cycle.codes,
            )  # fmt: skip
            result.different_versions = recording.header.differences(here)
            session.cycle.restore(recording.first_state)
            Again(session, recording, result).run(progress, watch)
        return result


class Again:
    """One session that does what a recording says.

    Args:
        session: Stands at the recording's first state.
        recording: What was recorded.
        result: Filled in.
    """

    def __init__(self, session: Session, recording: Recording, result: Replay) -> None:
        self.session, self.recording, self.result = session, recording, result
        self._hashes = recording.hashes
        self._inbox: dict[int, list[bytes]] = {}
        for step, message in recording.inbox:
            self._inbox.setdefault(step, []).append(message)
        self._segment = 0
        self._agreed = 0

    def run(self, progress: Progress | None, watch: Watch | None) -> None:
        """Simulates all, or up to where it differs."""
        last = self.recording.last_step
        for step in range(last):
            if not self._compare(step) or not self._take_in(step) or not self._step(step):
                return
            if watch is not None:
                watch(self.session)
            if progress is not None and step % 500 == 0:
                progress(step / last)
        if not self._compare(last) and self._take_in(last):
            # What came in after the last step is in its hash.
            self.result.mismatch = ""
            self._compare(last)

    def _compare(self, step: int) -> bool:
        """Compares with the hash that was recorded after ``step`` steps, if there is one."""
        recorded = self._hashes.get(step)
        if recorded is None:
            return True
        if recorded != self.session.state.hash():
            self.result.mismatch = self._describe(step)
            return False
        self._agreed = step
        self.result.compared += 1
        return True

    def _step(self, step: int) -> bool:
        try:
            self.session.step()
        except LinkworkError as error:
            self.result.mismatch = f"{self._when(step)}: this step fails here: {error}"
            return False
        self.result.steps = step + 1
        return True

    def _take_in(self, step: int) -> bool:
        """Applies what was applied before the step; False if that is impossible."""
        for data in self._inbox.get(step, ()):
            try:
                message = decode_recorded(data)
                if isinstance(message, Swap):
                    self._segment += 1
                    if self._segment == len(self.recording.segments):
                        raise RecordingError("the recording does not hold the edited scene.")
                    archive = join(self.recording.segments[self._segment].files)
                    message = msgspec.structs.replace(message, archive=archive)
            except LinkworkError as error:
                self.result.mismatch = f"{self._when(step)}: {error}"
                return False
            if isinstance(message, Tried):
                self.session.try_step()
            elif not self.session.apply(message) and not isinstance(message, Reload):
                why = self.session.outbox.events[-1].text
                name = type(message).__name__
                self.result.mismatch = f"{self._when(step)}: {name} is refused here: {why}"
                return False
        return True

    def _when(self, step: int) -> str:
        return f"at {self.session.cycle.h * step:.3f} s (step {step})"

    def _describe(self, step: int) -> str:
        """Says at which time, and in which block of the state, the runs differ."""
        state = self.session.state
        where = f"{self._when(step)}, after they agreed at step {self._agreed}"
        for at, recorded in self.recording.keyframes:
            if at == step and len(recorded) == state.data.nbytes:
                other = state.copy()
                other.restore(recorded)
                if difference := state.difference(other):
                    return f"{where}: {difference}."
        return f"{where}: the state's hash differs."
