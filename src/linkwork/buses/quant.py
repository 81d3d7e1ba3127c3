"""Quant: a number as so many bits on a wire (001's quantisation; a DBC signal's scale, offset)."""

from __future__ import annotations

import math
from functools import cached_property

import msgspec

from linkwork.errors import SignalError

#: Codes of more bits are not whole numbers of a float64 any more.
MOST_BITS = 52


class Quant(msgspec.Struct, frozen=True, dict=True):
    """An even grid of 2^bits values from ``lo`` to ``hi``.

    value = code · scale + offset, with scale = (hi − lo)/(2^bits − 1). Unsigned codes run from 0
    (``lo``), signed ones from −2^(bits−1) (``lo``), as two's complement on the wire. The numbers
    are those of a DBC file with the same scale and offset, to the last bit.

    A DBC file gives scale and offset instead (:meth:`scaled`); ``lo`` and ``hi`` are then the
    limits within which values are held.

    Attributes:
        bits: 1 to 52.
        lo: Value of the lowest code, or lowest value.
        hi: Value of the highest code, or highest value.
        signed: Whether codes are two's complement.
        given: Scale and offset, where they are given; scale may be negative.
    """

    bits: int
    lo: float
    hi: float
    signed: bool = False
    given: tuple[float, float] | None = None

    @classmethod
    def scaled(
        cls, bits: int, scale: float, offset: float, signed: bool = False, *,
        lo: float = -math.inf, hi: float = math.inf,
    ) -> Quant:  # fmt: skip
        """A quantisation by its scale and offset, as a DBC file has it.

        Args:
            bits: 1 to 52.
            scale: What one code is worth; not 0.
            offset: Value of code 0.
            signed: Whether codes are two's complement.
            lo: Lowest value, beyond which values are held at it.
            hi: Highest value.

        Raises:
            SignalError: If they make no quantisation.
        """
        if not 1 <= bits <= MOST_BITS:
            raise SignalError(f"a quantisation has 1 to {MOST_BITS} bits, not {bits}.")
        if not (math.isfinite(scale) and scale != 0.0 and math.isfinite(offset)):
            raise SignalError(
                f"a quantisation needs a scale other than 0 and an offset, not {scale:g} and "
                f"{offset:g}."
            )
        first = -(2 ** (bits - 1)) if signed else 0
        ends = first * scale + offset, (first + 2**bits - 1) * scale + offset
        return cls(bits, max(lo, min(ends)), min(hi, max(ends)), signed, (scale, offset))

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MOST_BITS:
            raise SignalError(f"a quantisation has 1 to {MOST_BITS} bits, not {self.bits}.")
        if not (math.isfinite(self.lo) and math.isfinite(self.hi) and self.lo < self.hi):
            raise SignalError(
                f"a quantisation runs from a lowest to a highest number, not from {self.lo:g} to "
                f"{self.hi:g}."
            )
        if not (math.isfinite(self.scale) and self.scale != 0.0 and math.isfinite(self.offset)):
            raise SignalError(
                f"{self.bits} bits cannot divide what lies between {self.lo:g} and {self.hi:g}."
            )

    @cached_property
    def scale(self) -> float:
        """What one code is worth."""
        if self.given is not None:
            return self.given[0]
        return (self.hi - self.lo) / (2**self.bits - 1)

    @cached_property
    def offset(self) -> float:
        """Value of code 0."""
        if self.given is not None:
            return self.given[1]
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
        """The nearest code (the even one of two as near); the last one beyond the range.

        Raises:
            SignalError: If the value is NaN.
        """
        if math.isnan(value):
            raise SignalError("NaN has no code.")
        code = (min(max(value, self.lo), self.hi) - self.offset) / self.scale
        return min(max(round(code), self.code_lo), self.code_hi)

    def decode(self, code: int) -> float:
        """The value of a code; codes beyond the range count as the last one."""
        return min(max(code, self.code_lo), self.code_hi) * self.scale + self.offset

    def nearest(self, value: float) -> float:
        """The value as the other end of the wire reads it."""
        return self.decode(self.encode(value))

    def to_wire(self, code: int) -> int:
        """A code as the unsigned number that stands on the wire."""
        return code & (2**self.bits - 1)

    def from_wire(self, word: int) -> int:
        """The code behind the unsigned number on the wire; higher bits are ignored."""
        word &= 2**self.bits - 1
        return word - 2**self.bits if self.signed and word > self.code_hi else word
