"""MovementEditor: handles client requests for the movement edited on a running scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linkwork.core.errors import LinkworkError, SessionError, listing
from linkwork.session.postures import machine_buses
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host import movement_files, project_files
from linkwork.studio.host.editor import Editor
from linkwork.studio.host.movement_files import MovementFile, MovementFiles
from linkwork.studio.host.movement_history import MovementHistory, MovementSnapshot
from linkwork.studio.host.movement_model import MovementModel, draft_of
from linkwork.studio.host.movement_playback import MovementPlayback, MovementPreview
from linkwork.studio.host.movement_robot import current_posture, reported_posture, robots
from linkwork.studio.host.posture_edits import PostureHistory
from linkwork.studio.host.session_inbox import SendMessage, SessionInbox
from linkwork.studio.host.timeline import Timeline

#: Requests that it handles.
MOVEMENT_MESSAGES = (
    m.SetMovement, m.AddPosture, m.ShowMovement, m.PlayMovement, m.MirrorMovement, m.ReadPosture,
    m.OpenMovement, m.SaveMovement,
)  # fmt: skip


class MovementEditor:
    """Edits, shows, plays, opens and saves a movement.

    Args:
        session: The session.
        session_inbox: The inbox of the session.
        editor: The scene's files, which have an undo history of their own.
        send: Sends a message to clients.
        postures: Undo history of postures that belong to no movement.
        timeline: The displayed instant.
        send_undo: Sends the undo state to every client.

    Attributes:
        work: The edited movement.
        steps: Undo history.
        play: Plays the movement.
        shown: Shows the movement on the robot.
    """

    def __init__(
        self,
        session: Session,
        session_inbox: SessionInbox,
        editor: Editor,
        send: SendMessage,
        postures: PostureHistory,
        timeline: Timeline,
        send_undo: Callable[[], object],
    ) -> None:
        self._session, self._editor, self._send = session, editor, send
        self._postures, self._time, self._send_undo = postures, timeline, send_undo
        self._files_by_number, self._number = MovementFiles(), 0
        self._files: list[str] | None = None
        self._time_told = (0.0, False)
        self.work, self.steps = MovementModel(session.world), MovementHistory()
        self.play = MovementPlayback(session, session_inbox, self._failed)
        self.shown = MovementPreview(
            session, session_inbox, self.work, self.play, postures, timeline
        )

    def enter(self) -> None:
        """Starts with an edited world."""
        self.play.stop()
        self.shown.lose()
        self.work.enter(self._session.world)

    def _failed(self, error: LinkworkError) -> None:
        self._send("", m.Refused.of("play_movement", error))

    # ---- state ---------------------------------------------------------------------------

    @property
    def undo_words(self) -> str:
        """The movement's step to undo next; empty if none, or if a step of the files is later."""
        return self.steps.undo_words(self._editor.last_step)

    @property
    def redo_words(self) -> str:
        """The movement's step to redo next; empty as for :attr:`undo_words`."""
        return self.steps.redo_words(self._editor.last_step, self._editor.next_step)

    @property
    def _movement_file(self) -> MovementFile:
        return self._files_by_number[self.work.now.file_number]

    @property
    def dirty(self) -> bool:
        """Whether the movement has unsaved changes."""
        movement = self.work.now.movement
        return movement is not None and movement != self._movement_file.saved

    @property
    def title(self) -> str:
        """The movement's file, or its name."""
        return self._movement_file.file or self.work.name

    @property
    def state_message(self) -> m.MovementState:
        """The state message for clients."""
        work, movement = self.work, self.work.now.movement
        if self._files is None:
            self._files = movement_files.list_movements(self._editor.folders)
        folder, file = str(self._editor.folders[0]), self._movement_file.file
        return m.MovementState(
            draft_of(movement) if movement is not None else None,
            work.robot.on, robots(self._session.world), work.now.selected, self.shown.editing,
            work.tracks()[1] if movement is not None else [],
            work.why_no_mirror() if movement is not None else "", file,
            self.dirty, file or project_files.free_path(folder, work.name), self._files,
            machine_buses(self._session.cycle), self._number,
        )  # fmt: skip

    def send(self) -> None:
        """Sends the state message to every client."""
        self._send("", self.state_message)

    def _send_time(self) -> None:
        self._time_told = self.play.time, self.play.playing
        self._send("", m.MovementTime(*self._time_told))

    def poll(self) -> None:
        """Sends the playback time, and stores joints moved by hand in the selected posture."""
        if (self.play.time, self.play.playing) != self._time_told:
            self._send_time()
        if not self.shown.editing:
            self.end_preview()
        elif moved := self.shown.moved():
            words = next(iter(moved)) if len(moved) == 1 else f"{len(moved)} joints"
            new = self.work.changed(self.work.now.selected, moved)
            self._keep(new, f"move {words}", self._postures.gesture)
            self.send()

    def end_preview(self, *, stop: bool = False) -> None:
        """Ends the preview: the robot has another state, and later drags edit no posture.

        Args:
            stop: Whether to stop playing, too.
        """
        if stop:
            self.play.stop()
        if self.shown.lose():
            self.send()

    # ---- requests ------------------------------------------------------------------------

    def take(self, client: str, message: m.FromClient) -> None:
        """Carries out a client's request.

        Raises:
            LinkworkError: If it cannot be done; nothing has changed then.
        """
        work, mine = self.work, (client, 0)
        match message:
            case m.SetMovement():
                self._set(client, message)
            case m.AddPosture():
                if message.on and work.now.movement is None:
                    work.choose(message.on)
                values = current_posture(
                    self._session, work.robot, self._time.shown, wanted=message.wanted
                )
                self._add(work.added(values, message.time), "add a posture", mine)
            case m.MirrorMovement():
                chosen = work.checked(message.posture)
                words = "mirror the posture" if chosen >= 0 else "mirror the movement"
                self._edit(work.mirrored(chosen), words, mine)
                if left := work.without_image():
                    words = f"{listing(left)}: no mirror image, left as it was."
                    self._session.log(words, source="movement")
            case m.ReadPosture():
                if message.on and work.now.movement is None:
                    work.choose(message.on)
                values = reported_posture(self._session, work.robot, message.bus)
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

    def _keep(self, new: MovementSnapshot, what: str, gesture: tuple[str, int]) -> None:
        """Replaces the movement, with an undo step."""
        old = self.work.now
        self.work.take(new)
        if new.movement != old.movement:
            self.steps.keep(what, gesture, self._editor.last_step, old)
            self._editor.elsewhere = self.steps.last
            self._send_undo()

    def _edit(self, new: MovementSnapshot, what: str, gesture: tuple[str, int]) -> None:
        """Replaces the edited movement and shows it."""
        self._put(new, what, gesture)
        self.send()

    def _put(self, new: MovementSnapshot, what: str, gesture: tuple[str, int]) -> None:
        self.play.stop()
        self._keep(new, what, gesture)
        self.shown.edited()

    def _add(self, new: MovementSnapshot, what: str, gesture: tuple[str, int]) -> None:
        """Adds a posture and shows it; later drags do not change it."""
        self._put(new, what, gesture)
        self.work.now = replace(self.work.now, selected=-1)
        self.shown.lose()
        self.send()

    def _set(self, client: str, message: m.SetMovement) -> None:
        self._number = message.number
        try:
            new = self.work.drafted(message.draft, message.selected, message.on)
        except LinkworkError:
            self._send(client, self.state_message)  # the page shows the refused edit
            raise
        if new.movement is None:
            new = replace(new, file_number=self._files_by_number.begin())
        self._edit(new, message.what or "movement", (client, message.gesture))

    def undo(self) -> None:
        """Undoes the last step."""
        self._go(self.steps.undo(self.work.now))

    def redo(self) -> None:
        """Redoes the last undone step."""
        self._go(self.steps.redo(self.work.now))

    def _go(self, to: MovementSnapshot) -> None:
        self.play.stop()
        self.work.take(to)
        self._editor.elsewhere = self.steps.last
        self.shown.edited()
        self._send_undo()
        self.send()

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
            self.send()
            self._send_time()

    def _play(self, message: m.PlayMovement) -> None:
        if not message.on:
            self.play.stop()
            self._send_time()
            return
        movement, (tracks, problems) = self.work.movement, self.work.tracks()
        if problems:
            raise SessionError(f"it cannot be played. {problems[0]}")
        self.shown.lose()
        self.work.now = replace(self.work.now, selected=-1)
        try:
            self.play.begin(self.work.robot, tracks, movement.duration, take=message.take)
        finally:
            self.send()
            self._send_time()

    # ---- files ---------------------------------------------------------------------------

    def _open(self, client: str, message: m.OpenMovement) -> None:
        folders = self._editor.folders
        movement, file = movement_files.open_movement(message.path, message.name, folders)
        new = self.work.fitting(movement, message.on)
        new = replace(new, file_number=self._files_by_number.begin(file, new.movement))
        self.play.time = 0.0
        self._edit(new, f"open {movement.name}", (client, 0))

    def _save(self, message: m.SaveMovement) -> None:
        movement, on = self.work.movement, self.work.robot.on
        parts = self._session.world.scene.parts
        file, notes = movement_files.save_movement(
            movement, message.path, parts[on].part if on in parts else None, self._editor.folders,
            overwrite=message.overwrite or message.path == self._movement_file.file,
            taken=self._editor.files,
        )  # fmt: skip
        self._files_by_number.write(self.work.now.file_number, file, movement)
        self._files = None
        self._send("", m.FilesSaved([file]))
        for note in notes:
            self._session.log(note, source="movement")
        self.send()
