"""Playback: a recording at any of its steps, for those who look at it."""

from __future__ import annotations

import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from linkwork.errors import LinkworkError, RecordingError
from linkwork.scene import Scene
from linkwork.scene.archive import unpack
from linkwork.session import messages as m
from linkwork.session.history import check_state
from linkwork.session.recording import Recording
from linkwork.session.recording.rows import Blocks, Rows
from linkwork.session.session import Session
from linkwork.session.tape import join

#: Messages after which an input may have another owner.
_OWNING = (m.Take, m.Release, m.Set, m.Reset)


class Entry(NamedTuple):
    """A state that was recorded whole: a place to begin from."""

    step: int
    segment: int
    number: int  # of the keyframe; −1 for the segment's first state


class Playback:
    """Shows a recording at any step.

    Poses are recorded sixty times a second and shown at once. All other values come from
    simulating again from the whole state that was recorded last before: at most a second's
    steps, which :meth:`go` spreads over several calls where they take long.

    Args:
        recording: What to show; stays the caller's.

    Raises:
        LinkworkError: If its scene cannot be made ready.

    Attributes:
        session: The scene that is shown, standing at ``step`` of the recording.
        segment: Which of the recording's worlds that is.
        step: Step of the recording at which ``session`` stands.
        stepped: Whether it got there by a step, and not by taking over a recorded state.
        able: Whether it can be simulated again at all.
        trouble: Why values differ from what was recorded, or are missing; empty if all is well.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._folder = tempfile.TemporaryDirectory(prefix="linkwork-")
        self._entries = list(_entries(recording))
        self._steps = [entry.step for entry in self._entries]
        self._inboxes = [_inbox(segment.inbox) for segment in recording.segments]
        self._frames: dict[int, tuple[Blocks, np.ndarray]] = {}
        self._reloads = 0
        self.able = self.stepped = False
        self.trouble = ""
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
        """Which of the recording's worlds a step belongs to."""
        return self._entry(step).segment

    def go(self, step: int, budget: float = float("inf")) -> bool:
        """Brings the session to a step of the recording.

        Args:
            step: Where to.
            budget: Most real time to take [s]; the next call goes on from where this one came.

        Returns:
            Whether it stands there now.
        """
        end = time.perf_counter() + budget
        entry = self._entry(step)
        if entry.segment != self.segment or not entry.step <= self.step <= step:
            self._jump(entry)
        if not self.able:
            return False
        while self.step < step:
            self._advance()
            if not self.able or time.perf_counter() > end:
                break
        return self.able and self.step == step

    def poses(self, step: int) -> np.ndarray:
        """Poses of the bodies as recorded last at or before a step, nb×7 float32."""
        segment = self.recording.segments[self.segment_at(step)]
        frames = self._frames.get(segment.number)
        if frames is None:
            frames = self._frames[segment.number] = segment.frames, segment.frames.steps
        place = int(np.searchsorted(frames[1], step, "right")) - 1
        if place >= 0:
            return frames[0][place]
        return segment.block("pose", segment.first_state).astype(np.float32)

    def scene(self, step: int, folder: Path) -> Scene:
        """The scene that ran at a step; its files are put into ``folder``."""
        return self._unpacked(self.segment_at(step), folder)

    def close(self) -> None:
        """Ends the session; the recording stays open."""
        if self.session is not None:
            self.session.close()
            self.session = None
        self._folder.cleanup()

    # ---- going there ---------------------------------------------------------------------

    def _entry(self, step: int) -> Entry:
        return self._entries[max(0, bisect_right(self._steps, step) - 1)]

    def _state(self, entry: Entry) -> bytes:
        segment = self.recording.segments[entry.segment]
        return segment.first_state if entry.number < 0 else segment.keyframes[entry.number][1]

    def _advance(self) -> None:
        session = self.live
        try:
            for message in self._inboxes[self.segment].get(self.step, ()):
                if isinstance(message, m.Tried):
                    session.try_step()
                else:
                    session.apply(message)
            session.step()
        except LinkworkError as error:
            self._lose(f"a step that was recorded fails here: {error}")
            return
        self.step += 1
        self.stepped = True
        entry = self._entry(self.step)
        if entry.step == self.step and entry.segment == self.segment:
            self._compare(entry)

    def _compare(self, entry: Entry) -> None:
        """Goes on from the state that was recorded where the simulated one is another."""
        recorded = self._state(entry)
        if recorded == self.live.state.save():
            return
        if self._restore(entry.step, recorded):
            self.stepped = False
            self.trouble = (
                "simulated again, it comes out differently here than when it was recorded: "
                "between whole seconds, values other than poses may differ."
            )

    def _restore(self, step: int, state: bytes) -> bool:
        """Takes over a state, unless it is not one of this world."""
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

    def _jump(self, entry: Entry) -> None:
        """Takes over a state that was recorded, with the owners and programs of its time."""
        before = self._before(entry)
        reloads = [each for each in before if isinstance(each, m.Reload)]
        if self.session is None or entry.segment != self.segment or len(reloads) < self._reloads:
            self._enter(entry.segment)
        else:
            self.session.restart()
        session, state = self.live, self._state(entry)
        for message in reloads[self._reloads :]:
            session.apply(message)
        self._reloads = len(reloads)
        since = [n for n, each in enumerate(before) if isinstance(each, m.Reset)]
        for message in before[since[-1] if since else 0 :]:
            if isinstance(message, m.Take | m.Release | m.Set):
                session.apply(message)  # whoever sets an input owns it; the values come below
        self.step, self.stepped, self.able = entry.step, False, True
        self._restore(entry.step, state)

    def _lose(self, why: str) -> None:
        self.able, self.trouble = False, why

    def _before(self, entry: Entry) -> list[m.Message]:
        """What came in before a state, as far as it decides who owns what and what programs say.

        Of each signal only the last value that was set counts.
        """
        found: list[m.Message] = []
        settings: dict[str, int] = {}
        for number in range(entry.segment + 1):
            for step, messages in self._inboxes[number].items():
                last = number == entry.segment
                if last and (step >= entry.step or entry.number < 0):
                    continue
                for each in messages:
                    if isinstance(each, m.Set):
                        settings[each.signal] = len(found)
                    if isinstance(each, _OWNING) or (last and isinstance(each, m.Reload)):
                        found.append(each)
        return [
            each
            for number, each in enumerate(found)
            if not isinstance(each, m.Set) or settings[each.signal] == number
        ]

    def _enter(self, segment: int) -> None:
        """Makes one of the recording's worlds ready."""
        place = Path(self._folder.name) / str(segment)
        scene = self._unpacked(segment, place)
        if self.session is not None:
            self.session.close()
            self.session = None
        self.session = Session(scene, watch=False, buses=False)
        self.segment, self._reloads = segment, 0
        for agent, text in self._texts(segment).items():
            self.session.apply(m.Reload(agent, text))

    def _unpacked(self, segment: int, folder: Path) -> Scene:
        folder.mkdir(parents=True, exist_ok=True)
        return unpack(join(self.recording.segments[segment].files), folder)

    def _texts(self, segment: int) -> dict[str, str]:
        """Texts of programs that a live edit took over and its scene does not hold."""
        if segment == 0:
            return {}
        swaps = [
            each
            for messages in self._inboxes[segment - 1].values()
            for each in messages
            if isinstance(each, m.Swap)
        ]
        return dict(swaps[-1].sources) if swaps else {}


def _entries(recording: Recording) -> Iterator[Entry]:
    for segment in recording.segments:
        yield Entry(segment.first_step, segment.number, -1)
        for number, step in enumerate(segment.keyframes.steps.tolist()):
            yield Entry(step, segment.number, number)


def _inbox(rows: Rows[tuple[int, bytes]]) -> dict[int, list[m.Message]]:
    """What came in, by step.

    Raises:
        RecordingError: If something that was recorded is no message.
    """
    found: dict[int, list[m.Message]] = {}
    for step, data in rows:
        try:
            found.setdefault(step, []).append(m.decode_recorded(data))
        except LinkworkError as error:
            raise RecordingError(f"what came in at step {step} cannot be read: {error}") from None
    return found
