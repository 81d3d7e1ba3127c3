"""Replay: simulates a recording again to compare it bit for bit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from linkwork.core.errors import LinkworkError, RecordingError
from linkwork.core.jit import cpu_features
from linkwork.model.scene.archive import unpack
from linkwork.project.trust import ProgramCode, TrustStore
from linkwork.session.messages import (
    FailedStep,
    ReloadProgram,
    SessionEvent,
    SwapScene,
    decode_recorded,
)
from linkwork.session.recorded_programs import RecordedPrograms, recorded_programs
from linkwork.session.recorder import join_archive
from linkwork.session.recording import Damage, Header, Recording
from linkwork.session.recording.header import FIRST_FORMAT
from linkwork.session.session import Session

#: Called with the fraction done.
Progress = Callable[[float], object]
#: Called after each step with the session.
Watch = Callable[[Session], object]


@dataclass
class ReplayResult:
    """Result of a replay.

    Attributes:
        steps: Steps simulated.
        recorded: Steps of the recording; more, if some could not be simulated.
        compared: Number of equal hashes.
        keyframes: Number of equal keyframes.
        snapshots: Number of equal frames, with the values of the joints recorded beside them.
        events: Number of equal events.
        mismatch: First difference; empty if there is none.
        incomparable: From when on nothing could be compared, since an input is missing; empty if
            everything could.
        different_versions: Versions that differ from those of the recording.
        untrusted: Programs that nobody has trusted; with them nothing was simulated, and only
            keyframes were compared with their hashes.
        damage: Damaged parts of the recording.
        missing: What the recording, a repaired copy, lacks of its original.
        checked: Whether the records have checksums; those of format 1 have none.
        notes: Why the recording is not all of its run, and new names of keys of an earlier version.
    """

    steps: int = 0
    recorded: int = 0
    compared: int = 0
    keyframes: int = 0
    snapshots: int = 0
    events: int = 0
    mismatch: str = ""
    incomparable: str = ""
    different_versions: list[str] = field(default_factory=list)
    untrusted: list[ProgramCode] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    missing: list[Damage] = field(default_factory=list)
    checked: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether everything was equal, bit for bit, and something was compared."""
        differs = self.mismatch or self.incomparable
        return not differs and not self.damage and not self.untrusted and self.compared > 0


