"""Connection of a client to a studio: sends messages, receives snapshots and events."""

from __future__ import annotations

import contextlib
import math
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, get_args
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from linkwork.core.errors import FormatError, LinkworkError, SessionError
from linkwork.studio import protocol as m

if TYPE_CHECKING:
    import ssl

    from websockets.sync.client import ClientConnection

#: Timeout for a snapshot that shows the last request's effect [s].
_SNAPSHOT_WAIT = 0.05
#: Maximum number of kept events.
_EVENTS = 1000
_decoder = msgspec.json.Decoder(m.FromServer)
_KNOWN = {str(kind.__struct_config__.tag) for kind in get_args(m.FromServer)}
#: Messages that change files, which are compiled before they are used or refused.
_COMPILED = (m.EditAttribute, m.CloseLoop, m.GiveServos, m.StorePosture)


class StudioConnection:
    """A connection to a studio, with the newest data received from it.

    A thread reads; hold ``news`` while reading ``values`` or ``poses``.

    Attributes:
        timeout: Timeout for an answer [s].
        news: Notified when any message arrives.
        name: The name of this client, as other clients see it.
        people: The connected clients and the driver.
        scene: The open scene; None if no scene is open.
        expects: Whether a scene is open whose description has not arrived yet.
        status: State of the run; None before the first snapshot.
        events: Events so far, newest last.
        watched: Signals whose values come with every snapshot.
        values: Number of the answered watch, and the values.
        poses: Poses of all bodies, seven numbers each.
        version: Scene version of the newest snapshot.
        time: Simulated time of the newest snapshot [s].
    """

    def __init__(
        self, address: str, token: str, timeout: float, tls: ssl.SSLContext | None
    ) -> None:
        self.timeout = timeout
        self.news = threading.Condition()
        self.name = ""
        self.people = m.People(None, [], None)
        self.scene: m.SceneMessage | None = None
        self.expects = False
        self.status: m.Status | None = None
        self.events: deque[m.Event] = deque(maxlen=_EVENTS)
        self.watched: list[str] = []
        self.values: tuple[int, tuple[float, ...]] = (0, ())
        self.poses: tuple[float, ...] = ()
        self.version = 0
        self.time = 0.0
        self._pictures = 0
        self._asked: set[str] = set()  # types of messages that were sent
        self._marks = 0  # numbers of the last sent and the last answered query
        self._answered = 0
        self._refused: deque[m.Refused] = deque()
        self._end = ""
        self._leave = contextlib.ExitStack()
        self._socket = self._leave.enter_context(_connect(address, token, timeout, tls))
        self._reader = threading.Thread(target=self._read, name="linkwork-client", daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Closes the connection."""
        self._leave.close()
        self._reader.join(self.timeout)

    def send(self, message: m.FromClient) -> None:
        """Sends a message.

        Raises:
            SessionError: If the connection is lost, or the studio has refused an earlier request
                meanwhile; the message is not sent then.
            FormatError: If a field has an invalid value: another type, or a number that is not
                finite or out of bounds.
        """
        m.decode(m.encode(message))
        _check_finite(msgspec.to_builtins(message, enc_hook=m.plain), m.type_of(message))
        with self.news:
            late = [each for each in self._refused if each.what in self._asked]
            self._refused.clear()
        if late:
            raise SessionError(f"{late[0].what}, requested before, was refused: {late[0].text}")
        self._asked.add(m.type_of(message))
        self._put(message)

    def ask(self, message: m.FromClient) -> None:
        """Sends a message and waits until the studio has processed it.

        Requests are processed in order: once a later query is answered, the request is done or
        refused. After a change of files, waits until the scene contains it.
        """
        before, what = self.scene.version if self.scene is not None else 0, m.type_of(message)
        self.send(message)
        self._marks = mark = self._marks + 1
        self._put(m.Inspect(_mark(mark), "scene"))
        self.until(lambda: self._answered >= mark, "an answer", what)
        if isinstance(message, _COMPILED) and not _is_live(message):
            self.until(
                lambda: self.scene is None or self.scene.version != before, "the new scene", what
            )
        with self.news:
            seen = self._pictures
            self.news.wait_for(lambda: self._pictures > seen or bool(self._end), _SNAPSHOT_WAIT)

    def _put(self, message: m.FromClient) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(m.encode(message).decode())
        except ConnectionClosed:
            raise SessionError(f"connection to the studio lost{self._end.rstrip()}.") from None

    def once(self, give_up: float, what: str) -> None:
        """Waits for a message."""
        with self.news:
            if self._end:
                raise SessionError(f"connection to the studio lost{self._end.rstrip()}.")
            left = give_up - time.monotonic()
            if left <= 0.0 or not self.news.wait(left):
                raise SessionError(f"waited for {what} in vain.")

    def until(self, test: Callable[[], bool], what: str, asked: str = "") -> None:
        """Waits for a condition; raises the refusal of a request of type ``asked``."""
        give_up = time.monotonic() + self.timeout
        while True:
            with self.news:
                mine = [each for each in self._refused if each.what in (asked, "hello")]
                if mine and (asked or mine[0].what == "hello"):
                    self._refused.clear()
                    raise SessionError(mine[0].text)
                if test():
                    return
            self.once(give_up, what)

    def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            for data in self._socket:
                with self.news:
                    if isinstance(data, bytes):
                        self._picture(data)
                    else:
                        self._text(data)
                    self.news.notify_all()
        except (ConnectionClosed, LinkworkError, msgspec.MsgspecError, struct.error) as error:
            self._end = f": {error}"
        finally:
            with self.news:
                self._end = self._end or " "
                self.news.notify_all()

    def _text(self, data: str) -> None:
        try:
            message = _decoder.decode(data)
        except msgspec.ValidationError:
            if m.claimed_type(data) in _KNOWN:
                raise
            return  # from a newer studio
        match message:
            case m.Hello():
                self.name, self.expects = message.you, message.scene_open
                self.people = m.People(message.driver, message.people, None)
            case m.SceneMessage():
                self.scene, self.watched, self.expects = message, [], False
            case m.SceneClosed():
                self.scene, self.expects = None, False
            case m.Status():
                self.status = message
            case m.Event():
                self.events.append(message)
            case m.People():
                self.people = message
            case m.Attributes() if message.name == _mark(self._marks):
                self._answered = self._marks
            case m.Refused(what="inspect") if message.key == _mark(self._marks):
                self._answered = self._marks
            case m.Refused():
                self._refused.append(message)

    def _picture(self, data: bytes) -> None:
        kind, _, _, version, now = m.HEADER.unpack_from(data)
        if kind != m.SNAPSHOT:
            return
        at = m.HEADER.size
        while at < len(data):
            kind, flags, length = m.BLOCK.unpack_from(data, at)
            at += m.BLOCK.size
            if kind == m.SIGNALS:
                self.values = flags, struct.unpack_from(f"<{length // 8}d", data, at)
            elif kind == m.POSES:
                self.poses = struct.unpack_from(f"<{length // 4}f", data, at)
            at += length + -length % 8
        self.version, self.time = version, now
        self._pictures += 1
        if self._pictures % m.SNAPSHOTS_PER_ACK == 0:
            self._socket.send(m.encode(m.Ack(self._pictures)).decode())


def _check_finite(value: object, where: str) -> None:
    """Refuses non-finite numbers: JSON would write null, which some fields accept as none.

    Raises:
        FormatError: Naming the field.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise FormatError(f"{where}: a finite number is expected, not {value}.")
    if isinstance(value, dict):
        for name, each in value.items():
            _check_finite(each, f"{where}.{name}")
    elif isinstance(value, list | tuple):
        for n, each in enumerate(value):
            _check_finite(each, f"{where}[{n}]")


def _mark(number: int) -> str:
    """The name that a marker query inspects; no object has it, only its answer matters."""
    return f"?{number}"


def _is_live(message: m.FromClient) -> bool:
    """Whether an edit concerns the running scene only, not a file."""
    return isinstance(message, m.EditAttribute) and message.key.startswith(m.LIVE)


@contextlib.contextmanager
def _connect(
    address: str, token: str, timeout: float, tls: ssl.SSLContext | None
) -> Iterator[ClientConnection]:
    from websockets.exceptions import InvalidHandshake, InvalidURI
    from websockets.sync.client import connect

    parts = urlsplit(address if "//" in address else f"http://{address}")
    token = token or parse_qs(parts.query).get("token", [""])[0]
    safe = parts.scheme in ("https", "wss")
    query = urlencode({"token": token, "protocol": m.PROTOCOL})
    where = f"{'wss' if safe else 'ws'}://{parts.netloc}/ws?{query}"
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(
                connect(
                    where, max_size=None, open_timeout=timeout, compression=None,
                    ssl=tls if safe else None,
                )
            )  # fmt: skip
        except (InvalidHandshake, InvalidURI, OSError, TimeoutError) as error:
            raise SessionError(
                f"no studio accepts the connection at {parts.netloc}: {error}.",
                hint="Use the address that linkwork studio prints, with its token.",
            ) from None
        yield made
