"""Listing: every port signal as it stands now, for people to inspect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linkwork.session.cycle import Cycle


@dataclass(frozen=True)
class PortLine:
    """One port signal as it stands.

    Attributes:
        bus, group, port, signal: Where it is.
        name: The signal's full name in the scene, ``can0/arm/elbow.target``.
        role: "command", "sensor" or "parameter".
        value: Physical value, in ``unit``.
        raw: The code on the wire; None without quantisation.
        unit, lo, hi, bits: As the port says; 0 bits for a plain number.
        address: Where it stands on the bus.
        behind: The scene's signal behind it, or empty.
        owner: Who sets it; empty for nobody.
        held: Whether a person overrides it.
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
    """Every port signal, bus by bus."""
    signals = cycle.signals
    for block in cycle.buses:
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
