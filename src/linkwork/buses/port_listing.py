"""Listing of all port signals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linkwork.buses.block import bus_blocks
from linkwork.session.cycle import Cycle


@dataclass(frozen=True)
class PortLine:
    """One port signal with its present value.

    Attributes:
        bus, group, port, signal: Names of its parents and its own.
        name: The signal's full name in the scene, ``can0/arm/elbow.target``.
        role: "command", "sensor" or "parameter".
        value: Physical value, in ``unit``.
        raw: The code on the wire; None without quantization.
        unit, lo, hi, bits: As in the port; 0 bits for a plain number.
        address: Address on the bus.
        behind: The scene's signal behind it, or empty.
        owner: Its owner; empty for none.
        held: Whether a user overrides it.
    """

    bus: str
    group: str
    port: str
    signal: str
    name: str
    role: str
    value: float
    raw: int | None
    unit: str
    lo: float
    hi: float
    bits: int
    address: dict[str, Any]
    behind: str
    owner: str
    held: bool


def port_lines(cycle: Cycle) -> Iterator[PortLine]:
    """Yields every port signal, bus by bus."""
    signals = cycle.signals
    for block in bus_blocks(cycle):
        for key, row in block.rows.items():
            signal, value = row.signal, signals.value(row.own.name)
            quant = signal.quant
            yield PortLine(
                block.plan.name, row.port.group, row.port.name, signal.name, row.own.name,
                signal.role, value, quant.encode(value) if quant is not None else None,
                signal.unit, signal.lo, signal.hi, quant.bits if quant is not None else 0,
                signal.address, signal.signal, signals.owners.get(row.own.name, ""),
                block.overridden(key),
            )  # fmt: skip
