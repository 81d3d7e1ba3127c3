"""BusDesk: the buses and ports of a running scene, as the studio shows them and is told of."""

from __future__ import annotations

import math
import time
from typing import Any

import msgspec

from linkwork.buses.block import BusBlock
from linkwork.buses.listing import port_lines
from linkwork.buses.port import Port, PortSignal
from linkwork.buses.process import BusProcess
from linkwork.buses.wire import WireFrame
from linkwork.errors import SessionError, not_found
from linkwork.faults import Fault
from linkwork.server import messages as m
from linkwork.server.host.door import Tell
from linkwork.server.relay import Look
from linkwork.session import messages as inbox
from linkwork.session.cycle import Cycle
from linkwork.session.session import Session

#: How often buses are told of at most [Hz], and lines of a log that are told of at a time.
RATE, LINES = 10.0, 200


def describe_buses(cycle: Cycle) -> list[m.BusView]:
    """The buses of a scene and what is on them."""
    joints = set(cycle.world.joint_names)
    return [_bus(block, joints) for block in cycle.buses]


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
    """The joint that one of these is, or belongs to; empty for none."""
    for name in names:
        while name:
            if name in joints:
                return name
            name = name.rpartition(".")[0]
    return ""


def _address(signal: PortSignal) -> str:
    """Where a signal stands on its bus, in words: ``0x201``, ``joint 3``."""
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


class BusDesk:
    """Tells of buses, ports and frames while somebody looks, and checks what they are told.

    Args:
        session: The session.
        tell: Tells every client that looks.
        base: Browsers count the session's versions from here.
    """

    def __init__(self, session: Session, tell: Tell, *, base: int = 0) -> None:
        self._session, self._tell, self._base = session, tell, base
        self._due = 0.0
        self._first = base << 32  # no line has the number of one of the scene before
        self._told: m.Ports | None = None
        self._seen: dict[str, int] = {}

    def look_after(self, look: Look) -> None:
        """Tells those who look how things stand, if it is time."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + 1.0 / RATE
        if m.PORTS not in look.blocks:
            self._told = None
        elif (found := self.ports()) != self._told:
            self._told = found
            self._tell("", found)
        if m.FRAMES not in look.blocks:
            self._seen.clear()
        else:
            for frames in self._frames():
                self._tell("", frames)

    def forget(self) -> None:
        """Lets the next look tell all anew: another world runs."""
        self._told, self._due = None, 0.0
        self._seen.clear()

    def ports(self) -> m.Ports:
        """How buses and ports stand now."""
        session = self._session
        lines, trouble = list(port_lines(session.cycle)), session.cycle.trouble
        return m.Ports(
            self._base + session.version, session.time,
            [self._state(block) for block in session.cycle.buses],
            [state for block in session.cycle.buses for state in _ports(block)],
            [_limit(line.value) for line in lines], [line.raw for line in lines],
            [line.owner for line in lines], [line.held for line in lines],
            [_fault(each, own=each in trouble.faults) for each in trouble],
        )  # fmt: skip

    def _process(self, bus: str) -> BusProcess | None:
        partners: Any = self._session.partners
        return partners.processes.get(bus) if partners is not None else None

    def _state(self, block: BusBlock) -> m.BusState:
        name, signals = block.plan.name, self._session.signals
        process = self._process(name)
        health = {key: signals.value(f"{name}.{key}") for key in ("age", "misses", "losses")}
        feeds, refused = signals.value(f"{name}.feeds"), signals.value(f"{name}.refused")
        status = process.status if process is not None else {}
        state, problem = _stand(block, process)
        return m.BusState(
            name, state, problem,  # type: ignore[arg-type]
            process.doors if process is not None else [], process.pid if process is not None else 0,
            process.partners if process is not None else 0,
            process.restarts if process is not None else 0,
            round(health["age"], 4) if block.watch.heard.any() else None, int(health["misses"]),
            int(health["losses"]), int(feeds), int(refused),
            {key: value for key, value in status.items() if not key.startswith("fault.")},
            _faults(status),
        )  # fmt: skip

    def _frames(self) -> list[m.Frames]:
        """New lines of each bus log, the newest of them where there are many."""
        found = []
        for block in self._session.cycle.buses:
            name = block.plan.name
            process = self._process(name)
            if process is None:
                continue
            fresh = process.logged - self._seen.get(name, 0)
            first = name not in self._seen
            self._seen[name] = process.logged
            lines = list(process.log)[-min(fresh, LINES) :] if fresh > 0 else []
            if not lines:
                continue
            begin = self._first + process.logged - len(lines)
            found.append(
                m.Frames(
                    name,
                    [
                        m.FrameLine(
                            begin + n, line.time, line.way, line.address, line.data.hex(" "),
                            line.text, line.mark,
                        )
                        for n, line in enumerate(lines, 1)
                    ],
                    0 if first else fresh - len(lines),
                )
            )  # fmt: skip
        return found

    def fault(self, message: m.Fault) -> inbox.Fault:
        """A fault to begin or to end, for the session, which checks it."""
        args = {key: _whole(value) for key, value in message.args.items()}
        return inbox.Fault(message.name, message.on, message.kind, args)

    def checked(self, message: m.Order) -> inbox.Order:
        """An order that the bus knows, for the session.

        Raises:
            LinkworkError: If there is no such bus, or it does not know the order.
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
        return inbox.Order(message.bus, message.name, args)  # type: ignore[arg-type]


def _whole(value: Any) -> Any:
    """JSON knows one kind of number: 3.0 is meant where a whole one is wanted too."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _fault(fault: Fault, *, own: bool) -> m.FaultState:
    return m.FaultState(
        fault.spec.name, fault.type, fault.about, fault.when, fault.active, fault.waits,
        fault.count, own,
    )  # fmt: skip


def _stand(block: BusBlock, process: BusProcess | None) -> tuple[str, str]:
    if process is None:
        return "off", "The scene runs without its buses."
    if process.given_up:
        return "off", process.error or "Its process keeps ending."
    if not process.ready:
        return "starting", ""
    if block.lost:
        return "lost", ""
    return ("active" if process.partners else "waiting"), ""


def _ports(block: BusBlock) -> list[m.PortState]:
    return [
        m.PortState(round(age, 4) if feeds else None, int(misses), bool(lost))
        for age, misses, lost, feeds in block.slot("port").tolist()
    ]


def _faults(status: dict[str, float]) -> list[m.RunningFault]:
    found = []
    for key, hits in status.items():
        if key.startswith("fault."):
            _, number, name, words = key.split(".", 3)
            found.append(m.RunningFault(int(number), name, words, int(hits)))
    return found
