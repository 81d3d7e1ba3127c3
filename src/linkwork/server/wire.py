"""What a client and a studio say to each other: messages out, pictures and news in."""

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

from linkwork.errors import FormatError, LinkworkError, SessionError
from linkwork.server import messages as m

if TYPE_CHECKING:
    import ssl

    from websockets.sync.client import ClientConnection

#: How long a picture that shows what was just done is waited for [s].
_SOON = 0.05
#: Events that are kept.
_EVENTS = 1000
_decoder = msgspec.json.Decoder(m.FromServer)
_KNOWN = {str(kind.__struct_config__.tag) for kind in get_args(m.FromServer)}
#: What changes files is compiled before it is used or refused.
_COMPILED = (m.Edit, m.CloseLoop, m.StorePosture)


class Wire:
    """A connection to a studio, and the newest of all that it told.

    A thread reads; whoever looks at ``values`` or ``poses`` while it may write holds ``news``.

    Attributes:
        patience: How long an answer may take [s].
        news: Notified when anything was told.
        name: How the others see this client.
        people: Who is there, and who drives.
        scene: What is open; None if nothing is.
        expects: Whether something is open that was not told yet.
        status: How the run stands; None before the first picture.
        events: What happened, newest last.
        watched: Signals whose values come with every picture.
        values: Number of the watch that they answer, and the values.
        poses: Poses of all bodies, seven numbers each.
        version: Version of the scene that the newest picture shows.
        time: Simulated time of the newest picture [s].
    """

    def __init__(
        self, address: str, token: str, patience: float, tls: ssl.SSLContext | None
    ) -> None:
        self.patience = patience
        self.news = threading.Condition()
        self.name = ""
        self.people = m.People(None, [], None)
        self.scene: m.Scene | None = None
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
        self._marks = 0  # questions after messages, and the last of them that was answered
        self._answered = 0
        self._refused: deque[m.Refused] = deque()
        self._end = ""
        self._leave = contextlib.ExitStack()
        self._socket = self._leave.enter_context(_connect(address, token, patience, tls))
        self._reader = threading.Thread(target=self._read, name="linkwork-client", daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Hangs up."""
        self._leave.close()
        self._reader.join(self.patience)

    def send(self, message: m.FromClient) -> None:
        """Sends a message.

        Raises:
            SessionError: If the studio is gone, or has refused meanwhile what was asked before and
                seemed done; nothing is sent then.
            FormatError: If a field holds what no studio takes: another type, or a number that is
                not finite or out of bounds.
        """
        m.decode(m.encode(message))
        _check_finite(msgspec.to_builtins(message, enc_hook=m.plain), m.type_of(message))
        with self.news:
            late = [each for each in self._refused if each.what in self._asked]
            self._refused.clear()
        if late:
            raise SessionError(
                f"{late[0].what}, asked for before, is refused after all: {late[0].text}"
            )
        self._asked.add(m.type_of(message))
        self._put(message)

    def ask(self, message: m.FromClient) -> None:
        """Sends a message and waits until the studio has dealt with it.

        What is asked is done in order: when a question that comes after it is answered, it was
        done or refused. What changes files is waited for until the scene shows it.
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
            self.news.wait_for(lambda: self._pictures > seen or bool(self._end), _SOON)

    def _put(self, message: m.FromClient) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(m.encode(message).decode())
        except ConnectionClosed:
            raise SessionError(f"the studio is gone{self._end.rstrip()}.") from None

    def once(self, give_up: float, what: str) -> None:
        """Waits for news."""
        with self.news:
            if self._end:
                raise SessionError(f"the studio is gone{self._end.rstrip()}.")
            left = give_up - time.monotonic()
            if left <= 0.0 or not self.news.wait(left):
                raise SessionError(f"waited for {what} in vain.")

    def until(self, test: Callable[[], bool], what: str, asked: str = "") -> None:
        """Waits for news until something holds; raises what was refused of the type ``asked``."""
        give_up = time.monotonic() + self.patience
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
            return  # of a studio that is newer than we are
        match message:
            case m.Hello():
                self.name, self.expects = message.you, message.scene_open
                self.people = m.People(message.driver, message.people, None)
            case m.Scene():
                self.scene, self.watched, self.expects = message, [], False
            case m.Closed():
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
        if kind != m.PICTURE:
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
        if self._pictures % m.ACK_EACH == 0:
            self._socket.send(m.encode(m.Ack(self._pictures)).decode())


def _check_finite(value: object, where: str) -> None:
    """Refuses numbers that JSON cannot say: it would say null, which some fields take for none.

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
    """The name that a question asks for of which only the answer counts; no thing is called so."""
    return f"?{number}"


def _is_live(message: m.FromClient) -> bool:
    """Whether an edit is of the running scene, which no file keeps."""
    return isinstance(message, m.Edit) and message.key.startswith(m.LIVE)


@contextlib.contextmanager
def _connect(
    address: str, token: str, patience: float, tls: ssl.SSLContext | None
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
                    where, max_size=None, open_timeout=patience, compression=None,
                    ssl=tls if safe else None,
                )
            )  # fmt: skip
        except (InvalidHandshake, InvalidURI, OSError, TimeoutError) as error:
            raise SessionError(
                f"no studio lets us in at {parts.netloc}: {error}.",
                hint="Use the address that linkwork studio prints, with its token.",
            ) from None
        yield made
