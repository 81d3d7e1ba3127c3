"""Adapter: what a type of bus does in its process; one class per type."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import msgspec

from linkwork.buses.latch import Latch, Outlet
from linkwork.buses.messages import MOST_FRAMES, Frame, Frames, Note, Report
from linkwork.buses.port import BusPlan
from linkwork.buses.wire import WireFrame
from linkwork.errors import SignalError

#: Lines of the log that wait to be shown, at most.
LOG_LINES = 1000


class NoParams(msgspec.Struct, forbid_unknown_fields=True):
    """A type without parameters of its own."""


class AnyAddress(msgspec.Struct):
    """Addresses that are not looked at."""


class Adapter:
    """Base of every type of bus: speaks with the world outside, in a process of its own.

    A type is registered in ``linkwork.registry.BUSES`` (or by the entry point group
    ``linkwork.buses``) as a subclass that sets

    * ``Params``: a msgspec struct of the keys that ``[[bus]]`` has beyond the common ones;
    * ``Address``: a msgspec struct of the keys that a signal has beyond the common ones;
    * ``counters``: counters of its own with their units; each becomes the signal ``<bus>.<name>``,
      beside ``invalid``, which every type has;
    * ``steady``: those of the counters that are the same however long partners think; in lock-step
      only these become signals, as they stand at each turn;
    * ``together``: whether one partner at a time commands all ports, so that whatever he says shows
      that he is there for each; else every port has an age of its own;
    * ``faults``: what can go wrong on its wire by the order ``fault`` ("drop", "delay", …), whose
      arguments ``FaultOrder`` checks; the order ``clear`` ends those of a ``name``;
    * ``orders``: what people may tell it, each with a msgspec struct of what it takes;

    and fills in

    * :meth:`check`: refuses plans that it cannot serve (runs in the session's process);
    * :meth:`fill`: what it knows of a signal from a file of its own;
    * :meth:`start`: opens its doors and returns lines that tell people where;
    * :meth:`outgoing`: gets the values of ``plan.given`` after a control period; commands for a
      real plant are not among them before somebody has given them;
    * :meth:`order`: does what people or rules ask for: faults and the like;
    * :meth:`replanned`: takes over new ports after a live edit;
    * :meth:`close`: shuts its doors.

    It calls :meth:`feed` with what arrives, :meth:`joined` and :meth:`left` as partners come and
    go, :meth:`gone` when the one who commands leaves while others stay, :meth:`count` for its
    counters, :meth:`log` for each frame and :meth:`note` for people.
    Everything runs in one asyncio loop; no method may block, and threads of a library come in by
    ``loop.call_soon_threadsafe``. Values are physical, in the signals'
    units; ``plan.given[key].quant`` and ``plan.fed[key].quant`` make codes of them. An exception
    out of these methods ends the process: the session says so and starts it anew.

    In lock-step the scene waits until a turn has ended: ``outgoing`` has ``self.turn`` > 0 then,
    and the partner's answer is handed on by ``feed(values, turn=self.turn)``, which carries along
    all that was fed since. Without lock-step leave ``turn`` out.

    Args:
        plan: The bus and its ports.
        outlet: Where messages go.

    Attributes:
        plan: The bus and its ports; another object after a live edit.
        params: The parameters of its own, as ``Params``.
        turn: The turn that the scene waits for, or 0.
        step, time: Steps and simulated time [s] of the last values.
        values: The last values of ``plan.given`` by key; empty before the first.
        partners: How many are connected.
    """

    Params: ClassVar[type[msgspec.Struct]] = NoParams
    Address: ClassVar[type[msgspec.Struct]] = AnyAddress
    counters: ClassVar[Mapping[str, str]] = {"invalid": ""}
    steady: ClassVar[tuple[str, ...]] = ()
    together: ClassVar[bool] = False
    faults: ClassVar[tuple[str, ...]] = ()
    FaultOrder: ClassVar[type[msgspec.Struct]] = NoParams
    orders: ClassVar[Mapping[str, type[msgspec.Struct]]] = {}

    def __init_subclass__(cls) -> None:
        """Every type counts what nobody can use."""
        super().__init_subclass__()
        cls.counters = {**Adapter.counters, **cls.counters}

    def __init__(self, plan: BusPlan, outlet: Outlet) -> None:
        self.plan = plan
        self.params: Any = msgspec.convert(plan.params, self.Params)
        self._outlet = outlet
        self.turn = self.step = 0
        self.time = 0.0
        self.values: dict[str, float] = {}
        self.partners = 0
        self._counts: dict[str, float] = dict.fromkeys(self.counters, 0.0)
        self._latch = Latch(outlet, lockstep=plan.lockstep, counters=self._at_the_turn)
        self._frames: deque[Frame] = deque(maxlen=LOG_LINES)
        self._skipped = 0
        self.logging = True
        self._faulty: set[str] = set()  # signals of which people were told
        self._told: tuple[Any, ...] = ()
        self._due = 0.0
        self._seen: tuple[Any, ...] = ()

    # ---- what a type fills in --------------------------------------------------------------

    @classmethod
    def check(cls, plan: BusPlan) -> list[str]:
        """Says what it cannot do with a plan, a sentence each; the first is shown.

        One that begins with a signal's key is shown at the line of its port, others at the bus's.
        """
        return []

    @classmethod
    def fill(cls, params: dict[str, Any], address: dict[str, Any], unit: str) -> dict[str, Any]:
        """What the type itself knows of a signal: bits, scale and the like, from a file it has.

        Args:
            params: Parameters of the bus.
            address: Keys of the signal beyond the common ones.
            unit: Unit of the scene's signal behind it; empty without one.

        Returns:
            Common keys of the signal; what the scene's file says goes before them.
        """
        return {}

    @classmethod
    def wire(cls, plan: BusPlan) -> list[WireFrame]:
        """What frames look like, byte for byte; empty where the type has no fixed form."""
        return []

    async def start(self) -> list[str]:
        """Opens the doors; returns a line each for people, "socketcand on 127.0.0.1:29536".

        Raises:
            LinkworkError: If it cannot; the bus is not served then.
        """
        return []

    def outgoing(self, values: dict[str, float]) -> None:
        """Gets the values of ``plan.given``; also read :attr:`step`, :attr:`time`, :attr:`turn`."""

    def order(self, name: str, args: dict[str, Any]) -> None:
        """Does what people ask for.

        Raises:
            LinkworkError: If it cannot; people are told.
        """
        raise SignalError(f"{self.plan.type} knows no order {name!r}.")

    def replanned(self, before: BusPlan) -> None:
        """Takes over :attr:`plan` after an edit; ``before`` was the plan until now."""

    async def close(self) -> None:
        """Shuts the doors."""

    # ---- what a type calls -----------------------------------------------------------------

    def feed(self, values: Mapping[str, float], *, turn: int = 0) -> None:
        """Hands on what arrived, by key; the newest of each is taken with the next step.

        The session holds values within the signal's range; unknown keys and what is no finite
        number are counted as ``invalid``, and change nothing.

        Args:
            values: Physical values by key of ``plan.fed``.
            turn: The turn that this ends, in lock-step.
        """
        fed: dict[str, float] = {}
        for key, value in values.items():
            signal = self.plan.fed.get(key)
            if signal is None or not _is_number(value):
                self._refuse(key, value, known=signal is not None)
            else:
                fed[key] = float(value)
        if fed or turn:
            self._latch.put(fed, turn)

    def _refuse(self, key: str, value: object, *, known: bool) -> None:
        """Counts what nobody can use; people hear of it once for each signal."""
        self.count("invalid")
        if known and key not in self._faulty:
            self._faulty.add(key)
            text = f"{key} came with {str(value)[:40]}, which is no finite number: it is left out."
            self.note(text, "warning")

    def joined(self) -> None:
        """A partner has come."""
        self.partners += 1
        self.report()

    def left(self) -> None:
        """A partner has gone; the last one's leaving is the loss of the controller."""
        self._latch.flush(at_once=True)
        self.partners = max(0, self.partners - 1)
        self.report()

    def gone(self, keys: Iterable[str] | None = None) -> None:
        """Who commanded has gone, though others may still look on: the controller is lost.

        Args:
            keys: What he commanded, of ``plan.fed``; everything if None.
        """
        if keys is None:
            keys = () if self.plan.lockstep else self.plan.fed
        self._latch.gone(keys)

    def count(self, name: str, by: float = 1.0) -> None:
        """Counts up one of :attr:`counters`."""
        self._counts[name] += by

    def _at_the_turn(self) -> dict[str, float]:
        return {name: self._counts[name] for name in self.steady}

    def gauge(self, name: str, value: float) -> None:
        """Sets one of :attr:`counters`, as a load or a rate."""
        self._counts[name] = value

    def log(
        self, way: str, address: str = "", data: bytes = b"", text: str = "", mark: str = "",
        time: float | None = None,
    ) -> None:  # fmt: skip
        """Puts a line into the bus log; the oldest make room where there are too many.

        ``time`` is when it passed, in simulated time [s]; now if absent.
        """
        if not self.logging:
            return
        if len(self._frames) == LOG_LINES:
            self._skipped += 1
        when = self.time if time is None else time
        frame = Frame(when, way[:8], address[:100], bytes(data[:4096]), text[:1000], mark[:20])
        self._frames.append(frame)

    def note(self, text: str, level: str = "info") -> None:
        """Tells people something; level "info", "warning" or "error"."""
        self._outlet.send(Note(text[:2000], level))

    def status(self) -> dict[str, float]:
        """Every counter; with :meth:`struck`."""
        return {**self._counts, **self.struck()}

    def struck(self) -> dict[str, float]:
        """Faults at work, ``fault.<number>.<name>.<words>``, and how often each has struck."""
        return {}

    # ---- what the process calls ------------------------------------------------------------

    @property
    def version(self) -> int:
        """Number of the plan."""
        return self._latch.version

    def taken(self, version: int, taken: int) -> None:
        """Notes how many feeds the session has taken."""
        self._latch.taken(version, taken)

    def arrived(self, step: int, time: float, turn: int, values: list[float]) -> None:
        """Gets a snapshot of the session."""
        pairs = zip(self.plan.given, values, strict=True)
        new = {key: value for key, value in pairs if not math.isnan(value)}
        if self._seen == (step, turn, new):
            return  # it only says what was taken
        self._seen = step, turn, new
        self.step, self.time, self.turn, self.values = step, time, turn, new
        self.outgoing(new)

    def replan(self, plan: BusPlan, version: int) -> None:
        """Gets another plan."""
        before, self.plan = self.plan, plan
        self.params = msgspec.convert(plan.params, self.Params)
        self._latch.replan(plan.fed, version)
        self.values = {}
        self._seen = ()
        self.replanned(before)

    def report(self) -> None:
        """Sends the health."""
        now = (self.partners, self.status())
        if self._outlet.send(Report(*now)):
            self._told = now

    async def tend(self) -> None:
        """Sends news of health and log now and then, for as long as the process runs."""
        while True:
            await asyncio.sleep(0.1)
            self._latch.flush()  # what found no room before
            if self._frames:
                count = min(len(self._frames), MOST_FRAMES)
                frames = [self._frames.popleft() for _ in range(count)]
                sent = self._outlet.send(Frames(frames, self._skipped))
                self._skipped = 0 if sent else self._skipped + count
            now = time.monotonic()
            if now >= self._due and self._told != (self.partners, self.status()):
                self._due = now + 0.5
                self.report()


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300
    )  # NaN compares false
