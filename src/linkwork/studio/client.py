"""Client: drives a studio from Python over the network with the studio's own messages."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable
from numbers import Integral, Real
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from linkwork.core.errors import FormatError, SessionError, SignalError, not_found
from linkwork.core.signals import check_value
from linkwork.session.clock import check_duration
from linkwork.studio import protocol as m
from linkwork.studio.protocol.client_connection import StudioConnection

if TYPE_CHECKING:
    import ssl

_T = TypeVar("_T")
#: Number of steps requested at once.
_STEPS = 500


class RemoteSession:
    """A session that runs in a studio, here or on another machine.

    Signals are read and set as in a session: ``remote["arm/J1.target"] = 0.5``. A refused request
    raises an error in the call that sent it. One client drives, the others watch; :meth:`drive`
    requests control.

    Args:
        address: The address that ``linkwork studio`` prints, ``http://localhost:8350/?token=…``.
        token: The token, if the address contains none.
        timeout: Timeout for an answer [s].
        tls: TLS context for a studio with ``--https``; the system's certificates if absent.
        patience: The former name of ``timeout``.

    Raises:
        SessionError: If the studio does not answer, or the token is wrong.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str = "",
        timeout: float = 30.0,
        tls: ssl.SSLContext | None = None,
        patience: float | None = None,
    ) -> None:
        timeout = _under_old_name(patience, timeout)
        self._connection = StudioConnection(address, token, timeout, tls)
        self._number = 0
        self._connection.until(lambda: bool(self.name), "a greeting")
        self._connection.until(lambda: not self._connection.expects, "the scene that is open")

    @property
    def name(self) -> str:
        """The name of this client, as other clients see it."""
        return self._connection.name

    @property
    def scene(self) -> m.SceneMessage | None:
        """The open scene, as the studio describes it; None if no scene is open."""
        return self._connection.scene

    @property
    def status(self) -> m.Status | None:
        """State of the run; None before the first snapshot."""
        return self._connection.status

    @property
    def events(self) -> deque[m.Event]:
        """Events so far, newest last."""
        return self._connection.events

    # ---- the run -------------------------------------------------------------------------

    def open(self, scene: str) -> None:
        """Opens a scene or part by a kit's name, a file of the studio's folders, a recording."""
        before = self.scene.opened if self.scene is not None else -1
        self._connection.send(m.Open(scene))
        self._connection.until(
            lambda: self.scene is not None and self.scene.opened != before, f"{scene} open", "open"
        )
        self._connection.until(
            lambda: self._connection.version == self._open_scene().version, "a picture of it"
        )

    def play(self) -> None:
        """Starts the clock."""
        self._connection.ask(m.Play())

    def pause(self) -> None:
        """Pauses the clock."""
        self._connection.ask(m.Pause())
        self._connection.until(lambda: self.status is not None and not self.status.running, "rest")

    def step(self, steps: int = 1) -> None:
        """Pauses the clock and executes steps; returns when they are done."""
        if not isinstance(steps, Integral) or steps < 1:
            raise SessionError(
                f"steps must be an integer of 1 or more, not {steps!r}.",
                hint="To go back, use seek(time).",
            )
        if self.status is None or self.status.running:
            self.pause()
        for done in range(0, int(steps), _STEPS):
            self._step(min(int(steps) - done, _STEPS))

    def _step(self, steps: int) -> None:
        then = self.time + steps * self._open_scene().step
        self._connection.ask(m.SingleStep(steps))
        self._connection.until(
            lambda: abs(self._connection.time - then) < 0.5 * self._open_scene().step,
            "the steps",
            "step",
        )

    def run(self, seconds: float) -> None:
        """Simulates a duration [s] as fast as possible.

        Returns when the steps are done; the clock is then paused. For real time, use :meth:`play`
        and :meth:`wait`.

        Raises:
            SessionError: If the duration is invalid, or a step is refused.
        """
        check_duration(seconds)
        if steps := round(seconds / self._open_scene().step):
            self.step(steps)
        else:
            self.pause()

    def seek(self, time: float) -> None:
        """Displays the past at a time [s]; later steps continue from there."""
        _check("a time", time, -1e9, 1e9)
        self._connection.ask(m.Seek(time))

    def reset(self) -> None:
        """Restores the initial state."""
        self._connection.ask(m.Reset())

    def speed(self, value: float) -> None:
        """Simulated seconds per real second; 0 is as fast as possible."""
        _check("a speed", value, 0.0, 1000.0)
        self._connection.ask(m.Speed(value))

    def posture(self, name: str) -> None:
        """Moves the robot to a named posture."""
        self._connection.ask(m.Posture(name))

    def record(self, on: bool = True) -> None:
        """Starts or stops a recording."""
        self._connection.ask(m.Record(on))

    def mark(self, text: str = "") -> None:
        """Adds a mark to the recording."""
        self._connection.ask(m.Mark(text))

    def send(self, message: m.FromClient) -> None:
        """Sends any other message of ``linkwork.studio.protocol``.

        Raises:
            SessionError: If the message is refused, or is not a client message.
        """
        if not isinstance(message, m.ClientMessage):
            raise SessionError(
                f"a message of linkwork.studio.protocol is required, not {message!r}.",
                hint="For instance messages.Mark('here').",
            )
        self._connection.ask(message)

    @property
    def time(self) -> float:
        """Simulated time of the newest snapshot [s]."""
        return self._connection.time

    # ---- signals -------------------------------------------------------------------------

    @property
    def signals(self) -> dict[str, m.SignalView]:
        """Every signal of the scene, by name."""
        return {each.name: each for each in self._open_scene().signals}

    def __getitem__(self, signal: str) -> float:
        """The newest value of a signal.

        Raises:
            NameNotFound: If no signal has this name.
        """
        wire = self._connection
        while True:
            with wire.news:  # a new scene may arrive at any time and cancels the watch
                number, values = wire.values
                watched = wire.watched
                if signal in watched and number == self._number:
                    return values[watched.index(signal)]
            self.watch(*watched, signal)

    def __setitem__(self, signal: str, value: float) -> None:
        """Sets an input or parameter, which this client then owns.

        Raises:
            SignalError: If the value is not a finite number, or the studio refuses it.
        """
        self._known(signal)
        check_value(signal, value)
        try:
            self._connection.ask(m.Set(signal, float(value)))
        except SessionError as error:
            raise SignalError(error.message) from None

    def take(self, signal: str) -> None:
        """Takes ownership of an input from its current owner."""
        self._connection.ask(m.Take(signal))

    def release(self) -> None:
        """Releases all inputs."""
        self._connection.ask(m.Release())

    def watch(self, *signals: str) -> None:
        """Sets the signals sent with every snapshot; reading a signal adds it automatically."""
        for each in signals:
            self._known(each)
        wire, wanted = self._connection, list(dict.fromkeys(signals))
        self._number = number = self._number % 60_000 + 1
        wire.watched = wanted
        wire.send(m.Watch(number, wanted))
        if wanted:
            wire.until(
                lambda: wire.values[0] == number or wire.watched is not wanted, "values", "watch"
            )

    def pose(self, body: str) -> tuple[float, ...]:
        """The newest pose of a body: x y z [m], quaternion w x y z.

        Raises:
            NameNotFound: If no body has this name.
        """
        names = [each.name for each in self._open_scene().bodies]
        if body not in names:
            raise not_found("body", body, names)
        row = names.index(body) * 7
        with self._connection.news:
            return self._connection.poses[row : row + 7]

    def wait(
        self,
        until: Callable[[], bool],
        timeout: float | None = None,
        *,
        patience: float | None = None,
    ) -> None:
        """Waits for a condition: ``remote.wait(lambda: remote["eye.distance"] < 0.3)``.

        Raises:
            SessionError: If it does not hold within ``timeout`` [s].
        """
        timeout = _under_old_name(patience, timeout)
        give_up = time.monotonic() + (self._connection.timeout if timeout is None else timeout)
        while not until():
            self._connection.once(give_up, "the condition")

    # ---- clients -------------------------------------------------------------------------

    @property
    def people(self) -> m.People:
        """The connected clients, the driver, and the client that requests control."""
        return self._connection.people

    @property
    def driver(self) -> str | None:
        """Name of the driver."""
        return self._connection.people.driver

    def drive(self) -> None:
        """Requests control and waits until the driver hands over."""
        if self.driver != self.name:
            self._connection.send(m.ControlRequest())
            self._connection.until(lambda: self.driver == self.name, f"{self.driver} to hand over")

    # ---- leaving -------------------------------------------------------------------------

    def close(self) -> None:
        """Disconnects; the session in the studio continues."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open_scene(self) -> m.SceneMessage:
        if self.scene is None:
            raise SessionError("no scene is open in the studio.", hint="Open one: remote.open(…).")
        return self.scene

    def _known(self, signal: str) -> None:
        names = self.signals
        if signal not in names:
            raise not_found("signal", signal, names)


def _check(what: str, value: float, low: float, high: float) -> None:
    if not isinstance(value, Real) or not low <= value <= high:
        raise FormatError(f"{what} is a number from {low:g} to {high:g}, not {value!r}.")


def _under_old_name(patience: float | None, timeout: _T) -> _T | float:
    """Returns the timeout, also if it was given under its former name."""
    if patience is None:
        return timeout
    warnings.warn("'patience' is now called 'timeout'.", DeprecationWarning, stacklevel=3)
    return patience


def connect(
    address: str,
    *,
    token: str = "",
    timeout: float = 30.0,
    tls: ssl.SSLContext | None = None,
    patience: float | None = None,
) -> RemoteSession:
    """Connects to a studio over the network; see :class:`RemoteSession`."""
    timeout = _under_old_name(patience, timeout)
    return RemoteSession(address, token=token, timeout=timeout, tls=tls)
