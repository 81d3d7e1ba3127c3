"""OpenRecording: a recording displayed in the studio."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from linkwork.core.errors import LinkworkError, SessionError
from linkwork.project.trust import TrustStore, keep_decision
from linkwork.session.outbox import SNAPSHOT_RATE
from linkwork.session.playback import Playback
from linkwork.session.recorded_programs import recorded_programs
from linkwork.session.recording import NOT_CHECKED, Recording
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.describe import describe, shown_programs
from linkwork.studio.host.editor import Editor, OpenedFile
from linkwork.studio.host.mesh_store import MeshStore
from linkwork.studio.host.open_scene import OpenScene
from linkwork.studio.host.session_inbox import LinkAdapter, SendMessage
from linkwork.studio.host.snapshot_builder import (
    STATUS_RATE,
    SnapshotBuilder,
    hidden_elements,
    widest_loop,
)
from linkwork.studio.protocol.link_messages import ViewRequest

#: Real time spent on simulating again before the next snapshot [s].
STEP_BUDGET = 0.02
#: Polling period of other tasks [s].
_IDLE = 0.1
#: Maximum number of marks sent.
_MAX_MARKS = 500
_NO_UNDO = m.UndoState(False, False, False)


class OpenRecording:
    """A recording, displayed at one instant or played; it cannot be driven.

    Args:
        path: The recording.
        adapter: Connects it to the studio's link.
        send: Sends a message to clients.
        view: The blocks that viewers requested.
        base: First scene version of its worlds, so that earlier snapshots are not taken for its
            own.
        behind: The scene suspended behind it, or None.

    Raises:
        LinkworkError: If it cannot be read or its scene cannot be prepared.

    Attributes:
        meshes: Triangles named in its description.
        snapshot_builder: Builds the snapshots.
        playback: The recording at any step.
        untrusted: Its programs that nobody has trusted; with them it is not simulated.
        step: The displayed step.
    """

    def __init__(
        self,
        path: Path,
        adapter: LinkAdapter,
        send: SendMessage,
        view: ViewRequest,
        *,
        base: int,
        behind: OpenScene | None = None,
    ) -> None:
        self.path, self.meshes, self.step = path, MeshStore(), 0
        self._adapter, self._send, self._base, self._behind = adapter, send, base, behind
        self.recording = Recording.open(path)
        try:
            with tempfile.TemporaryDirectory() as folder:
                self._codes = recorded_programs(self.recording, Path(folder))
            self.untrusted = TrustStore().untrusted(self._codes, recorded=True)
            self.playback = Playback(self.recording, simulate=not self.untrusted, codes=self._codes)
        except BaseException:
            self.recording.close()
            raise
        self._playing, self._speed = False, 1.0
        self._stopping = False
        self._last_sent = ""
        self._notes_sent = 0
        self._since = (0.0, 0.0)  # real and recorded time at the start of playing
        self._stand: tuple[float, m.Status] | None = None
        self._enter(view)

    @property
    def session(self) -> Session:
        """The session at the displayed instant; it cannot be driven."""
        return self.playback.live

    @property
    def time(self) -> float:
        """Displayed time of the recording [s]."""
        return self._time(self.step)

    @property
    def version(self) -> int:
        """Scene version of the displayed world."""
        return self._base + self.playback.segment

    def _time(self, step: int) -> float:
        segment = self.recording.segments[self.playback.segment_at(step)]
        return segment.first_time + (step - segment.first_step) * segment.world.step

    def _step_at(self, when: float) -> int:
        """The last step at or before a time."""
        recording = self.recording
        segment = recording.segments[0]
        for each in recording.segments:
            if each.first_time <= when + 1e-9:
                segment = each
        step = segment.first_step + int((when - segment.first_time) / segment.world.step + 1e-6)
        return min(max(step, recording.first_step), recording.last_step)

    def _enter(self, view: ViewRequest) -> None:
        """Switches to one of the recording's worlds."""
        self._shown = self.playback.segment
        self.playback.live.version = self.version
        self.snapshot_builder = SnapshotBuilder(self.playback.live.cycle, view)

    def retained(self) -> list[m.FromServer]:
        """State messages for clients that connect now."""
        behind = self._behind
        unsaved = behind.unsaved if behind is not None else []
        view = replay_view(self.recording, live=behind is not None, unsaved=unsaved)
        session = self.playback.live
        scene = describe(
            session, self.meshes, _NO_UNDO, editable=False, replay=view, opened=self._base,
            untrusted=[replace(code, file="") for code in self.untrusted],
        )  # fmt: skip
        # A recording has no dragged tool; clear the one of the scene behind it.
        return [
            scene,
            m.Owners({}),
            _NO_UNDO,
            m.ReachState(None, [], [], []),
            m.WorkspaceCloudState("", 0, 0, ""),
        ]

    # ---- the loop ------------------------------------------------------------------------

    def run(self, idle: Callable[[], object]) -> None:
        """Displays it until :meth:`stop`."""
        self._stopping = False
        looked = due = 0.0
        while not self._stopping:
            self._adapter.poll()
            now = time.perf_counter()
            if now - looked > _IDLE:
                looked = now
                idle()
            self._play()
            there = self.playback.go(self.step, STEP_BUDGET)
            self._notice()
            if now >= due:
                due = now + 1.0 / SNAPSHOT_RATE
                self._adapter.publish_snapshot(self._build_snapshot(there))
            if there or not self.playback.able:
                self._adapter.wait(max(0.0, min(due - time.perf_counter(), 1.0 / SNAPSHOT_RATE)))

    def stop(self) -> None:
        """Ends :meth:`run`; safe from any thread or signal handler."""
        self._stopping = True

    def _play(self) -> None:
        """Advances to the present playing time."""
        if not self._playing:
            return
        if self._speed > 0.0:
            real, recorded = self._since
            step = self._step_at(recorded + self._speed * (time.perf_counter() - real))
        else:
            quarter = max(1, round(0.25 / self.recording.header.world.step))
            ahead = self.playback.step + quarter
            self.playback.go(min(ahead, self.recording.last_step), STEP_BUDGET)
            step = self.playback.step
            if not self.playback.able:  # only recorded instants can be displayed
                step = self.step + quarter
        self.step = min(max(self.step, step), self.recording.last_step)
        if self.step >= self.recording.last_step:
            self._pause()

    def _notice(self) -> None:
        """Sends a new world, and reports where the simulation differs from the recording."""
        if self.playback.segment != self._shown:
            self._enter(self.snapshot_builder.view)
            for message in self.retained():
                self._send("", message)
        for note in self.playback.notes[self._notes_sent :]:
            self._send("", m.Event(self.step, "warning", f"{self.path.name}: {note}", "recording"))
        self._notes_sent = len(self.playback.notes)
        if self.playback.problem != self._last_sent:
            self._last_sent = self.playback.problem
            step, text = self.step, f"{self.path.name}: {self._last_sent}"
            self._send("", m.Event(step, "warning", text, "recording"))

    def _build_snapshot(self, there: bool) -> bytes:
        session = self.playback.live
        state = session.state if there else None
        now = time.perf_counter()
        if self._stand is None or now - self._stand[0] >= 1.0 / STATUS_RATE:
            self._stand = now, self._status(there)
        return self.snapshot_builder.build_recorded(
            self.version, self.time, state, self.playback.poses(self.step), self._stand[1],
            contacts=self.playback.stepped,
        )  # fmt: skip

    def _status(self, there: bool) -> m.Status:
        shown = self.playback.live
        report = shown.state.report
        return m.Status(
            time=self.time,
            running=self._playing,
            speed=self._speed,
            mode="recording",
            lateness=0.0,
            rtf=self._speed if self._playing else 0.0,
            gap=float(report.gap[0]) if there else 0.0,
            gap_at=widest_loop(shown.world, shown.state) if there else "",
            energy=float(report.energy.sum()) if there else 0.0,
            step=self.step,
            recording=None,
            history=(self._time(self.recording.first_step), self._time(self.recording.last_step)),
            seeking=False,
            version=self.version,
            hidden=hidden_elements(shown.state) if there else [],
        )

    # ---- requests ------------------------------------------------------------------------

    def answer(self, client: str, message: m.FromClient) -> None:
        """Carries out a client's request or sends a refusal."""
        try:
            self._do(client, message)
        except LinkworkError as error:
            self._send(client, m.Refused.of(m.type_of(message), error))
        self._stand = None

    def _do(self, client: str, message: m.FromClient) -> None:
        match message:
            case m.Play():
                if self.step >= self.recording.last_step:
                    self.step = self.recording.first_step
                self._playing = True
                self._begin()
            case m.Pause():
                self._pause()
            case m.SingleStep():
                self._pause()
                self._show(self.step + message.steps)
            case m.Reset():
                self._show(self.recording.first_step)
            case m.Seek():
                self._show(self._step_at(message.time))
            case m.Speed():
                self._speed = message.value
                self._begin()
            case m.TrustPrograms():
                self._trust(message)
            case m.Inspect():
                world = self.playback.live.world
                rows, _ = Editor(OpenedFile(world.scene)).rows(world, message.kind, message.name)
                note = "This is a recording and cannot be changed."
                self._send(client, m.Attributes(message.name, message.kind, rows, note))
            case m.EndGrab() | m.Release():
                pass  # refers to the scene that was open before
            case _:
                raise SessionError(
                    "this is a recording; it cannot be driven or changed.",
                    hint="Go on from here drives it live from this instant.",
                )

    def _trust(self, message: m.TrustPrograms) -> None:
        """Simulates the recording again, with its programs."""
        codes = [replace(code, file="") for code in self.untrusted]
        codes = shown_programs(codes, message.programs)
        if len(codes) < len(self.untrusted):
            raise SessionError("a recording is simulated with all of its programs, or not at all.")
        keep_decision(codes, message.how)
        self.untrusted = []
        step, view = self.step, self.snapshot_builder.view
        self.playback.close()
        self.playback = Playback(self.recording, codes=self._codes)
        self.playback.go(step, 0.0)
        self._enter(view)
        for each in self.retained():
            self._send("", each)

    def _show(self, step: int) -> None:
        self.step = min(max(step, self.recording.first_step), self.recording.last_step)
        self._begin()

    def _begin(self) -> None:
        """Starts counting real time."""
        self._since = time.perf_counter(), self.time

    def _pause(self) -> None:
        self._playing = False

    def continue_run(self, make: Callable[[OpenedFile], OpenScene]) -> OpenScene:
        """The scene of the recording, ready to run from the displayed instant.

        Raises:
            LinkworkError: If it cannot be run.
        """
        self._pause()
        playback = self.playback
        if not playback.go(self.step):
            why = "its programs are not trusted." if self.untrusted else playback.problem
            raise SessionError(
                f"{self.path.name} cannot be run from here: {why}",
                hint="Open the scene itself.",
            )
        folder = tempfile.TemporaryDirectory(prefix="linkwork-")
        try:
            scene = playback.scene(self.step, Path(folder.name))
            made = make(OpenedFile(scene, trusted=frozenset(code.key for code in self._codes)))
        except BaseException:
            folder.cleanup()
            raise
        made.session.at_close.append(folder.cleanup)
        try:
            made.continue_from(playback.live.state.save(), playback.live.signals.owners)
        except BaseException:
            made.close()
            raise
        when = f"{self.time:.3f} s"
        made.session.log(f"this goes on from {self.path.name} at {when}.", source="recording")
        return made

    def close(self) -> None:
        """Closes the file."""
        self.playback.close()
        self.recording.close()


def replay_view(
    recording: Recording, *, live: bool, unsaved: list[str] | None = None
) -> m.ReplayView:
    """The description of a recording for browsers.

    Args:
        recording: The recording.
        live: Whether a scene is suspended behind it.
        unsaved: Files of that scene with unsaved changes.
    """
    found = [e for e in recording.events if e.level in ("mark", "warning", "error")][:_MAX_MARKS]
    marks = [m.MarkView(e.time, e.level, e.text, e.source) for e in found]  # type: ignore[arg-type]
    path = recording.path
    unchecked = "" if recording.checked else NOT_CHECKED
    notes = [note for note in recording.notes if note not in recording.problem]
    problem = "; ".join(each for each in (recording.problem, *notes, unchecked) if each)
    return m.ReplayView(
        str(path), path.stem, recording.header.created, recording.duration, live,
        problem, marks, unsaved or [],
    )  # fmt: skip
