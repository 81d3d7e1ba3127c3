"""BusMonitor: the buses and ports of a running scene, as the studio shows them."""

from __future__ import annotations

import math
import time
from typing import Any

import msgspec

from linkwork.buses.adapter import WireFrame
from linkwork.buses.block import BusBlock, bus_blocks
from linkwork.buses.port import Port, PortSignal
from linkwork.buses.port_listing import port_lines
from linkwork.buses.process import BusProcess
from linkwork.components.faults import Fault
from linkwork.core.errors import SessionError, not_found
from linkwork.session import messages as inbox
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.session_inbox import SendMessage
from linkwork.studio.protocol.link_messages import ViewRequest

#: Update rate of buses [Hz], and log lines per update.
RATE, MAX_LINES = 10.0, 200


def describe_buses(cycle: Cycle) -> list[m.BusView]:
    """The buses of a scene with their ports."""
    joints = set(cycle.world.joint_names)
    return [_bus(block, joints) for block in bus_blocks(cycle)]


def _bus(block: BusBlock, joints: set[str]) -> m.BusView:
    plan = block.plan
    rate = plan.params.get("bitrate") if plan.type == "can" else None
    words = [plan.type.upper() if len(plan.type) <= 4 else plan.type]
    if plan.type == "can":
        words.append(f"{(rate or 500_000) / 1000:g} kbit/s")
    if plan.lockstep:
        words.append("lock-step")
    if plan.plant != "virtual":
        words.append(f"plant {plan.plant}")
    return m.BusView(
        plan.name, plan.type, ", ".join(words), plan.plant, plan.lockstep, plan.deadline,
        plan.on_loss, list(block.adapter.orders), list(block.adapter.faults),
        [_port(block, p, joints) for p in plan.ports],
        [_frame(frame) for frame in block.adapter.wire(plan)],
    )  # fmt: skip


def _frame(frame: WireFrame) -> m.FrameView:
    signals = [
        m.FrameSignalView(
            each.name, each.start, each.bits, each.big_endian, each.signed, each.real,
            each.scale, each.offset, each.unit,
            {str(raw): word for raw, word in each.words.items()}, each.parent, list(each.ranges),
        )
        for each in frame.signals
    ]  # fmt: skip
    return m.FrameView(frame.address, frame.way, frame.name, frame.length, signals)


def _port(block: BusBlock, port: Port, joints: set[str]) -> m.PortView:
    rows = [block.rows[port.key(signal)] for signal in port.signals]
    signals = [
        m.PortSignalView(
            row.own.name, row.signal.name, row.signal.role, row.signal.unit,
            _limit(row.signal.lo), _limit(row.signal.hi),
            row.signal.quant.bits if row.signal.quant is not None else 0,
            _address(row.signal), row.signal.signal,
        )
        for row in rows
    ]  # fmt: skip
    behind = [port.name, *(signal.signal for signal in port.signals)]
    return m.PortView(port.name, port.group, _joint(behind, joints), signals)


def _joint(names: list[str], joints: set[str]) -> str:
    """The joint that one of these names denotes or belongs to; empty for none."""
    for name in names:
        while name:
            if name in joints:
                return name
            name = name.rpartition(".")[0]
    return ""


def _address(signal: PortSignal) -> str:
    """The address of a signal on its bus: ``0x201``, ``joint 3``."""
    words = []
    for key, value in signal.address.items():
        if value is None or value is False or value == "":
            continue
        if key == "can_id" and isinstance(value, int):
            words.insert(0, f"0x{value:X}")
        else:
            words.append(key if value is True else f"{key} {value}")
    return ", ".join(words)


