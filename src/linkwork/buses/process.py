"""BusProcess: a bus served by a process of its own; started, looked after and ended from here."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections import deque

import msgspec

from linkwork.buses.adapter import Adapter
from linkwork.buses.messages import (
    Fed,
    Frame,
    Frames,
    FromProcess,
    Outgoing,
    Ready,
    Replan,
    Report,
    Settings,
    Tell,
    decode_from_process,
    encode,
)
from linkwork.buses.port import BusPlan
from linkwork.errors import LinkworkError
from linkwork.session.link import Left, Limits, SessionEnd, serve

#: How long a process may take to start [s], and how often it is started within a minute.
START, AGAIN = 20.0, 5
#: Lines of the bus log that are kept.
LOG_LINES = 1000

_LIMITS = Limits(message=2**20, backlog=4 * 2**20, peers=4)


class BusProcess:
    """The process that serves one bus.

    Args:
        plan: The bus and its ports.
        adapter: The class that serves it there.

    Attributes:
        plan: The bus and its ports.
        doors: Lines that tell people where it is served.
        status: The adapter's counters, as last reported.
        partners: Who is connected.
        restarts: How often it was started anew.
        log: The newest lines of the bus log.
        logged: Lines logged since the start, with those that were skipped.
        given_up: Whether it is not started any more.
        ready: Whether it serves.
    """

    def __init__(self, plan: BusPlan, adapter: type[Adapter]) -> None:
        self.plan, self._adapter = plan, adapter
        self.version = 1
        self.doors: list[str] = []
        self.status: dict[str, float] = {}
        self.partners = self.restarts = self.logged = 0
        self.log: deque[Frame] = deque(maxlen=LOG_LINES)
        self.given_up = self.ready = False
        self.error = ""
        self.asked = 0  # the turn that was asked for
        self._waiting_for = -1  # its step
        self._peer = self._past = 0  # its number on the link, and that of the process before
        self._taken = 0
        self._last: Outgoing | None = None
        self._starts: list[float] = []
        self.link: SessionEnd = serve(limits=_LIMITS)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def pid(self) -> int:
        """Its process id; 0 if there is none."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Starts the process; it says by itself when it serves."""
        self.ready = False
        self.error = ""
        self._past = max(self._past, self._peer)
        self._peer = self._taken = self.partners = 0
        self._waiting_for = -1
        self._starts.append(time.monotonic())
        path = f"{self._adapter.__module__}:{self._adapter.__qualname__}"
        places = [place for place in sys.path if place]
        settings = Settings(self.link.address, self.link.key, path, places, self.plan, self.version)
        # Of a session of its own: Ctrl-C is for the one who started it, who then ends this.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "linkwork.buses"], stdin=subprocess.PIPE, start_new_session=True
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.msgpack.encode(settings))
            self._process.stdin.close()

    def replan(self, plan: BusPlan) -> None:
        """Tells the process of other ports; another kind of bus begins anew."""
        before, self.plan = self.plan, plan
        self.version += 1
        self._taken = 0
        self._waiting_for = -1
        same = (before.type, before.params, before.lockstep, before.plant)
        if same == (plan.type, plan.params, plan.lockstep, plan.plant):
            self.link.emit(encode(Replan(plan, self.version)))
        else:
            self._starts.clear()
            self.given_up = False
            self.end()
            self.start()

    # ---- talking -----------------------------------------------------------------------------

    def receive(self) -> list[FromProcess | str]:
        """What the process says; garbage as a sentence about it."""
        found: list[FromProcess | str] = []
        for peer, item in self.link.receive():
            if peer <= self._past:
                continue  # of a process that has ended
            if not isinstance(item, bytes):
                if isinstance(item, Left) and peer == self._peer:
                    self.ready = False
                continue
            try:
                message = decode_from_process(item)
            except LinkworkError as error:
                found.append(str(error))
                continue
            if isinstance(message, Ready):
                self._peer = peer
            self._note(message)
            found.append(message)
        return found

    def _note(self, message: FromProcess) -> None:
        match message:
            case Ready():
                self.ready, self.doors = not message.error, message.doors
                self.error = message.error
                if self._last is not None:
                    self.link.publish(encode(self._last))
            case Fed():
                # Both ends count anew for each plan; one of the plan before may be under way.
                self._taken += message.version == self.version
            case Report():
                self.partners, self.status = message.partners, message.counters
            case Frames():
                self.log.extend(message.frames)
                self.logged += len(message.frames) + message.skipped

    def publish(self, step: int, now: float, values: list[float], *, turn: bool = False) -> None:
        """Hands on values; ``turn`` asks the partner for its turn."""
        if turn:
            self.asked += 1
            self._waiting_for = step
        number = self.asked if turn else 0
        self._last = Outgoing(self.version, step, now, number, self._taken, values)
        self.link.publish(encode(self._last))

    def refresh(self, values: list[float] | None) -> None:
        """Says how many feeds were taken, and what a hand changed while time stands still.

        Args:
            values: What is given out now; None if it is as it was.
        """
        last = self._last
        if last is None or last.version != self.version:
            return
        values = last.values if values is None else values
        if last.taken != self._taken or last.values != values:
            self._last = msgspec.structs.replace(last, taken=self._taken, values=values)
            self.link.publish(encode(self._last))

    def is_asked(self, step: int) -> bool:
        """Whether the partner knows that its turn for ``step`` is due."""
        return self._waiting_for == step

    def answered(self, turn: int) -> bool:
        """Whether this is the turn that is due; it was had then."""
        due = self._waiting_for >= 0 and turn == self.asked
        if due:
            self._waiting_for = -1
        return due

    def settle(self) -> None:
        """Asks no more for the turn that is due: a late answer to an older question will do."""
        self._waiting_for = -1

    def tell(self, name: str, args: dict[str, object]) -> None:
        """Gives the process an order."""
        self.link.emit(encode(Tell(name, args)))

    # ---- looking after -----------------------------------------------------------------------

    def look_after(self) -> tuple[str, str]:
        """Starts the process anew if it has died; returns level and text of what there is to say.

        The text is empty as long as all is well.
        """
        process = self._process
        if self.given_up or process is None:
            return "", ""
        code = process.poll()
        if code is None:
            if self.ready or time.monotonic() - self._starts[-1] < START:
                return "", ""
            self.end(0.0)  # it hangs
        if self.error:  # it said so itself: starting anew would end the same way
            self.given_up = True
            return "error", f"it cannot be served: {self.error}"
        recent = [start for start in self._starts if time.monotonic() - start < 60.0]
        self._starts = recent
        if len(recent) > AGAIN:
            self.given_up = True
            return "error", "its process keeps ending; the session goes on without it."
        self.restarts += 1
        self.start()
        return "warning", "its process had ended; it was started anew."

    def end(self, patience: float = 1.0) -> None:
        """Ends the process; it has ``patience`` [s] to shut its doors."""
        process, self._process = self._process, None
        self.ready = False
        if process is None:
            return
        if self._peer and patience:
            self.link.drop(self._peer, "the bus is not served any more")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)
        process.kill()
        process.wait()

    def close(self) -> None:
        """Ends the process and its link."""
        self.given_up = True
        self.end(3.0)
        self.link.close()
