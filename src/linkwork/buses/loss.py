"""Loss: what becomes of a bus's commands when their controller is lost."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

import numpy as np

from linkwork.agents.agent import Bench

if TYPE_CHECKING:
    from linkwork.buses.block import BusBlock
    from linkwork.buses.rows import Row

#: What each policy says when it begins.
SAYS = {
    "hold": "commands are held",
    "ramp": "commands go to their safe values",
    "limp": "its joints go limp",
    "stop": "its joints stop where they are",
    "pause": "the session is paused",
}


class Loss:
    """The policy of one bus, at work for each port whose controller is lost.

    ``hold`` leaves commands as they are; ``ramp`` leads them evenly to their safe values; ``limp``
    takes the largest effort of the driven joints to 0 until the controller is back; ``stop`` wants
    positions to stay where they are and speeds and efforts to be 0; ``pause`` stops time.

    Args:
        block: The bus.
        aside: Memory by row: the command when the loss began, how far the ramp is [s],
            whether the joint is limp, and the effort that was allowed.
    """

    def __init__(self, block: BusBlock, aside: np.ndarray) -> None:
        self._block, self._aside = block, aside

    def reset(self) -> None:
        """Safe values are where the scene's targets stand at first, and 0 for all else."""
        self._safe: dict[int, float] = {}
        for number, row in enumerate(self._block.rows.values()):
            signal = row.signal
            safe = signal.safe
            if safe is None:
                place = signal.unit in ("rad", "m")
                safe = float(self._block.slot("value")[number]) if place else 0.0
            self._safe[number] = min(max(safe, signal.lo), signal.hi)

    def _mine(self, bench: Bench, ports: Container[int]) -> list[tuple[int, Row]]:
        """Commands of these ports that the bus owns."""
        name, owners = self._block.plan.name, bench.signals.owners
        return [
            (number, row) for number, row in enumerate(self._block.rows.values())
            if row.signal.role == "command" and owners.get(row.own.name) == name
            and self._block.port_of[number] in ports
        ]  # fmt: skip

    def _say(self, text: str, ports: list[int], bench: Bench, level: str = "info") -> None:
        which = self._block.watch.words(ports)
        text = f"{which}: {text}" if which else text
        bench.say(text, level=level, source=self._block.plan.name)

    def begin(self, why: str, ports: list[int], bench: Bench) -> None:
        """The controller of these ports is lost."""
        block, policy = self._block, self._block.plan.on_loss
        level = "error" if policy == "pause" else "warning"
        self._say(f"{why}: {SAYS[policy]}.", ports, bench, level)
        value = block.slot("value")
        for number, row in self._mine(bench, ports):
            self._aside[number, :2] = value[number], 0.0
            if policy == "stop":
                stay = self._actual(row, bench)
                value[number] = min(max(stay, row.signal.lo), row.signal.hi)
            elif policy == "limp":
                self._limp(number, row, bench)
        if policy == "pause":
            block.wants_pause = True

    def _actual(self, row: Row, bench: Bench) -> float:
        """Where the joint behind a position command is; 0 for speeds and efforts."""
        signals = bench.signals
        if row.bound is None or row.signal.unit not in ("rad", "m"):
            return 0.0
        joint = row.bound.name.rpartition(".")[0]
        for name in (f"{joint}.angle", f"{joint}.position", joint):
            if name in signals and signals[name].unit == row.signal.unit:
                return signals.value(name)
        return float(self._block.slot("value")[self._block.row(row.port.key(row.signal))[0]])

    def _limp(self, number: int, row: Row, bench: Bench) -> None:
        effort = self._effort(row)
        if effort in bench.signals and not self._aside[number, 2]:
            allowed = self._limp_elsewhere(effort)
            if allowed is None:
                allowed = bench.signals.value(effort)
            self._aside[number, 2:] = 1.0, allowed
            self._set(effort, 0.0, bench)

    def _limp_elsewhere(self, effort: str) -> float | None:
        """What a joint was allowed that another command has left limp; None if none has."""
        for number, row in enumerate(self._block.rows.values()):
            if self._aside[number, 2] and self._effort(row) == effort:
                return float(self._aside[number, 3])
        return None

    @staticmethod
    def _effort(row: Row) -> str:
        return f"{row.bound.name.rpartition('.')[0]}.max_effort" if row.bound is not None else ""

    @staticmethod
    def _set(signal: str, value: float, bench: Bench) -> None:
        bench.state.data[bench.signals[signal].address] = value

    def act(self, bench: Bench) -> None:
        """Goes on while the controller is lost."""
        if self._block.plan.on_loss != "ramp":
            return
        h, whole, value = self._block.plan.step, self._block.plan.ramp, self._block.slot("value")
        lost = np.flatnonzero(self._block.watch.lost)
        for number, _ in self._mine(bench, lost.tolist()):
            start, done = self._aside[number, :2]
            done = min(done + h, whole)
            self._aside[number, 1] = done
            share = done / whole if whole else 1.0
            safe = self._safe[number]
            value[number] = safe if share == 1.0 else start + share * (safe - start)

    def end(self, ports: list[int], bench: Bench) -> None:
        """The controller of these ports is back."""
        for number, row in enumerate(self._block.rows.values()):
            if self._aside[number, 2] and self._block.port_of[number] in ports:
                self._aside[number, 2] = 0.0
                if self._limp_elsewhere(self._effort(row)) is None:
                    self._set(self._effort(row), float(self._aside[number, 3]), bench)
        self._say("its controller is back.", ports, bench)
