"""Studio server: runs the studio for the browser until Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from msgspec.structs import replace

from linkwork.cli.compile_progress import show_compiling
from linkwork.cli.scene_argument import (
    MissingChoice,
    ServoChoice,
    load_showing_notes,
    scene_to_run,
)
from linkwork.cli.screen import Screen, stderr, stdout
from linkwork.cli.warmup_stages import BEGUN, WarmupProcess
from linkwork.core.atomic import USER_FOLDER, private_folder
from linkwork.core.errors import FormatError, LinkworkError, os_error_text
from linkwork.core.hosts import is_any_address, is_loopback, own_addresses
from linkwork.formats.robots.resources import set_missing_files
from linkwork.link import LinkLimits, serve
from linkwork.model.parts import Part, kit_part
from linkwork.model.scene import Scene
from linkwork.session.bus_interface import check_permissions
from linkwork.session.session import Session
from linkwork.studio.host.editor import OpenedFile
from linkwork.studio.host.host import Host
from linkwork.studio.web import uploads
from linkwork.studio.web.access import certificate, check_token, new_token, resolve_allowed
from linkwork.studio.web.gallery import Recents
from linkwork.studio.web.process import ServerProcess, ServerSettings

#: The built page.
PAGE = Path(__file__).parent.parent / "studio" / "static" / "index.html"
#: Folder for recordings.
RECORDINGS = Path("~/.linkwork/recordings")
#: Default port.
PORT = 8350
#: Size limit of a link message, which holds a whole mesh.
LIMITS = LinkLimits(message=128 * 2**20, backlog=256 * 2**20)


@dataclass(frozen=True)
class StudioOptions:
    """Settings of the studio; see the options of ``linkwork studio``."""

    host: str = "127.0.0.1"
    port: int | None = None
    token: str = ""
    https: bool = False
    show: bool = True
    tcp: int | None = None
    allow: tuple[str, ...] = ()
    servos: ServoChoice = ServoChoice.none
    missing: MissingChoice = MissingChoice.error


def is_built() -> bool:
    """Whether the page for browsers has been built."""
    return PAGE.is_file()


def run_studio(scene: str | None, options: StudioOptions) -> int:
    """Serves the studio until Ctrl-C; returns the exit code.

    Raises:
        LinkworkError: If the scene cannot be opened or the server cannot start.
    """
    out, recents = stdout(), Recents()
    check_token(options.token, options.host)
    token = options.token or new_token()
    allow = check_permissions(options.allow)
    set_missing_files(options.missing.value)  # also for files that are opened later
    with contextlib.suppress(OSError):  # whoever writes there reports it
        private_folder(USER_FOLDER.expanduser())
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(serve(limits=LIMITS))
        files = certificate(options.host) if options.https else (Path(), Path())
        made, key = (str(file) if options.https else "" for file in files)
        settings = ServerSettings(
            link.address,
            link.key,
            options.host,
            options.port or 0,
            token,
            certificate=made,
            certificate_key=key,
            address=next(iter(_outside_address(options)), ""),
            recordings=str(RECORDINGS.expanduser()),
            lines=-1 if options.tcp is None else options.tcp,
        )
        server = _start(settings) if options.port is None else ServerProcess(settings)
        stack.callback(server.close)

        warming = WarmupProcess()
        stack.callback(warming.close)

        def poll() -> None:
            for line in (server.poll(), warming.pending_message()):
                if line:
                    stderr().print_line(line, lead="note:")

        host = Host(
            link,
            loader(scene, recents, allow=allow, servos=options.servos),
            recents=recents,
            recordings=RECORDINGS.expanduser(),
            idle=poll,
            ready=warming.allows,
        )
        if warming.begun:
            stderr().print_line(BEGUN, lead="note:")
        with show_compiling():
            host.prepare(scene)
        _announce(out, options, server.port, token)
        if server.lines >= 0:
            out.print_line(f"Lines of JSON over TCP: port {server.lines}, the same token.")
            sys.stdout.flush()
        with _stop_on_signal(host.stop):
            host.run()
    out.print_line("Stopped.")
    return 0


class RunServer:
    """Lets programs of the same user connect to the session of ``linkwork run``.

    The studio's server listens on a free port of this machine. Its address, which holds the token,
    is written to a file that only the user can read: ``linkwork.connect(**json.load(file))``. The
    file is removed at the end.

    Args:
        path: The file.

    Raises:
        LinkworkError: If the file exists and is something else, or the server cannot start.
    """

    def __init__(self, path: Path) -> None:
        if path.exists() and not _is_address_file(path):
            raise FormatError(f"{path} exists and is not a link file; it is left alone.")
        self._path = path
        with contextlib.ExitStack() as stack:
            link = stack.enter_context(serve(limits=LIMITS))
            token, host = new_token(), StudioOptions.host
            self._server = ServerProcess(ServerSettings(link.address, link.key, host, 0, token))
            stack.callback(self._server.close)
            self._host = Host(
                link, _refuse_to_open, recents=Recents(), recordings=RECORDINGS.expanduser()
            )
            self._address = f"http://{host}:{self._server.port}/?token={quote(token, safe='')}"
            self._end = stack.pop_all()

    def attach(self, session: Session) -> None:
        """Serves a session and writes the file.

        Raises:
            FormatError: If the file cannot be written.
        """
        self._host.attach(session)
        _write_private(self._path, {"address": self._address})
        self._end.callback(self._path.unlink, missing_ok=True)

    def poll(self) -> None:
        """Restarts the server if it has ended."""
        if note := self._server.poll():
            stderr().print_line(note, lead="note:")

    def close(self) -> None:
        """Ends the server and removes the file."""
        self._end.close()


def _refuse_to_open(name: str) -> OpenedFile:
    raise LinkworkError(f"{name} cannot be opened while another scene runs.")


def _is_address_file(path: Path) -> bool:
    try:
        return set(json.loads(path.read_text(encoding="utf-8"))) == {"address"}
    except (OSError, ValueError, TypeError):
        return False


def _write_private(path: Path, content: dict[str, str]) -> None:
    """Writes a JSON file that only the user can read."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise FormatError(f"{path} cannot be written: {os_error_text(error)}.") from None


