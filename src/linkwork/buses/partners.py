"""BusPartners: the processes of a session's buses, as the session sees them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from linkwork.buses.block import BusBlock
from linkwork.buses.messages import Fed, Gone, Note, Ready, Report
from linkwork.buses.process import START, BusProcess
from linkwork.buses.turns import Turns
from linkwork.errors import SessionError
from linkwork.session.messages import Feed, Health, Lost, Message

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: How often the processes are looked at [s], and how often garbage is told of.
LOOK, COMPLAIN = 0.2, 5.0


class BusPartners:
    """Starts a process for each bus, hands values to and fro, and starts anew what ends.

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
        self._complained = 0.0
        self._turns = Turns(session)

    def __getitem__(self, bus: str) -> BusProcess:
        return self.processes[bus]

    def meet(self, *, wait: bool = False) -> None:
        """Starts, tells or ends processes, as the scene has its buses now."""
        blocks = {block.plan.name: block for block in self._session.cycle.buses}
        for name in list(self.processes.keys() - blocks.keys()):
            self.processes.pop(name).close()
        for name, block in blocks.items():
            process = self.processes.get(name)
            if process is None:
                self.processes[name] = BusProcess(block.plan, block.adapter)
            elif process.plan != block.plan:
                process.replan(block.plan)
        self._blocks = blocks
        for name, block in blocks.items():
            self._publish(name, block)
        if wait:
            self._until_served()

    def _until_served(self) -> None:
        """Waits until every process serves or cannot."""
        end = time.monotonic() + START
        while time.monotonic() < end:
            for message in self.receive():
                self._session.send(message)
            waiting = [p for p in self.processes.values() if not p.ready and not p.given_up]
            if not waiting:
                return
            waiting[0].link.wait(0.02)

    def unserved(self) -> dict[str, str]:
        """Why buses cannot be served, by their names."""
        given_up = {name: process for name, process in self.processes.items() if process.given_up}
        return {n: process.error or "its process keeps ending." for n, process in given_up.items()}

    def recall(self) -> None:
        """Says anew who is connected, after the session went back in time."""
        for name, process in self.processes.items():
            if process.partners or process.restarts:
                self._session.send(Health(name, process.partners, process.restarts))

    # ---- what comes in -----------------------------------------------------------------------

    def receive(self) -> list[Message]:
        """Takes what the buses say, and starts anew what has ended."""
        found: list[Message] = []
        for name, process in self.processes.items():
            for message in process.receive():
                if isinstance(message, str):
                    self._complain(name, message)
                elif (made := self._read(name, process, message)) is not None:
                    found.append(made)
            still = self._session.by_hand and not process.plan.lockstep
            process.refresh(self._blocks[name].outgoing if still else None)
        now = time.monotonic()
        if now - self._looked > LOOK:
            self._looked = now
            for name, process in self.processes.items():
                found += self._look_after(name, process)
        return found

    def _read(self, name: str, process: BusProcess, message: object) -> Message | None:
        session = self._session
        match message:
            case Fed():
                lockstep = process.plan.lockstep
                if message.version != process.version:  # of ports that were edited meanwhile
                    return None if lockstep else self._kept(name, message.values)
                if lockstep and not process.answered(message.turn):
                    if not message.turn or not self._blocks[name].lost:
                        return None  # an answer to an older question
                    process.settle()  # time went on without it, and now it is back
                counters = self._known(name, message.counters)
                return Feed(name, message.values, turn=lockstep, counters=counters)
            case Gone():
                return Lost(name, "its controller has left", message.keys)
            case Report():
                # In lock-step runs are the same however long the partner thinks: counters that are
                # too come with its turns.
                counters = {} if process.plan.lockstep else self._known(name, message.counters)
                return Health(name, message.partners, process.restarts, counters)
            case Ready():
                for door in message.doors:
                    session.say(door, source=name)
            case Note():
                session.say(message.text, level=message.level, source=name)
        return None

    def _known(self, name: str, counters: dict[str, float]) -> dict[str, float]:
        """Those counters that are signals."""
        known = self._blocks[name].adapter.counters
        return {key: value for key, value in counters.items() if key in known}

    def _kept(self, name: str, values: Mapping[str, float]) -> Feed | None:
        """What was under way while the ports were edited, for those that are still there."""
        fed = self._blocks[name].plan.fed
        values = {key: value for key, value in values.items() if key in fed}
        return Feed(name, values) if values else None

    def _complain(self, name: str, text: str) -> None:
        now = time.monotonic()
        if now - self._complained > COMPLAIN:
            self._complained = now
            self._session.say(text, level="warning", source=name)

    def _look_after(self, name: str, process: BusProcess) -> list[Message]:
        level, text = process.look_after()
        if not text:
            return []
        self._session.say(text, level=level, source=name)
        return [Health(name, 0, process.restarts)]

    # ---- what goes out -----------------------------------------------------------------------

    def _publish(self, name: str, block: BusBlock, *, turn: bool = False) -> None:
        session = self._session
        step = session.state.step
        self.processes[name].publish(step, session.time, block.outgoing, turn=turn)

    def give_out(self) -> None:
        """Hands the values after a step to the buses whose period is over."""
        step = self._session.state.step
        for name, block in self._blocks.items():
            if step % block.every == 0 and not block.plan.lockstep:
                self._publish(name, block)

    def lagging(self) -> bool:
        """Whether a partner in lock-step has not had its turn; it is asked for it."""
        step, late = self._session.state.step, False
        for name, block in self._blocks.items():
            process = self.processes[name]
            if not block.waits(step) or process.given_up:
                continue
            if not process.is_asked(step):
                self._publish(name, block, turn=True)
                self._turns.begin(name)
            late |= self._turns.waits(block, process)
        return late

    def wait(self, timeout: float) -> None:
        """Sleeps until a bus that is waited for says something, at most ``timeout`` [s]."""
        step = self._session.state.step
        for name, block in self._blocks.items():
            if block.waits(step):
                self.processes[name].link.wait(self._turns.nap(block, timeout))
                return

    def order(self, bus: str, name: str, args: Mapping[str, object]) -> None:
        """Tells a bus's process something."""
        if bus not in self.processes:
            raise SessionError(f"bus {bus!r} is not served.")
        self.processes[bus].tell(name, dict(args))

    def close(self) -> None:
        """Ends the processes."""
        for process in self.processes.values():
            process.close()
