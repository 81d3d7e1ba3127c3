"""OpenScene: a scene that runs in the studio, and what people may do with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from linkwork.errors import LinkworkError, SessionError
from linkwork.server import messages as m
from linkwork.server.host import own_files
from linkwork.server.host.attribute_desk import AttributeDesk
from linkwork.server.host.bus_desk import BusDesk
from linkwork.server.host.cloud_desk import CloudDesk
from linkwork.server.host.describe import describe
from linkwork.server.host.door import Door, Tell
from linkwork.server.host.editor import Editor, Opened
from linkwork.server.host.guest_desk import GuestDesk
from linkwork.server.host.mesh_store import MeshStore
from linkwork.server.host.movement_desk import ASKED, MovementDesk
from linkwork.server.host.movement_play import OwnedError
from linkwork.server.host.picture import Painter
from linkwork.server.host.posture_steps import PostureSteps
from linkwork.server.host.posture_text import values_of
from linkwork.server.host.reach_desk import ReachDesk
from linkwork.server.host.recording_desk import RecordingDesk
from linkwork.server.host.swaps import Swaps
from linkwork.server.host.timeline import Timeline
from linkwork.server.relay import Look
from linkwork.session import messages as inbox
from linkwork.session.clock import Clock
from linkwork.session.cycle import PERSON
from linkwork.session.outbox import Peers
from linkwork.session.session import Session

#: What a hand sends many times a second; the next status is soon enough for it.
_STREAMED = (m.Set, m.Place, m.Grab, m.Reach, m.SetMovement, m.ShowMovement)
#: What happens to the state that is looked at: the past becomes the present first.
_ACTING = (
    m.Play, m.Step, m.Set, m.Place, m.Posture, m.Grab, m.Take, m.Override, m.Fault, m.Reach,
    m.ShowMovement, m.PlayMovement,
)  # fmt: skip
#: What gives the robot a state in which it has no posture of a movement, nor goes on playing one.
_AWAY = (m.Set, m.Grab, m.Reset, m.Step, m.Seek, m.Live)
#: What ends a drag of a tool that is still on its way.
_INSTEAD = (
    m.Set, m.Place, m.Posture, m.Grab, m.Drop, m.Release, m.Reset, m.Undo, m.Redo, m.Step, m.Seek,
    m.Live, m.Play, m.Pause,
)  # fmt: skip
#: What puts the robot elsewhere at once; a step back does, too.
_JUMPS = (m.Reset, m.Undo, m.Redo, m.Seek, m.Live, m.Posture, m.ShowMovement)

#: What leaves postures that were given by hand as they are; after all else they are not undone.
_STILL = (
    m.Place, m.Posture, m.Undo, m.Redo, m.Pause, m.Speed, m.Seek, m.Live, m.Inspect, m.Drop,
    m.Release, m.Record, m.Mark, m.Save, m.Reach, m.LetGo, m.SetReach, m.Workspace,
    m.SaveMovement,
)  # fmt: skip

#: Levels of events that browsers know.
_LEVELS = ("info", "warning", "error", "mark")


class OpenScene:
    """A session with its history and its file.

    Args:
        opened: What to run.
        peers: The session's way out.
        tell: Tells clients something.
        look: What the viewers want to see.
        recordings: Folder for recordings.
        base: Scene versions that browsers see count from here, so that no picture of what was
            open before passes for one of it.

    Attributes:
        session: The session.
        saved: Called with a file that was saved under a new name, and the scene's.
        meshes: Triangles that its description names.
        desk: Its buses.
        reach: The tool that is dragged.
        cloud: The places that it reaches.
        movement: The movement that is edited.
    """

    def __init__(
        self,
        opened: Opened,
        peers: Peers,
        tell: Tell,
        look: Look,
        recordings: Path,
        *,
        base: int = 0,
    ) -> None:
        self.session = Session(opened.scene, link=peers)
        self.meshes = MeshStore()
        self.desk = BusDesk(self.session, tell, base=base)
        self.saved: Callable[[str, str], object] = lambda file, name: None
        self._tell, self._base = tell, base
        self._door = Door(self.session)
        self._recording = RecordingDesk(self.session, tell, recordings)
        self._postures = PostureSteps()
        self._owners: dict[str, str] | None = None
        self.reach = ReachDesk(self.session, self._door, tell, self._postures, self._tell_undo)
        self.cloud = CloudDesk(self.session, self.meshes, tell)
        try:
            self.editor = Editor(opened)
            self._time = Timeline(self.session, self._door)
            self.movement = MovementDesk(
                self.session, self._door, self.editor, tell, self._postures, self._time,
                self._tell_undo,
            )  # fmt: skip
            self._enter(look)
        except BaseException:
            self.session.close()
            raise
        self._attributes = AttributeDesk(self.session, self.editor, self._door, tell)
        self._swaps = Swaps(self.session, self.editor, self._attributes, tell, self._tell_undo)
        self._guests = GuestDesk(self.session, self.editor.guests, self._swaps, self._door, tell)
        session = self.session
        session.clock = Clock("real")
        session.outbox.snapshot = self._paint
        session.outbox.listeners.append(self._on_event)
        session.after_step.append(self._time.keep)

    def _enter(self, look: Look) -> None:
        """Begins with a world, the first or an edited one."""
        self._version = self.session.version
        self._postures.forget()
        self.painter = Painter(self.session.cycle, look, base=self._base)
        self.painter.reach = self.reach.block

    @property
    def step(self) -> int:
        """Steps since the start."""
        return self.session.state.step

    @property
    def unsaved(self) -> list[str]:
        """Files that have changes to save; a movement without a file by its name."""
        files, movement = list(self.editor.state.files), self.movement
        return [*files, movement.title] if movement.dirty else files

    @property
    def undo_state(self) -> m.UndoState:
        """What can be undone, redone and saved: postures by hand first, then what was edited."""
        found, postures, movement = self.editor.state, self._postures, self.movement
        undo = postures.undo_words or movement.undo_words
        redo = postures.redo_words or movement.redo_words
        return msgspec.structs.replace(
            found,
            can_undo=found.can_undo or bool(undo),
            can_redo=found.can_redo or bool(redo),
            undo=undo or found.undo,
            redo=redo or found.redo,
        )

    def run(self, idle: Callable[[], object]) -> None:
        """Runs until :meth:`stop`.

        Raises:
            LinkworkError: If the session fails.
        """
        self.session.run(progress=lambda _: idle())

    def stop(self) -> None:
        """Ends :meth:`run`; safe from any thread or signal handler."""
        self.session.stop()

    def wait(self, peers: Peers) -> None:
        """Lets time stand still when it is run again.

        Args:
            peers: Its way out then; a fresh one passes on also a picture that was seen before.
        """
        self.session.outbox.link = peers
        self.painter.hurry()
        self.session.send(inbox.Pause())

    def go_on_from(self, state: bytes, owners: dict[str, str]) -> None:
        """Takes over a state of a recording, and what a person had taken in it.

        Raises:
            SessionError: If it is no state of this scene.
        """
        self.session.go_back(state)
        for signal, owner in owners.items():
            if owner == PERSON:
                self._door.apply(inbox.Take(signal, owner))
        self._time.begin()

    def lasting(self) -> list[m.FromServer]:
        """How things stand, for those who come now."""
        scene = describe(
            self.session, self.meshes, self.undo_state,
            editable=self.editor.project is not None, base=self._base, opened=self._base,
        )  # fmt: skip
        owners = m.Owners(dict(self.session.signals.owners))
        told = self.reach.told, self.cloud.told, self.movement.told
        return [scene, owners, self.undo_state, *told]

    # ---- what goes out -------------------------------------------------------------------

    def _tell_undo(self) -> None:
        self._tell("", self.undo_state)

    def _on_event(self, event: inbox.Event) -> None:
        if not self._answered(event):
            level = event.level if event.level in _LEVELS else "info"
            self._tell("", m.Event(event.step, level, event.text, event.source))  # type: ignore[arg-type]

    def _answered(self, event: inbox.Event) -> bool:
        """Whether somebody is told of it as refused."""
        if event.source == "scene" and event.level == "error":
            return self._swaps.explain(event)
        return self._door.asking and event.source == "inbox"

    def _paint(self, session: Session) -> bytes:
        self.look_after()
        return self.painter.paint(session, self._time.past, self._recording.file, self._time.span)

    def look_after(self) -> None:
        """Tells of a new world, of new owners, and of an edit that could not be used."""
        if self._version != self.session.version:
            self._time.enter()
            self.reach.enter()
            self.cloud.stop()
            self.movement.enter()
            self._enter(self.painter.look)
            self.desk.forget()
            for message in self.lasting():
                self._tell("", message)
            self._guests.let_in()
        self.desk.look_after(self.painter.look)
        owners = self.session.signals.owners
        if owners != self._owners:
            self._owners = dict(owners)
            self._tell("", m.Owners(self._owners))
        self._swaps.look_after()
        self._postures.elsewhere = self.movement.shown.editing
        self.reach.look_after()
        self.movement.look_after()
        self.cloud.look_after()

    # ---- what comes in -------------------------------------------------------------------

    def answer(self, client: str, message: m.FromClient) -> None:
        """Does what a client asks for, or tells it why not."""
        what, key = m.type_of(message), _key(message)
        if self._postures and not isinstance(message, _STILL):
            self._postures.forget()
            self._tell_undo()
        if isinstance(message, _INSTEAD):
            self.reach.drag.stop()
        if isinstance(message, _JUMPS) or _goes_back(message):
            self.reach.jump()
        if isinstance(message, m.Play | m.Set | m.Grab):
            self.movement.play.leave_running()
        if isinstance(message, _AWAY):
            self.movement.lose_sight(stop=True)
        self._postures.elsewhere = self.movement.shown.editing
        try:
            if self._time.past is not None and _acts(message):
                self._time.go_on()
                self._postures.forget()
            self._do(client, message)
            if isinstance(message, m.Place | m.Posture):
                self.movement.look_after()  # each is a step of its own
        except own_files.TakenError as error:
            self._tell(client, m.Refused(what, str(error), "exists"))
        except OwnedError as error:
            self._tell(client, m.Refused(what, str(error), "owned"))
        except LinkworkError as error:
            self._tell(client, m.Refused(what, str(error), key))
        if not isinstance(message, _STREAMED):
            self.painter.hurry()

    def _do(self, client: str, message: m.FromClient) -> None:
        session = self.session
        match message:
            case m.Play():
                self._door.apply(inbox.Play())
            case m.Pause():
                self._door.apply(inbox.Pause())
            case m.Step():
                self._time.step(message.steps)
            case m.Reset():
                self._time.past = None
                self._door.apply(inbox.Reset())
                self._time.keep_now()
                self.reach.begin_anew()
            case m.Speed():
                session.clock = Clock("real" if message.value else "fast", message.value or 1.0)
            case m.Seek():
                self._time.seek(message.time)
            case m.Live():
                self._time.past = None
            case m.Set():
                self._door.apply(inbox.Set(message.signal, message.value, PERSON))
            case m.Take():
                self._door.apply(inbox.Take(message.signal, PERSON))
            case m.Release():
                self._door.apply(inbox.Release(PERSON))
            case m.Override():
                self._door.apply(inbox.Override(message.signal, message.value, PERSON))
            case m.Fault(kind="person") if "part" not in message.args:
                self._guests.invite(client, self.desk.fault(message))
            case m.Fault():
                self._door.apply(self.desk.fault(message))
            case m.Order():
                self._door.apply(self.desk.checked(message))
            case m.Posture():
                self._pose(client, message, inbox.Posture(message.name))
            case m.Place():
                if session.running:
                    raise SessionError(
                        "a joint is placed while the session is paused.",
                        hint="Pause, or set its target.",
                    )
                placed = inbox.Place(message.joint, message.dof, message.value)
                self._pose(client, message, placed)
            case m.Grab():
                self._pull(message)
            case m.SetReach():
                self.reach.set_up(client, message.setup)
            case m.Reach():
                self.reach.take(client, message)
            case m.Workspace():
                self.cloud.begin(self.reach.setup, message.count)
            case m.LetGo():
                self.reach.drag.end(given_up=message.given_up)
            case m.Drop():
                self._door.apply(inbox.Drop())
            case m.Record(on=True):
                self._recording.begin()
            case m.Record():
                self._recording.end()
            case m.Mark():
                self._recording.mark(message.text)
            case m.Inspect():
                self._attributes.inspect(client, message.kind, message.name)
            case m.Edit():
                self._change(client, message)
            case m.CloseLoop():
                self.editor.close_loop(message.a, message.b, message.joint, message.axis)
                self._swaps.begin(client, "close_loop", self.editor.take_back)
            case m.Undo() if (state := self._postures.undo(session.state)) is not None:
                self._restore(state)
            case m.Undo() if self.movement.undo_words:
                self.movement.undo()
            case m.Undo():
                self.editor.undo()
                self._swaps.begin(client, "undo", self.editor.put_back)
            case m.Redo() if (state := self._postures.redo(session.state)) is not None:
                self._restore(state)
            case m.Redo() if self.movement.redo_words:
                self.movement.redo()
            case m.Redo():
                self.editor.redo()
                self._swaps.begin(client, "redo", self.editor.undo)
            case m.Save():
                self._tell("", m.Saved(self.editor.save()))
                self._tell_undo()
            case m.SaveAs():
                self._tell("", m.Saved(self.save_as(message)))
            case m.StorePosture():
                values = values_of(session.world, self._time.shown)
                self.editor.store_posture(message.name, values)
                self._swaps.begin(client, "store_posture", self.editor.take_back)
            case _ if isinstance(message, ASKED):
                self.movement.take(client, message)
            case m.Convert():
                raise SessionError(
                    "there is nothing to convert: this scene can be edited as it is."
                )
            case _:
                raise SessionError(f"a scene cannot do {m.type_of(message)!r}.")

    def _pull(self, message: m.Grab) -> None:
        """Pulls with the spring that the page tells of."""
        session = self.session
        body, _ = session.world.frame(message.element)
        stiffness = (float(session.state["param/mass"][body]) or 1.0) * m.PULL_RATE**2
        self._door.apply(
            inbox.Grab(message.element, message.target, message.point, stiffness=stiffness)
        )

    def _pose(self, client: str, message: m.Place | m.Posture, done: inbox.Message) -> None:
        """Gives the robot a posture; while time stands, that can be undone."""
        before = self._postures.before(client, message, self.session.state)
        words = self._postures.undo_words
        self._door.apply(done)
        if not self.session.running:
            self._postures.keep(before, self.session.state)
        if words != self._postures.undo_words:
            self._tell_undo()

    def _restore(self, state: bytes) -> None:
        """Goes to another posture at the same time."""
        self._time.past = None
        self._door.apply(inbox.Restore(state))
        self._tell_undo()

    # ---- the file ------------------------------------------------------------------------

    def save_as(self, message: m.SaveAs) -> list[str]:
        """Saves under another name; the run goes on as the new file's."""
        written = self.editor.save_as(message.path, overwrite=message.overwrite)
        self._swaps.forget()
        self._swaps.begin("", "save_as", lambda: None)
        self.saved(self.editor.file, self.session.world.scene.name)
        return written

    def _change(self, client: str, message: m.Edit) -> None:
        if message.key.startswith(m.LIVE):
            self._attributes.set_live(message)
        else:
            try:
                self.editor.edit(message.kind, message.name, message.key, message.value)
            except LinkworkError as error:  # the panel shows where; the words are enough
                text = f"{error.message} {error.hint}".strip()
                self._tell(client, m.Refused("edit", text, message.key))
                return
            thing = (message.kind, message.name)
            self._swaps.begin(client, "edit", self.editor.take_back, message.key, thing)
        if message.key != "name":  # else the client asks by the new one
            self._attributes.inspect(client, message.kind, message.name)

    def close(self) -> None:
        """Ends the session."""
        self.cloud.stop()
        self.session.close()


def _acts(message: m.FromClient) -> bool:
    """Whether it changes the state that is looked at; a step back only looks further."""
    return isinstance(message, _ACTING) and not _goes_back(message)


def _goes_back(message: m.FromClient) -> bool:
    """Whether it puts the robot back to where it was: a step back, a drag that is given up."""
    return (isinstance(message, m.Step) and message.steps < 0) or (
        isinstance(message, m.LetGo) and message.given_up
    )


def _key(message: m.FromClient) -> str:
    """What of a message an answer refers to."""
    for name in ("key", "signal", "joint", "element", "name", "scene"):
        if hasattr(message, name):
            return str(getattr(message, name))
    return ""
