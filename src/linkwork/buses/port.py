"""Port: the named signals of one device on a bus, with their quantization."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import msgspec

from linkwork.core.errors import SignalError

#: Codes of more bits are not exact in a float64.
MAX_BITS = 52


class Quant(msgspec.Struct, frozen=True, dict=True):
    """Uniform quantization: 2^bits values from ``lo`` to ``hi``.

    value = code · scale + offset, with scale = (hi − lo)/(2^bits − 1). Unsigned codes run from 0
    (``lo``), signed ones from −2^(bits−1) (``lo``), as two's complement on the wire. The numbers
    are those of a DBC file with the same scale and offset, to the last bit.

    A DBC file gives scale and offset instead (:meth:`scaled`); ``lo`` and ``hi`` are then the
    limits to which values are clamped.

    Attributes:
        bits: 1 to 52.
        lo: Value of the lowest code, or lowest value.
        hi: Value of the highest code, or highest value.
        signed: Whether codes are two's complement.
        scaling: Scale and offset, if they are given; scale may be negative.
    """

    bits: int
    lo: float
    hi: float
    signed: bool = False
    scaling: tuple[float, float] | None = None

    @classmethod
    def scaled(
        cls, bits: int, scale: float, offset: float, signed: bool = False, *,
        lo: float = -math.inf, hi: float = math.inf,
    ) -> Quant:  # fmt: skip
        """Builds a quantization from scale and offset, as in a DBC file.

        Args:
            bits: 1 to 52.
            scale: Value of one code; not 0.
            offset: Value of code 0.
            signed: Whether codes are two's complement.
            lo: Lowest value; lower ones are clamped.
            hi: Highest value.

        Raises:
            SignalError: If they are invalid.
        """
        if not 1 <= bits <= MAX_BITS:
            raise SignalError(f"a quantization has 1 to {MAX_BITS} bits, not {bits}.")
        if not (math.isfinite(scale) and scale != 0.0 and math.isfinite(offset)):
            raise SignalError(
                f"a quantization needs a scale other than 0 and an offset, not {scale:g} and "
                f"{offset:g}."
            )
        first = -(2 ** (bits - 1)) if signed else 0
        ends = first * scale + offset, (first + 2**bits - 1) * scale + offset
        return cls(bits, max(lo, min(ends)), min(hi, max(ends)), signed, (scale, offset))

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MAX_BITS:
            raise SignalError(f"a quantization has 1 to {MAX_BITS} bits, not {self.bits}.")
        if not (math.isfinite(self.lo) and math.isfinite(self.hi) and self.lo < self.hi):
            raise SignalError(
                f"a quantization runs from a lowest to a highest number, not from {self.lo:g} to "
                f"{self.hi:g}."
            )
        if not (math.isfinite(self.scale) and self.scale != 0.0 and math.isfinite(self.offset)):
            raise SignalError(
                f"{self.bits} bits cannot divide the range between {self.lo:g} and {self.hi:g}."
            )

    @cached_property
    def scale(self) -> float:
        """Value of one code."""
        if self.scaling is not None:
            return self.scaling[0]
        return (self.hi - self.lo) / (2**self.bits - 1)

    @cached_property
    def offset(self) -> float:
        """Value of code 0."""
        if self.scaling is not None:
            return self.scaling[1]
        return self.lo - self.code_lo * self.scale

    @property
    def code_lo(self) -> int:
        """Lowest code."""
        return -(2 ** (self.bits - 1)) if self.signed else 0

    @property
    def code_hi(self) -> int:
        """Highest code."""
        return self.code_lo + 2**self.bits - 1

    def encode(self, value: float) -> int:
        """Returns the nearest code (the even one of two equally near), clamped to the range.

        Raises:
            SignalError: If the value is NaN.
        """
        if math.isnan(value):
            raise SignalError("NaN has no code.")
        code = (min(max(value, self.lo), self.hi) - self.offset) / self.scale
        return min(max(round(code), self.code_lo), self.code_hi)

    def decode(self, code: int) -> float:
        """Returns the value of a code, clamped to the range."""
        return min(max(code, self.code_lo), self.code_hi) * self.scale + self.offset

    def nearest(self, value: float) -> float:
        """Returns the nearest value that the wire can carry."""
        return self.decode(self.encode(value))


Role = Literal["command", "sensor", "parameter"]
Plant = Literal["virtual", "real", "both"]
Policy = Literal["hold", "ramp", "torque_off", "stop", "pause"]


class PortSignal(msgspec.Struct, frozen=True):
    """One value of a port.

    Attributes:
        name: Name in its port, ``target``.
        role: "command" (controller to plant), "sensor" (plant to controller) or "parameter".
        unit: "rad", "m", …; the unit of :attr:`lo`, :attr:`hi` and all values.
        lo: Lowest value, −inf for none.
        hi: Highest value, inf for none.
        quant: Quantization on the wire; None for a plain number.
        address: Address on the bus, as in the file (``can_id``, …).
        signal: The signal of the scene behind it, ``arm/elbow.target``; empty for none.
        safe: Value that a command ramps to when its controller is lost; None for the default.
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
    """A device on a bus: commands, sensors, parameters.

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
        """The name of a signal on its bus: ``arm/elbow.target``."""
        return f"{self.name}.{signal.name}"


class BusPlan(msgspec.Struct, frozen=True, dict=True):
    """A bus with its ports, as its process needs them.

    Attributes:
        name: Name of the bus.
        type: Registered type.
        params: Parameters of the type, checked against its ``Params``.
        plant: The plant behind the ports: "virtual" (this scene: commands come in, sensors go
            out), "real" (hardware on the bus: commands go out, sensors come in) or "both" (commands
            also move the scene).
        closes: The plant whose sensors the ports have, if the plant is "both".
        period: Control period, with which values are sent [s].
        deadline: Maximum age of the last input [s]; 0 for none.
        on_loss: Policy for commands when inputs are missing.
        ramp: Duration of a ramp to the safe values [s].
        lockstep: Whether the scene waits for the client's turn before each period.
        turn_timeout: Maximum wait for one turn, in wall-clock time [s]; 0 for no limit.
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
    turn_timeout: float = 0.0
    step: float = 0.002
    ports: tuple[Port, ...] = ()

    def entries(self, *roles: Role) -> Iterator[tuple[str, PortSignal]]:
        """Yields key and signal of all signals of these roles, in the order of ports."""
        for port in self.ports:
            for signal in port.of(*roles):
                yield port.key(signal), signal

    @cached_property
    def inputs(self) -> dict[str, PortSignal]:
        """Signals that the bus receives, by key: commands, parameters or a real plant's sensors."""
        if self.plant == "virtual":
            return dict(self.entries("command", "parameter"))
        return dict(self.entries("sensor"))

    @cached_property
    def outputs(self) -> dict[str, PortSignal]:
        """Signals that are sent to the bus, by key, in the order of the values."""
        if self.plant == "virtual":
            return dict(self.entries("sensor"))
        return dict(self.entries("command", "parameter"))
