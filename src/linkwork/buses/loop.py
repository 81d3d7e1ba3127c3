"""Loop: a bus that leads what its ports tell back to what they take; a cable for tests."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec

from linkwork.buses.adapter import Adapter
from linkwork.buses.port import BusPlan


class LoopParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``Loop``.

    Attributes:
        delay: How long everything takes, by the wall clock [s].
    """

    delay: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] = 0.0


class LoopAddress(msgspec.Struct):
    """Where a signal is on the loop.

    Attributes:
        wire: What has the same wire is connected; what has none is not.
    """

    wire: str = ""


class Loop(Adapter):
    """Connects signals by the name of their ``wire``: what goes out on it comes in on it.

    ``[[bus]] type = "loop"``; a signal says ``wire = "a"``. In lock-step each turn is answered.
    """

    Params = LoopParams
    Address = LoopAddress
    counters = {"frames": ""}  # noqa: RUF012 - of the class, as the base says

    @classmethod
    def check(cls, plan: BusPlan) -> list[str]:
        """Two signals cannot both speak on a wire."""
        seen: dict[str, str] = {}
        for key, signal in plan.given.items():
            wire = signal.address.get("wire", "")
            if wire and wire in seen:
                return [f"{seen[wire]} and {key} both speak on the wire {wire!r}."]
            seen[wire] = key
        return []

    async def start(self) -> list[str]:
        """Connects the ends."""
        self.joined()
        return []

    def outgoing(self, values: dict[str, float]) -> None:
        """Leads the values back, now or after the delay."""
        wires = {
            signal.address["wire"]: values[key]
            for key, signal in self.plan.given.items()
            if signal.address.get("wire") and key in values
        }
        back = {
            key: wires[signal.address["wire"]]
            for key, signal in self.plan.fed.items()
            if signal.address.get("wire") in wires
        }
        loop = asyncio.get_running_loop()
        loop.call_later(self.params.delay, self._back, back, self.turn)

    def _back(self, values: dict[str, float], turn: int) -> None:
        self.count("frames", len(values))
        for key, value in values.items():
            self.log("in", self.plan.fed[key].address["wire"] if key in self.plan.fed else "",
                     text=f"{key} = {value:g}")  # fmt: skip
        if self.plan.lockstep and not turn:
            return
        self.feed(values, turn=turn)
