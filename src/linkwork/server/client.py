"""Client: drives a studio from Python over the network, with the studio's own messages."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from numbers import Integral, Real
from types import TracebackType
from typing import TYPE_CHECKING, Self

from linkwork.errors import FormatError, SessionError, SignalError, not_found
from linkwork.server import messages as m
from linkwork.server.wire import Wire
from linkwork.session.durations import check_duration
from linkwork.signals import check_value

if TYPE_CHECKING:
    import ssl

#: Steps that are asked for at once.
_STEPS = 500


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
        self._wire = Wire(address, token, patience, tls)
        self._number = 0
        self._wire.until(lambda: bool(self.name), "a greeting")
        self._wire.until(lambda: not self._wire.expects, "the scene that is open")

    @property
    def name(self) -> str:
        """How the others see this client."""
        return self._wire.name

    @property
    def scene(self) -> m.Scene | None:
        """What is open, as the studio describes it; None if nothing is."""
        return self._wire.scene

    @property
    def status(self) -> m.Status | None:
        """How the run stands; None before the first picture."""
        return self._wire.status

    @property
    def events(self) -> deque[m.Event]:
        """What happened, newest last."""
        return self._wire.events

    # ---- the run -------------------------------------------------------------------------

    def open(self, scene: str) -> None:
        """Opens a scene or part by a kit's name, a file of the studio's folders, a recording."""
        before = self.scene.opened if self.scene is not None else -1
        self._wire.send(m.Open(scene))
        self._wire.until(
            lambda: self.scene is not None and self.scene.opened != before, f"{scene} open", "open"
        )
        self._wire.until(
            lambda: self._wire.version == self._open_scene().version, "a picture of it"
        )

    def play(self) -> None:
        """Lets time run."""
        self._wire.ask(m.Play())

    def pause(self) -> None:
        """Stops time."""
        self._wire.ask(m.Pause())
        self._wire.until(lambda: self.status is not None and not self.status.running, "rest")

    def step(self, steps: int = 1) -> None:
        """Stops time and does steps; they are done when this returns."""
        if not isinstance(steps, Integral) or steps < 1:
            raise SessionError(
                f"steps are a whole number, 1 or more, not {steps!r}.",
                hint="Back leads seek(time).",
            )
        if self.status is None or self.status.running:
            self.pause()
        for done in range(0, int(steps), _STEPS):
            self._step(min(int(steps) - done, _STEPS))

    def _step(self, steps: int) -> None:
        then = self.time + steps * self._open_scene().step
        self._wire.ask(m.Step(steps))
        self._wire.until(
            lambda: abs(self._wire.time - then) < 0.5 * self._open_scene().step, "the steps", "step"
        )

    def run(self, seconds: float) -> None:
        """Does the steps of so much simulated time, as fast as they can be done [s].

        They are done when this returns, and time stands. To see them in real time, use
        :meth:`play` and :meth:`wait`.

        Raises:
            SessionError: If it is no time, or a step is refused.
        """
        check_duration(seconds)
        if steps := round(seconds / self._open_scene().step):
            self.step(steps)
        else:
            self.pause()

    def seek(self, time: float) -> None:
        """Shows the past at a time [s]; what is done next goes on from there."""
        _check("a time", time, -1e9, 1e9)
        self._wire.ask(m.Seek(time))

    def reset(self) -> None:
        """Goes back to the first state."""
        self._wire.ask(m.Reset())

    def speed(self, value: float) -> None:
        """Simulated seconds per real second; 0 is as fast as possible."""
        _check("a speed", value, 0.0, 1000.0)
        self._wire.ask(m.Speed(value))

    def posture(self, name: str) -> None:
        """Puts the robot into a named posture."""
        self._wire.ask(m.Posture(name))

    def record(self, on: bool = True) -> None:
        """Begins or ends a recording."""
        self._wire.ask(m.Record(on))

    def mark(self, text: str = "") -> None:
        """Puts a mark into the recording."""
        self._wire.ask(m.Mark(text))

    def send(self, message: m.FromClient) -> None:
        """Asks for anything else that the studio knows, ``linkwork.server.messages``.

        Raises:
            SessionError: If it is refused, or no message.
        """
        if not isinstance(message, m.ClientMessage):
            raise SessionError(
                f"a message of linkwork.server.messages is sent, not {message!r}.",
                hint="For instance messages.Mark('here').",
            )
        self._wire.ask(message)

    @property
    def time(self) -> float:
        """Simulated time of the newest picture [s]."""
        return self._wire.time

    # ---- signals -------------------------------------------------------------------------

    @property
    def signals(self) -> dict[str, m.SignalView]:
        """Every signal of the scene, by name."""
        return {each.name: each for each in self._open_scene().signals}

    def __getitem__(self, signal: str) -> float:
        """The newest value of a signal.

        Raises:
            NameNotFound: If there is none of this name.
        """
        wire = self._wire
        while True:
            with wire.news:  # a new scene may come at any time, and ends what was watched
                number, values = wire.values
                watched = wire.watched
                if signal in watched and number == self._number:
                    return values[watched.index(signal)]
            self.watch(*watched, signal)

    def __setitem__(self, signal: str, value: float) -> None:
        """Sets an input or parameter, which this client then owns.

        Raises:
            SignalError: If it is no finite number, or the studio refuses it.
        """
        self._known(signal)
        check_value(signal, value)
        try:
            self._wire.ask(m.Set(signal, float(value)))
        except SessionError as error:
            raise SignalError(error.message) from None

    def take(self, signal: str) -> None:
        """Takes an input over from whoever has it."""
        self._wire.ask(m.Take(signal))

    def release(self) -> None:
        """Gives all inputs back."""
        self._wire.ask(m.Release())

    def watch(self, *signals: str) -> None:
        """Says which signals are wanted with every picture; reading one does so by itself."""
        for each in signals:
            self._known(each)
        wire, wanted = self._wire, list(dict.fromkeys(signals))
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
            NameNotFound: If there is none of this name.
        """
        names = [each.name for each in self._open_scene().bodies]
        if body not in names:
            raise not_found("body", body, names)
        row = names.index(body) * 7
        with self._wire.news:
            return self._wire.poses[row : row + 7]

    def wait(self, until: Callable[[], bool], patience: float | None = None) -> None:
        """Waits until something holds: ``remote.wait(lambda: remote["eye.distance"] < 0.3)``.

        Raises:
            SessionError: If it does not within ``patience`` [s].
        """
        give_up = time.monotonic() + (self._wire.patience if patience is None else patience)
        while not until():
            self._wire.once(give_up, "the condition")

    # ---- people --------------------------------------------------------------------------

    @property
    def people(self) -> m.People:
        """Who is there, who drives, and who asks to."""
        return self._wire.people

    @property
    def driver(self) -> str | None:
        """Who drives."""
        return self._wire.people.driver

    def drive(self) -> None:
        """Asks to drive, and waits until whoever does hands over."""
        if self.driver != self.name:
            self._wire.send(m.ControlRequest())
            self._wire.until(lambda: self.driver == self.name, f"{self.driver} to hand over")

    # ---- leaving -------------------------------------------------------------------------

    def close(self) -> None:
        """Leaves the studio; what runs there goes on."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open_scene(self) -> m.Scene:
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


def connect(
    address: str,
    *,
    token: str = "",
    patience: float = 30.0,
    tls: ssl.SSLContext | None = None,
) -> RemoteSession:
    """Joins a studio over the network; see :class:`RemoteSession`."""
    return RemoteSession(address, token=token, patience=patience, tls=tls)
