"""Loopback: a bus that connects outputs of ports to inputs."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec

from linkwork.buses.adapter import Adapter, PlanError
from linkwork.buses.port import BusPlan


class LoopParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Loopback``.

    Attributes:
        delay: Delay by the wall clock [s].
    """

    delay: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] = 0.0


class LoopAddress(msgspec.Struct):
    """Address of a signal on the loop.

    Attributes:
        wire: Name of the wire; empty if it is not connected.
    """

    wire: str = ""


class Loopback(Adapter):
    """Connects outputs to inputs with the same ``wire``.

    ``[[bus]] type = "loop"``; signals have ``wire = "a"``. In lock-step each turn is answered.
    """

    Params = LoopParams
    Address = LoopAddress
    counters = {"frames": ""}  # noqa: RUF012 - a class attribute

    @classmethod
    def check(cls, plan: BusPlan) -> list[PlanError]:
        """Checks that no wire is driven by two signals."""
        seen: dict[str, str] = {}
        for key, signal in plan.outputs.items():
            wire = signal.address.get("wire", "")
            if wire and wire in seen:
                other = seen[wire]
                return [PlanError(f"{other} and {key} both drive the wire {wire!r}.", key=other)]
            seen[wire] = key
        return []

    async def start(self) -> list[str]:
        """Counts the loop itself as its client."""
        self.joined()
        return []

    def outgoing(self, values: dict[str, float]) -> None:
        """Returns the values to the inputs, now or after the delay."""
        wires = {
            signal.address["wire"]: values[key]
            for key, signal in self.plan.outputs.items()
            if signal.address.get("wire") and key in values
        }
        back = {
            key: wires[signal.address["wire"]]
            for key, signal in self.plan.inputs.items()
            if signal.address.get("wire") in wires
        }
        loop = asyncio.get_running_loop()
        loop.call_later(self.params.delay, self._back, back, self.turn)

    def _back(self, values: dict[str, float], turn: int) -> None:
        self.count("frames", len(values))
        for key, value in values.items():
            self.log("in", self.plan.inputs[key].address["wire"] if key in self.plan.inputs else "",
                     text=f"{key} = {value:g}")  # fmt: skip
        if self.plan.lockstep and not turn:
            return
        self.feed(values, turn=turn)