def replay(
    path: str | Path,
    *,
    trust: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> ReplayResult:
    """Simulates a recording again from its first state and inbox.

    A recording with programs that are not trusted is not simulated; ``untrusted`` lists them.

    Args:
        path: The recording.
        trust: Whether to run programs that nobody has trusted yet.
        progress: Called regularly with the fraction done.
        watch: Called after each step with the session.

    Raises:
        RecordingError: If the recording cannot be read.
    """
    with Recording.open(path) as recording, tempfile.TemporaryDirectory() as folder:
        result = ReplayResult(
            recorded=recording.steps, damage=recording.damage, missing=recording.missing,
            checked=recording.checked, notes=recording.notes,
        )  # fmt: skip
        codes = recorded_programs(recording, Path(folder) / "programs")
        if not trust and (found := TrustStore().untrusted(codes, recorded=True)):
            result.untrusted = found
            _compare_keyframes(recording, Path(folder), result)
            return result
        scene = unpack(join_archive(recording.files), Path(folder), result.notes)
        programs = RecordedPrograms(codes, recording.header.withheld)
        with Session(scene, watch=False, buses=False, programs=programs) as session:
            here = Header.of_run(
                recording.header.world, seed=recording.header.seed, cpu=cpu_features(),
                codes=session.cycle.codes,
            )  # fmt: skip
            result.different_versions = recording.header.differences(here)
            session.cycle.restore(recording.first_state)
            Replayer(session, recording, result, programs, Path(folder)).run(progress, watch)
        return result


def _compare_keyframes(recording: Recording, folder: Path, result: ReplayResult) -> None:
    """Compares each keyframe with the hash recorded beside it; runs nothing."""
    for segment in recording.segments:
        place = folder / f"world-{segment.number}"
        place.mkdir()
        scene = unpack(join_archive(segment.files), place)
        hashes = segment.hashes
        with Session(scene, watch=False, buses=False, programs=False) as session:
            state = session.state
            for step, recorded in segment.keyframes:
                if step not in hashes or len(recorded) != state.data.nbytes:
                    continue
                state.restore(recorded)
                if state.hash() != hashes[step]:
                    result.mismatch = f"the keyframe of step {step} differs from its hash."
                    return
                result.keyframes += 1


class Replayer:
    """Applies a recording to a session.

    Args:
        session: A session in the recording's first state.
        recording: The recording.
        result: Filled in.
        programs: Which programs run.
        folder: Folder with the files of the scene.
    """

    def __init__(
        self,
        session: Session,
        recording: Recording,
        result: ReplayResult,
        programs: RecordedPrograms,
        folder: Path,
    ) -> None:
        self.session, self.recording, self.result = session, recording, result
        self._programs, self._folder = programs, folder
        self._hashes = recording.hashes
        self._inbox: dict[int, list[bytes]] = {}
        for step, message in recording.inbox:
            self._inbox.setdefault(step, []).append(message)
        self._agreed = recording.first_step
        self._base = 0
        self._lost = [*recording.damage, *recording.missing]
        self._incomplete = bool(self._lost)
        self._recorded_events = [each for each in recording.events if each.simulated]
        session.outbox.listeners.append(self._on_event)
        self._enter(0)

    def _enter(self, segment: int) -> None:
        """Reads what is compared in one of the recording's worlds."""
        self._segment = segment
        part = self.recording.segments[segment]
        self._keyframes = dict(part.keyframes)
        self._frames = dict(zip(part.frames.steps.tolist(), part.frames, strict=True))
        self._values = dict(zip(part.signals.steps.tolist(), part.signals, strict=True))
        known, names = self.session.signals, [column.name for column in part.world.signals]
        self._columns = [number for number, name in enumerate(names) if name in known]
        self._names = [names[number] for number in self._columns]
        self._addresses = [known[name].address for name in self._names]
        for name in names:
            if name not in known:
                self.result.notes.append(f"{name} is recorded, but is no signal of this version.")

    def run(self, progress: Progress | None, watch: Watch | None) -> None:
        """Simulates all, or up to the first difference."""
        first, last = self.recording.first_step, self.recording.last_step
        for step in range(first, last):
            if not self._compare(step) or not self._take_in(step) or not self._step(step):
                return
            if watch is not None:
                watch(self.session)
            if progress is not None and step % 500 == 0:
                progress(step / last)
        if not self._compare(last) and self._take_in(last):
            # The hash of the last step is taken after the messages of that step.
            self.result.mismatch = self.result.incomparable = ""
            self._compare(last)
        self._check_all_compared()
        missing = len(self._recorded_events) - self.result.events
        if missing and not self._differs and not self._incomplete:
            event = self._recorded_events[self.result.events]
            self.result.mismatch = (
                f"at {event.time:.3f} s (step {event.step}): the recorded event {event.text!r} "
                "does not occur here."
            )

    def _check_all_compared(self) -> None:
        """Finds recorded states and poses at steps that were not simulated."""
        self._check_segment()
        for part in self.recording.segments[self._segment + 1 :]:
            self._refuse_left([*part.keyframes.steps.tolist(), *part.frames.steps.tolist()])

    def _check_segment(self) -> None:
        self._refuse_left(sorted({*self._keyframes, *self._frames, *self._values}))

    def _refuse_left(self, left: list[int]) -> None:
        if left and not self._differs and not self._incomplete:
            self.result.mismatch = (
                f"{self._when(left[0])}: what is recorded there belongs to no simulated step."
            )

    def _on_event(self, event: SessionEvent) -> None:
        """Compares an event of a step with the recorded one."""
        if not event.simulated or self._differs or self._incomplete:
            return
        number, step = self.result.events, self._base + event.step
        expected = self._recorded_events[number] if number < len(self._recorded_events) else None
        found = (step, event.level, event.text, event.source or "session")
        if expected is None or found != (
            expected.step, expected.level, expected.text, expected.source
        ):  # fmt: skip
            if self.recording.header.format == FIRST_FORMAT:
                return  # it does not say which events belong to steps
            recorded = "none"
            if expected is not None:
                recorded = f"{expected.text!r} at step {expected.step}"
            self.result.mismatch = (
                f"{self._when(step)}: the event {event.text!r} occurs here; recorded is {recorded}."
            )
            return
        self.result.events += 1

    def _compare(self, step: int) -> bool:
        """Compares with everything that was recorded after ``step`` steps."""
        if self._differs:
            return False
        recorded = self._hashes.get(step)
        if recorded is not None:
            if recorded != self.session.state.hash():
                return self._differ(step, self._describe(step))
            self._agreed = step
            self.result.compared += 1
        return self._compare_keyframe(step) and self._compare_snapshot(step)

    def _compare_keyframe(self, step: int) -> bool:
        recorded = self._keyframes.pop(step, None)
        if recorded is None:
            return True
        if recorded != self.session.state.save():
            return self._differ(step, f"{self._when(step)}: the recorded keyframe differs.")
        self.result.keyframes += 1
        return True

    def _compare_snapshot(self, step: int) -> bool:
        """Compares the poses and the values of the joints."""
        state = self.session.state
        poses, values = self._frames.pop(step, None), self._values.pop(step, None)
        if poses is not None:
            here = state.pose.astype(np.float32)
            if poses.tobytes() != here.tobytes():
                number = int(np.argmax((poses != here).any(axis=1)))
                body = self.session.world.body_names[number]
                what = f"the recorded pose of {body} differs."
                return self._differ(step, f"{self._when(step)}: {what}")
            self.result.snapshots += 1
        if values is None:
            return True
        values, here = values[self._columns], state.data[self._addresses]
        if values.tobytes() != here.tobytes():
            name = self._names[int(np.argmax(values.view(np.int64) != here.view(np.int64)))]
            what = f"the recorded value of {name} differs."
            return self._differ(step, f"{self._when(step)}: {what}")
        return True

    def _step(self, step: int) -> bool:
        self._base = step - self.session.state.step
        try:
            self.session.step()
        except LinkworkError as error:
            return self._differ(step, f"{self._when(step)}: this step fails here: {error}")
        self.result.steps += 1
        return True

    def _take_in(self, step: int) -> bool:
        """Applies the messages recorded before the step; False if that is impossible."""
        for data in self._inbox.get(step, ()):
            try:
                message = decode_recorded(data)
                if isinstance(message, SwapScene):
                    if self._segment + 1 >= len(self.recording.segments):
                        raise RecordingError("the recording does not hold the edited scene.")
                    archive = join_archive(self.recording.segments[self._segment + 1].files)
                    message = msgspec.structs.replace(message, archive=archive)
            except LinkworkError as error:
                return self._differ(step, f"{self._when(step)}: {error}")
            self._programs.take(message)
            self._programs.write_modules(message, self.session, self._folder)
            self._base = step - self.session.state.step
            if isinstance(message, FailedStep):
                self.session.try_step()
            elif not self.session.apply(message) and not isinstance(message, ReloadProgram):
                why = self.session.outbox.events[-1].text
                name = type(message).__name__
                return self._differ(step, f"{self._when(step)}: {name} is refused here: {why}")
            if isinstance(message, SwapScene):
                self._check_segment()
                self._enter(self._segment + 1)
        return True

    @property
    def _differs(self) -> bool:
        return bool(self.result.mismatch or self.result.incomparable)

    def _differ(self, step: int, text: str) -> bool:
        """Notes a difference; one behind a missing input is no mismatch. Returns False."""
        time = self.recording.time_of(step)
        since = [each.after or 0.0 for each in self._lost if each.inputs]
        if since and min(since) < time:
            self.result.incomparable = f"from {min(since):.3f} s on: an input is missing there."
        else:
            self.result.mismatch = text
        return False

    def _when(self, step: int) -> str:
        return f"at {self.session.cycle.h * step:.3f} s (step {step})"

    def _describe(self, step: int) -> str:
        """Describes at which time, and in which block of the state, the runs differ."""
        state = self.session.state
        where = f"{self._when(step)}, after they agreed at step {self._agreed}"
        for at, recorded in self.recording.keyframes:
            if at == step and len(recorded) == state.data.nbytes:
                other = state.copy()
                other.restore(recorded)
                if difference := state.difference(other):
                    return f"{where}: {difference}."
        return f"{where}: the state's hash differs."
