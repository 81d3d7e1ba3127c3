"""Host: opens scenes one after the other and runs them for the studio's clients."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from linkwork.core.errors import LinkworkError, MeshNotFound, SessionError
from linkwork.link import PeerJoined, PeerLeft, SessionEnd
from linkwork.model.scene import Scene
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.editor import OpenedFile
from linkwork.studio.host.new_scenes import new_scene, toml_copy
from linkwork.studio.host.open_recording import OpenRecording
from linkwork.studio.host.open_scene import OpenScene
from linkwork.studio.host.session_inbox import LinkAdapter
from linkwork.studio.protocol.link_messages import (
    Broadcast,
    ClientCount,
    ClientRequest,
    MeshRequest,
    MeshResponse,
    ViewRequest,
    decode_to_host,
    encode,
)
from linkwork.studio.web.gallery import Recents

#: Loads what a client asks to open; returns the path if it is a recording.
Loader = Callable[[str], OpenedFile | Path]

#: Longest sleep between two checks for a stop request [s].
_MAX_SLEEP = 0.1
#: Message to clients that wait for kernels, and its period [s].
WAITING = (
    "Kernels are being compiled, once for this version and processor: a minute or two. "
    "The scene opens then."
)
_REMINDER_PERIOD = 20.0
#: Number of scene versions reserved for each opened scene or recording.
_VERSIONS_PER_SCENE = 1 << 16


#: Messages that open another scene or recording.
_OPENING = (m.Open, m.NewScene, m.ConvertToToml, m.ContinueRecording)

_log = logging.getLogger(__name__)
_UNSAVED = (
    "the scene behind this recording has unsaved changes. "
    "Go back to it with Back to live and save them, or discard them."
)


def _reportable(error: Exception, what: str) -> LinkworkError:
    """The error for users; unexpected ones are logged in full."""
    if isinstance(error, LinkworkError):
        return error
    _log.error("%s failed", what, exc_info=error)
    text = f"{what} failed: {type(error).__name__}: {error}."
    return SessionError(text, hint="This is a bug in Linkwork.")


def _requested_name(message: m.FromClient) -> str:
    """The name that a client asks to open."""
    return getattr(message, "scene", "") or getattr(message, "name", "")


def _open_error_text(error: LinkworkError) -> str:
    """Why a file cannot be opened, worded for uploads."""
    if not isinstance(error, MeshNotFound) or error.origin is None:
        return str(error)
    where = f"{Path(error.origin.file).name}:{error.origin.line}"
    return f"{where}: {error.message} Open the folder that holds both, or a ZIP of it."


class Host:
    """The session side of a studio. :meth:`run` belongs to one thread.

    Args:
        link: The link that the server's process connects to.
        load: Loads a scene or recording by name.
        recents: Recently opened files.
        recordings: Folder for recordings.
        folder: Folder for new scenes; the working directory if None.
        idle: Called regularly to monitor the server.
        ready: Whether the kernels for a scene, or for a recording (None), are compiled; opening
            waits for them.

    Attributes:
        open: The running scene, the displayed recording, or None.
    """

    def __init__(
        self,
        link: SessionEnd,
        load: Loader,
        *,
        recents: Recents,
        recordings: Path,
        folder: Path | None = None,
        idle: Callable[[], object] | None = None,
        ready: Callable[[Scene | None], bool] = lambda _: True,
    ) -> None:
        self._link, self._load = link, load
        self._ready = ready
        self._later: Callable[[], object] | None = None  # opens a scene that waits for kernels
        self._last_reminder = 0.0
        self._recents, self._recordings = recents, recordings
        self._folder = folder
        self._idle = idle
        self._view = ViewRequest(0, [], [])
        self._next: OpenScene | OpenRecording | None = None
        self._suspended: OpenScene | None = None  # waits while a recording is displayed
        self._opened = 0
        self._clients = 0
        self._attached = False
        self._stopping = False
        self.open: OpenScene | OpenRecording | None = None

    def stop(self) -> None:
        """Ends :meth:`run`; safe from any thread or signal handler."""
        self._stopping = True
        if self.open is not None:
            self.open.stop()

    def prepare(self, scene: str | None) -> None:
        """Prepares a scene to run; None for the gallery.

        Raises:
            LinkworkError: If it cannot be opened.
        """
        if scene is None:
            return
        opened = self._load(scene)
        if self._is_ready(opened):
            self._next = self._make(opened)
        else:
            self._later = partial(self._begin, "", m.Open(scene), opened)

    def attach(self, session: Session) -> None:
        """Serves a session run by its owner; clients can drive it but not open anything else."""
        adapter = LinkAdapter(self._link, self._take, has_clients=lambda: self._clients > 0)
        self._attached = True
        self.open = OpenScene(
            OpenedFile(session.world.scene), adapter, self._send, self._view, self._recordings,
            base=self._base(), session=session,
        )  # fmt: skip
        self._send_retained()

    def run(self) -> None:
        """Runs until :meth:`stop`."""
        try:
            while not self._stopping:
                self._turn()
        finally:
            for each in (self.open, self._next, self._suspended):
                if each is not None:
                    each.close()
            self.open = self._next = self._suspended = None

    def _turn(self) -> None:
        """Shows the gallery for a while, or runs the open scene or recording to its end."""
        if self._next is not None:
            self.open, self._next = self._next, None
            self._send_retained()
        if self.open is None:
            self._link.wait(_MAX_SLEEP)
            for peer, item in self._link.receive():
                self._take(peer, item)
            self._poll()
            self._open_later()
            return
        if self._stopping:
            return
        try:
            self.open.run(self._poll)
        except Exception as error:
            known, step = _reportable(error, "what was open"), self.open.step
            self._send("", m.Event(step, "error", str(known), error=known.to_record()))
            if self._next is None:
                self._next = self._suspended  # a recording failed; resume the scene behind it
        self._end()

    def _open_later(self) -> None:
        """Opens a waiting scene, or reminds clients that it waits."""
        if self._later is None:
            return
        later, self._later = self._later, None
        later()
        if self._later is not None and time.monotonic() - self._last_reminder > _REMINDER_PERIOD:
            self._last_reminder = time.monotonic()
            self._send("", m.Event(0, "warning", WAITING, "kernels"))

    def _end(self) -> None:
        """Closes the open scene, unless it is suspended behind a recording."""
        ended, self.open = self.open, None
        if isinstance(ended, OpenScene) and isinstance(self._next, OpenRecording):
            ended.wait(LinkAdapter(self._link, self._take))
            self._suspended = ended
            return
        if ended is not None:
            ended.close()
        if self._suspended is not None and not isinstance(self._next, OpenRecording | None):
            if self._next is not self._suspended:
                self._suspended.close()
            self._suspended = None
        if self._next is None:
            if self._suspended is not None:
                self._suspended.close()
                self._suspended = None
            self._send("", m.SceneClosed())

    def _poll(self) -> None:
        if self._idle is not None:
            self._idle()

    def _is_ready(self, opened: OpenedFile | Path) -> bool:
        return self._ready(None if isinstance(opened, Path) else opened.scene)

    def _make(self, opened: OpenedFile | Path) -> OpenScene | OpenRecording:
        return self._show(opened) if isinstance(opened, Path) else self._run(opened)

    def _base(self) -> int:
        """The first scene version of the next opened scene or recording."""
        self._opened += 1
        return (self._opened - 1) * _VERSIONS_PER_SCENE

    def _show(self, path: Path) -> OpenRecording:
        """Prepares a recording for display."""
        behind = self.open if isinstance(self.open, OpenScene) else self._suspended
        adapter = LinkAdapter(self._link, self._take)
        base = self._base()
        made = OpenRecording(path, adapter, self._send, self._view, base=base, behind=behind)
        self._recents.add(str(path), path.name)
        return made

    def _run(self, opened: OpenedFile) -> OpenScene:
        adapter = LinkAdapter(self._link, self._take)
        view, folder = self._view, self._recordings
        made = OpenScene(opened, adapter, self._send, view, folder, base=self._base())
        made.saved = self._keep_recent
        if opened.file and opened.text is None:
            self._recents.add(opened.file, opened.scene.name)
        for note in opened.notes:
            made.session.log(note, source="scene")
        return made

    # ---- messages ------------------------------------------------------------------------

    def _send(self, to: str, message: m.FromServer) -> None:
        self._link.emit(encode(Broadcast(to, m.type_of(message), m.encode(message))))

    def _send_retained(self) -> None:
        if self.open is not None:
            for message in self.open.retained():
                self._send("", message)

    def _take(self, peer: int, item: bytes | PeerJoined | PeerLeft) -> None:
        """Handles a message of the server; an invalid one is answered with an error event."""
        if isinstance(item, PeerJoined):
            self._send_retained()
            return
        if isinstance(item, PeerLeft):
            self._view = ViewRequest(0, [], [])
            if self.open is not None:
                self.open.answer("", m.EndGrab())
                self.open.answer("", m.Release())
                self.open.snapshot_builder.set_view(self._view)
            return
        try:
            message = decode_to_host(item)
        except LinkworkError as error:
            self._send("", m.Event(0, "error", str(error), "server", error.to_record()))
            return
        match message:
            case ViewRequest():
                self._view = message
                if self.open is not None:
                    self.open.snapshot_builder.set_view(message)
            case ClientCount():
                self._clients = message.count
            case MeshRequest():
                data = self.open.meshes.get(message.hash) if self.open is not None else b""
                self._link.send(peer, encode(MeshResponse(message.hash, data)))
            case ClientRequest():
                try:
                    self._answer(message.client, message.message)
                except Exception as error:  # no client message may end the studio
                    what = m.type_of(message.message)
                    self._send(message.client, m.Refused.of(what, _reportable(error, what)))

    def _answer(self, client: str, message: m.FromClient) -> None:
        if self._would_lose(message):
            self._send(client, m.Refused.of(m.type_of(message), SessionError(_UNSAVED)))
            return
        match message:
            case _ if self._attached and isinstance(message, _OPENING):
                text = "this studio serves one running session: nothing else can be opened."
                self._send(client, m.Refused.of(m.type_of(message), SessionError(text)))
            case m.Open():
                self._open(client, message, lambda: self._load(message.scene))
            case m.NewScene():
                self._open(client, message, lambda: self._new(message))
            case m.ConvertToToml() if self._is_foreign():
                self._open(client, message, self._convert)
            case m.GiveServos() if self._is_foreign():
                self._open(client, message, lambda: self._convert(servos=True))
            case m.ForgetRecent():
                self._recents.forget(message.path)
                self._send("", m.GalleryChanged())
            case m.CloseScene():
                if self.open is not None:
                    self.open.stop()
            case m.BackToLive() if isinstance(self.open, OpenRecording):
                self._back_to_live(client)
            case m.ContinueRecording():
                self._continue_recording(client)
            case _ if self.open is None:
                key = message.name if isinstance(message, m.Inspect) else ""
                error = SessionError("no scene is open.")
                self._send(client, m.Refused.of(m.type_of(message), error, key))
            case _:
                self.open.answer(client, message)

    def _would_lose(self, message: m.FromClient) -> bool:
        """Whether a message would discard unsaved changes of the scene behind a recording."""
        match message:
            case m.Open() if message.scene.lower().endswith(".mcap"):
                return False  # the scene stays suspended behind that one
            case m.Open() | m.NewScene() | m.CloseScene() | m.ContinueRecording():
                aside = self._suspended
                return not message.discard and aside is not None and bool(aside.unsaved)
        return False

    def _is_foreign(self) -> bool:
        """Whether the open file is not TOML."""
        editor = self.open.editor if isinstance(self.open, OpenScene) else None
        return editor is not None and editor.project is None and bool(editor.file)

    def _new(self, message: m.NewScene) -> OpenedFile:
        return new_scene(message.name, message.part, self._folder or Path.cwd())

    def _convert(self, *, servos: bool = False) -> OpenedFile | Path:
        assert isinstance(self.open, OpenScene)
        made = toml_copy(self.open.editor.file, self._folder or Path.cwd())
        self._recents.add(made, Path(made).stem)
        opened = self._load(made)
        return replace(opened, servos=servos) if isinstance(opened, OpenedFile) else opened

    def _keep_recent(self, file: str, name: str) -> None:
        self._recents.add(file, name)
        self._send("", m.GalleryChanged())

    def _open(
        self, client: str, message: m.FromClient, load: Callable[[], OpenedFile | Path]
    ) -> None:
        """Replaces the open scene by another one, now or when its kernels are ready."""
        self._later = None
        try:
            opened = load()
        except LinkworkError as error:
            self._refuse(client, message, error)
            return
        self._last_reminder = 0.0
        self._begin(client, message, opened)

    def _begin(self, client: str, message: m.FromClient, opened: OpenedFile | Path) -> None:
        """Starts a loaded scene, or defers it until its kernels are compiled."""
        if not self._is_ready(opened):
            self._later = partial(self._begin, client, message, opened)
            return
        self._drop_next()
        text = f"opening {_requested_name(message)} …".replace("  ", " ")
        self._send("", m.Event(0, "info", text, "scene"))
        try:
            self._next = self._make(opened)
        except LinkworkError as error:
            self._refuse(client, message, error)
            return
        self._send("", m.GalleryChanged())
        if self.open is not None:
            self.open.stop()

    def _refuse(self, client: str, message: m.FromClient, error: LinkworkError) -> None:
        what, text, key = m.type_of(message), _open_error_text(error), _requested_name(message)
        self._send(client, m.Refused(what, text, key, error=error.to_record()))

    def _drop_next(self) -> None:
        """Discards the scene that was to be opened next; another request replaces it."""
        if self._next is not None and self._next is not self._suspended:
            self._next.close()
        self._next = None

    def _back_to_live(self, client: str) -> None:
        """Resumes the scene suspended behind a recording."""
        if self._suspended is None or self.open is None:
            error = SessionError(
                "there is no scene behind this recording.", hint="Go on from here runs it live."
            )
            self._send(client, m.Refused.of("live", error))
            return
        self._drop_next()
        self._next = self._suspended
        self.open.stop()

    def _continue_recording(self, client: str) -> None:
        """Runs the scene of a recording from the displayed instant."""
        shown = self.open
        if not isinstance(shown, OpenRecording):
            self._send(client, m.Refused("continue_recording", "no recording is displayed."))
            return
        self._drop_next()
        try:
            self._next = shown.continue_run(self._run)
        except LinkworkError as error:
            self._send(client, m.Refused.of("continue_recording", error))
            return
        shown.stop()
