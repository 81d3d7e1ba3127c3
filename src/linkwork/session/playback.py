"""Playback: a recording at any of its steps."""

from __future__ import annotations

import tempfile
import time
from bisect import bisect_right
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from linkwork.core.errors import LinkworkError, RecordingError
from linkwork.model.scene import Scene
from linkwork.model.scene.archive import unpack
from linkwork.project.trust import ProgramCode
from linkwork.session import messages as m
from linkwork.session.history import check_state
from linkwork.session.recorded_programs import RecordedPrograms, recorded_programs
from linkwork.session.recorder import join_archive
from linkwork.session.recording import Recording
from linkwork.session.recording.segment import ArraySequence, MessageSequence
from linkwork.session.session import Session

#: Messages that may change the owner of an input.
_OWNING = (m.TakeSignal, m.ReleaseSignals, m.SetSignal, m.ResetState)


#: Messages that change what a program is.
_PROGRAM_CHANGES = (m.ReloadProgram, m.StartPrograms)


class KeyframeRef(NamedTuple):
    """A recorded keyframe or first state, from which playback can start."""

    step: int
    segment: int
    number: int  # index of the keyframe; −1 for the segment's first state


class Playback:
    """Shows a recording at any step.

    Poses are recorded sixty times a second and shown at once. All other values come from simulating
    again from the last recorded state before: at most a second's steps, which :meth:`go` spreads
    over several calls if they take long.

    Args:
        recording: The recording; the caller closes it.
        simulate: Whether it may be simulated, with its programs. Otherwise only recorded instants
            can be shown, and nothing of the recording is run.
        codes: Programs that may run; all of the recording if None.

    Raises:
        LinkworkError: If its scene cannot be prepared.

    Attributes:
        session: The displayed session, at ``step`` of the recording.
        segment: Index of the recording's world.
        step: Step of the recording that ``session`` shows.
        stepped: Whether it was reached by a step, not by restoring a recorded state.
        able: Whether the recording can be simulated again.
        problem: Why values differ from the recorded ones or are missing; empty if they do not.
        notes: New names of keys of an earlier version, in the worlds that were shown.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        simulate: bool = True,
        codes: Collection[ProgramCode] | None = None,
    ) -> None:
        self.recording = recording
        self._simulate = simulate
        self._folder = tempfile.TemporaryDirectory(prefix="linkwork-")
        if simulate and codes is None:
            codes = recorded_programs(recording, Path(self._folder.name) / "programs")
        self._programs = RecordedPrograms(codes or ())
        self.notes: list[str] = []
        self._entries = list(_entries(recording))
        self._steps = [entry.step for entry in self._entries]
        self._inboxes = [_inbox(segment.inbox) for segment in recording.segments]
        self._frames: dict[int, tuple[ArraySequence, np.ndarray]] = {}
        self._reloads = 0
        self.able = self.stepped = False
        self.problem = ""
        self.session: Session | None = None
        try:
            self._jump(self._entries[0])
        except BaseException:
            self.close()
            raise

    @property
    def live(self) -> Session:
        """The session; there is one until :meth:`close`."""
        assert self.session is not None
        return self.session

    def segment_at(self, step: int) -> int:
        """Index of the world at a step."""
        return self._entry(step).segment

    def go(self, step: int, budget: float = float("inf")) -> bool:
        """Brings the session to a step of the recording.

        Args:
            step: The step.
            budget: Maximum real time [s]; the next call continues.

        Returns:
            Whether it has reached the step.
        """
        end = time.perf_counter() + budget
        entry = self._entry(step)
        if entry.segment != self.segment or not entry.step <= self.step <= step:
            self._jump(entry)
        if not self.able:
            return False
        if not self._simulate:
            return self.step == step
        if self._misses_inputs(self.step, step):
            self.problem = (
                "the recording is damaged: between its damage and the next whole second, only "
                "poses are shown."
            )
            return False
        while self.step < step:
            self._advance()
            if not self.able or time.perf_counter() > end:
                break
        return self.able and self.step == step

    def _misses_inputs(self, first: int, last: int) -> bool:
        """Whether damage may hide a message between two steps of the present world."""
        segment = self.recording.segments[self.segment]

        def time_of(step: int) -> float:
            return segment.first_time + (step - segment.first_step) * segment.world.step

        half = 0.5 * segment.world.step
        return any(
            each.inputs
            and (each.after is None or each.after < time_of(last) - half)
            and (each.before is None or each.before > time_of(first) + half)
            for each in (*self.recording.damage, *self.recording.missing)
        )

    def poses(self, step: int) -> np.ndarray:
        """Last recorded poses of the bodies at or before a step, nb×7 float32."""
        segment = self.recording.segments[self.segment_at(step)]
        frames = self._frames.get(segment.number)
        if frames is None:
            frames = self._frames[segment.number] = segment.frames, segment.frames.steps
        place = int(np.searchsorted(frames[1], step, "right")) - 1
        if place >= 0:
            return frames[0][place]
        return segment.block("pose", segment.first_state).astype(np.float32)

    def scene(self, step: int, folder: Path) -> Scene:
        """The scene at a step; its files are written to ``folder``."""
        return self._unpacked(self.segment_at(step), folder)

    def close(self) -> None:
        """Ends the session; the recording stays open."""
        if self.session is not None:
            self.session.close()
            self.session = None
        self._folder.cleanup()

    # ---- seeking -------------------------------------------------------------------------

    def _entry(self, step: int) -> KeyframeRef:
        return self._entries[max(0, bisect_right(self._steps, step) - 1)]

    def _state(self, entry: KeyframeRef) -> bytes:
        segment = self.recording.segments[entry.segment]
        return segment.first_state if entry.number < 0 else segment.keyframes[entry.number][1]

    def _advance(self) -> None:
        session = self.live
        try:
            for message in self._inboxes[self.segment].get(self.step, ()):
                self._take(message)
                if isinstance(message, m.FailedStep):
                    session.try_step()
                else:
                    session.apply(message)
            session.step()
        except LinkworkError as error:
            self._lose(f"a recorded step fails here: {error}")
            return
        self.step += 1
        self.stepped = True
        entry = self._entry(self.step)
        if entry.step == self.step and entry.segment == self.segment:
            self._compare(entry)

    def _take(self, message: m.Message) -> None:
        """Prepares the programs for a message."""
        self._programs.take(message)
        self._programs.write_modules(message, self.live, Path(self._folder.name))

    def _compare(self, entry: KeyframeRef) -> None:
        """Continues from the recorded state if the simulated one differs."""
        recorded = self._state(entry)
        if recorded == self.live.state.save():
            return
        if self._restore(entry.step, recorded):
            self.stepped = False
            self.problem = (
                "the simulation differs from the recording on this machine: "
                "between whole seconds, values other than poses may differ."
            )

    def _restore(self, step: int, state: bytes) -> bool:
        """Restores a state, unless it does not fit this world."""
        cycle = self.live.cycle
        if len(state) != cycle.state.data.nbytes:
            self._lose("it was recorded by another version of Linkwork: only poses can be shown.")
            return False
        try:
            check_state(cycle, state)
        except LinkworkError:
            self._lose(f"the state of step {step} is damaged: only poses can be shown there.")
            return False
        cycle.restore(state)
        return True

    def _jump(self, entry: KeyframeRef) -> None:
        """Restores a recorded state, with the owners and programs of its time."""
        before = self._before(entry)
        reloads = [each for each in before if isinstance(each, _PROGRAM_CHANGES)]
        if self.session is None or entry.segment != self.segment or len(reloads) < self._reloads:
            self._enter(entry.segment)
        else:
            self.session.restart()
        session, state = self.live, self._state(entry)
        for message in reloads[self._reloads :] if self._simulate else ():
            self._take(message)
            session.apply(message)
        self._reloads = len(reloads)
        since = [n for n, each in enumerate(before) if isinstance(each, m.ResetState)]
        for message in before[since[-1] if since else 0 :]:
            if isinstance(message, m.TakeSignal | m.ReleaseSignals | m.SetSignal):
                session.apply(message)  # setting an input assigns its owner; values follow
        self.step, self.stepped, self.able = entry.step, False, True
        self._restore(entry.step, state)

    def _lose(self, why: str) -> None:
        self.able, self.problem = False, why

    def _before(self, entry: KeyframeRef) -> list[m.Message]:
        """Returns the messages before a state that determine owners and program texts.

        Of each signal only the last set value counts.
        """
        found: list[m.Message] = []
        settings: dict[str, int] = {}
        for number in range(entry.segment + 1):
            for step, messages in self._inboxes[number].items():
                last = number == entry.segment
                if last and (step >= entry.step or entry.number < 0):
                    continue
                for each in messages:
                    if isinstance(each, m.SetSignal):
                        settings[each.signal] = len(found)
                    if isinstance(each, _OWNING) or (last and isinstance(each, _PROGRAM_CHANGES)):
                        found.append(each)
        return [
            each
            for number, each in enumerate(found)
            if not isinstance(each, m.SetSignal) or settings[each.signal] == number
        ]

    def _enter(self, segment: int) -> None:
        """Prepares one of the recording's worlds."""
        place = Path(self._folder.name) / str(segment)
        scene = self._unpacked(segment, place)
        if self.session is not None:
            self.session.close()
            self.session = None
        self._programs.withheld = set(self._withheld(segment))
        programs = self._programs if self._simulate else False
        self.session = Session(scene, watch=False, buses=False, programs=programs)
        self.segment, self._reloads = segment, 0
        if not self._simulate:
            return
        for agent, text in self._texts(segment).items():
            self.session.apply(m.ReloadProgram(agent, text))

    def _withheld(self, segment: int) -> Collection[str]:
        """Programs that did not run when a world of the recording began."""
        if segment == 0:
            return self.recording.header.withheld
        swap = self._swap_before(segment)
        return swap.withheld if swap is not None else ()

    def _unpacked(self, segment: int, folder: Path) -> Scene:
        folder.mkdir(parents=True, exist_ok=True)
        notes: list[str] = []
        scene = unpack(join_archive(self.recording.segments[segment].files), folder, notes)
        self.notes = list(dict.fromkeys([*self.notes, *notes]))
        return scene

    def _texts(self, segment: int) -> dict[str, str]:
        """Texts of programs kept by a live edit that differ from those in its scene."""
        swap = self._swap_before(segment) if segment else None
        return dict(swap.sources) if swap is not None else {}

    def _swap_before(self, segment: int) -> m.SwapScene | None:
        """The recorded message that opened a world."""
        swaps = [
            each
            for messages in self._inboxes[segment - 1].values()
            for each in messages
            if isinstance(each, m.SwapScene)
        ]
        return swaps[-1] if swaps else None


def _entries(recording: Recording) -> Iterator[KeyframeRef]:
    for segment in recording.segments:
        yield KeyframeRef(segment.first_step, segment.number, -1)
        for number, step in enumerate(segment.keyframes.steps.tolist()):
            yield KeyframeRef(step, segment.number, number)


def _inbox(rows: MessageSequence[tuple[int, bytes]]) -> dict[int, list[m.Message]]:
    """The inbox messages, by step.

    Raises:
        RecordingError: If a recorded message is invalid.
    """
    found: dict[int, list[m.Message]] = {}
    for step, data in rows:
        try:
            found.setdefault(step, []).append(m.decode_recorded(data))
        except LinkworkError as error:
            raise RecordingError(f"the message at step {step} cannot be read: {error}") from None
    return found
