"""A channel's identifiers and options."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.buses.can.frame import Frame

MOST = 4095
TIMEOUT = 1.0  # for the bus to take a frame, for a flow control, for a consecutive frame [s]
RETRY = 0.002  # between two tries to send a frame that the bus did not take [s]

# Flags as in linux/can/isotp.h.
LISTEN, EXTEND, TX_PADDING, RX_PADDING = 0x001, 0x002, 0x004, 0x008
CHECK_LENGTH, CHECK_DATA, HALF_DUPLEX = 0x010, 0x020, 0x040
FORCE_TX_GAP, FORCE_RX_GAP, RX_EXTEND = 0x080, 0x100, 0x200


@dataclass(frozen=True, slots=True)
class IsoTpSettings:
    """A channel.

    Attributes:
        tx: Identifier that it sends with, and whether that has 29 bits.
        rx: Identifier that it hears.
        flags: See above.
        block: Consecutive frames that the other side may send before it waits; 0 for all.
        gap: Least time between these, as :func:`gap_seconds` reads it.
        tx_pad: Fills frames that are sent, with TX_PADDING.
        rx_pad: Fills frames that are heard, with RX_PADDING.
        address: First byte of frames that are sent, with EXTEND.
        rx_address: First byte of frames that are heard, with RX_EXTEND.
        forced_gap: Consecutive frames that come sooner than this after the last one are ignored,
            with FORCE_RX_GAP [s]. Linux sets it apart from the flag, socketcand not at all.
    """

    tx: tuple[int, bool]
    rx: tuple[int, bool]
    flags: int = 0
    block: int = 0
    gap: int = 0
    tx_pad: int = 0xCC
    rx_pad: int = 0xCC
    address: int = 0
    rx_address: int = 0
    forced_gap: float = 0.0

    @property
    def needs(self) -> int:
        """How many values of socketcand's isotpconf the flags ask for."""
        pairs = ((RX_EXTEND, 10), (EXTEND, 9), (RX_PADDING, 8), (TX_PADDING, 7))
        return next((count for flag, count in pairs if self.flags & flag), 5)

    @property
    def shift(self) -> int:
        """Bytes that an address takes from every frame."""
        return 1 if self.flags & EXTEND else 0

    def frame(self, content: bytes, *, pad: int | None) -> Frame:
        """A frame of the channel.

        Args:
            content: What follows the address.
            pad: Fills it up to 8 bytes; None leaves it short.
        """
        if self.shift:
            content = bytes((self.address,)) + content
        if pad is not None:
            content = content.ljust(8, bytes((pad,)))
        id, extended = self.tx
        return Frame(id, content, extended, False, False, len(content))


def gap_seconds(code: int) -> float:
    """The least time between two frames that a flow control asks for [s]."""
    if 0xF1 <= code <= 0xF9:
        return (code - 0xF0) * 1e-4
    return min(code, 0x7F) * 1e-3
