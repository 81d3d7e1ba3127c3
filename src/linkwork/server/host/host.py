"""Host: opens scenes one after the other and runs them for the people in the studio."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from linkwork.errors import LinkworkError, MeshNotFound
from linkwork.scene import Scene
from linkwork.server import messages as m
from linkwork.server.host.conduit import Conduit
from linkwork.server.host.editor import Opened
from linkwork.server.host.new_files import new_scene, toml_copy
from linkwork.server.host.open_recording import OpenRecording
from linkwork.server.host.open_scene import OpenScene
from linkwork.server.recent import Recents
from linkwork.server.relay import Ask, Look, MeshFound, MeshWanted, Tell, decode_inward, encode
from linkwork.session.link import Joined, Left, SessionEnd

#: Makes something ready to run of what a client asks to open; the path of a recording.
Loader = Callable[[str], Opened | Path]

#: Longest sleep before the host looks again whether it is to stop [s].
_NAP = 0.1
#: What people are told who wait for kernels, and how often [s].
WAITING = (
    "Kernels are being compiled, once for this version and processor: a minute or two. "
    "The scene opens then."
)
_REMIND = 20.0
#: Scene versions are set aside in this number for each scene or recording that is opened.
_WORLDS = 1 << 16


_log = logging.getLogger(__name__)
_UNSAVED = (
    "the scene that waits behind this recording has changes that are not saved. "
    "Go back to it with Back to live and save them, or discard them."
)


def _words(error: Exception, what: str) -> str:
    """What people are told of an error; one that nobody foresaw is logged as a whole."""
    if isinstance(error, LinkworkError):
        return str(error)
    _log.error("%s failed", what, exc_info=error)
    return f"{what} failed: {type(error).__name__}: {error}. This is a mistake of Linkwork's."


def _asked(message: m.FromClient) -> str:
    """What a client wants to open, by name."""
    return getattr(message, "scene", "") or getattr(message, "name", "")


def _why_not(error: LinkworkError) -> str:
    """Why something cannot be opened, for people who bring files rather than put them."""
    if not isinstance(error, MeshNotFound) or error.origin is None:
        return str(error)
    where = f"{Path(error.origin.file).name}:{error.origin.line}"
    return f"{where}: {error.message} Open the folder that holds both, or a ZIP of it."


class Host:
    """The session side of a studio. :meth:`run` belongs to one thread.

    Args:
        link: Where the server's process connects.
        load: Loads what is to be opened.
        recents: Files that were open.
        recordings: Folder for recordings.
        folder: Folder for new scenes; the one that the program works in if None.
        idle: Called now and then, for whoever looks after the server.
        ready: Whether the kernels are compiled that a scene, or a recording (None), needs; it waits
            for them, and people are told.

    Attributes:
        open: The scene that runs, or the recording that is shown, or None.
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
        self._later: Callable[[], object] | None = None  # opens something that had to wait
        self._told = 0.0
        self._recents, self._recordings = recents, recordings
        self._folder = folder
        self._idle = idle
        self._look = Look(0, [], [])
        self._next: OpenScene | OpenRecording | None = None
        self._aside: OpenScene | None = None  # waits while a recording is looked at
        self._opened = 0
        self._stopping = False
        self.open: OpenScene | OpenRecording | None = None

    def stop(self) -> None:
        """Ends :meth:`run`; safe from any thread or signal handler."""
        self._stopping = True
        if self.open is not None:
            self.open.stop()

    def prepare(self, scene: str | None) -> None:
        """Makes a scene ready to run; None for the gallery.

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

    def run(self) -> None:
        """Runs until :meth:`stop`."""
        try:
            while not self._stopping:
                self._turn()
        finally:
            for each in (self.open, self._next, self._aside):
                if each is not None:
                    each.close()
            self.open = self._next = self._aside = None

    def _turn(self) -> None:
        """Shows the gallery for a while, or what is open to its end."""
        if self._next is not None:
            self.open, self._next = self._next, None
            self._tell_lasting()
        if self.open is None:
            self._link.wait(_NAP)
            for peer, item in self._link.receive():
                self._take(peer, item)
            self._look_after()
            self._open_later()
            return
        if self._stopping:
            return
        try:
            self.open.run(self._look_after)
        except Exception as error:
            text = _words(error, "what was open")
            self._tell("", m.Event(self.open.step, "error", text, "session"))
            if self._next is None:
                self._next = self._aside  # a recording failed; the scene behind it goes on
        self._end()

    def _open_later(self) -> None:
        """Opens what had to wait, or says now and then that it waits."""
        if self._later is None:
            return
        later, self._later = self._later, None
        later()
        if self._later is not None and time.monotonic() - self._told > _REMIND:
            self._told = time.monotonic()
            self._tell("", m.Event(0, "warning", WAITING, "kernels"))

    def _end(self) -> None:
        """Closes what was open, unless it is to wait while a recording is looked at."""
        ended, self.open = self.open, None
        if isinstance(ended, OpenScene) and isinstance(self._next, OpenRecording):
            ended.wait(Conduit(self._link, self._take))
            self._aside = ended
            return
        if ended is not None:
            ended.close()
        if self._aside is not None and not isinstance(self._next, OpenRecording | None):
            if self._next is not self._aside:
                self._aside.close()
            self._aside = None
        if self._next is None:
            if self._aside is not None:
                self._aside.close()
                self._aside = None
            self._tell("", m.Closed())

    def _look_after(self) -> None:
        if self._idle is not None:
            self._idle()

    def _is_ready(self, opened: Opened | Path) -> bool:
        return self._ready(None if isinstance(opened, Path) else opened.scene)

    def _make(self, opened: Opened | Path) -> OpenScene | OpenRecording:
        return self._show(opened) if isinstance(opened, Path) else self._run(opened)

    def _base(self) -> int:
        """The number that scene versions of what is opened next count from."""
        self._opened += 1
        return (self._opened - 1) * _WORLDS

    def _show(self, path: Path) -> OpenRecording:
        """Makes a recording ready to be looked at."""
        behind = self.open if isinstance(self.open, OpenScene) else self._aside
        peers = Conduit(self._link, self._take)
        base = self._base()
        made = OpenRecording(path, peers, self._tell, self._look, base=base, behind=behind)
        self._recents.add(str(path), path.name)
        return made

    def _run(self, opened: Opened) -> OpenScene:
        peers = Conduit(self._link, self._take)
        look, folder = self._look, self._recordings
        made = OpenScene(opened, peers, self._tell, look, folder, base=self._base())
        made.saved = self._keep_recent
        if opened.file and opened.text is None:
            self._recents.add(opened.file, opened.scene.name)
        for note in opened.notes:
            made.session.say(note, source="scene")
        return made

    # ---- talking -------------------------------------------------------------------------

    def _tell(self, to: str, message: m.FromServer) -> None:
        self._link.emit(encode(Tell(to, m.type_of(message), m.encode(message))))

    def _tell_lasting(self) -> None:
        if self.open is not None:
            for message in self.open.lasting():
                self._tell("", message)

    def _take(self, peer: int, item: bytes | Joined | Left) -> None:
        """Takes what the server says; garbage is answered and forgotten."""
        if isinstance(item, Joined):
            self._tell_lasting()
            return
        if isinstance(item, Left):
            self._look = Look(0, [], [])
            if self.open is not None:
                self.open.answer("", m.Drop())
                self.open.answer("", m.Release())
                self.open.painter.see(self._look)
            return
        try:
            message = decode_inward(item)
        except LinkworkError as error:
            self._tell("", m.Event(0, "error", str(error), "server"))
            return
        match message:
            case Look():
                self._look = message
                if self.open is not None:
                    self.open.painter.see(message)
            case MeshWanted():
                data = self.open.meshes.get(message.hash) if self.open is not None else b""
                self._link.send(peer, encode(MeshFound(message.hash, data)))
            case Ask():
                try:
                    self._answer(message.client, message.message)
                except Exception as error:  # no message of a client ends the studio
                    what = m.type_of(message.message)
                    self._tell(message.client, m.Refused(what, _words(error, what)))

    def _answer(self, client: str, message: m.FromClient) -> None:
        if self._would_lose(message):
            self._tell(client, m.Refused(m.type_of(message), _UNSAVED))
            return
        match message:
            case m.Open():
                self._open(client, message, lambda: self._load(message.scene))
            case m.NewScene():
                self._open(client, message, lambda: self._new(message))
            case m.Convert() if self._is_foreign():
                self._open(client, message, self._convert)
            case m.Forget():
                self._recents.forget(message.path)
                self._tell("", m.GalleryChanged())
            case m.CloseScene():
                if self.open is not None:
                    self.open.stop()
            case m.Live() if isinstance(self.open, OpenRecording):
                self._back_to_live(client)
            case m.GoOn():
                self._go_on(client)
            case _ if self.open is None:
                key = message.name if isinstance(message, m.Inspect) else ""
                self._tell(client, m.Refused(m.type_of(message), "no scene is open.", key))
            case _:
                self.open.answer(client, message)

    def _would_lose(self, message: m.FromClient) -> bool:
        """Whether a message would give up unsaved changes of the scene behind a recording."""
        match message:
            case m.Open() if message.scene.lower().endswith(".mcap"):
                return False  # the scene waits on behind that one
            case m.Open() | m.NewScene() | m.CloseScene() | m.GoOn():
                aside = self._aside
                return not message.discard and aside is not None and bool(aside.unsaved)
        return False

    def _is_foreign(self) -> bool:
        """Whether a file is open that is not TOML."""
        editor = self.open.editor if isinstance(self.open, OpenScene) else None
        return editor is not None and editor.project is None and bool(editor.file)

    def _new(self, message: m.NewScene) -> Opened:
        return new_scene(message.name, message.part, self._folder or Path.cwd())

    def _convert(self) -> Opened | Path:
        assert isinstance(self.open, OpenScene)
        made = toml_copy(self.open.editor.file, self._folder or Path.cwd())
        self._recents.add(made, Path(made).stem)
        return self._load(made)

    def _keep_recent(self, file: str, name: str) -> None:
        self._recents.add(file, name)
        self._tell("", m.GalleryChanged())

    def _open(self, client: str, message: m.FromClient, load: Callable[[], Opened | Path]) -> None:
        """Opens something else in place of what runs, now or when all is ready."""
        self._later = None
        try:
            opened = load()
        except LinkworkError as error:
            self._refuse(client, message, error)
            return
        self._told = 0.0
        self._begin(client, message, opened)

    def _begin(self, client: str, message: m.FromClient, opened: Opened | Path) -> None:
        """Makes what was loaded run, unless kernels are missing yet."""
        if not self._is_ready(opened):
            self._later = partial(self._begin, client, message, opened)
            return
        self._drop_next()
        text = f"opening {_asked(message)} …".replace("  ", " ")
        self._tell("", m.Event(0, "info", text, "scene"))
        try:
            self._next = self._make(opened)
        except LinkworkError as error:
            self._refuse(client, message, error)
            return
        self._tell("", m.GalleryChanged())
        if self.open is not None:
            self.open.stop()

    def _refuse(self, client: str, message: m.FromClient, error: LinkworkError) -> None:
        self._tell(client, m.Refused(m.type_of(message), _why_not(error), _asked(message)))

    def _drop_next(self) -> None:
        """Gives up what was to be opened; somebody asked for something else meanwhile."""
        if self._next is not None and self._next is not self._aside:
            self._next.close()
        self._next = None

    def _back_to_live(self, client: str) -> None:
        """Lets the scene go on that waits behind a recording."""
        if self._aside is None or self.open is None:
            text = "no scene waits behind this recording. Go on from here runs it live."
            self._tell(client, m.Refused("live", text))
            return
        self._drop_next()
        self._next = self._aside
        self.open.stop()

    def _go_on(self, client: str) -> None:
        """Runs the scene of a recording from the instant that is shown."""
        shown = self.open
        if not isinstance(shown, OpenRecording):
            self._tell(client, m.Refused("go_on", "no recording is being looked at."))
            return
        self._drop_next()
        try:
            self._next = shown.go_on(self._run)
        except LinkworkError as error:
            self._tell(client, m.Refused("go_on", str(error)))
            return
        shown.stop()
