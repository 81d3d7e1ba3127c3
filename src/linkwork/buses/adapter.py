"""Adapter: base class of the bus types."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from linkwork.buses.input_buffer import InputBuffer, MessageSink
from linkwork.buses.messages import (
    MAX_FRAMES,
    ActiveFault,
    BusReport,
    LineKind,
    LogFrame,
    LogFrames,
    LogNote,
)
from linkwork.buses.port import BusPlan
from linkwork.core.errors import FormatError, LinkworkError, Origin, SignalError
from linkwork.core.value_types import is_number

#: Maximum magnitude of an input.
_MAX_VALUE = 1e300


@dataclass(frozen=True)
class WireSignal:
    """Bits of a frame with their meaning: value = raw · scale + offset.

    Attributes:
        name: Name.
        start: First bit, counted as in a DBC file (byte · 8 + bit): the lowest one, or the highest
            if ``big_endian``.
        bits: Number of bits.
        big_endian: Whether the highest byte comes first (Motorola); else Intel.
        signed: Whether raw values are two's complement.
        real: Whether the bits are an IEEE number.
        scale: Physical value of one step.
        offset: Value of raw 0.
        unit: Its unit.
        words: Names of raw values.
        parent: The multiplexer that selects this signal; empty if it is always present.
        ranges: Raw values of the parent that select it, first and last of each range.
    """

    name: str
    start: int
    bits: int
    big_endian: bool = False
    signed: bool = False
    real: bool = False
    scale: float = 1.0
    offset: float = 0.0
    unit: str = ""
    words: dict[int, str] = field(default_factory=dict)
    parent: str = ""
    ranges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class WireFrame:
    """A frame.

    Attributes:
        address: As in the log: ``201``.
        way: ``in`` or ``out`` if the meaning holds in one direction only; empty for both.
        name: Its name in a file; empty if it has none.
        length: Bytes.
        signals: Its signals.
    """

    address: str
    way: str
    name: str
    length: int
    signals: tuple[WireSignal, ...]


if TYPE_CHECKING:
    from linkwork.buses.block import BusBlock
    from linkwork.buses.bus_processes import BusProcesses
    from linkwork.model.parts import Spec
    from linkwork.model.world import World
    from linkwork.session.session import Session

#: Maximum number of log lines that wait to be sent.
MAX_LOG_LINES = 1000


class PlanError(FormatError):
    """A plan that an adapter cannot serve.

    Args:
        message: The error.
        key: The invalid signal of a port; empty if the error concerns the bus.
        origin: Where it was defined.
        hint: How to fix it.
    """

    def __init__(
        self, message: str, *, key: str = "", origin: Origin | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, origin=origin, hint=hint)
        self.key = key


class NoParams(msgspec.Struct, forbid_unknown_fields=True):
    """No parameters beyond the common ones."""


class AnyAddress(msgspec.Struct):
    """Addresses without keys of their own."""


class Adapter:
    """Base of every bus type: communicates with external programs, in its own process.

    A type is registered in ``linkwork.core.registry.BUSES`` (or by the entry point group
    ``linkwork.buses``) as a subclass that sets

    * ``Params``: a msgspec struct of the keys that ``[[bus]]`` has beyond the common ones;
    * ``Address``: a msgspec struct of the keys that a signal has beyond the common ones;
    * ``counters``: counters of its own with their units; each becomes the signal ``<bus>.<name>``,
      beside ``invalid``, which every type has;
    * ``lockstep_counters``: counters that do not depend on the clients' response time; in lock-step
      only these become signals, with their values at each turn;
    * ``single_controller``: whether one client commands all ports, so that any message shows
      that it is there for each; else every port has an age of its own;
    * ``faults``: faults that the order ``fault`` can inject ("drop", "delay", …), whose
      arguments ``FaultOrder`` checks; the order ``clear`` ends those of a ``name``;
    * ``orders``: its commands, each with a msgspec struct of the arguments;

    and implements

    * :meth:`check`: checks a plan (in the session's process);
    * :meth:`exposure`: what it opens to other machines;
    * :meth:`fill`: keys of a signal from a file of its own;
    * :meth:`start`: opens its endpoints and returns a description of each;
    * :meth:`outgoing`: gets the values of ``plan.outputs`` after a control period; commands for a
      real plant are missing until a controller has set them;
    * :meth:`order`: executes a command;
    * :meth:`replanned`: applies new ports after a live edit;
    * :meth:`close`: closes its endpoints.

    It calls :meth:`feed` with received values, :meth:`joined` and :meth:`left` as clients connect
    and disconnect, :meth:`gone` when the controller leaves while others stay, :meth:`count` for its
    counters, :meth:`log` for each frame and :meth:`note` for messages.
    Everything runs in one asyncio loop; no method may block, and threads of a library call
    ``loop.call_soon_threadsafe``. Values are physical, in the signals'
    units; ``plan.outputs[key].quant`` and ``plan.inputs[key].quant`` encode them. An exception
    in these methods ends the process; the session logs it and restarts the process.

    In lock-step the scene waits for the end of a turn: ``outgoing`` has ``self.turn`` > 0 then,
    and the client's answer is passed on by ``feed(values, turn=self.turn)``, together with
    all values since the last turn. Without lock-step omit ``turn``.

    Args:
        plan: The bus and its ports.
        sink: Receives the messages to the session.

    Attributes:
        plan: The bus and its ports; another object after a live edit.
        params: The parameters of its own, as ``Params``.
        turn: Number of the turn that the scene waits for, or 0.
        step, time: Steps and simulated time [s] of the last values.
        values: The last values of ``plan.outputs`` by key; empty before the first.
        clients: Number of connected clients.
    """

    Params: ClassVar[type[msgspec.Struct]] = NoParams
    Address: ClassVar[type[msgspec.Struct]] = AnyAddress
    counters: ClassVar[Mapping[str, str]] = {"invalid": ""}
    lockstep_counters: ClassVar[tuple[str, ...]] = ()
    single_controller: ClassVar[bool] = False
    faults: ClassVar[tuple[str, ...]] = ()
    FaultOrder: ClassVar[type[msgspec.Struct]] = NoParams
    orders: ClassVar[Mapping[str, type[msgspec.Struct]]] = {}

    def __init_subclass__(cls) -> None:
        """Adds the counter ``invalid``, which every type has."""
        super().__init_subclass__()
        cls.counters = {**Adapter.counters, **cls.counters}

    def __init__(self, plan: BusPlan, sink: MessageSink) -> None:
        self.plan = plan
        self.params: Any = msgspec.convert(plan.params, self.Params)
        self._sink = sink
        self.turn = self.step = 0
        self.time = 0.0
        self.values: dict[str, float] = {}
        self.clients = 0
        self._counts: dict[str, float] = dict.fromkeys(self.counters, 0.0)
        self._input_buffer = InputBuffer(
            sink, lockstep=plan.lockstep, counters=self._lockstep_counter_values
        )
        self._frames: deque[LogFrame] = deque(maxlen=MAX_LOG_LINES)
        self._skipped = 0
        self.logging = True
        self.allow: frozenset[str] = frozenset()
        self._faulty: set[str] = set()  # signals already logged as invalid
        self._last_report: BusReport | None = None
        self._due = 0.0
        self._seen: tuple[Any, ...] = ()

    # ---- interface to the session (session.bus_interface.BusType) --------------------------

    @classmethod
    def block(cls, world: World, spec: Spec) -> BusBlock:
        """Builds the block of one bus of a world."""
        from linkwork.buses.block import BusBlock  # not in the bus process, which needs no world

        return BusBlock(world, spec)

    @classmethod
    def service(cls, session: Session) -> BusProcesses:
        """Builds the service of the buses of a session whose types inherit this method."""
        from linkwork.buses.bus_processes import BusProcesses

        return BusProcesses(session)

    # ---- implemented by a type --------------------------------------------------------------

    @classmethod
    def check(cls, plan: BusPlan) -> list[PlanError]:
        """Returns why a plan cannot be served; the first error is shown.

        It is shown at the line of the port whose signal is its ``key``, else at that of the bus.
        """
        return []

    @classmethod
    def exposure(cls, plan: BusPlan) -> str:
        """Returns what the bus opens to other machines, as a verb phrase; empty for nothing.

        A scene opens such a bus only with the permission "network".
        """
        return ""

    @classmethod
    def fill(cls, params: dict[str, Any], address: dict[str, Any], unit: str) -> dict[str, Any]:
        """Returns keys of a signal (bits, scale, …) that the type reads from a file of its own.

        Args:
            params: Parameters of the bus.
            address: Keys of the signal beyond the common ones.
            unit: Unit of the scene's signal behind it; empty without one.

        Returns:
            Common keys of the signal; those of the scene's file take precedence.
        """
        return {}

    @classmethod
    def wire(cls, plan: BusPlan) -> list[WireFrame]:
        """Returns the layout of the frames; empty if the type has no fixed layout."""
        return []

    async def start(self) -> list[str]:
        """Opens the endpoints; returns a description of each, "socketcand on 127.0.0.1:29536".

        Raises:
            LinkworkError: If it fails; the bus is not served then.
        """
        return []

    def outgoing(self, values: dict[str, float]) -> None:
        """Receives the values of ``plan.outputs``; see :attr:`step`, :attr:`turn`."""

    def order(self, name: str, args: dict[str, Any]) -> None:
        """Executes a command.

        Raises:
            LinkworkError: If it fails; the error is logged.
        """
        raise SignalError(f"{self.plan.type} has no order {name!r}.")

    def replanned(self, before: BusPlan) -> None:
        """Applies :attr:`plan` after an edit; ``before`` is the previous plan."""

    async def close(self) -> None:
        """Closes the endpoints."""

    # ---- called by a type ------------------------------------------------------------------

    def feed(self, values: Mapping[str, float], *, turn: int = 0) -> None:
        """Passes received values to the session, which applies the newest with the next step.

        The session clamps values to the signal's range; unknown keys and values that are not finite
        are counted as ``invalid`` and ignored.

        Args:
            values: Physical values by key of ``plan.inputs``.
            turn: The turn that this ends, in lock-step.
        """
        inputs: dict[str, float] = {}
        for key, value in values.items():
            signal = self.plan.inputs.get(key)
            if signal is None or not (is_number(value) and abs(value) <= _MAX_VALUE):
                self._refuse(key, value, known=signal is not None)
            else:
                inputs[key] = float(value)
        if inputs or turn:
            self._input_buffer.put(inputs, turn)

    def _refuse(self, key: str, value: object, *, known: bool) -> None:
        """Counts an invalid value; logs it once for each signal."""
        self.count("invalid")
        if known and key not in self._faulty:
            self._faulty.add(key)
            text = (
                f"{key} came with {str(value)[:40]}, which is not a finite number; it is ignored."
            )
            self.note(text, "warning")

    def joined(self) -> None:
        """Counts a client that has connected."""
        self.clients += 1
        self.report()

    def left(self) -> None:
        """Counts a client that has left; when the last one leaves, the controller is lost."""
        self._input_buffer.flush(at_once=True)
        self.clients = max(0, self.clients - 1)
        self.report()

    def gone(self, keys: Iterable[str] | None = None) -> None:
        """Reports that the controller is lost, though other clients may still be connected.

        Args:
            keys: The inputs that it commanded; all if None.
        """
        if keys is None:
            keys = () if self.plan.lockstep else self.plan.inputs
        self._input_buffer.gone(keys)

    def count(self, name: str, by: float = 1.0) -> None:
        """Increments one of :attr:`counters`."""
        self._counts[name] += by

    def _lockstep_counter_values(self) -> dict[str, float]:
        return {name: self._counts[name] for name in self.lockstep_counters}

    def gauge(self, name: str, value: float) -> None:
        """Sets one of :attr:`counters` to a value, such as a load or a rate."""
        self._counts[name] = value

    def log(
        self, way: str, address: str = "", data: bytes = b"", text: str = "", mark: str = "",
        time: float | None = None, kind: LineKind = "data",
    ) -> None:  # fmt: skip
        """Adds a line to the bus log; the oldest are dropped if there are too many.

        Args:
            way: "in", "out" or "" for neither.
            address: Identifier as text.
            data: The bytes.
            text: Description of the content, for people.
            mark: Effect of a fault; empty for none.
            time: Simulated time [s]; now if None.
            kind: What the line shows.
        """
        if not self.logging:
            return
        if len(self._frames) == MAX_LOG_LINES:
            self._skipped += 1
        when = self.time if time is None else time
        data, text = bytes(data[:4096]), text[:1000]
        frame = LogFrame(when, way[:8], address[:100], data, text, mark[:20], kind)
        self._frames.append(frame)

    def note(self, text: str, level: str = "info") -> None:
        """Logs a message; level "info", "warning" or "error"."""
        self._sink.send(LogNote(text[:2000], level))

    def note_error(self, error: LinkworkError) -> None:
        """Logs an error, with its origin and hint as data."""
        self._sink.send(LogNote.of(error))

    def status(self) -> dict[str, float]:
        """Returns the counters."""
        return dict(self._counts)

    def active_faults(self) -> list[ActiveFault]:
        """Returns the faults that are active on the wire."""
        return []

    # ---- called by the process -------------------------------------------------------------

    @property
    def version(self) -> int:
        """Number of the plan."""
        return self._input_buffer.version

    def taken(self, version: int, taken: int) -> None:
        """Notes how many inputs the session has taken."""
        self._input_buffer.taken(version, taken)

    def arrived(self, step: int, time: float, turn: int, values: list[float]) -> None:
        """Receives a snapshot of the session."""
        pairs = zip(self.plan.outputs, values, strict=True)
        new = {key: value for key, value in pairs if not math.isnan(value)}
        if self._seen == (step, turn, new):
            return  # only the count of taken inputs has changed
        self._seen = step, turn, new
        self.step, self.time, self.turn, self.values = step, time, turn, new
        self.outgoing(new)

    def replan(self, plan: BusPlan, version: int) -> None:
        """Receives another plan."""
        before, self.plan = self.plan, plan
        self.params = msgspec.convert(plan.params, self.Params)
        self._input_buffer.replan(plan.inputs, version)
        self.values = {}
        self._seen = ()
        self.replanned(before)

    def report(self) -> None:
        """Sends the status."""
        report = BusReport(self.clients, self.status(), self.active_faults())
        if self._sink.send(report):
            self._last_report = report

    async def run_reports(self) -> None:
        """Sends status and log periodically, for as long as the process runs."""
        while True:
            await asyncio.sleep(0.1)
            self._input_buffer.flush()  # inputs that did not fit before
            if self._frames:
                count = min(len(self._frames), MAX_FRAMES)
                frames = [self._frames.popleft() for _ in range(count)]
                sent = self._sink.send(LogFrames(frames, self._skipped))
                self._skipped = 0 if sent else self._skipped + count
            now = time.monotonic()
            report = BusReport(self.clients, self.status(), self.active_faults())
            if now >= self._due and self._last_report != report:
                self._due = now + 0.5
                self.report()
