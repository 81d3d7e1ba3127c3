"""CanBus: the bus type of CAN frames, with one node for all ports."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from linkwork.buses.adapter import Adapter, NoParams, PlanError, WireFrame
from linkwork.buses.can.bridge import Bridge
from linkwork.buses.can.faults import CanFault, CanFaultKind
from linkwork.buses.can.frame import MAX_STANDARD_ID, CanFrame, parse_frame
from linkwork.buses.can.frame_codec import decode
from linkwork.buses.can.hub import CanHub, HubEvent
from linkwork.buses.can.layout import (
    CanAddress,
    FrameLayout,
    Key,
    check,
    fill_from_dbc,
    frames,
    wire_frames,
)
from linkwork.buses.can.params import CanParams, ClearOrder, FaultOrder, SendOrder
from linkwork.buses.can.slcan import SlcanPty, SlcanServer
from linkwork.buses.can.socketcand import SocketcandServer, beacon_for
from linkwork.buses.can.transmit_schedule import TransmitSchedule
from linkwork.buses.input_buffer import MessageSink
from linkwork.buses.messages import ActiveFault, LineKind
from linkwork.buses.port import BusPlan
from linkwork.core.errors import LinkworkError, SignalError
from linkwork.core.hosts import is_loopback
from linkwork.core.value_types import format_value


class BusEndpoints:
    """Opens and closes the servers of a bus.

    Args:
        hub: The bus.
    """

    def __init__(self, hub: CanHub) -> None:
        self._hub = hub
        self._all: list[Any] = []
        self._socketcand: SocketcandServer | None = None

    @property
    def bad(self) -> int:
        """Number of invalid messages of clients without an open bus."""
        return self._socketcand.bad if self._socketcand is not None else 0

    async def open(self, params: CanParams, *, replace_links: bool = False) -> AsyncIterator[str]:
        """Opens the servers one after the other; yields a description of each.

        With ``replace_links`` the device's link may replace one that another program made.

        Raises:
            LinkworkError: If one cannot be opened.
        """
        hub, name = self._hub, params.channel
        if params.socketcand is not False:
            server = self._socketcand = SocketcandServer([hub])
            await server.start(
                params.host, 29536 if params.socketcand is True else params.socketcand
            )
            self._all.append(server)
            yield f"{name}: socketcand on {server.host}:{server.port}"
            if params.beacon:
                beacon = beacon_for(server)
                beacon.start()
                self._all.append(beacon)
        if params.slcan is not False:
            slcan = SlcanServer(hub)
            await slcan.start(params.host, 0 if params.slcan is True else params.slcan)
            self._all.append(slcan)
            yield f"{name}: slcan on {slcan.host}:{slcan.port}"
        if params.pty:
            link = Path(params.pty).expanduser() if isinstance(params.pty, str) else None
            pty = SlcanPty(hub, link=link, replace=replace_links)
            self._all.append(pty)
            yield f"{name}: slcan device {link or pty.path}"
        if params.bridge:
            options = dict(params.bridge)
            bridge = Bridge(hub, str(options.pop("interface")), options.pop("channel"), **options)
            await bridge.start()
            self._all.append(bridge)
            yield f"{name}: connected to {bridge.where}"

    async def close(self) -> None:
        """Closes them."""
        for server in self._all:
            done = server.stop()
            if done is not None:
                await done


#: Period of status and log [s], and maximum number of log lines in it.
POLL_PERIOD, MAX_LINES_PER_POLL = 0.1, 200
#: Time for a new controller to start listening, and period of repetitions [s].
JOIN_DELAY, REPEAT_PERIOD = 0.2, 2.0
OUR_NODE = "linkwork"
COUNTERS = ("frames", "load", "errors", "missed", "bad", "conflicts", "off", "short")


class CanBus(Adapter):
    """Carries the ports' signals in CAN frames, with servers for common tools.

    ``[[bus]] type = "can"``; a joint has ``bus = { can_id = 4, bits = 10 }``. See ``docs/can.md``.
    """

    Params = CanParams
    Address = CanAddress
    faults = tuple(str(kind) for kind in CanFaultKind)
    FaultOrder = FaultOrder
    counters = dict.fromkeys(COUNTERS, "")
    orders: ClassVar[Mapping[str, type[msgspec.Struct]]] = {
        "fault": FaultOrder, "clear": ClearOrder, "restart": NoParams, "send": SendOrder,
    }  # fmt: skip

    def __init__(self, plan: BusPlan, sink: MessageSink) -> None:
        super().__init__(plan, sink)
        self._logged = self._client_count = 0
        self._passed: deque[tuple[int, float]] = deque(maxlen=MAX_LINES_PER_POLL)
        self._short = 0
        self._cut: set[Key] = set()  # frames that were too short
        self._faults: dict[int, FaultOrder] = {}
        self._turn_answered = False
        self._drivers: dict[Key, str] = {}  # the node that commands, by identifier
        self._repeat_at = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._lay_out()

    def _lay_out(self) -> None:
        self._out = TransmitSchedule(frames(self.plan, self.plan.outputs))
        self._in: dict[Key, FrameLayout] = frames(self.plan, self.plan.inputs)
        number: int | None = self.params.turn_id
        self._turn_key: Key = (-1, False) if number is None else (number, number > MAX_STANDARD_ID)

    @classmethod
    def check(cls, plan: BusPlan) -> list[PlanError]:
        """Checks that signals do not share bits, and that turns have an end."""
        found = list(check(plan))
        if plan.lockstep and plan.params.get("turn_id") is None:
            found.append(
                PlanError(
                    "lock-step needs turn_id, the frame with which the controller ends a turn."
                )
            )
        if plan.plant != "virtual" and not plan.params.get("bridge"):
            found.append(
                PlanError(
                    'a real plant needs its bus: bridge = { interface = "…", channel = "…" }.'
                )
            )
        bridge = plan.params.get("bridge") or {}
        if bridge and not {"interface", "channel"} <= bridge.keys():
            found.append(PlanError("bridge needs interface and channel."))
        return found

    @classmethod
    def fill(cls, params: dict[str, Any], address: dict[str, Any], unit: str) -> dict[str, Any]:
        """Takes bits and scale from the DBC file, if a signal names one."""
        return fill_from_dbc(
            str(params.get("file", "")), msgspec.convert(address, CanAddress), unit
        )

    @classmethod
    def wire(cls, plan: BusPlan) -> list[WireFrame]:
        """The ports' frames, and those of the DBC file."""
        return list(wire_frames(plan))

    @classmethod
    def exposure(cls, plan: BusPlan) -> str:
        """Servers on a network interface, and a bridge that leads to other devices."""
        params = msgspec.convert(plan.params, CanParams)
        serves = params.socketcand is not False or params.slcan is not False
        if serves and not is_loopback(params.host):
            return f'listens on the network (host = "{params.host}")'
        bridge = params.bridge
        kind, host = str(bridge.get("interface", "")), str(bridge.get("host", ""))
        if not bridge or kind == "virtual" or (kind == "socketcand" and is_loopback(host)):
            return ""
        return f"is connected to other devices (bridge to {kind} {bridge.get('channel', '')})"

    # ---- servers -------------------------------------------------------------------------

    async def start(self) -> list[str]:
        """Opens the servers."""
        params: CanParams = self.params
        self.hub = CanHub(
            params.channel, bitrate=params.bitrate, timed=params.timed,
            restart_after=params.restart_after, on_event=self._happened,
            clock=(lambda: self.time) if self.plan.lockstep else None,
        )  # fmt: skip
        self.node = self.hub.attach(OUR_NODE, self._on_frame, outbox=4096)
        self._endpoints = BusEndpoints(self.hub)
        replace = "replace-links" in self.allow
        lines = [line async for line in self._endpoints.open(params, replace_links=replace)]
        if not is_loopback(params.host):
            self.note(
                f"anyone who can reach {params.host} can command this bus: socketcand and slcan "
                "have no password.", "warning",
            )  # fmt: skip
        self._looking = asyncio.create_task(self._poll())
        return lines

    async def close(self) -> None:
        """Closes the servers."""
        if self._looking is not None:
            self._looking.cancel()
        await self._endpoints.close()
        self.hub.close()

    def replanned(self, before: BusPlan) -> None:
        """Applies the new layout; all frames are sent again."""
        self._lay_out()
        known = {*self._in, self._turn_key}
        self._drivers = {key: who for key, who in self._drivers.items() if key in known}

    # ---- frames --------------------------------------------------------------------------

    def outgoing(self, values: dict[str, float]) -> None:
        """Sends the frames that changed or are due.

        In lock-step the first frames wait for a controller, and are repeated until it sends: a
        controller that connects late would wait for them forever.
        """
        if not self.plan.lockstep or self._turn_answered:
            self._out.send(self.node, values, self.time)

    def _repeat(self) -> None:
        """Repeats the first frames in lock-step, for a controller that connects later."""
        if self.values and self._client_count and not self._turn_answered:
            self._out.forget()
            self._out.send(self.node, self.values, self.time)

    def _on_frame(self, frame: CanFrame) -> None:
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
            self._turn_answered = True
            self._note_controller(self.hub.log.sender, key, ends)
        if form is not None:
            found = decode(form.message, frame.data)
            if len(found) < len(form.message.signals):
                self._count_short_frame(frame, form)
            self.feed({name: float(value) for name, value in found.items()}, turn=turn)
        elif turn:
            self.feed({}, turn=turn)

    def _count_short_frame(self, frame: CanFrame, form: FrameLayout) -> None:
        """Counts a frame that is too short; logs it once for each identifier."""
        self._short += 1
        if form.key not in self._cut:
            self._cut.add(form.key)
            has, needs = len(frame.data), form.message.length
            self.note(
                f"{self.hub.log.sender} sent 0x{frame.id:X} with {has} byte{'s' * (has != 1)} of "
                f"{needs}: missing signals keep their values.", "warning",
            )  # fmt: skip

    def _note_controller(self, sender: str, key: Key, ends: bool) -> None:
        """Records the controller: for each identifier the last node that sent it.

        In lock-step it is the node that ends the turns, and the first one until a turn has ended.
        """
        if sender not in self.hub.nodes:
            return
        if not self.plan.lockstep:
            self._drivers[key] = sender
        elif ends or not self._drivers:
            self._drivers = {self._turn_key: sender}

    # ---- health --------------------------------------------------------------------------

    def _happened(self, event: HubEvent) -> None:
        self.log("", text=event.text, kind="note")

    async def _poll(self) -> None:
        """Updates clients, load and log periodically."""
        while True:
            self._update_clients()
            hub, totals = self.hub, self.hub.totals  # with departed nodes: no counter may decrease
            self.gauge("frames", hub.frames)
            self.gauge("load", round(hub.load_share, 4))
            self.gauge("errors", self.node.count.errors)
            self.gauge("missed", totals.lost)
            self.gauge("bad", self._endpoints.bad + totals.bad)
            self.gauge("conflicts", hub.conflicts)
            self.gauge("off", sum(node.errors.off for node in hub.nodes.values()))
            self.gauge("short", self._short)
            self._log_frames()
            if self._out.has_unsent(self.node):
                self.outgoing(self.values)
            await asyncio.sleep(POLL_PERIOD)

    def _update_clients(self) -> None:
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
        for _ in range(others - self._client_count):
            self.joined()
            self._repeat_at = self.hub.now() + JOIN_DELAY
        for _ in range(self._client_count - others):
            self.left()
            self._turn_answered = self._turn_answered and others > 0
        self._client_count = others
        if self.plan.lockstep and self._client_count and self.hub.now() > self._repeat_at:
            self._repeat_at = self.hub.now() + REPEAT_PERIOD
            self._repeat()

    def arrived(self, step: int, time: float, turn: int, values: list[float]) -> None:
        """Receives a snapshot; frames carried before belong to the previous time."""
        last = self.hub.log.last
        if last > (self._passed[-1][0] if self._passed else self._logged):
            self._passed.append((last, self.time))
        super().arrived(step, time, turn, values)

    def _log_frames(self) -> None:
        log, passed = self.hub.log, self._passed
        for entry in log.after(self._logged, most=MAX_LINES_PER_POLL):
            frame, ours = entry.frame, entry.sender == OUR_NODE
            while passed and passed[0][0] < entry.number:
                passed.popleft()
            words = [entry.sender or "bus", *([entry.mark] if entry.mark else [])]
            self.log("out" if ours else "in", frame.address, frame.data,
                     " ".join([*words, self._words(frame, ours)]).strip(), entry.mark,
                     passed[0][1] if passed else self.time, _kind(frame))  # fmt: skip
        self._logged = log.last
        passed.clear()

    def _words(self, frame: CanFrame, ours: bool) -> str:
        """Returns the values of a frame as text."""
        if frame.error or frame.remote:
            return "error frame" if frame.error else "request"
        form = (self._out.forms if ours else self._in).get((frame.id, frame.extended))
        if form is None:
            return ""
        found = decode(form.message, frame.data)
        units = {signal.name: signal.unit for signal in form.message.signals}
        return ", ".join(
            f"{name} = {format_value(float(value), units[name])}" for name, value in found.items()
        )

    # ---- orders --------------------------------------------------------------------------

    def order(self, name: str, args: dict[str, Any]) -> None:
        """Executes ``fault``, ``clear``, ``restart`` or ``send``."""
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
                raise SignalError(f"can has no order {name!r}: fault, clear, restart, send.")
        except msgspec.ValidationError as error:
            raise LinkworkError(f"{name}: {error}.") from None

    def _fault(self, request: FaultOrder) -> None:
        begin = self.hub.age + request.after
        end = float("inf") if request.lasts is None else begin + request.lasts
        fault = CanFault(
            request.kind,
            request.chance,
            frozenset(request.ids),
            request.node,
            begin,
            end,
            request.times,
            request.delay,
            request.seed,
        )
        self._faults = {n: each for n, each in self._faults.items() if n in self.hub.faults}
        self._faults[self.hub.add_fault(fault)] = request

    def _clear(self, request: ClearOrder) -> None:
        """Ends the fault of a number, those of a name, or all."""
        for number in [number for number, _, _ in self.hub.faults]:
            known = self._faults.get(number)
            name = known.name if known is not None else ""
            if request.name in ("", name) and request.number in (0, number):
                self.hub.remove_fault(number)
                self._faults.pop(number, None)

    def active_faults(self) -> list[ActiveFault]:
        """Returns the faults that have not ended."""
        return [
            ActiveFault(
                number, order.name, str(order), hits, order.kind.value, order.chance, order.seed
            )
            for number, fault, hits in self.hub.faults
            if (order := self._faults.get(number)) is not None and self.hub.age < fault.end
        ]


def _kind(frame: CanFrame) -> LineKind:
    """Returns the kind of a frame in the log."""
    if frame.error:
        return "error"
    return "remote" if frame.remote else "data"
