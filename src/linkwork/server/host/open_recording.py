"""OpenRecording: a recording that is looked at in the studio."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from linkwork.errors import LinkworkError, SessionError
from linkwork.server import messages as m
from linkwork.server.host.describe import describe
from linkwork.server.host.door import Tell
from linkwork.server.host.editor import Editor, Opened
from linkwork.server.host.mesh_store import MeshStore
from linkwork.server.host.open_scene import OpenScene
from linkwork.server.host.picture import STATUS_RATE, Painter, unseen, widest_loop
from linkwork.server.relay import Look
from linkwork.session.outbox import SNAPSHOT_RATE, Peers
from linkwork.session.playback import Playback
from linkwork.session.recording import Recording
from linkwork.session.session import Session

#: Real time that is spent on simulating again before the next picture [s].
BUDGET = 0.02
#: How often others are looked after [s].
_IDLE = 0.1
#: Most marks that are told of.
_MOST_MARKS = 500
_NO_UNDO = m.UndoState(False, False, False)


class OpenRecording:
    """A recording, shown at one instant or played; nothing in it can be driven.

    Args:
        path: The recording.
        peers: The way out.
        tell: Tells clients something.
        look: What the viewers want to see.
        base: Scene versions of its worlds count from here, so that no picture of what was open
            before passes for one of it.
        behind: The scene that waits behind it, or None.

    Raises:
        LinkworkError: If it cannot be read or its scene cannot be made ready.

    Attributes:
        meshes: Triangles that its description names.
        painter: Makes the pictures.
        playback: The recording at any step.
        step: The step that is shown.
    """

    def __init__(
        self,
        path: Path,
        peers: Peers,
        tell: Tell,
        look: Look,
        *,
        base: int,
        behind: OpenScene | None = None,
    ) -> None:
        self.path, self.meshes, self.step = path, MeshStore(), 0
        self._peers, self._tell, self._base, self._behind = peers, tell, base, behind
        self.recording = Recording.open(path)
        try:
            self.playback = Playback(self.recording)
        except BaseException:
            self.recording.close()
            raise
        self._playing, self._speed = False, 1.0
        self._stopping = False
        self._told = ""
        self._since = (0.0, 0.0)  # real and recorded time at which playing began
        self._stand: tuple[float, m.Status] | None = None
        self._enter(look)

    @property
    def session(self) -> Session:
        """The session that stands at what is shown; it is nobody's to drive."""
        return self.playback.live

    @property
    def time(self) -> float:
        """Time of the recording that is shown [s]."""
        return self._time(self.step)

    @property
    def version(self) -> int:
        """Scene version of the world that is shown."""
        return self._base + self.playback.segment

    def _time(self, step: int) -> float:
        segment = self.recording.segments[self.playback.segment_at(step)]
        return segment.first_time + (step - segment.first_step) * segment.world.step

    def _step_at(self, when: float) -> int:
        """The last step that is not after a time."""
        recording = self.recording
        segment = recording.segments[0]
        for each in recording.segments:
            if each.first_time <= when + 1e-9:
                segment = each
        step = segment.first_step + int((when - segment.first_time) / segment.world.step + 1e-6)
        return min(max(step, recording.first_step), recording.last_step)

    def _enter(self, look: Look) -> None:
        """Begins with one of the recording's worlds."""
        self._shown = self.playback.segment
        self.playback.live.version = self.version
        self.painter = Painter(self.playback.live.cycle, look)

    def lasting(self) -> list[m.FromServer]:
        """How things stand, for those who come now."""
        behind = self._behind
        unsaved = behind.unsaved if behind is not None else []
        view = replay_view(self.recording, live=behind is not None, unsaved=unsaved)
        session = self.playback.live
        scene = describe(
            session, self.meshes, _NO_UNDO, editable=False, replay=view, opened=self._base
        )
        # The tool that was dragged in the scene behind it is none of a recording.
        return [scene, m.Owners({}), _NO_UNDO, m.Reaching(None, [], [], []), m.Cloud("", 0, 0, "")]

    # ---- the loop ------------------------------------------------------------------------

    def run(self, idle: Callable[[], object]) -> None:
        """Shows it until :meth:`stop`."""
        self._stopping = False
        looked = due = 0.0
        while not self._stopping:
            self._peers.receive()
            now = time.perf_counter()
            if now - looked > _IDLE:
                looked = now
                idle()
            self._play()
            there = self.playback.go(self.step, BUDGET)
            self._notice()
            if now >= due:
                due = now + 1.0 / SNAPSHOT_RATE
                self._peers.publish(self._paint(there))
            if there or not self.playback.able:
                self._peers.wait(max(0.0, min(due - time.perf_counter(), 1.0 / SNAPSHOT_RATE)))

    def stop(self) -> None:
        """Ends :meth:`run`; safe from any thread or signal handler."""
        self._stopping = True

    def _play(self) -> None:
        """Goes on to where playing has come by now."""
        if not self._playing:
            return
        if self._speed > 0.0:
            real, recorded = self._since
            step = self._step_at(recorded + self._speed * (time.perf_counter() - real))
        else:
            quarter = max(1, round(0.25 / self.recording.header.world.step))
            ahead = self.playback.step + quarter
            self.playback.go(min(ahead, self.recording.last_step), BUDGET)
            step = self.playback.step
            if not self.playback.able:  # only what was recorded can be shown
                step = self.step + quarter
        self.step = min(max(self.step, step), self.recording.last_step)
        if self.step >= self.recording.last_step:
            self._pause()

    def _notice(self) -> None:
        """Tells of another world, and of what does not come out as it was recorded."""
        if self.playback.segment != self._shown:
            self._enter(self.painter.look)
            for message in self.lasting():
                self._tell("", message)
        if self.playback.trouble != self._told:
            self._told = self.playback.trouble
            step, text = self.step, f"{self.path.name}: {self._told}"
            self._tell("", m.Event(step, "warning", text, "recording"))

    def _paint(self, there: bool) -> bytes:
        session = self.playback.live
        state = session.state if there else None
        now = time.perf_counter()
        if self._stand is None or now - self._stand[0] >= 1.0 / STATUS_RATE:
            self._stand = now, self._status(there)
        return self.painter.paint_recorded(
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
            unseen=unseen(shown.state) if there else [],
        )

    # ---- what comes in -------------------------------------------------------------------

    def answer(self, client: str, message: m.FromClient) -> None:
        """Does what a client asks for, or tells it why not."""
        try:
            self._do(client, message)
        except LinkworkError as error:
            self._tell(client, m.Refused(m.type_of(message), str(error)))
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
            case m.Step():
                self._pause()
                self._show(self.step + message.steps)
            case m.Reset():
                self._show(self.recording.first_step)
            case m.Seek():
                self._show(self._step_at(message.time))
            case m.Speed():
                self._speed = message.value
                self._begin()
            case m.Inspect():
                world = self.playback.live.world
                rows, _ = Editor(Opened(world.scene)).rows(world, message.kind, message.name)
                note = "This is a recording: look, but nothing can be changed."
                self._tell(client, m.Attributes(message.name, message.kind, rows, note))
            case m.Drop() | m.Release():
                pass  # a person let go of what was open before
            case _:
                raise SessionError(
                    "this is a recording; nothing can be driven or changed in it.",
                    hint="Go on from here drives it live from this instant.",
                )

    def _show(self, step: int) -> None:
        self.step = min(max(step, self.recording.first_step), self.recording.last_step)
        self._begin()

    def _begin(self) -> None:
        """Counts real time from here."""
        self._since = time.perf_counter(), self.time

    def _pause(self) -> None:
        self._playing = False

    def go_on(self, make: Callable[[Opened], OpenScene]) -> OpenScene:
        """The scene of the recording, ready to run on from the instant that is shown.

        Raises:
            LinkworkError: If it cannot be run.
        """
        self._pause()
        playback = self.playback
        if not playback.go(self.step):
            raise SessionError(
                f"{self.path.name} cannot be run from here: {playback.trouble}",
                hint="Open the scene itself.",
            )
        folder = tempfile.TemporaryDirectory(prefix="linkwork-")
        try:
            made = make(Opened(playback.scene(self.step, Path(folder.name))))
        except BaseException:
            folder.cleanup()
            raise
        made.session.at_close.append(folder.cleanup)
        try:
            made.go_on_from(playback.live.state.save(), playback.live.signals.owners)
        except BaseException:
            made.close()
            raise
        when = f"{self.time:.3f} s"
        made.session.say(f"this goes on from {self.path.name} at {when}.", source="recording")
        return made

    def close(self) -> None:
        """Lets go of the file."""
        self.playback.close()
        self.recording.close()


def replay_view(
    recording: Recording, *, live: bool, unsaved: list[str] | None = None
) -> m.ReplayView:
    """What browsers are told of a recording.

    Args:
        recording: The recording.
        live: Whether a scene waits behind it.
        unsaved: Files of that scene that have changes to save.
    """
    found = [e for e in recording.events if e.level in ("mark", "warning", "error")][:_MOST_MARKS]
    marks = [m.MarkView(e.time, e.level, e.text, e.source) for e in found]  # type: ignore[arg-type]
    path = recording.path
    return m.ReplayView(
        str(path), path.stem, recording.header.created, recording.duration, live,
        recording.problem, marks, unsaved or [],
    )  # fmt: skip
