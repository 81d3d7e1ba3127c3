"""Replay: simulates a recording again and compares it with what was recorded, bit for bit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from linkwork.errors import LinkworkError, RecordingError
from linkwork.jit import cpu_features
from linkwork.scene.archive import unpack
from linkwork.session.messages import decode
from linkwork.session.recording import Header, Recording
from linkwork.session.session import Session
from linkwork.session.tape import SCENE_FILE


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
    path: str | Path,
    *,
    progress: Callable[[float], object] | None = None,
    watch: Callable[[Session], object] | None = None,
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
        if SCENE_FILE not in recording.files:
            raise RecordingError(f"{path} holds no scene; it cannot be replayed.")
        result = Replay()
        here = Header.of_run(
            recording.header.world, seed=recording.header.seed, cpu=cpu_features()
        )
        result.different_versions = recording.header.differences(here)
        scene = unpack(recording.files[SCENE_FILE], Path(folder))
        with Session(scene, watch=False) as session:
            _run(session, recording, result, progress, watch)
        return result


def _run(
    session: Session,
    recording: Recording,
    result: Replay,
    progress: Callable[[float], object] | None,
    watch: Callable[[Session], object] | None,
) -> None:
    session.cycle.restore(recording.first_state)
    hashes = recording.hashes
    inbox: dict[int, list[bytes]] = {}
    for step, message in recording.inbox:
        inbox.setdefault(step, []).append(message)
    last = recording.last_step
    for step in range(last + 1):
        if step in hashes:
            if session.state.hash() != hashes[step]:
                result.mismatch = _describe(session, recording, step)
                return
            result.compared += 1
        if step == last:
            return
        for message in inbox.get(step, ()):
            session.apply(decode(message))
        try:
            session.step()
        except LinkworkError as error:
            result.mismatch = f"step {step} failed: {error}"
            return
        result.steps = step + 1
        if watch is not None:
            watch(session)
        if progress is not None and step % 500 == 0:
            progress(step / last)


def _describe(session: Session, recording: Recording, step: int) -> str:
    """Says at which simulated time, and in which block of the state, the runs differ."""
    where = f"at {step * session.cycle.h:.3f} s (step {step})"
    for at, state in recording.keyframes:
        if at == step and len(state) == session.state.data.nbytes:
            recorded = session.state.copy()
            recorded.restore(state)
            return f"{where}: {session.state.difference(recorded)}."
    return f"{where}: the state's hash differs."
