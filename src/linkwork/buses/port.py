"""Port: named command, sensor and parameter signals of one device on a bus (MCA2's shape)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import msgspec

from linkwork.buses.quant import Quant

Role = Literal["command", "sensor", "parameter"]
Plant = Literal["virtual", "real", "both"]
Policy = Literal["hold", "ramp", "limp", "stop", "pause"]


class PortSignal(msgspec.Struct, frozen=True):
    """One value of a port.

    Attributes:
        name: Name in its port, ``target``.
        role: "command" (controller to plant), "sensor" (plant to controller) or "parameter".
        unit: "rad", "m", …; what :attr:`lo`, :attr:`hi` and all values are in.
        lo: Lowest value, −inf for none.
        hi: Highest value, inf for none.
        quant: How it stands on the wire; None for a plain number.
        address: Where it stands on the bus, as the file says it (``can_id``, …).
        signal: The signal of the scene behind it, ``arm/elbow.target``; empty for none.
        safe: Where a command ramps to when its controller is lost; None for the default.
    """

    name: str
    role: Role
    unit: str = ""
    lo: float = float("-inf")
    hi: float = float("inf")
    quant: Quant | None = None
    address: dict[str, Any] = {}
    signal: str = ""
    safe: float | None = None


class Port(msgspec.Struct, frozen=True):
    """A device on a bus: what it takes, what it tells, what can be adjusted.

    Attributes:
        name: Name in the scene, ``arm/elbow``.
        bus: Its bus.
        group: Path of groups that it belongs to, ``left/leg``; empty for none.
        signals: Commands, sensors and parameters, in the file's order.
    """

    name: str
    bus: str
    group: str = ""
    signals: tuple[PortSignal, ...] = ()

    def of(self, *roles: Role) -> list[PortSignal]:
        """The signals of these roles."""
        return [signal for signal in self.signals if signal.role in roles]

    def key(self, signal: PortSignal) -> str:
        """How a signal is called on its bus: ``arm/elbow.target``."""
        return f"{self.name}.{signal.name}"


class BusPlan(msgspec.Struct, frozen=True, dict=True):
    """All that a bus and its process must know of the scene.

    Attributes:
        name: Name of the bus.
        type: Registered type.
        params: Parameters of the type's own, checked against its ``Params``.
        plant: Which plant is behind the ports: "virtual" (this scene: commands come in, sensors go
            out), "real" (hardware on the bus: commands go out, sensors come in) or "both" (commands
            also move the scene).
        closes: Whose sensors the ports show, where the plant is "both".
        period: Control period [s]; values are given out this often.
        deadline: Longest age of the last feed [s]; 0 for none.
        on_loss: What becomes of commands when feeds stay out.
        ramp: How long a ramp to the safe values takes [s].
        lockstep: Whether the scene waits for the partner's turn before each period.
        patience: How long it waits at most, by the wall clock [s]; 0 for ever.
        step: The scene's step [s].
        ports: The ports.
    """

    name: str
    type: str
    params: dict[str, Any] = {}
    plant: Plant = "virtual"
    closes: Literal["virtual", "real"] = "virtual"
    period: float = 0.0
    deadline: float = 0.0
    on_loss: Policy = "hold"
    ramp: float = 1.0
    lockstep: bool = False
    patience: float = 0.0
    step: float = 0.002
    ports: tuple[Port, ...] = ()

    def entries(self, *roles: Role) -> Iterator[tuple[str, PortSignal]]:
        """Key and signal of everything of these roles, in the order of ports."""
        for port in self.ports:
            for signal in port.of(*roles):
                yield port.key(signal), signal

    @cached_property
    def fed(self) -> dict[str, PortSignal]:
        """What the bus may feed, by key: commands and parameters, or a real plant's sensors."""
        if self.plant == "virtual":
            return dict(self.entries("command", "parameter"))
        return dict(self.entries("sensor"))

    @cached_property
    def given(self) -> dict[str, PortSignal]:
        """What is given out to the bus, by key, in the order of the values."""
        if self.plant == "virtual":
            return dict(self.entries("sensor"))
        return dict(self.entries("command", "parameter"))
