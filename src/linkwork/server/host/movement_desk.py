"""MovementDesk: takes in what people ask of the movement that is edited on a running scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linkwork.errors import LinkworkError, SessionError, listing
from linkwork.server import messages as m
from linkwork.server.host import movement_files, own_files
from linkwork.server.host.door import Door, Tell
from linkwork.server.host.editor import Editor
from linkwork.server.host.movement_draft import draft_of
from linkwork.server.host.movement_papers import MovementPapers, Paper
from linkwork.server.host.movement_play import MovementPlay
from linkwork.server.host.movement_robot import robots
from linkwork.server.host.movement_shown import MovementShown
from linkwork.server.host.movement_source import present, reported
from linkwork.server.host.movement_steps import Edited, MovementSteps
from linkwork.server.host.movement_work import MovementWork
from linkwork.server.host.posture_steps import PostureSteps
from linkwork.server.host.timeline import Timeline
from linkwork.session.reading import machine_buses
from linkwork.session.session import Session

#: What it answers.
ASKED = (
    m.SetMovement, m.AddPosture, m.ShowMovement, m.PlayMovement, m.MirrorMovement, m.ReadPosture,
    m.OpenMovement, m.SaveMovement,
)  # fmt: skip


class MovementDesk:
    """Edits, shows, plays, opens and saves a movement.

    Args:
        session: The session.
        door: The way into it.
        editor: The files, which are edited and saved besides.
        tell: Tells clients something.
        postures: Keeps what can be undone of postures that are in no movement.
        timeline: The instant that is looked at.
        tell_undo: Tells every client what can be undone now.

    Attributes:
        work: What is edited.
        steps: What can be undone.
        play: Plays the movement.
        shown: Shows it on the robot.
    """

    def __init__(
        self, session: Session, door: Door, editor: Editor, tell: Tell, postures: PostureSteps,
        timeline: Timeline, tell_undo: Callable[[], object],
    ) -> None:  # fmt: skip
        self._session, self._editor, self._tell = session, editor, tell
        self._postures, self._time, self._tell_undo = postures, timeline, tell_undo
        self._papers, self._number = MovementPapers(), 0
        self._files: list[str] | None = None
        self._time_told = (0.0, False)
        self.work, self.steps = MovementWork(session.world), MovementSteps()
        self.play = MovementPlay(session, door, self._failed)
        self.shown = MovementShown(session, door, self.work, self.play, postures, timeline)

    def enter(self) -> None:
        """Begins with an edited world."""
        self.play.stop()
        self.shown.lose()
        self.work.enter(self._session.world)

    def _failed(self, error: LinkworkError) -> None:
        self._tell("", m.Refused("play_movement", str(error)))

    # ---- how it stands -------------------------------------------------------------------

    @property
    def undo_words(self) -> str:
        """What of the movement would be undone next; empty if nothing, or something else first."""
        return self.steps.undo_words(self._editor.last_step)

    @property
    def redo_words(self) -> str:
        """What of it would be done again next; empty as of :attr:`undo_words`."""
        return self.steps.redo_words(self._editor.last_step, self._editor.next_step)

    @property
    def _paper(self) -> Paper:
        return self._papers[self.work.now.paper]

    @property
    def dirty(self) -> bool:
        """Whether there is a movement that is not saved as it is."""
        movement = self.work.now.movement
        return movement is not None and movement != self._paper.saved

    @property
    def title(self) -> str:
        """Its file, or its name."""
        return self._paper.file or self.work.name

    @property
    def told(self) -> m.MovementState:
        """How it stands, as clients are told."""
        work, movement = self.work, self.work.now.movement
        if self._files is None:
            self._files = movement_files.found(self._editor.folders)
        folder, file = str(self._editor.folders[0]), self._paper.file
        return m.MovementState(
            draft_of(movement) if movement is not None else None,
            work.robot.on, robots(self._session.world), work.now.selected, self.shown.editing,
            work.ways()[1] if movement is not None else [],
            work.why_no_mirror() if movement is not None else "", file,
            self.dirty, file or own_files.free_path(folder, work.name), self._files,
            machine_buses(self._session.cycle), self._number,
        )  # fmt: skip

    def tell(self) -> None:
        """Tells every client how it stands."""
        self._tell("", self.told)

    def _tell_time(self) -> None:
        self._time_told = self.play.time, self.play.playing
        self._tell("", m.MovementTime(*self._time_told))

    def look_after(self) -> None:
        """Tells how far it is, and takes what hands have moved into the selected posture."""
        if (self.play.time, self.play.playing) != self._time_told:
            self._tell_time()
        if not self.shown.editing:
            self.lose_sight()
        elif moved := self.shown.moved():
            words = next(iter(moved)) if len(moved) == 1 else f"{len(moved)} joints"
            new = self.work.changed(self.work.now.selected, moved)
            self._keep(new, f"move {words}", self._postures.gesture)
            self.tell()

    def lose_sight(self, *, stop: bool = False) -> None:
        """The robot has another state; what hands do goes into no posture now.

        Args:
            stop: Whether it also goes on playing no more.
        """
        if stop:
            self.play.stop()
        if self.shown.lose():
            self.tell()

    # ---- what comes in -------------------------------------------------------------------

    def take(self, client: str, message: m.FromClient) -> None:
        """Does what a client asks for.

        Raises:
            LinkworkError: If it cannot be done; all is as before then.
        """
        work, mine = self.work, (client, 0)
        match message:
            case m.SetMovement():
                self._set(client, message)
            case m.AddPosture():
                if message.on and work.now.movement is None:
                    work.choose(message.on)
                values = present(self._session, work.robot, self._time.shown, wanted=message.wanted)
                self._add(work.added(values, message.time), "add a posture", mine)
            case m.MirrorMovement():
                chosen = work.checked(message.posture)
                words = "mirror the posture" if chosen >= 0 else "mirror the movement"
                self._edit(work.mirrored(chosen), words, mine)
                if left := work.without_image():
                    words = f"{listing(left)}: no mirror image, left as it was."
                    self._session.say(words, source="movement")
            case m.ReadPosture():
                if message.on and work.now.movement is None:
                    work.choose(message.on)
                values = reported(self._session, work.robot, message.bus)
                if message.posture >= 0:
                    new = work.changed(work.checked(message.posture), values)
                    self._edit(new, f"read into posture {message.posture + 1}", mine)
                else:
                    self._add(work.added(values, None), "read a posture", mine)
            case m.ShowMovement():
                self._show(message)
            case m.PlayMovement():
                self._play(message)
            case m.OpenMovement():
                self._open(client, message)
            case m.SaveMovement():
                self._save(message)

    def _keep(self, new: Edited, what: str, gesture: tuple[str, int]) -> None:
        """Goes on with another movement, so that it can be undone."""
        old = self.work.now
        self.work.take(new)
        if new.movement != old.movement:
            self.steps.keep(what, gesture, self._editor.last_step, old)
            self._editor.elsewhere = self.steps.last
            self._tell_undo()

    def _edit(self, new: Edited, what: str, gesture: tuple[str, int]) -> None:
        """Puts another movement in the place of the one that is edited, and shows it."""
        self._put(new, what, gesture)
        self.tell()

    def _put(self, new: Edited, what: str, gesture: tuple[str, int]) -> None:
        self.play.stop()
        self._keep(new, what, gesture)
        self.shown.edited()

    def _add(self, new: Edited, what: str, gesture: tuple[str, int]) -> None:
        """Adds a posture and shows it; what hands move next is for the next one, not for it."""
        self._put(new, what, gesture)
        self.work.now = replace(self.work.now, selected=-1)
        self.shown.lose()
        self.tell()

    def _set(self, client: str, message: m.SetMovement) -> None:
        self._number = message.number
        try:
            new = self.work.drafted(message.draft, message.selected, message.on)
        except LinkworkError:
            self._tell(client, self.told)  # the page shows what was asked for
            raise
        if new.movement is None:
            new = replace(new, paper=self._papers.begin())
        self._edit(new, message.what or "movement", (client, message.gesture))

    def undo(self) -> None:
        """Takes the last step back."""
        self._go(self.steps.undo(self.work.now))

    def redo(self) -> None:
        """Does it again."""
        self._go(self.steps.redo(self.work.now))

    def _go(self, to: Edited) -> None:
        self.play.stop()
        self.work.take(to)
        self._editor.elsewhere = self.steps.last
        self.shown.edited()
        self._tell_undo()
        self.tell()

    # ---- on the robot --------------------------------------------------------------------

    def _show(self, message: m.ShowMovement) -> None:
        self.play.stop()
        chosen = self.work.checked(message.posture)
        self.work.now = replace(self.work.now, selected=chosen)
        try:
            if chosen >= 0:
                self.shown.selected()
            else:
                self.shown.lose()
                self.play.time = message.time
                self.shown.at(message.time)
        finally:
            self.tell()
            self._tell_time()

    def _play(self, message: m.PlayMovement) -> None:
        if not message.on:
            self.play.stop()
            self._tell_time()
            return
        movement, (ways, problems) = self.work.movement, self.work.ways()
        if problems:
            raise SessionError(f"it cannot be played. {problems[0]}")
        self.shown.lose()
        self.work.now = replace(self.work.now, selected=-1)
        try:
            self.play.begin(self.work.robot, ways, movement.duration, take=message.take)
        finally:
            self.tell()
            self._tell_time()

    # ---- files ---------------------------------------------------------------------------

    def _open(self, client: str, message: m.OpenMovement) -> None:
        folders = self._editor.folders
        movement, file = movement_files.opened(message.path, message.name, folders)
        new = self.work.fitting(movement, message.on)
        new = replace(new, paper=self._papers.begin(file, new.movement))
        self.play.time = 0.0
        self._edit(new, f"open {movement.name}", (client, 0))

    def _save(self, message: m.SaveMovement) -> None:
        movement, on = self.work.movement, self.work.robot.on
        parts = self._session.world.scene.parts
        file, notes = movement_files.saved(
            movement, message.path, parts[on].part if on in parts else None, self._editor.folders,
            overwrite=message.overwrite or message.path == self._paper.file,
            taken=self._editor.files,
        )  # fmt: skip
        self._papers.write(self.work.now.paper, file, movement)
        self._files = None
        self._tell("", m.Saved([file]))
        for note in notes:
            self._session.say(note, source="movement")
        self.tell()
