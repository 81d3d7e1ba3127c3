"""OpenScene: a scene that runs in the studio, and what people may do with it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from linkwork.errors import LinkworkError, SessionError
from linkwork.server import messages as m
from linkwork.server.host import own_files
from linkwork.server.host.bus_desk import BusDesk
from linkwork.server.host.describe import describe
from linkwork.server.host.editor import Editor, Opened
from linkwork.server.host.mesh_store import MeshStore
from linkwork.server.host.picture import Painter
from linkwork.server.host.posture_steps import PostureSteps
from linkwork.server.host.posture_text import values_of
from linkwork.server.relay import Look
from linkwork.session import messages as inbox
from linkwork.session.clock import Clock
from linkwork.session.cycle import PERSON, Cycle
from linkwork.session.history import History
from linkwork.session.outbox import Peers
from linkwork.session.session import Session
from linkwork.state import State

#: Called with a client's name (empty for all) and what it is told.
Tell = Callable[[str, m.FromServer], object]

#: What a hand sends many times a second; the next status is soon enough for it.
_STREAMED = (m.Set, m.Place, m.Grab)
#: What happens to the state that is looked at: the past becomes the present first.
_ACTING = (m.Play, m.Step, m.Set, m.Place, m.Posture, m.Grab, m.Take, m.Override, m.Fault)

#: What leaves postures that were given by hand as they are; after all else they are not undone.
_STILL = (
    m.Place, m.Posture, m.Undo, m.Redo, m.Pause, m.Speed, m.Seek, m.Live, m.Inspect, m.Drop,
    m.Release, m.Record, m.Mark, m.Save,
)  # fmt: skip

#: Levels of events that browsers know.
_LEVELS = ("info", "warning", "error", "mark")


@dataclass(frozen=True)
class _Swap:
    """A change of the files that the session has not gone over to yet.

    Attributes:
        compiled: Done when compiled.
        client: Who asked for it.
        what: Type of the message that did.
        take_back: Makes the files as they were before, where the session cannot use them.
        key: What an answer refers to.
        thing: Kind and name of what was edited, where its attributes are shown.
    """

    compiled: Future[Cycle]
    client: str
    what: str
    take_back: Callable[[], object]
    key: str = ""
    thing: tuple[str, str] | None = None


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
        self._tell, self._recordings = tell, recordings
        self._base = base
        self._recording: str | None = None
        self._marks = 0
        self._asking = False
        self._swaps: list[_Swap] = []
        self._postures = PostureSteps()
        self._unusable = ""  # why the last edit that was refused could not be used
        self._awaited: list[tuple[str, str]] = []  # faults that begin in the next world, and asker
        self._owners: dict[str, str] | None = None
        try:
            self.editor = Editor(opened)
            self._enter(look)
        except BaseException:
            self.session.close()
            raise
        session = self.session
        session.clock = Clock("real")
        session.outbox.snapshot = self._paint
        session.outbox.listeners.append(self._on_event)
        session.after_step.append(self._after_step)

    def _enter(self, look: Look) -> None:
        """Begins with a world, the first or an edited one."""
        cycle = self.session.cycle
        self._version = self.session.version
        self._past: State | None = None
        self._postures.forget()
        self.history = History(cycle.h, cycle.state.data.size)
        self.history.keep(cycle.state, at_once=True)
        self.painter = Painter(cycle, look, base=self._base)

    @property
    def step(self) -> int:
        """Steps since the start."""
        return self.session.state.step

    @property
    def undo_state(self) -> m.UndoState:
        """What can be undone, redone and saved: postures by hand first, then edits."""
        found, postures = self.editor.state, self._postures
        undo, redo = postures.undo_words, postures.redo_words
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
                self._apply(inbox.Take(signal, owner))
        self.history = History(self.session.cycle.h, self.session.state.data.size)
        self.history.keep(self.session.state, at_once=True)

    def lasting(self) -> list[m.FromServer]:
        """How things stand, for those who come now."""
        scene = describe(
            self.session, self.meshes, self.undo_state,
            editable=self.editor.project is not None, base=self._base, opened=self._base,
        )  # fmt: skip
        return [scene, m.Owners(dict(self.session.signals.owners)), self.undo_state]

    # ---- what goes out -------------------------------------------------------------------

    def _after_step(self) -> None:
        self.history.keep(self.session.state)

    def _on_event(self, event: inbox.Event) -> None:
        if not self._answered(event):
            level = event.level if event.level in _LEVELS else "info"
            self._tell("", m.Event(event.step, level, event.text, event.source))  # type: ignore[arg-type]

    def _answered(self, event: inbox.Event) -> bool:
        """Whether somebody is told of it as refused."""
        if event.source == "scene" and event.level == "error":
            done = [swap.compiled for swap in self._swaps if swap.compiled.done()]
            reasons = [str(each.exception()) for each in done if each.exception() is not None]
            return any(why and why in event.text for why in (*reasons, self._unusable))
        return self._asking and event.source == "inbox"

    def _paint(self, session: Session) -> bytes:
        self.look_after()
        return self.painter.paint(session, self._past, self._recording, self.history.span)

    def look_after(self) -> None:
        """Tells of a new world, of new owners, and of an edit that could not be used."""
        if self._version != self.session.version:
            self._enter(self.painter.look)
            self.desk.forget()
            for message in self.lasting():
                self._tell("", message)
            self._let_in()
        self.desk.look_after(self.painter.look)
        owners = self.session.signals.owners
        if owners != self._owners:
            self._owners = dict(owners)
            self._tell("", m.Owners(self._owners))
        while self._swaps and self._swaps[0].compiled.done():
            self._finish_swap()

    # ---- what comes in -------------------------------------------------------------------

    def answer(self, client: str, message: m.FromClient) -> None:
        """Does what a client asks for, or tells it why not."""
        what, key = m.type_of(message), _key(message)
        if self._postures and not isinstance(message, _STILL):
            self._postures.forget()
            self._tell("", self.undo_state)
        try:
            if self._past is not None and isinstance(message, _ACTING) and not _goes_back(message):
                self._go_on_from_past()
            self._do(client, message)
        except own_files.TakenError as error:
            self._tell(client, m.Refused(what, str(error), "exists"))
        except LinkworkError as error:
            self._tell(client, m.Refused(what, str(error), key))
        if not isinstance(message, _STREAMED):
            self.painter.hurry()

    def _apply(self, message: inbox.Message) -> None:
        """Puts a message into the session at once.

        Raises:
            SessionError: If it is refused; the text says why.
        """
        self._asking = True
        try:
            if not self.session.apply(inbox.checked(message)):
                raise SessionError(self.session.outbox.events[-1].text)
        finally:
            self._asking = False

    def _do(self, client: str, message: m.FromClient) -> None:
        session = self.session
        match message:
            case m.Play():
                self._apply(inbox.Play())
            case m.Pause():
                self._apply(inbox.Pause())
            case m.Step():
                self._step(message.steps)
            case m.Reset():
                self._past = None
                self._apply(inbox.Reset())
                self.history.keep(session.state, at_once=True)
            case m.Speed():
                session.clock = Clock("real" if message.value else "fast", message.value or 1.0)
            case m.Seek():
                self._seek(message.time)
            case m.Live():
                self._past = None
            case m.Set():
                self._apply(inbox.Set(message.signal, message.value, PERSON))
            case m.Take():
                self._apply(inbox.Take(message.signal, PERSON))
            case m.Release():
                self._apply(inbox.Release(PERSON))
            case m.Override():
                self._apply(inbox.Override(message.signal, message.value, PERSON))
            case m.Fault(kind="person") if "part" not in message.args:
                self._invite(client, message)
            case m.Fault():
                self._apply(self.desk.fault(message))
            case m.Order():
                self._apply(self.desk.checked(message))
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
            case m.Drop():
                self._apply(inbox.Drop())
            case m.Record():
                self._record(message.on)
            case m.Mark():
                self._mark(message.text)
            case m.Inspect():
                self._inspect(client, message.kind, message.name)
            case m.Edit():
                self._change(client, message)
            case m.Undo() if (state := self._postures.undo(session.state)) is not None:
                self._restore(state)
            case m.Undo():
                self.editor.undo()
                self._swap(client, "undo", self.editor.redo)
            case m.Redo() if (state := self._postures.redo(session.state)) is not None:
                self._restore(state)
            case m.Redo():
                self.editor.redo()
                self._swap(client, "redo", self.editor.undo)
            case m.Save():
                self._tell("", m.Saved(self.editor.save()))
                self._tell("", self.undo_state)
            case m.SaveAs():
                self._tell("", m.Saved(self.save_as(message)))
            case m.StorePosture():
                shown = self._past or session.state
                self.editor.store_posture(message.name, values_of(session.world, shown))
                self._swap(client, "store_posture", self.editor.take_back)
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
        self._apply(inbox.Grab(message.element, message.target, message.point, stiffness=stiffness))

    def _pose(self, client: str, message: m.Place | m.Posture, done: inbox.Message) -> None:
        """Gives the robot a posture; while time stands, that can be undone."""
        before = self._postures.before(client, message, self.session.state)
        words = self._postures.undo_words
        self._apply(done)
        if not self.session.running:
            self._postures.keep(before, self.session.state)
        if words != self._postures.undo_words:
            self._tell("", self.undo_state)

    def _restore(self, state: bytes) -> None:
        """Goes to another posture at the same time."""
        self._past = None
        self._apply(inbox.Restore(state))
        self._tell("", self.undo_state)

    # ---- people --------------------------------------------------------------------------

    def _invite(self, client: str, message: m.Fault) -> None:
        """Lets somebody into the cell: a body more is another world, as after an edit."""
        asked = self.desk.fault(message)
        guest, take_back = self.editor.guests.invite(
            self.session, asked.name, dict(asked.args), [name for name, _ in self._awaited]
        )
        waits = (guest.fault.name, client)
        if guest.fault.params.keys().isdisjoint(("at", "chance")):
            self._awaited.append(waits)

        def uninvite() -> None:
            take_back()
            self._awaited = [each for each in self._awaited if each != waits]

        self._swap(client, "fault", uninvite, guest.fault.name)

    def _let_in(self) -> None:
        """Begins what waited for a world in which it can."""
        trouble = self.session.cycle.trouble
        here = [each for each in self._awaited if trouble.find(each[0]) is not None]
        self._awaited = [each for each in self._awaited if each not in here]
        for name, client in here:
            try:
                self._apply(inbox.Fault(name))
            except LinkworkError as error:
                self._tell(client, m.Refused("fault", str(error), name))

    # ---- time ----------------------------------------------------------------------------

    def _step(self, steps: int) -> None:
        session = self.session
        if session.running:
            self._apply(inbox.Pause())
        if steps > 0:
            self._apply(inbox.Advance(steps))
        elif steps < 0:
            shown = (self._past or session.state).step
            self._seek((shown + steps) * session.cycle.h)

    def _seek(self, when: float) -> None:
        session = self.session
        if session.running:
            self._apply(inbox.Pause())
        if self._past is None:
            self.history.keep(session.state, at_once=True)  # the way back to the present
        kept = self.history.at(when)
        if kept is not None:
            state = State(session.state.layout, np.frombuffer(kept).copy())
            self._past = state if state.step != session.state.step else None

    def _go_on_from_past(self) -> None:
        past, self._past = self._past, None
        if past is not None:
            self._apply(inbox.Restore(past.save()))
            self._postures.forget()
            self.history.forget_after(past.step)

    def _record(self, on: bool) -> None:
        session = self.session
        if not on:
            session.end_recording()
            if self._recording is not None:
                session.say(f"recorded to {self._recording}.", source="recording")
                self._tell("", m.GalleryChanged())
            self._recording = None
            return
        try:
            self._recordings.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SessionError(f"{self._recordings} cannot be made: {error.strerror}.") from None
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = self._recordings / f"{session.world.scene.name}-{stamp}.mcap"
        session.record(path)
        self._recording, self._marks = str(path), 0

    def _mark(self, text: str) -> None:
        if self._recording is None:
            raise SessionError("marks go into a recording.", hint="Start one with Record.")
        self._marks += 1
        self.session.say(text.strip() or f"mark {self._marks}", level="mark", source="mark")

    # ---- the file ------------------------------------------------------------------------

    def save_as(self, message: m.SaveAs) -> list[str]:
        """Saves under another name; the run goes on as the new file's."""
        written = self.editor.save_as(message.path, overwrite=message.overwrite)
        self._swaps.clear()  # what they said is in the new file, which has no history yet
        self._swap("", "save_as", lambda: None)
        self.saved(self.editor.file, self.session.world.scene.name)
        return written

    def _inspect(self, client: str, kind: str, name: str) -> None:
        rows, note = self.editor.rows(self.session.world, kind, name)
        base = "world" if kind == "scene" else name
        for signal in self.session.signals:
            thing, _, word = signal.name.rpartition(".")
            if thing == base and signal.direction == "param":
                lo, hi = (v if np.isfinite(v) else None for v in (signal.lo, signal.hi))
                rows.append(
                    m.Row(f"live.{word}", self.session[signal.name], signal.unit, lo, hi, None,
                          "", True, False, help="Of the running scene; no file keeps it.")
                )  # fmt: skip
        convert = self.editor.project is None and bool(self.editor.file)
        self._tell(client, m.Attributes(name, kind, rows, note, convert))

    def _change(self, client: str, message: m.Edit) -> None:
        if message.key.startswith("live."):
            base = "world" if message.kind == "scene" else message.name
            try:
                value = float(message.value)
            except ValueError:
                raise SessionError(
                    f"{message.key} takes a number, not {message.value!r}."
                ) from None
            self._apply(inbox.Set(f"{base}.{message.key[5:]}", value, PERSON))
        else:
            try:
                self.editor.edit(message.kind, message.name, message.key, message.value)
            except LinkworkError as error:  # the panel shows where; the words are enough
                text = f"{error.message} {error.hint}".strip()
                self._tell(client, m.Refused("edit", text, message.key))
                return
            thing = (message.kind, message.name)
            self._swap(client, "edit", self.editor.take_back, message.key, thing)
        if message.key != "name":  # else the client asks by the new one
            self._inspect(client, message.kind, message.name)

    def _swap(
        self, client: str, what: str, take_back: Callable[[], object], key: str = "",
        thing: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Lets the session go over to what the files say now; the rest as in :class:`_Swap`."""
        compiled = self.session.swap(self.editor.scene, ids=self.editor.ids)
        self._swaps.append(_Swap(compiled, client, what, take_back, key, thing))
        self._tell("", self.undo_state)

    def _finish_swap(self) -> None:
        """Looks at the oldest swap; where it failed, all that was built on it goes with it."""
        failed = self._swaps[0]
        error = failed.compiled.exception()
        if error is None:
            del self._swaps[0]
            return
        swaps, self._swaps, self._unusable = self._swaps, [], str(error)
        for swap in reversed(swaps):
            swap.take_back()
        self._refuse(failed, error)
        for swap in swaps[1:]:
            gone = "it was built on a change that cannot be used, and went with it."
            self._refuse(swap, SessionError(gone))
        if len(swaps) > 1:  # one of the later ones may be in use by now
            self._swap("", "edit", lambda: None)
        self._tell("", self.undo_state)

    def _refuse(self, swap: _Swap, error: BaseException) -> None:
        """Tells who asked why it is not in use; first what is, for its panel showed the other."""
        text = str(error)
        if swap.thing is not None:
            with contextlib.suppress(LinkworkError):  # its name may have been taken back too
                self._inspect(swap.client, *swap.thing)
            if isinstance(error, LinkworkError):  # the panel shows where; the words are enough
                text = f"{error.message} {error.hint}".strip()
        self._tell(swap.client, m.Refused(swap.what, text, swap.key))

    def close(self) -> None:
        """Ends the session."""
        self.session.close()


def _goes_back(message: m.FromClient) -> bool:
    return isinstance(message, m.Step) and message.steps < 0


def _key(message: m.FromClient) -> str:
    """What of a message an answer refers to."""
    for name in ("key", "signal", "joint", "element", "name", "scene"):
        if hasattr(message, name):
            return str(getattr(message, name))
    return ""
