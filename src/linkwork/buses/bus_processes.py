"""BusProcesses: the processes of the buses of one session."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkwork.buses.block import BusBlock
from linkwork.buses.messages import BusReady, BusReport, ControllerGone, InputValues, LogNote
from linkwork.buses.process import HUNG_AFTER, START_TIMEOUT, BusProcess
from linkwork.core.errors import LinkworkError, SessionError
from linkwork.session.bus_interface import SessionBus
from linkwork.session.messages import BusHealth, BusInputs, ControllerLost, Message

if TYPE_CHECKING:
    from linkwork.session.session import Session


#: Timeout for an answer that a fault on the wire may have dropped [s]: the fault ends in simulated
#: time, which does not advance meanwhile.
FAULT_TIMEOUT = 2.0


@dataclass
class _Turn:
    """A requested turn: time of the request [s], and the fault that may have dropped it."""

    since: float = field(default_factory=time.monotonic)
    fault: str = ""


class LockstepTurns:
    """The turns that clients of lock-step buses must take.

    The session waits for a connected client up to the ``turn_timeout`` of its bus. A lost client
    still gets requests, so that it can return, but time advances with the wall clock.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lockstep_turns: dict[str, _Turn] = {}

    def begin(self, bus: str) -> None:
        """Records that a bus was asked for its turn."""
        self._lockstep_turns[bus] = _Turn()

    def waits(self, block: BusBlock, process: BusProcess) -> bool:
        """Returns whether to wait for a turn; after the timeout the controller is lost."""
        plan, turn = block.plan, self._lockstep_turns[block.plan.name]
        waited = time.monotonic() - turn.since
        if block.lost:
            return waited < plan.period
        turn.fault = turn.fault or self._fault(plan.name, process)
        timeout = plan.turn_timeout or (FAULT_TIMEOUT if turn.fault else 0.0)
        there = block.has_any_input or (turn.fault and process.clients)
        if timeout and waited > timeout and there:
            turn.since = time.monotonic()
            why = f", while {turn.fault} is active on the wire" if turn.fault else ""
            self._session.send(ControllerLost(plan.name, f"no answer for {timeout:g} s{why}"))
        return True

    def wait_time(self, block: BusBlock, timeout: float) -> float:
        """Returns how long to sleep while waiting for a turn, at most ``timeout`` [s]."""
        turn = self._lockstep_turns.get(block.plan.name)
        if turn is None or not block.lost:
            return timeout
        return min(timeout, max(0.0, turn.since + block.plan.period - time.monotonic()))

    def _fault(self, bus: str, process: BusProcess) -> str:
        """Returns a description of the active fault on a bus; empty for none."""
        for fault in self._session.cycle.faults:
            if fault.active and fault.order is not None and fault.order[0] == bus:
                return f"fault {fault.spec.name}"
        return "a fault" if process.faults else ""


#: Why a bus without an error of its own is not served.
KEEPS_ENDING = "its process keeps ending."
#: Period of polling the processes [s], and least time between warnings about invalid messages [s].
POLL_PERIOD, WARN_PERIOD = 0.2, 5.0


