"""Turns: how long a scene in lock-step waits for its partners, by the wall clock."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkwork.buses.block import BusBlock
from linkwork.buses.process import BusProcess
from linkwork.session.messages import Lost

if TYPE_CHECKING:
    from linkwork.session.session import Session

#: How long an answer is waited for that a fault on the wire may have taken [s]: the fault's end is
#: in simulated time, which stands still meanwhile.
FAULT_PATIENCE = 2.0


@dataclass
class _Turn:
    """A turn that was asked for: since when [s], and the fault that may have taken it."""

    since: float = field(default_factory=time.monotonic)
    fault: str = ""


class Turns:
    """The turns that are due, by bus.

    A partner that is there is waited for as long as the bus's ``patience`` says. One that is lost
    gets its turns all the same, so that it can come back, but time goes on by the wall clock.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._turns: dict[str, _Turn] = {}

    def begin(self, bus: str) -> None:
        """A bus was asked for its turn."""
        self._turns[bus] = _Turn()

    def waits(self, block: BusBlock, process: BusProcess) -> bool:
        """Whether a turn is still to be waited for; too long a wait is the partner's loss."""
        plan, turn = block.plan, self._turns[block.plan.name]
        waited = time.monotonic() - turn.since
        if block.lost:
            return waited < plan.period
        turn.fault = turn.fault or self._fault(plan.name, process)
        patience = plan.patience or (FAULT_PATIENCE if turn.fault else 0.0)
        there = block.has_fed or (turn.fault and process.partners)
        if patience and waited > patience and there:
            turn.since = time.monotonic()
            why = f", while {turn.fault} is at work on the wire" if turn.fault else ""
            self._session.send(Lost(plan.name, f"no answer for {patience:g} s{why}"))
        return True

    def nap(self, block: BusBlock, timeout: float) -> float:
        """How long to sleep for a turn that is waited for, at most ``timeout`` [s]."""
        turn = self._turns.get(block.plan.name)
        if turn is None or not block.lost:
            return timeout
        return min(timeout, max(0.0, turn.since + block.plan.period - time.monotonic()))

    def _fault(self, bus: str, process: BusProcess) -> str:
        """The fault on the wire of a bus, in words; empty for none."""
        for fault in self._session.cycle.trouble:
            if fault.active and fault.order is not None and fault.order[0] == bus:
                return f"fault {fault.spec.name}"
        return "a fault" if any(key.startswith("fault.") for key in process.status) else ""