def _start(settings: ServerSettings) -> ServerProcess:
    """Starts the server at the default port, or at a free one if that is taken."""
    try:
        return ServerProcess(replace(settings, port=PORT))
    except LinkworkError:
        return ServerProcess(settings)


def loader(
    first: str | None,
    recents: Recents,
    recordings: Path | None = None,
    *,
    allow: frozenset[str] = frozenset(),
    servos: ServoChoice = ServoChoice.none,
) -> Callable[[str], OpenedFile | Path]:
    """A function that loads a scene by the name given by a browser or the command line.

    Args:
        first: The argument of the command line, which may be anywhere.
        recents: Recently opened files.
        recordings: Folder of recordings; :data:`RECORDINGS` if None.
        allow: What the buses of the scene may do: of ``first``, or of every scene without.
        servos: Servos for joints without a drive, likewise.
    """
    folders = [
        Path.cwd(),
        uploads.UPLOAD_FOLDER.expanduser(),
        recordings or RECORDINGS.expanduser(),
    ]

    def load(name: str) -> OpenedFile | Path:
        given = name
        allowed = allow if first is None or name == first else frozenset[str]()
        if name != first:
            name = resolve_allowed(name, folders, [each.path for each in recents.all()])
        if name.lower().endswith(".mcap"):
            return Path(name).resolve()
        thing, notes = load_showing_notes(name)
        chosen = servos if first is None or given == first else ServoChoice.none
        scene, more = scene_to_run(thing, name, free=False, servos=chosen)
        file = name if os.path.isfile(name) else os.fspath(kit_part(name))
        full = str(Path(file).resolve())
        scene_of = partial(_scene_of, servos=chosen)
        return OpenedFile(scene, full, [*notes, *more], scene_of, folders=folders, allow=allowed)

    return load


def _scene_of(content: Part | Scene, servos: ServoChoice) -> Scene:
    return scene_to_run(content, content.name, free=False, servos=servos)[0]


def _outside_address(options: StudioOptions) -> list[str]:
    """The studio's address for other machines, without port and token; empty if unreachable."""
    if is_loopback(options.host):
        return []
    names = [options.host]
    if is_any_address(options.host):
        # An address works without a name server; a name survives a change of address.
        names = [*own_addresses(), socket.gethostname()]
    return [f"{'https' if options.https else 'http'}://{_bracketed(name)}" for name in names]


def _announce(out: Screen, options: StudioOptions, port: int, token: str) -> None:
    """Prints the studio's address, and opens it if there is a browser."""
    scheme = "https" if options.https else "http"
    everywhere = is_any_address(options.host)
    shown = "localhost" if everywhere or is_loopback(options.host) else options.host
    query = f"?token={quote(token, safe='')}"
    address = f"{scheme}://{_bracketed(shown)}:{port}/{query}"
    out.print_line(f"The studio is at {address}")
    if everywhere:
        out.print_line("From other machines:")
        for place in _outside_address(options):
            out.print_line(f"  {place}:{port}/{query}")
    if options.https:
        out.print_line(
            "The certificate is self-signed: the browser warns once. "
            "Choose Advanced, then Proceed; in a headset the same."
        )
    out.print_line("Ctrl-C ends it.")
    sys.stdout.flush()
    if options.show and _has_screen():
        with contextlib.suppress(Exception):  # any exception of a browser's launcher
            webbrowser.open(address)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _has_screen() -> bool:
    """Whether a graphical browser can open; a text browser in this terminal would not help."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


@contextlib.contextmanager
def _stop_on_signal(stop: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C or SIGTERM stops the studio; a second Ctrl-C ends the program at once."""

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