class BusProcesses:
    """Runs a process for each bus and exchanges values with it.

    Args:
        session: The session.

    Attributes:
        processes: By the bus's name.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.processes: dict[str, BusProcess] = {}
        self._blocks: dict[str, BusBlock] = {}
        self._looked = 0.0
        self._last_warning = 0.0
        self._lockstep_turns = LockstepTurns(session)

    def sync(self, buses: Sequence[SessionBus], *, wait: bool = False) -> None:
        """Starts, updates or ends processes to match the buses of the scene.

        Raises:
            SessionError: If a bus is no :class:`BusBlock`.
        """
        blocks: dict[str, BusBlock] = {}
        for bus in buses:
            if not isinstance(bus, BusBlock):
                raise SessionError(
                    f"bus {bus.spec.name!r} cannot be served: its block is a "
                    f"{type(bus).__name__}, and no process serves it.",
                    origin=bus.spec.origin,
                    hint="A bus type with a block of its own overrides service(), too.",
                )
            blocks[bus.plan.name] = bus
        for name in list(self.processes.keys() - blocks.keys()):
            self.processes.pop(name).close()
        for name, block in blocks.items():
            process = self.processes.get(name)
            if process is None:
                self.processes[name] = BusProcess(block.plan, block.adapter, self._session.allow)
            elif process.plan != block.plan:
                process.replan(block.plan)
        self._blocks = blocks
        for name, block in blocks.items():
            self._publish(name, block)
        if wait:
            self._until_served()

    def _until_served(self) -> None:
        """Waits until every process serves or cannot."""
        end = time.monotonic() + START_TIMEOUT
        while time.monotonic() < end:
            for message in self.receive():
                self._session.send(message)
            waiting = [p for p in self.processes.values() if not p.ready and not p.given_up]
            if not waiting:
                return
            waiting[0].link.wait(0.02)

    def unserved(self) -> dict[str, LinkworkError]:
        """Returns why buses cannot be served, by bus name."""
        given_up = {name: process for name, process in self.processes.items() if process.given_up}
        keeps_ending = SessionError(KEEPS_ENDING)
        return {name: each.error or keeps_ending for name, each in given_up.items()}

    def resend_status(self) -> None:
        """Sends the number of clients again, after the session restored an earlier state."""
        for name, process in self.processes.items():
            if process.clients or process.restarts:
                self._session.send(BusHealth(name, process.clients, process.restarts))

    # ---- receiving ---------------------------------------------------------------------------

    def receive(self) -> list[Message]:
        """Returns the messages of the buses and restarts processes that ended."""
        found: list[Message] = []
        for name, process in self.processes.items():
            for message in process.receive():
                if isinstance(message, LinkworkError):
                    self._warn_rarely(name, message)
                elif (made := self._read(name, process, message)) is not None:
                    found.append(made)
            still = self._session.manual and not process.plan.lockstep
            process.refresh(self._blocks[name].outgoing if still else None)
        now = time.monotonic()
        if now - self._looked > POLL_PERIOD:
            self._looked = now
            for name, process in self.processes.items():
                found += self._poll(name, process)
        return found

    def _read(self, name: str, process: BusProcess, message: object) -> Message | None:
        session = self._session
        match message:
            case InputValues():
                lockstep = process.plan.lockstep
                if message.version != process.version:  # of the ports before an edit
                    return None if lockstep else self._kept(name, message.values)
                if lockstep and not process.answered(message.turn):
                    if not message.turn or not self._blocks[name].lost:
                        return None  # an answer to an earlier request
                    process.settle()  # it was lost and is back
                counters = self._known(name, message.counters)
                return BusInputs(name, message.values, turn=lockstep, counters=counters)
            case ControllerGone():
                return ControllerLost(name, "its controller has left", message.keys)
            case BusReport():
                # A lock-step run does not depend on response times: counters that do not either
                # come with the turns.
                counters = {} if process.plan.lockstep else self._known(name, message.counters)
                return BusHealth(name, message.clients, process.restarts, counters)
            case BusReady():
                for endpoint in message.endpoints:
                    session.log(endpoint, source=name)
            case LogNote():
                self._log(name, message)
        return None

    def _known(self, name: str, counters: dict[str, float]) -> dict[str, float]:
        """Returns the counters that are signals."""
        known = self._blocks[name].adapter.counters
        return {key: value for key, value in counters.items() if key in known}

    def _kept(self, name: str, values: Mapping[str, float]) -> BusInputs | None:
        """Returns inputs from before an edit, for the ports that still exist."""
        inputs = self._blocks[name].plan.inputs
        values = {key: value for key, value in values.items() if key in inputs}
        return BusInputs(name, values) if values else None

    def _warn_rarely(self, name: str, error: LinkworkError) -> None:
        now = time.monotonic()
        if now - self._last_warning > WARN_PERIOD:
            self._last_warning = now
            self._session.log_error(error, level="warning", source=name)

    def _log(self, name: str, note: LogNote) -> None:
        """Logs a note of a process, or the error that it carries."""
        if note.error is None:
            self._session.log(note.text, level=note.level, source=name)
        else:
            error = LinkworkError.from_record(note.error)
            self._session.log_error(error, level=note.level, source=name)

    def _poll(self, name: str, process: BusProcess) -> list[Message]:
        note = process.poll()
        if process.heartbeat():
            return [self._report_hung(name, process)]
        if note is None:
            return []
        self._log(name, note)
        return [BusHealth(name, 0, process.restarts)]

    def _report_hung(self, name: str, process: BusProcess) -> Message:
        """Logs that a process hangs, and applies the policy on loss; or that it answers again."""
        if not process.hung:
            self._session.log(f"the process of bus {name!r} answers again.", source=name)
            return BusHealth(name, process.clients, process.restarts)
        policy = self._blocks[name].plan.on_loss
        text = f"the process of bus {name!r} ({process.pid}) has not answered for {HUNG_AFTER:g} s"
        self._session.log(f"{text}; on_loss = {policy!r} applies.", level="error", source=name)
        return ControllerLost(name, text)

    # ---- sending -----------------------------------------------------------------------------

    def _publish(self, name: str, block: BusBlock, *, turn: bool = False) -> None:
        session = self._session
        step = session.state.step
        self.processes[name].publish(step, session.time, block.outgoing, turn=turn)

    def publish_outputs(self) -> None:
        """Sends the values after a step to the buses whose period has ended."""
        step = self._session.state.step
        for name, block in self._blocks.items():
            if step % block.every == 0 and not block.plan.lockstep:
                self._publish(name, block)

    def waiting_for_turn(self) -> bool:
        """Returns whether a lock-step client has not answered yet; requests its turn."""
        step, late = self._session.state.step, False
        for name, block in self._blocks.items():
            process = self.processes[name]
            if not block.waits(step) or process.given_up:
                continue
            if not process.is_asked(step):
                self._publish(name, block, turn=True)
                self._lockstep_turns.begin(name)
            late |= self._lockstep_turns.waits(block, process)
        return late

    def wait(self, timeout: float) -> None:
        """Sleeps until a bus that is waited for sends a message, at most ``timeout`` [s]."""
        step = self._session.state.step
        for name, block in self._blocks.items():
            if block.waits(step):
                self.processes[name].link.wait(self._lockstep_turns.wait_time(block, timeout))
                return

    def order(self, bus: str, name: str, args: Mapping[str, object]) -> None:
        """Sends an order to the process of a bus."""
        if bus not in self.processes:
            raise SessionError(f"bus {bus!r} is not served.")
        self.processes[bus].send_order(name, dict(args))

    def close(self) -> None:
        """Ends the processes."""
        for process in self.processes.values():
            process.close()
