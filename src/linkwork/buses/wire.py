"""What the frames of a bus look like on the wire, for people who look at their bytes."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class WireSignal:
    """Bits of a frame and what they mean: value = raw · scale + offset.

    Attributes:
        name: Name.
        start: First bit, as a DBC file counts (byte · 8 + bit): the lowest one, or the highest if
            ``big_endian``.
        bits: How many.
        big_endian: Whether the highest byte comes first (Motorola); else Intel.
        signed: Whether raw values are two's complement.
        real: Whether the bits are an IEEE number.
        scale: What one step is worth.
        offset: Value of raw 0.
        unit: Its unit.
        words: Words for raw values.
        parent: The signal that says whether this one is in a frame; empty for always.
        ranges: Raw values of the parent with which it is, first and last of each.
    """

    name: str
    start: int
    bits: int
    big_endian: bool = False
    signed: bool = False
    real: bool = False
    scale: float = 1.0
    offset: float = 0.0
    unit: str = ""
    words: dict[int, str] = field(default_factory=dict)
    parent: str = ""
    ranges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class WireFrame:
    """A frame.

    Attributes:
        address: As the log writes it: ``201``.
        way: ``in`` or ``out`` where it means this only on one way; empty for both.
        name: What a file calls it; empty if none does.
        length: Bytes.
        signals: What it holds.
    """

    address: str
    way: str
    name: str
    length: int
    signals: tuple[WireSignal, ...]
