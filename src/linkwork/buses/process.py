"""BusProcess: the process that serves one bus."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections import deque

import msgspec

from linkwork.buses.adapter import Adapter
from linkwork.buses.messages import (
    ActiveFault,
    BusOrder,
    BusProcessSettings,
    BusReady,
    BusReport,
    FromProcess,
    InputValues,
    LogFrame,
    LogFrames,
    LogNote,
    OutputValues,
    Ping,
    PlanUpdate,
    Pong,
    decode_from_process,
    encode,
)
from linkwork.buses.port import BusPlan
from linkwork.core.errors import LinkworkError, SessionError
from linkwork.link import LinkLimits, PeerLeft, SessionEnd, serve

#: Maximum time for a process to start [s], and maximum number of starts within a minute.
START_TIMEOUT, MAX_STARTS_PER_MINUTE = 20.0, 5
#: A process that does not answer for so long hangs [s]; period of the requests [s], and how often
#: the session itself must have looked meanwhile.
HUNG_AFTER, PING_PERIOD, MIN_LOOKS = 1.0, 0.25, 3
#: Lines of the bus log that are kept.
LOG_LINES = 1000

_LIMITS = LinkLimits(message=2**20, backlog=4 * 2**20, peers=4)


class BusProcess:
    """The process that serves one bus.

    Args:
        plan: The bus and its ports.
        adapter: The adapter class.
        allow: What it may do; see ``linkwork.session.bus_interface.PERMISSIONS``.

    Attributes:
        plan: The bus and its ports.
        endpoints: Descriptions of where it is served.
        status: The adapter's counters, as last reported.
        faults: Active faults on the wire, as last reported.
        clients: Number of connected clients.
        restarts: Number of restarts.
        log: The newest lines of the bus log.
        logged: Lines logged since the start, with those that were skipped.
        given_up: Whether it is no longer restarted.
        ready: Whether it serves.
        error: Why the adapter could not start; None if it did.
        hung: Whether it does not answer.
    """

    def __init__(
        self, plan: BusPlan, adapter: type[Adapter], allow: frozenset[str] = frozenset()
    ) -> None:
        self.plan, self._adapter, self._allow = plan, adapter, allow
        self._served: BusPlan | None = None  # the plan whose endpoints were open
        self.version = 1
        self.endpoints: list[str] = []
        self.status: dict[str, float] = {}
        self.faults: list[ActiveFault] = []
        self.clients = self.restarts = self.logged = 0
        self.log: deque[LogFrame] = deque(maxlen=LOG_LINES)
        self.given_up = self.ready = self.hung = False
        self._pinged, self._ping, self._pong, self._looks = 0.0, 0, 0, 0
        self.error: LinkworkError | None = None
        self.asked = 0  # the requested turn
        self._waiting_for = -1  # its step
        self._peer = self._past = 0  # its number on the link, and that of the process before
        self._taken = 0
        self._last: OutputValues | None = None
        self._starts: list[float] = []
        self.link: SessionEnd = serve(limits=_LIMITS)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def pid(self) -> int:
        """Its process id; 0 if there is none."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Starts the process; it reports when it serves."""
        self.ready = self.hung = False
        self.error = None
        self._pong = self._ping
        self._past = max(self._past, self._peer)
        self._peer = self._taken = self.clients = 0
        self._waiting_for = -1
        self._starts.append(time.monotonic())
        exposure = self._adapter.exposure(self.plan)
        if exposure and "network" not in self._allow:
            self.error = SessionError(
                f"it {exposure}, and a scene may not open a bus to other machines by itself.",
                hint="If you trust it: --allow network, or Session(…, allow=['network']).",
            )
            return
        allow = set(self._allow)
        if self._served is not None and self._served.params == self.plan.params:
            allow.add("replace-links")  # those of the process before
        path = f"{self._adapter.__module__}:{self._adapter.__qualname__}"
        search_path = [place for place in sys.path if place]
        settings = BusProcessSettings(
            self.link.address, self.link.key, path, search_path, self.plan, self.version,
            sorted(allow),
        )  # fmt: skip
        # In a session of its own: Ctrl-C goes to the parent process, which then ends this one.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "linkwork.buses"],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.msgpack.encode(settings))
            self._process.stdin.close()

    def replan(self, plan: BusPlan) -> None:
        """Sends new ports to the process; another kind of bus restarts it."""
        before, self.plan = self.plan, plan
        self.version += 1
        self._taken = 0
        self._waiting_for = -1
        same = (before.type, before.params, before.lockstep, before.plant)
        if same == (plan.type, plan.params, plan.lockstep, plan.plant):
            self.link.emit(encode(PlanUpdate(plan, self.version)))
        else:
            self._starts.clear()
            self.given_up = False
            self.end()
            self.start()

    # ---- messages ----------------------------------------------------------------------------

    def receive(self) -> list[FromProcess | LinkworkError]:
        """Returns the messages of the process; for an invalid one the error."""
        found: list[FromProcess | LinkworkError] = []
        for peer, item in self.link.receive():
            if peer <= self._past:
                continue  # of a process that has ended
            if not isinstance(item, bytes):
                if isinstance(item, PeerLeft) and peer == self._peer:
                    self.ready = False
                continue
            try:
                message = decode_from_process(item)
            except LinkworkError as error:
                found.append(error)
                continue
            if isinstance(message, BusReady):
                self._peer = peer
            self._pong = self._ping  # any message shows that it runs
            if isinstance(message, Pong):
                continue
            self._note(message)
            found.append(message)
        return found

    def _note(self, message: FromProcess) -> None:
        match message:
            case BusReady():
                self.ready, self.endpoints = message.error is None, message.endpoints
                if message.error is None:
                    self._served = self.plan
                else:
                    self.error = LinkworkError.from_record(message.error)
                if self._last is not None:
                    self.link.publish(encode(self._last))
            case InputValues():
                # Both ends count from 0 for each plan; a message of the last plan may arrive late.
                self._taken += message.version == self.version
            case BusReport():
                self.clients, self.status = message.clients, message.counters
                self.faults = message.faults
            case LogFrames():
                self.log.extend(message.frames)
                self.logged += len(message.frames) + message.skipped

    def publish(self, step: int, now: float, values: list[float], *, turn: bool = False) -> None:
        """Sends values; ``turn`` requests the client's turn."""
        if turn:
            self.asked += 1
            self._waiting_for = step
        number = self.asked if turn else 0
        self._last = OutputValues(self.version, step, now, number, self._taken, values)
        self.link.publish(encode(self._last))

    def refresh(self, values: list[float] | None) -> None:
        """Sends the count of taken inputs, and outputs that changed while paused.

        Args:
            values: The outputs; None if they are unchanged.
        """
        last = self._last
        if last is None or last.version != self.version:
            return
        values = last.values if values is None else values
        if last.taken != self._taken or last.values != values:
            self._last = msgspec.structs.replace(last, taken=self._taken, values=values)
            self.link.publish(encode(self._last))

    def is_asked(self, step: int) -> bool:
        """Returns whether the turn for ``step`` was requested."""
        return self._waiting_for == step

    def answered(self, turn: int) -> bool:
        """Returns whether this is the requested turn, and marks it as taken."""
        due = self._waiting_for >= 0 and turn == self.asked
        if due:
            self._waiting_for = -1
        return due

    def settle(self) -> None:
        """Cancels the requested turn: a late answer to an earlier request counts."""
        self._waiting_for = -1

    def send_order(self, name: str, args: dict[str, object]) -> None:
        """Sends an order to the process."""
        self.link.emit(encode(BusOrder(name, args)))

    # ---- supervision -------------------------------------------------------------------------

    def poll(self) -> LogNote | None:
        """Restarts the process if it has died; returns what is to be logged, or None."""
        process = self._process
        if self.given_up or (process is None and self.error is None):
            return None
        if process is not None and process.poll() is None:
            if self.ready or time.monotonic() - self._starts[-1] < START_TIMEOUT:
                return None
            self.end(0.0)  # it hangs
        if self.error is not None:  # a restart would fail, too
            self.given_up = True
            error = SessionError(
                f"it cannot be served: {self.error.message}",
                origin=self.error.origin,
                hint=self.error.hint,
            )
            return LogNote.of(error)
        recent = [start for start in self._starts if time.monotonic() - start < 60.0]
        self._starts = recent
        if len(recent) > MAX_STARTS_PER_MINUTE:
            self.given_up = True
            return LogNote("its process keeps ending; the session continues without it.", "error")
        self.restarts += 1
        self.start()
        return LogNote("its process had ended; it was restarted.", "warning")

    def heartbeat(self) -> bool:
        """Requests an answer from the process; returns whether :attr:`hung` has changed.

        One request is open at a time: a session that does not look collects no answers.
        """
        if not self.ready:
            return False
        now = time.monotonic()
        if self._pong == self._ping:
            if now - self._pinged >= PING_PERIOD:
                self._ping, self._pinged, self._looks = self._ping + 1, now, 0
                self.link.emit(encode(Ping(self._ping)))
            hung = False
        else:
            self._looks += 1
            hung = self.hung or (now - self._pinged > HUNG_AFTER and self._looks >= MIN_LOOKS)
        changed, self.hung = hung != self.hung, hung
        return changed

    def end(self, timeout: float = 1.0) -> None:
        """Ends the process; it has ``timeout`` [s] to close its endpoints."""
        process, self._process = self._process, None
        self.ready = False
        if process is None:
            return
        if self._peer and timeout:
            self.link.drop(self._peer, "the bus is no longer served")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout)
        process.kill()
        process.wait()

    def close(self) -> None:
        """Ends the process and its link."""
        self.given_up = True
        self.end(3.0)
        self.link.close()