def _limit(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


class BusMonitor:
    """Sends buses, ports and frames to watching clients; checks orders to buses.

    Args:
        session: The session.
        send: Sends a message to every watching client.
        base: Offset of the scene versions that browsers see.
    """

    def __init__(self, session: Session, send: SendMessage, *, base: int = 0) -> None:
        self._session, self._send, self._base = session, send, base
        self._due = 0.0
        self._first = base << 32  # line numbers of scenes do not overlap
        self._last_sent: m.Ports | None = None
        self._seen: dict[str, int] = {}

    def poll(self, view: ViewRequest) -> None:
        """Sends the state to the watching clients, if an update is due."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + 1.0 / RATE
        if m.PORTS not in view.blocks:
            self._last_sent = None
        elif (found := self.ports()) != self._last_sent:
            self._last_sent = found
            self._send("", found)
        if m.FRAMES not in view.blocks:
            self._seen.clear()
        else:
            for frames in self._frames():
                self._send("", frames)

    def forget(self) -> None:
        """Sends everything again at the next update, since another world runs."""
        self._last_sent, self._due = None, 0.0
        self._seen.clear()

    def ports(self) -> m.Ports:
        """The present state of buses and ports."""
        session = self._session
        lines, faults = list(port_lines(session.cycle)), session.cycle.faults
        return m.Ports(
            self._base + session.version, session.time,
            [self._state(block) for block in bus_blocks(session.cycle)],
            [state for block in bus_blocks(session.cycle) for state in _ports(block)],
            [_limit(line.value) for line in lines], [line.raw for line in lines],
            [line.owner for line in lines], [line.held for line in lines],
            [_fault(each, own=each in faults.scene_faults) for each in faults],
        )  # fmt: skip

    def _process(self, bus: str) -> BusProcess | None:
        services = self._session.bus_processes
        found = services.processes.get(bus) if services is not None else None
        return found if isinstance(found, BusProcess) else None

    def _state(self, block: BusBlock) -> m.BusState:
        name, signals = block.plan.name, self._session.signals
        process = self._process(name)
        health = {key: signals.value(f"{name}.{key}") for key in ("age", "misses", "losses")}
        feeds, refused = signals.value(f"{name}.inputs"), signals.value(f"{name}.refused")
        state, problem = _bus_status(block, process)
        return m.BusState(
            name,
            state,  # type: ignore[arg-type]
            problem,
            process.endpoints if process is not None else [],
            process.pid if process is not None else 0,
            process.clients if process is not None else 0,
            process.restarts if process is not None else 0,
            round(health["age"], 4) if block.deadline_monitor.received.any() else None,
            int(health["misses"]),
            int(health["losses"]),
            int(feeds),
            int(refused),
            process.status if process is not None else {},
            _running_faults(process),
        )

    def _frames(self) -> list[m.BusFrames]:
        """New lines of each bus log; only the newest if there are many."""
        found = []
        for block in self._session.cycle.buses:
            name = block.plan.name
            process = self._process(name)
            if process is None:
                continue
            fresh = process.logged - self._seen.get(name, 0)
            first = name not in self._seen
            self._seen[name] = process.logged
            lines = list(process.log)[-min(fresh, MAX_LINES) :] if fresh > 0 else []
            if not lines:
                continue
            begin = self._first + process.logged - len(lines)
            found.append(
                m.BusFrames(
                    name,
                    [
                        m.FrameLine(
                            begin + n, line.time, line.way, line.address, line.data.hex(" "),
                            line.text, line.mark, line.kind,
                        )
                        for n, line in enumerate(lines, 1)
                    ],
                    0 if first else fresh - len(lines),
                )
            )  # fmt: skip
        return found

    def fault(self, message: m.FaultRequest) -> inbox.SetFault:
        """The inbox message that begins or ends a fault; the session checks it."""
        args = {key: _whole(value) for key, value in message.args.items()}
        return inbox.SetFault(message.name, message.on, message.kind, args)

    def checked(self, message: m.SendBusOrder) -> inbox.BusCommand:
        """The inbox message of an order that the bus supports.

        Raises:
            LinkworkError: If there is no such bus, or it does not support the order.
        """
        block = self._session.cycle.bus(message.bus)
        orders = block.adapter.orders
        if message.name not in orders:
            raise not_found(f"order of bus {message.bus!r}", message.name, orders)
        args = {key: _whole(value) for key, value in message.args.items()}
        try:
            msgspec.convert(args, orders[message.name])
        except msgspec.ValidationError as error:
            raise SessionError(f"{message.name}: {error}.") from None
        return inbox.BusCommand(message.bus, message.name, args)  # type: ignore[arg-type]


def _whole(value: Any) -> Any:
    """JSON has one number type: accept 3.0 where an integer is required."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _fault(fault: Fault, *, own: bool) -> m.FaultState:
    return m.FaultState(
        fault.spec.name, fault.type, fault.about, fault.when, fault.active, fault.pending,
        fault.count, own,
    )  # fmt: skip


def _bus_status(block: BusBlock, process: BusProcess | None) -> tuple[str, str]:
    if process is None:
        return "off", "The scene runs without its buses."
    if process.given_up:
        return "off", str(process.error or "Its process keeps ending.")
    if not process.ready:
        return "starting", ""
    if process.hung:
        return "hung", f"Its process {process.pid} does not answer."
    if block.lost:
        return "lost", ""
    return ("active" if process.clients else "waiting"), ""


def _ports(block: BusBlock) -> list[m.PortState]:
    return [
        m.PortState(round(age, 4) if feeds else None, int(misses), bool(lost))
        for age, misses, lost, feeds in block.slot("port").tolist()
    ]


def _running_faults(process: BusProcess | None) -> list[m.RunningFault]:
    faults = process.faults if process is not None else []
    return [
        m.RunningFault(
            each.number, each.name, each.text, each.hits, each.kind, each.chance, each.seed
        )
        for each in faults
    ]
