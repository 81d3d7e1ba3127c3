"""Client: drives a studio from Python over the network, with the studio's own messages."""

from __future__ import annotations

import contextlib
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from linkwork.errors import LinkworkError, SessionError, SignalError, not_found
from linkwork.server import messages as m

if TYPE_CHECKING:
    import ssl

    from websockets.sync.client import ClientConnection

#: How long a picture that shows what was just done is waited for [s].
_SOON = 0.05
#: Steps that are asked for at once.
_STEPS = 500
#: Events that are kept.
_EVENTS = 1000
_decoder = msgspec.json.Decoder(m.FromServer)


class RemoteSession:
    """A session that runs in a studio, here or on another machine.

    Signals are read and set as those of a session: ``remote["arm/J1.target"] = 0.5``. What the
    studio refuses is raised where it was asked for. One client drives, others look on:
    :meth:`drive` asks for the wheel.

    Args:
        address: What ``linkwork studio`` prints, ``http://localhost:8350/?token=…``.
        token: The token, where the address has none.
        patience: How long an answer may take [s].
        tls: How to trust a studio with ``--https``; the system's certificates if absent.

    Attributes:
        name: How the others see this client.
        scene: What is open, as the studio describes it; None if nothing is.
        status: How the run stands; None before the first picture.
        events: What happened, newest last.

    Raises:
        SessionError: If nobody answers, or the token is wrong.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str = "",
        patience: float = 30.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._patience = patience
        self._news = threading.Condition()
        self._end = ""
        self._refused: deque[m.Refused] = deque()
        self._answers = 0
        self._watched: list[str] = []
        self._number = 0
        self._values: tuple[int, tuple[float, ...]] = (0, ())
        self._poses: tuple[float, ...] = ()
        self._pictures = self._version = 0
        self._time = 0.0
        self._people = m.People(None, [], None)
        self.name = ""
        self.scene: m.Scene | None = None
        self.status: m.Status | None = None
        self.events: deque[m.Event] = deque(maxlen=_EVENTS)
        self._leave = contextlib.ExitStack()
        self._socket = self._leave.enter_context(_connect(address, token, patience, tls))
        self._reader = threading.Thread(target=self._read, name="linkwork-client", daemon=True)
        self._reader.start()
        self._until(lambda: bool(self.name), "a greeting")

    # ---- the run -------------------------------------------------------------------------

    def open(self, scene: str) -> None:
        """Opens a scene or part by a kit's name, a file of the studio's folders, a recording."""
        before = self.scene.opened if self.scene is not None else -1
        self._send(m.Open(scene))
        self._until(
            lambda: self.scene is not None and self.scene.opened != before, f"{scene} open", "open"
        )
        self._until(lambda: self._version == self._scene().version, "a picture of it")

    def play(self) -> None:
        """Lets time run."""
        self._ask(m.Play())

    def pause(self) -> None:
        """Stops time."""
        self._ask(m.Pause())
        self._until(lambda: self.status is not None and not self.status.running, "rest")

    def step(self, steps: int = 1) -> None:
        """Does steps while paused; they are done when this returns."""
        if steps < 1:
            raise SessionError(f"steps are 1 or more, not {steps}.", hint="Back leads seek(time).")
        then = self.time + steps * self._scene().step
        self._ask(m.Step(steps))
        self._until(lambda: abs(self._time - then) < 0.5 * self._scene().step, "the steps", "step")

    def run(self, seconds: float) -> None:
        """Does the steps of so much simulated time, as fast as they can be done [s].

        They are done when this returns, and time stands. To see them in real time, use
        :meth:`play` and :meth:`wait`.
        """
        if self.status is None or self.status.running:
            self.pause()
        left = round(seconds / self._scene().step)
        while left > 0:
            self.step(min(left, _STEPS))
            left -= _STEPS

    def seek(self, time: float) -> None:
        """Shows the past at a time [s]; what is done next goes on from there."""
        self._ask(m.Seek(time))

    def reset(self) -> None:
        """Goes back to the first state."""
        self._ask(m.Reset())

    def speed(self, value: float) -> None:
        """Simulated seconds per real second; 0 is as fast as possible."""
        self._ask(m.Speed(value))

    def posture(self, name: str) -> None:
        """Puts the robot into a named posture."""
        self._ask(m.Posture(name))

    def record(self, on: bool = True) -> None:
        """Begins or ends a recording."""
        self._ask(m.Record(on))

    def mark(self, text: str = "") -> None:
        """Puts a mark into the recording."""
        self._ask(m.Mark(text))

    def send(self, message: m.FromClient) -> None:
        """Asks for anything else that the studio knows, ``linkwork.server.messages``.

        Raises:
            SessionError: If it is refused.
        """
        self._ask(message)

    @property
    def time(self) -> float:
        """Simulated time of the newest picture [s]."""
        return self._time

    # ---- signals -------------------------------------------------------------------------

    @property
    def signals(self) -> dict[str, m.SignalView]:
        """Every signal of the scene, by name."""
        return {each.name: each for each in self._scene().signals}

    def __getitem__(self, signal: str) -> float:
        """The newest value of a signal.

        Raises:
            NameNotFound: If there is none of this name.
        """
        if signal not in self._watched:
            self.watch(*self._watched, signal)
        with self._news:
            return self._values[1][self._watched.index(signal)]

    def __setitem__(self, signal: str, value: float) -> None:
        """Sets an input or parameter, which this client then owns.

        Raises:
            SignalError: If the studio refuses it.
        """
        self._known(signal)
        try:
            self._ask(m.Set(signal, float(value)))
        except SessionError as error:
            raise SignalError(error.message) from None

    def take(self, signal: str) -> None:
        """Takes an input over from whoever has it."""
        self._ask(m.Take(signal))

    def release(self) -> None:
        """Gives all inputs back."""
        self._ask(m.Release())

    def watch(self, *signals: str) -> None:
        """Says which signals are wanted with every picture; reading one does so by itself."""
        for each in signals:
            self._known(each)
        self._watched = list(dict.fromkeys(signals))
        self._number = number = self._number % 60_000 + 1
        self._send(m.Watch(number, self._watched))
        if self._watched:
            self._until(lambda: self._values[0] == number, "values")

    def pose(self, body: str) -> tuple[float, ...]:
        """The newest pose of a body: x y z [m], quaternion w x y z.

        Raises:
            NameNotFound: If there is none of this name.
        """
        names = [each.name for each in self._scene().bodies]
        if body not in names:
            raise not_found("body", body, names)
        row = names.index(body) * 7
        with self._news:
            return self._poses[row : row + 7]

    def wait(self, until: Callable[[], bool], patience: float | None = None) -> None:
        """Waits until something holds: ``remote.wait(lambda: remote["eye.distance"] < 0.3)``.

        Raises:
            SessionError: If it does not within ``patience`` [s].
        """
        give_up = time.monotonic() + (self._patience if patience is None else patience)
        while not until():
            self._once(give_up, "what was waited for")

    # ---- people --------------------------------------------------------------------------

    @property
    def driver(self) -> str | None:
        """Who drives."""
        return self._people.driver

    def drive(self) -> None:
        """Asks to drive, and waits until whoever does hands over."""
        if self.driver != self.name:
            self._send(m.ControlRequest())
            self._until(lambda: self.driver == self.name, f"{self.driver} to hand over")

    # ---- the wire ------------------------------------------------------------------------

    def close(self) -> None:
        """Leaves the studio; what runs there goes on."""
        self._leave.close()
        self._reader.join(self._patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _scene(self) -> m.Scene:
        if self.scene is None:
            raise SessionError("no scene is open in the studio.", hint="Open one: remote.open(…).")
        return self.scene

    def _known(self, signal: str) -> None:
        names = self.signals
        if signal not in names:
            raise not_found("signal", signal, names)

    def _send(self, message: m.FromClient) -> None:
        from websockets.exceptions import ConnectionClosed

        with self._news:
            self._refused.clear()
        try:
            self._socket.send(m.encode(message).decode())
        except ConnectionClosed:
            raise SessionError(f"the studio is gone{self._end}.") from None

    def _ask(self, message: m.FromClient) -> None:
        """Sends a message and waits until the studio has dealt with it.

        What is asked is done in order: when a question that comes after it is answered, it was
        done or refused.
        """
        self._send(message)
        with self._news:
            answers = self._answers
        self._socket.send(m.encode(m.Inspect("", "scene")).decode())
        self._until(lambda: self._answers > answers, "an answer", m.type_of(message))
        with self._news:
            seen = self._pictures
            self._news.wait_for(lambda: self._pictures > seen or bool(self._end), _SOON)

    def _once(self, give_up: float, what: str) -> None:
        """Waits for news."""
        with self._news:
            if self._end:
                raise SessionError(f"the studio is gone{self._end}.")
            left = give_up - time.monotonic()
            if left <= 0.0 or not self._news.wait(left):
                raise SessionError(f"waited for {what} in vain.")

    def _until(self, test: Callable[[], bool], what: str, asked: str = "") -> None:
        """Waits for news until something holds; raises what was refused of the type ``asked``."""
        give_up = time.monotonic() + self._patience
        while True:
            with self._news:
                mine = [each for each in self._refused if each.what in (asked, "hello")]
                if mine and (asked or mine[0].what == "hello"):
                    self._refused.clear()
                    raise SessionError(mine[0].text)
                if test():
                    return
            self._once(give_up, what)

    def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            for data in self._socket:
                with self._news:
                    if isinstance(data, bytes):
                        self._picture(data)
                    else:
                        self._text(data)
                    self._news.notify_all()
        except (ConnectionClosed, LinkworkError, msgspec.MsgspecError, struct.error) as error:
            self._end = f": {error}"
        finally:
            with self._news:
                self._end = self._end or " "
                self._news.notify_all()

    def _text(self, data: str) -> None:
        match message := _decoder.decode(data):
            case m.Hello():
                self.name = message.you
                self._people = m.People(message.driver, message.people, None)
            case m.Scene():
                self.scene, self._watched = message, []
            case m.Closed():
                self.scene = None
            case m.Status():
                self.status = message
            case m.Event():
                self.events.append(message)
            case m.People():
                self._people = message
            case m.Attributes():
                self._answers += 1
            case m.Refused(what="inspect"):
                self._answers += 1
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
                self._values = flags, struct.unpack_from(f"<{length // 8}d", data, at)
            elif kind == m.POSES:
                self._poses = struct.unpack_from(f"<{length // 4}f", data, at)
            at += length + -length % 8
        self._version, self._time = version, now
        self._pictures += 1
        if self._pictures % m.ACK_EACH == 0:
            self._socket.send(m.encode(m.Ack(self._pictures)).decode())


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


def connect(
    address: str,
    *,
    token: str = "",
    patience: float = 30.0,
    tls: ssl.SSLContext | None = None,
) -> RemoteSession:
    """Joins a studio over the network; see :class:`RemoteSession`."""
    return RemoteSession(address, token=token, patience=patience, tls=tls)
