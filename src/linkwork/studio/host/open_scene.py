"""OpenScene: a scene that runs in the studio."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from linkwork.core.errors import LinkworkError, SessionError
from linkwork.project.trust import ProgramCode, is_trusted, keep_decision, program_code
from linkwork.session import messages as inbox
from linkwork.session.clock import Clock
from linkwork.session.cycle import USER
from linkwork.session.recorder import programs_in
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host import project_files
from linkwork.studio.host.bus_monitor import BusMonitor
from linkwork.studio.host.describe import describe, shown_programs, withheld_programs
from linkwork.studio.host.editor import Editor, OpenedFile
from linkwork.studio.host.mesh_store import MeshStore
from linkwork.studio.host.movement_editor import MOVEMENT_MESSAGES, MovementEditor
from linkwork.studio.host.movement_playback import JointOwnedError
from linkwork.studio.host.posture_edits import PostureHistory, values_of
from linkwork.studio.host.reach_editor import ReachEditor
from linkwork.studio.host.scene_edits import AttributeEditor, SceneSwaps
from linkwork.studio.host.session_inbox import LinkAdapter, SendMessage, SessionInbox
from linkwork.studio.host.snapshot_builder import SnapshotBuilder
from linkwork.studio.host.spawned_people import SpawnHandler
from linkwork.studio.host.timeline import RecordingHandler, Timeline
from linkwork.studio.host.workspace_sampler import WorkspaceSampler
from linkwork.studio.protocol.link_messages import ViewRequest

#: Messages that arrive many times a second; the next status suffices for them.
_STREAMED = (m.Set, m.DragJoint, m.Grab, m.DragTool, m.SetMovement, m.ShowMovement)
#: Messages that change the state; if the past is displayed, it becomes the present first.
_CHANGES_STATE = (
    m.Play,
    m.SingleStep,
    m.Set,
    m.DragJoint,
    m.Posture,
    m.Grab,
    m.Take,
    m.Override,
    m.FaultRequest,
    m.DragTool,
    m.ShowMovement,
    m.PlayMovement,
)
#: Messages that end the preview of a movement.
_LEAVES_MOVEMENT = (m.Set, m.Grab, m.Reset, m.SingleStep, m.Seek, m.BackToLive)
#: Messages that end a drag of the tool.
_ENDS_DRAG = (
    m.Set,
    m.DragJoint,
    m.Posture,
    m.Grab,
    m.EndGrab,
    m.Release,
    m.Reset,
    m.Undo,
    m.Redo,
    m.SingleStep,
    m.Seek,
    m.BackToLive,
    m.Play,
    m.Pause,
)
#: Messages that set the robot's coordinates directly, as a step back does.
_TELEPORTS = (m.Reset, m.Undo, m.Redo, m.Seek, m.BackToLive, m.Posture, m.ShowMovement)

#: Messages after which postures set by hand can still be undone.
_KEEPS_POSTURE_HISTORY = (
    m.DragJoint,
    m.Posture,
    m.Undo,
    m.Redo,
    m.Pause,
    m.Speed,
    m.Seek,
    m.BackToLive,
    m.Inspect,
    m.EndGrab,
    m.Release,
    m.Record,
    m.Mark,
    m.Save,
    m.DragTool,
    m.EndToolDrag,
    m.SetReach,
    m.SampleWorkspace,
    m.SaveMovement,
)

#: Levels of events that browsers know.
_LEVELS = ("info", "warning", "error", "mark")


class OpenScene:
    """A session with its history and its file.

    Args:
        opened: The scene to run.
        adapter: Connects the session to the studio's link.
        send: Sends a message to clients.
        view: The blocks that viewers requested.
        recordings: Folder for recordings.
        base: First scene version that browsers see, so that earlier snapshots are not taken for
            those of this scene.
        session: A session that runs already; None starts one.

    Attributes:
        session: The session.
        saved: Called with the path and scene name of a file saved under a new name.
        meshes: Triangles named in its description.
        bus_monitor: Its buses.
        reach: The dragged tool.
        cloud: The sampled workspace of the tool.
        movement: The edited movement.
    """

    def __init__(
        self,
        opened: OpenedFile,
        adapter: LinkAdapter,
        send: SendMessage,
        view: ViewRequest,
        recordings: Path,
        *,
        base: int = 0,
        session: Session | None = None,
    ) -> None:
        self._approved = set(opened.trusted)
        self._refused: dict[str, str] = {}  # changed texts of running programs, by agent
        editor = _with_servos(opened)
        scene = opened.scene if editor is None else editor.scene
        if session is None:
            session = Session(scene, allow=opened.allow, programs=self._may_run)
        self.session = session
        self._shown_refused = dict(self._refused)
        self.session.outbox.viewer = adapter
        self.meshes = MeshStore()
        self.bus_monitor = BusMonitor(self.session, send, base=base)
        self.saved: Callable[[str, str], object] = lambda file, name: None
        self._send, self._base = send, base
        self._session_inbox = SessionInbox(self.session)
        self._recording = RecordingHandler(self.session, send, recordings)
        self._postures = PostureHistory()
        self._owners: dict[str, str] | None = None
        self.reach = ReachEditor(
            self.session, self._session_inbox, send, self._postures, self._send_undo
        )
        self.cloud = WorkspaceSampler(self.session, self.meshes, send)
        try:
            self.editor = editor or Editor(opened)
            self._time = Timeline(self.session, self._session_inbox)
            self.movement = MovementEditor(
                self.session, self._session_inbox, self.editor, send, self._postures, self._time,
                self._send_undo,
            )  # fmt: skip
            self._enter(view)
        except BaseException:
            self.session.close()
            raise
        self._attributes = AttributeEditor(self.session, self.editor, self._session_inbox, send)
        self._swaps = SceneSwaps(self.session, self.editor, self._attributes, send, self._send_undo)
        self._spawn_handler = SpawnHandler(
            self.session, self.editor.spawned_people, self._swaps, self._session_inbox, send
        )
        session = self.session
        session.clock = Clock("real")
        adapter.build_snapshot = self._build_snapshot
        session.outbox.listeners.append(self._on_event)
        session.after_step.append(self._time.keep)

    def _enter(self, view: ViewRequest) -> None:
        """Starts with a world: the first or an edited one."""
        self._version = self.session.version
        self._postures.forget()
        self.snapshot_builder = SnapshotBuilder(self.session.cycle, view, base=self._base)
        self.snapshot_builder.reach = self.reach.block

    @property
    def step(self) -> int:
        """Steps since the start."""
        return self.session.state.step

    @property
    def unsaved(self) -> list[str]:
        """Files with unsaved changes; a movement without a file by its name."""
        files, movement = list(self.editor.state.files), self.movement
        return [*files, movement.title] if movement.dirty else files

    @property
    def undo_state(self) -> m.UndoState:
        """The undo state: postures set by hand first, then edits."""
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

    def wait(self, adapter: LinkAdapter) -> None:
        """Pauses the session until it runs again.

        Args:
            adapter: Its new connection, which also sends a snapshot equal to the last one.
        """
        adapter.build_snapshot = self._build_snapshot
        self.session.outbox.viewer = adapter
        self.snapshot_builder.refresh_status()
        self.session.send(inbox.PauseClock())

    def continue_from(self, state: bytes, owners: dict[str, str]) -> None:
        """Restores a state of a recording, and the inputs that the user owned in it.

        Raises:
            SessionError: If the state does not fit this scene.
        """
        self.session.restore_state(state)
        for signal, owner in owners.items():
            if owner == USER:
                self._session_inbox.apply(inbox.TakeSignal(signal, owner))
        self._time.begin()

    def retained(self) -> list[m.FromServer]:
        """State messages for clients that connect now."""
        scene = describe(
            self.session, self.meshes, self.undo_state,
            editable=self.editor.project is not None, base=self._base, opened=self._base,
            untrusted=self._untrusted(),
        )  # fmt: skip
        owners = m.Owners(dict(self.session.signals.owners))
        states = self.reach.state_message, self.cloud.state_message, self.movement.state_message
        return [scene, owners, self.undo_state, *states]

    # ---- messages ------------------------------------------------------------------------

    def _send_undo(self) -> None:
        self._send("", self.undo_state)

    def _on_event(self, event: inbox.SessionEvent) -> None:
        if not self._answered(event):
            level: m.Level = event.level if event.level in _LEVELS else "info"  # type: ignore[assignment]
            self._send("", m.Event(event.step, level, event.text, event.source, event.error,
                event.failed))  # fmt: skip
        if self._refused != self._shown_refused:
            self._shown_refused = dict(self._refused)
            for each in self.retained():
                self._send("", each)

    def _answered(self, event: inbox.SessionEvent) -> bool:
        """Whether a client receives the event as a refusal."""
        if event.failed == "edit":
            return self._swaps.explain(event)
        return self._session_inbox.applying and event.failed == "message"

    def _build_snapshot(self, session: Session) -> bytes:
        self.poll()
        return self.snapshot_builder.build(
            session, self._time.past, self._recording.file, self._time.span
        )

    def poll(self) -> None:
        """Sends a new world, new owners, or the refusal of an edit."""
        if self._version != self.session.version:
            self._time.enter()
            self.reach.enter()
            self.cloud.stop()
            self.movement.enter()
            self._enter(self.snapshot_builder.view)
            self.bus_monitor.forget()
            for message in self.retained():
                self._send("", message)
            self._spawn_handler.start_spawned()
        self.bus_monitor.poll(self.snapshot_builder.view)
        owners = self.session.signals.owners
        if owners != self._owners:
            self._owners = dict(owners)
            self._send("", m.Owners(self._owners))
        self._swaps.poll()
        self._postures.elsewhere = self.movement.shown.editing
        self.reach.poll()
        self.movement.poll()
        self.cloud.poll()

    # ---- requests ------------------------------------------------------------------------

    def answer(self, client: str, message: m.FromClient) -> None:
        """Carries out a client's request or sends a refusal."""
        what, key = m.type_of(message), _key(message)
        if self._postures and not isinstance(message, _KEEPS_POSTURE_HISTORY):
            self._postures.forget()
            self._send_undo()
        if isinstance(message, _ENDS_DRAG):
            self.reach.drag.stop()
        if isinstance(message, _TELEPORTS) or _steps_back(message):
            self.reach.jump()
        if isinstance(message, m.Play | m.Set | m.Grab):
            self.movement.play.leave_running()
        if isinstance(message, _LEAVES_MOVEMENT):
            self.movement.end_preview(stop=True)
        self._postures.elsewhere = self.movement.shown.editing
        try:
            if self._time.past is not None and _changes_state(message):
                self._time.return_to_present()
                self._postures.forget()
            self._do(client, message)
            if isinstance(message, m.DragJoint | m.Posture):
                self.movement.poll()  # each message is an undo step
        except project_files.PathTakenError as error:
            self._send(client, m.Refused.of(what, error, key, "exists"))
        except JointOwnedError as error:
            self._send(client, m.Refused.of(what, error, key, "owned"))
        except LinkworkError as error:
            self._send(client, m.Refused.of(what, error, key))
        if not isinstance(message, _STREAMED):
            self.snapshot_builder.refresh_status()

    def _do(self, client: str, message: m.FromClient) -> None:
        """Carries out a request.

        Raises:
            LinkworkError: If it cannot be done.
        """
        if isinstance(message, MOVEMENT_MESSAGES):
            self.movement.take(client, message)
            return
        handlers = self._do_time, self._do_signals, self._do_robot, self._do_edits
        if not any(handle(client, message) for handle in handlers):
            raise SessionError(f"a scene cannot do {m.type_of(message)!r}.")

    def _may_run(self, code: ProgramCode) -> bool:
        """Whether a program may run; one that may goes on as it is until the scene is closed."""
        if code.key not in self._approved and not is_trusted(code):
            self._refused[code.agent] = code.text
            return False
        self._approved.add(code.key)
        self._refused.pop(code.agent, None)
        return True

    def _untrusted(self) -> list[ProgramCode]:
        """The programs that do not run, and new texts of those that run."""
        programs = programs_in(self.session.cycle)
        return [
            *withheld_programs(self.session),
            *(
                program_code(agent, programs[agent].path, text)
                for agent, text in self._refused.items()
                if agent in programs and agent not in self.session.withheld
            ),
        ]

    def _trust(self, message: m.TrustPrograms) -> None:
        """Starts the programs that the driver trusts now."""
        try:
            codes = shown_programs(self._untrusted(), message.programs)
            keep_decision(codes, message.how)
            self._approved.update(code.key for code in codes)
            waiting = [code for code in codes if code.agent in self.session.withheld]
            if waiting:
                self._session_inbox.apply(inbox.StartPrograms([code.agent for code in waiting]))
            for code in codes:
                if code not in waiting:
                    self._session_inbox.apply(inbox.ReloadProgram(code.agent, code.text))
        finally:
            for each in self.retained():
                self._send("", each)

    def _do_time(self, client: str, message: m.FromClient) -> bool:
        """Clock, history and recording; returns whether the message was one of these."""
        match message:
            case m.Play():
                self._session_inbox.apply(inbox.StartClock())
            case m.Pause():
                self._session_inbox.apply(inbox.PauseClock())
            case m.SingleStep():
                self._time.step(message.steps)
            case m.Reset():
                self._time.past = None
                self._session_inbox.apply(inbox.ResetState())
                self._time.keep_now()
                self.reach.restart()
            case m.Speed():
                mode = "real" if message.value else "fast"
                self.session.clock = Clock(mode, message.value or 1.0)
            case m.Seek():
                self._time.seek(message.time)
            case m.BackToLive():
                self._time.past = None
            case m.TrustPrograms():
                self._trust(message)
            case m.Record(on=True):
                self._recording.begin()
            case m.Record():
                self._recording.end()
            case m.Mark():
                self._recording.mark(message.text)
            case _:
                return False
        return True

    def _do_signals(self, client: str, message: m.FromClient) -> bool:
        """Signals, buses and faults; returns whether the message was one of these."""
        match message:
            case m.Set():
                self._session_inbox.apply(inbox.SetSignal(message.signal, message.value, USER))
            case m.Take():
                self._session_inbox.apply(inbox.TakeSignal(message.signal, USER))
            case m.Release():
                self._session_inbox.apply(inbox.ReleaseSignals(USER))
            case m.Override():
                self._session_inbox.apply(inbox.OverrideSignal(message.signal, message.value, USER))
            case m.FaultRequest(kind="person") if "part" not in message.args:
                self._spawn_handler.spawn(client, self.bus_monitor.fault(message))
            case m.FaultRequest():
                self._session_inbox.apply(self.bus_monitor.fault(message))
            case m.SendBusOrder():
                self._session_inbox.apply(self.bus_monitor.checked(message))
            case _:
                return False
        return True

    def _do_robot(self, client: str, message: m.FromClient) -> bool:
        """Postures and drags of the robot; returns whether the message was one of these."""
        match message:
            case m.Posture():
                self._pose(client, message, inbox.ApplyPosture(message.name))
            case m.DragJoint():
                if self.session.running:
                    raise SessionError(
                        "a joint can be set directly only while the session is paused.",
                        hint="Pause, or set its target.",
                    )
                placed = inbox.PlaceJoint(message.joint, message.dof, message.value)
                self._pose(client, message, placed)
            case m.Grab():
                self._pull(message)
            case m.EndGrab():
                self._session_inbox.apply(inbox.ReleaseGrab())
            case m.SetReach():
                self.reach.set_up(client, message.setup)
            case m.DragTool():
                self.reach.take(client, message)
            case m.EndToolDrag():
                self.reach.drag.end(cancelled=message.cancelled)
            case m.SampleWorkspace():
                self.cloud.begin(self.reach.setup, message.count)
            case _:
                return False
        return True

    def _do_edits(self, client: str, message: m.FromClient) -> bool:
        """Edits of the file and undo; returns whether the message was one of these."""
        match message:
            case m.Inspect():
                self._attributes.inspect(client, message.kind, message.name)
            case m.EditAttribute():
                self._change(client, message)
            case m.CloseLoop():
                self.editor.close_loop(message.a, message.b, message.joint, message.axis)
                self._swaps.begin(client, "close_loop", self.editor.undo_last)
            case m.GiveServos():
                self.editor.give_servos()
                self._swaps.begin(client, "give_servos", self.editor.undo_last)
            case m.Undo():
                self._undo(client)
            case m.Redo():
                self._redo(client)
            case m.Save():
                self._send("", m.FilesSaved(self.editor.save()))
                self._send_undo()
            case m.SaveAs():
                self._send("", m.FilesSaved(self.save_as(message)))
            case m.StorePosture():
                values = values_of(self.session.world, self._time.shown)
                self.editor.store_posture(message.name, values)
                self._swaps.begin(client, "store_posture", self.editor.undo_last)
            case m.ConvertToToml():
                raise SessionError("this scene can be edited; there is nothing to convert.")
            case _:
                return False
        return True

    def _undo(self, client: str) -> None:
        if (state := self._postures.undo(self.session.state)) is not None:
            self._restore(state)
        elif self.movement.undo_words:
            self.movement.undo()
        else:
            self.editor.undo()
            self._swaps.begin(client, "undo", self.editor.redo_last)

    def _redo(self, client: str) -> None:
        if (state := self._postures.redo(self.session.state)) is not None:
            self._restore(state)
        elif self.movement.redo_words:
            self.movement.redo()
        else:
            self.editor.redo()
            self._swaps.begin(client, "redo", self.editor.undo)

    def _pull(self, message: m.Grab) -> None:
        """Pulls with a spring whose stiffness follows from ``GRAB_FREQUENCY``."""
        session = self.session
        body, _ = session.world.frame(message.element)
        stiffness = (float(session.state["param/mass"][body]) or 1.0) * m.GRAB_FREQUENCY**2
        self._session_inbox.apply(
            inbox.GrabElement(message.element, message.target, message.point, stiffness=stiffness)
        )

    def _pose(self, client: str, message: m.DragJoint | m.Posture, done: inbox.Message) -> None:
        """Sets a posture of the robot; undoable while the session is paused."""
        before = self._postures.before(client, message, self.session.state)
        words = self._postures.undo_words
        self._session_inbox.apply(done)
        if not self.session.running:
            self._postures.keep(before, self.session.state)
        if words != self._postures.undo_words:
            self._send_undo()

    def _restore(self, state: bytes) -> None:
        """Restores another posture at the same time."""
        self._time.past = None
        self._session_inbox.apply(inbox.RestoreState(state))
        self._send_undo()

    # ---- the file ------------------------------------------------------------------------

    def save_as(self, message: m.SaveAs) -> list[str]:
        """Saves under another name; the run continues with the new file."""
        written = self.editor.save_as(message.path, overwrite=message.overwrite)
        self._swaps.forget()
        self._swaps.begin("", "save_as", lambda: None)
        self.saved(self.editor.file, self.session.world.scene.name)
        return written

    def _change(self, client: str, message: m.EditAttribute) -> None:
        if message.key.startswith(m.LIVE):
            self._attributes.set_live(message)
        else:
            try:
                self.editor.edit(message.kind, message.name, message.key, message.value)
            except LinkworkError as error:  # the panel shows the origin; the text suffices
                text = f"{error.message} {error.hint}".strip()
                self._send(client, m.Refused("edit", text, message.key, error=error.to_record()))
                return
            thing = (message.kind, message.name)
            self._swaps.begin(client, "edit", self.editor.undo_last, message.key, thing)
        if message.key != "name":  # otherwise the client asks with the new name
            self._attributes.inspect(client, message.kind, message.name)

    def close(self) -> None:
        """Ends the session."""
        self.cloud.stop()
        self.session.close()


def _changes_state(message: m.FromClient) -> bool:
    """Whether a message changes the displayed state; a step back only displays an earlier one."""
    return isinstance(message, _CHANGES_STATE) and not _steps_back(message)


def _steps_back(message: m.FromClient) -> bool:
    """Whether a message restores an earlier posture: a step back, a canceled drag."""
    return (isinstance(message, m.SingleStep) and message.steps < 0) or (
        isinstance(message, m.EndToolDrag) and message.cancelled
    )


def _with_servos(opened: OpenedFile) -> Editor | None:
    """The editor of a file whose first edit gives it servos; None without such an edit.

    Raises:
        LinkworkError: If the edit is refused.
    """
    if not opened.servos:
        return None
    editor = Editor(opened)
    editor.give_servos()
    return editor


def _key(message: m.FromClient) -> str:
    """The field of a message that answers refer to."""
    for name in ("key", "signal", "joint", "element", "name", "scene"):
        if hasattr(message, name):
            return str(getattr(message, name))
    return ""
