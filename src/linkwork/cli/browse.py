"""Browse: the studio in the browser, from starting its server to Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from msgspec.structs import replace

from linkwork.cli.given import load_with_notes, scene_to_run
from linkwork.cli.ready import getting_ready
from linkwork.cli.screen import Screen, stderr, stdout
from linkwork.cli.warming import BEGUN, Warming
from linkwork.errors import LinkworkError
from linkwork.hosts import is_everywhere, is_loopback, own_addresses
from linkwork.parts import Part, kit_part
from linkwork.scene import Scene
from linkwork.server import imports
from linkwork.server.access import allowed, check_token, new_token
from linkwork.server.certificate import certificate
from linkwork.server.host.editor import Opened
from linkwork.server.host.host import Host
from linkwork.server.process import ServerProcess, Settings
from linkwork.server.recent import Recents
from linkwork.session.link import Limits, serve

#: The page as it was built.
PAGE = Path(__file__).parent.parent / "server" / "static" / "index.html"
#: Where recordings go.
RECORDINGS = Path("~/.linkwork/recordings")
#: The usual port.
PORT = 8350
#: A mesh crosses the link in one piece.
LIMITS = Limits(message=128 * 2**20, backlog=256 * 2**20)


@dataclass(frozen=True)
class Stand:
    """Where the studio stands; see the options of ``linkwork studio``."""

    host: str = "127.0.0.1"
    port: int | None = None
    token: str = ""
    https: bool = False
    show: bool = True
    tcp: int | None = None


def is_built() -> bool:
    """Whether the page that browsers load is there."""
    return PAGE.is_file()


def browse(scene: str | None, stand: Stand) -> int:
    """Serves the studio until Ctrl-C; returns the exit code.

    Raises:
        LinkworkError: If the scene cannot be opened or the server cannot start.
    """
    out, recents = stdout(), Recents()
    check_token(stand.token, stand.host)
    token = stand.token or new_token()
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(serve(limits=LIMITS))
        files = certificate(stand.host) if stand.https else (Path(), Path())
        made, key = (str(file) if stand.https else "" for file in files)
        settings = Settings(
            link.address, link.key, stand.host, stand.port or 0, token,
            certificate=made, certificate_key=key, address=next(iter(_outside(stand)), ""),
            recordings=str(RECORDINGS.expanduser()), lines=-1 if stand.tcp is None else stand.tcp,
        )  # fmt: skip
        server = _start(settings) if stand.port is None else ServerProcess(settings)
        stack.callback(server.close)

        warming = Warming()
        stack.callback(warming.close)

        def look_after() -> None:
            for said in (server.look_after(), warming.news()):
                if said:
                    stderr().say(said, lead="note:")

        host = Host(
            link, loader(scene, recents), recents=recents, recordings=RECORDINGS.expanduser(),
            idle=look_after, ready=warming.allows,
        )  # fmt: skip
        if warming.begun:
            stderr().say(BEGUN, lead="note:")
        with getting_ready():
            host.prepare(scene)
        _announce(out, stand, server.port, token)
        if server.lines >= 0:
            out.say(f"Lines of JSON over TCP: port {server.lines}, the same token.")
            sys.stdout.flush()
        with _ending(host.stop):
            host.run()
    out.say("Stopped.")
    return 0


def _start(settings: Settings) -> ServerProcess:
    """Starts the server at its usual port, or at a free one where that is taken."""
    try:
        return ServerProcess(replace(settings, port=PORT))
    except LinkworkError:
        return ServerProcess(settings)


def loader(
    first: str | None, recents: Recents, recordings: Path | None = None
) -> Callable[[str], Opened | Path]:
    """What loads a scene by the name that a browser, or the command line, gives.

    Args:
        first: What the command line named, which may be anywhere.
        recents: Files that were open before.
        recordings: Folder of recordings; the user's own if None.
    """
    folders = [Path.cwd(), imports.FOLDER.expanduser(), recordings or RECORDINGS.expanduser()]

    def load(name: str) -> Opened | Path:
        if name != first:
            name = allowed(name, folders, [each.path for each in recents.all()])
        if name.lower().endswith(".mcap"):
            return Path(name).resolve()
        thing, notes = load_with_notes(name)
        scene, more = scene_to_run(thing, name, free=False)
        file = name if os.path.isfile(name) else os.fspath(kit_part(name))
        full = str(Path(file).resolve())
        return Opened(scene, full, [*notes, *more], _scene_of, folders=folders)

    return load


def _scene_of(content: Part | Scene) -> Scene:
    return scene_to_run(content, content.name, free=False)[0]


def _outside(stand: Stand) -> list[str]:
    """How other machines call the studio, without port and token; none where they cannot."""
    if is_loopback(stand.host):
        return []
    names = [stand.host]
    if is_everywhere(stand.host):
        # An address works without a name server; the name stays when the address changes.
        names = [*own_addresses(), socket.gethostname()]
    return [f"{'https' if stand.https else 'http'}://{_bracketed(name)}" for name in names]


def _announce(out: Screen, stand: Stand, port: int, token: str) -> None:
    """Says where the studio is, and opens it where there is a browser."""
    scheme = "https" if stand.https else "http"
    everywhere = is_everywhere(stand.host)
    shown = "localhost" if everywhere or is_loopback(stand.host) else stand.host
    query = f"?token={quote(token, safe='')}"
    address = f"{scheme}://{_bracketed(shown)}:{port}/{query}"
    out.say(f"The studio is at {address}")
    if everywhere:
        out.say("From other machines:")
        for place in _outside(stand):
            out.say(f"  {place}:{port}/{query}")
    if stand.https:
        out.say(
            "The certificate is our own: the browser warns once. "
            "Choose Advanced, then Proceed; in a headset the same."
        )
    out.say("Ctrl-C ends it.")
    sys.stdout.flush()
    if stand.show and _has_screen():
        with contextlib.suppress(Exception):  # whatever a browser's launcher raises
            webbrowser.open(address)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _has_screen() -> bool:
    """Whether a browser would be seen; a text browser in our terminal would not help."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@contextlib.contextmanager
def _ending(stop: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C or a request to end (SIGTERM) stops; a second Ctrl-C ends the program at once."""

    def handle(number: int, frame: object) -> None:
        stop()
        signal.signal(number, before[number] or signal.SIG_DFL)

    before = {int(n): signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
