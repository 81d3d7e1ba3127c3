"""Can: the bus type of frames; a hub in the bus's process, and our ports as one node on it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from linkwork.buses.adapter import Adapter, NoParams
from linkwork.buses.can.dbc.codec import decode
from linkwork.buses.can.dbc.model import DbcError
from linkwork.buses.can.doors import Doors
from linkwork.buses.can.faults import Fault, Kind
from linkwork.buses.can.forms import wire_frames
from linkwork.buses.can.frame import STANDARD_MOST, Frame, parse_frame
from linkwork.buses.can.hub import Event, Hub
from linkwork.buses.can.layout import CanAddress, FrameForm, Key, check, filled, frames
from linkwork.buses.can.outbound import Outbound
from linkwork.buses.can.params import CanParams, ClearOrder, FaultOrder, SendOrder
from linkwork.buses.latch import Outlet
from linkwork.buses.port import BusPlan
from linkwork.buses.wire import WireFrame
from linkwork.errors import LinkworkError, SignalError
from linkwork.hosts import is_loopback
from linkwork.units import in_words

#: How often health and log are looked at [s], and how many lines of the log are told then.
LOOK, LINES = 0.1, 200
#: How long a controller takes from coming to listening, and between two repetitions [s].
LISTENS, AGAIN = 0.2, 2.0
OUR_NODE = "linkwork"
COUNTERS = ("frames", "load", "errors", "missed", "bad", "conflicts", "off", "short")


class Can(Adapter):
    """Carries the ports' signals in CAN frames, through every door that tools use.

    ``[[bus]] type = "can"``; a joint says ``bus = { can_id = 4, bits = 10 }``. See ``docs/can.md``.
    """

    Params = CanParams
    Address = CanAddress
    faults = tuple(str(kind) for kind in Kind)
    FaultOrder = FaultOrder
    counters = dict.fromkeys(COUNTERS, "")
    orders: ClassVar[Mapping[str, type[msgspec.Struct]]] = {
        "fault": FaultOrder, "clear": ClearOrder, "restart": NoParams, "send": SendOrder,
    }  # fmt: skip

    def __init__(self, plan: BusPlan, outlet: Outlet) -> None:
        super().__init__(plan, outlet)
        self._logged = self._met = 0
        self._passed: deque[tuple[int, float]] = deque(maxlen=LINES)
        self._short = 0
        self._cut: set[Key] = set()  # frames that were too short
        self._faults: dict[int, FaultOrder] = {}
        self._spoken = False
        self._drivers: dict[Key, str] = {}  # the node that commands, by identifier
        self._again = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._lay_out()

    def _lay_out(self) -> None:
        self._out = Outbound(frames(self.plan, self.plan.given))
        self._in: dict[Key, FrameForm] = frames(self.plan, self.plan.fed)
        number: int | None = self.params.turn_id
        self._turn_key: Key = (-1, False) if number is None else (number, number > STANDARD_MOST)

    @classmethod
    def check(cls, plan: BusPlan) -> list[str]:
        """Every signal has bits of its own, and a turn its end."""
        found = list(check(plan))
        if plan.lockstep and plan.params.get("turn_id") is None:
            found.append(
                "lock-step needs turn_id, the frame with which the controller ends a turn."
            )
        if plan.plant != "virtual" and not plan.params.get("bridge"):
            found.append('a real plant needs its bus: bridge = { interface = "…", channel = "…" }.')
        bridge = plan.params.get("bridge") or {}
        if bridge and not {"interface", "channel"} <= bridge.keys():
            found.append("bridge needs interface and channel.")
        return found

    @classmethod
    def fill(cls, params: dict[str, Any], address: dict[str, Any], unit: str) -> dict[str, Any]:
        """Takes bits and scale from the DBC file, where a signal names one."""
        return filled(str(params.get("file", "")), msgspec.convert(address, CanAddress), unit)

    @classmethod
    def wire(cls, plan: BusPlan) -> list[WireFrame]:
        """The ports' frames, and those of the DBC file."""
        return list(wire_frames(plan))

    # ---- doors ---------------------------------------------------------------------------

    async def start(self) -> list[str]:
        """Opens the doors."""
        params: CanParams = self.params
        self.hub = Hub(
            params.channel, bitrate=params.bitrate, timed=params.timed,
            restart_after=params.restart_after, on_event=self._happened,
            clock=(lambda: self.time) if self.plan.lockstep else None,
        )  # fmt: skip
        self.node = self.hub.attach(OUR_NODE, self._hear, outbox=4096)
        self._doors = Doors(self.hub)
        told = [line async for line in self._doors.open(params)]
        if not is_loopback(params.host):
            self.note(
                f"everyone who reaches {params.host} can command this bus: socketcand and slcan "
                "know no password.", "warning",
            )  # fmt: skip
        self._looking = asyncio.create_task(self._look())
        return told

    async def close(self) -> None:
        """Shuts the doors."""
        if self._looking is not None:
            self._looking.cancel()
        await self._doors.close()
        self.hub.close()

    def replanned(self, before: BusPlan) -> None:
        """Takes over the new places; what stands there is sent anew."""
        self._lay_out()
        known = {*self._in, self._turn_key}
        self._drivers = {key: who for key, who in self._drivers.items() if key in known}

    # ---- frames --------------------------------------------------------------------------

    def outgoing(self, values: dict[str, float]) -> None:
        """Sends what has changed, or what is due.

        In lock-step the first frames wait for a controller, and are said again until it speaks: it
        would wait for them for ever if it had come too late.
        """
        if not self.plan.lockstep or self._spoken:
            self._out.send(self.node, values, self.time)

    def _repeat(self) -> None:
        """Says the first frames of a scene in lock-step, to a controller that may listen by now."""
        if self.values and self._met and not self._spoken:
            self._out.forget()
            self._out.send(self.node, self.values, self.time)

    def _hear(self, frame: Frame) -> None:
        key = (frame.id, frame.extended)
        if frame.error:
            return
        if frame.remote:
            form = self._out.forms.get(key)
            answer = self._out.frame(form, self.values) if form is not None else None
            if answer is not None:
                self.node.send(answer)
            return
        ends = self.plan.lockstep and key == self._turn_key
        turn = self.turn if ends else 0
        form = self._in.get(key)
        if form is not None or ends:
            self._spoken = True
            self._heed(self.hub.log.sender, key, ends)
        if form is not None:
            found = decode(form.message, frame.data)
            if len(found) < len(form.message.signals):
                self._miss(frame, form)
            self.feed({name: float(value) for name, value in found.items()}, turn=turn)
        elif turn:
            self.feed({}, turn=turn)

    def _miss(self, frame: Frame, form: FrameForm) -> None:
        """Counts a frame that is too short; people hear of it once for each identifier."""
        self._short += 1
        if form.key not in self._cut:
            self._cut.add(form.key)
            has, needs = len(frame.data), form.message.length
            self.note(
                f"{self.hub.log.sender} sent 0x{frame.id:X} with {has} byte{'s' * (has != 1)} of "
                f"{needs}: what is missing stays as it was.", "warning",
            )  # fmt: skip

    def _heed(self, sender: str, key: Key, ends: bool) -> None:
        """Remembers who commands: of each identifier the last who sent it.

        In lock-step that is the one who ends the turns, and the first until somebody has.
        """
        if sender not in self.hub.nodes:
            return
        if not self.plan.lockstep:
            self._drivers[key] = sender
        elif ends or not self._drivers:
            self._drivers = {self._turn_key: sender}

    # ---- health --------------------------------------------------------------------------

    def _happened(self, event: Event) -> None:
        self.log("note", text=event.text)

    async def _look(self) -> None:
        """Tells of partners, load and frames, now and then."""
        while True:
            self._meet()
            hub, totals = self.hub, self.hub.totals  # with those who left: a counter never falls
            self.gauge("frames", hub.frames)
            self.gauge("load", round(hub.fullness, 4))
            self.gauge("errors", self.node.count.errors)
            self.gauge("missed", totals.lost)
            self.gauge("bad", self._doors.bad + totals.bad)
            self.gauge("conflicts", hub.conflicts)
            self.gauge("off", sum(node.errors.off for node in hub.nodes.values()))
            self.gauge("short", self._short)
            self._tell_frames()
            if self._out.owes(self.node):
                self.outgoing(self.values)
            await asyncio.sleep(LOOK)

    def _meet(self) -> None:
        nodes = self.hub.nodes.values()
        there = {node.name for node in nodes if node is not self.node and node.present()}
        gone = [key for key, driver in self._drivers.items() if driver not in there]
        for key in gone:
            del self._drivers[key]
        if gone and self.plan.lockstep:
            self.gone()
        elif forms := [self._in[key] for key in gone if key in self._in]:
            self.gone([each.name for form in forms for each in form.message.signals])
        others = len(there)
        for _ in range(others - self._met):
            self.joined()
            self._again = self.hub.now() + LISTENS
        for _ in range(self._met - others):
            self.left()
            self._spoken = self._spoken and others > 0
        self._met = others
        if self.plan.lockstep and self._met and self.hub.now() > self._again:
            self._again = self.hub.now() + AGAIN
            self._repeat()

    def arrived(self, step: int, time: float, turn: int, values: list[float]) -> None:
        """Gets a snapshot; the frames that have passed before belong to the time before."""
        last = self.hub.log.last
        if last > (self._passed[-1][0] if self._passed else self._logged):
            self._passed.append((last, self.time))
        super().arrived(step, time, turn, values)

    def _tell_frames(self) -> None:
        log, passed = self.hub.log, self._passed
        for entry in log.after(self._logged, most=LINES):
            frame, ours = entry.frame, entry.sender == OUR_NODE
            while passed and passed[0][0] < entry.number:
                passed.popleft()
            words = [entry.sender or "bus", *([entry.mark] if entry.mark else [])]
            self.log("out" if ours else "in", str(frame).partition("#")[0], frame.data,
                     " ".join([*words, self._words(frame, ours)]).strip(), entry.mark,
                     passed[0][1] if passed else self.time)  # fmt: skip
        self._logged = log.last
        passed.clear()

    def _words(self, frame: Frame, ours: bool) -> str:
        """A frame's values in words."""
        if frame.error or frame.remote:
            return "error frame" if frame.error else "request"
        form = (self._out.forms if ours else self._in).get((frame.id, frame.extended))
        if form is None:
            return ""
        try:
            found = decode(form.message, frame.data)
        except DbcError:
            return ""
        units = {signal.name: signal.unit for signal in form.message.signals}
        return ", ".join(
            f"{name} = {in_words(float(value), units[name])}" for name, value in found.items()
        )

    # ---- orders --------------------------------------------------------------------------

    def order(self, name: str, args: dict[str, Any]) -> None:
        """Does what people ask for: ``fault``, ``clear``, ``restart`` or ``send``."""
        try:
            if name == "fault":
                self._fault(msgspec.convert(args, FaultOrder))
            elif name == "clear":
                self._clear(msgspec.convert(args, ClearOrder))
            elif name == "restart":
                for node in list(self.hub.nodes.values()):
                    if node.errors.off:
                        self.hub.restart(node)
            elif name == "send":
                self.hub.inject(parse_frame(msgspec.convert(args, SendOrder).frame), "person")
            else:
                raise SignalError(f"can knows no order {name!r}: fault, clear, restart, send.")
        except msgspec.ValidationError as error:
            raise LinkworkError(f"{name}: {error}.") from None

    def _fault(self, wish: FaultOrder) -> None:
        begin = self.hub.age + wish.after
        end = float("inf") if wish.lasts is None else begin + wish.lasts
        fault = Fault(
            wish.kind, wish.chance, frozenset(wish.ids), wish.node, begin, end, wish.times,
            wish.delay, wish.seed,
        )  # fmt: skip
        self._faults = {n: each for n, each in self._faults.items() if n in self.hub.faults}
        self._faults[self.hub.add_fault(fault)] = wish

    def _clear(self, wish: ClearOrder) -> None:
        """Ends the fault of a number, those of a name, or all."""
        for number in [number for number, _, _ in self.hub.faults]:
            known = self._faults.get(number)
            name = known.name if known is not None else ""
            if wish.name in ("", name) and wish.number in (0, number):
                self.hub.remove_fault(number)
                self._faults.pop(number, None)

    def struck(self) -> dict[str, float]:
        """Faults that have not ended, with what was wished."""
        return {
            f"fault.{number}.{self._faults[number].name}.{self._faults[number]}": float(hits)
            for number, fault, hits in self.hub.faults
            if number in self._faults and self.hub.age < fault.end
        }
