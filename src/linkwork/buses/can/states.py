"""Error counters of a node and the states that they put it in (CAN 2.0, fault confinement)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from linkwork.buses.can.frame import Frame, error_frame

WARNING_AT = 96
PASSIVE_AT = 128
BUS_OFF_AT = 256

# Classes and details of SocketCAN's error frames (linux/can/error.h).
CLASS_CONTROLLER = 0x004
CLASS_PROTOCOL = 0x008
CLASS_BUS_OFF = 0x040
CLASS_BUS_ERROR = 0x080
CLASS_RESTARTED = 0x100
CLASS_COUNTERS = 0x200
_RECEIVE_PASSIVE, _TRANSMIT_PASSIVE = 0x10, 0x20
_RECEIVE_WARNING, _TRANSMIT_WARNING = 0x04, 0x08
_ACTIVE_AGAIN = 0x40
_BIT_ERROR, _AT_CHECKSUM = 0x01, 0x08


class State(StrEnum):
    """What a node may still do on the bus."""

    ACTIVE = "error active"
    PASSIVE = "error passive"
    OFF = "bus off"


@dataclass(slots=True)
class ErrorCounters:
    """Transmit and receive error counters of one node.

    A failed transmission costs 8, a failed reception 1; each success gives 1 back. From 128 the
    node is error passive, from 256 transmit errors it is off the bus until it is restarted.
    """

    transmit: int = 0
    receive: int = 0
    off: bool = False

    @property
    def state(self) -> State:
        """The state that the counters mean."""
        if self.off:
            return State.OFF
        return State.PASSIVE if max(self.transmit, self.receive) >= PASSIVE_AT else State.ACTIVE

    @property
    def warning(self) -> bool:
        """One of the counters has reached 96."""
        return self.off or max(self.transmit, self.receive) >= WARNING_AT

    def sent(self, ok: bool) -> None:
        """Counts a transmission."""
        if ok:
            self.transmit = max(0, self.transmit - 1)
            return
        self.transmit += 8
        if self.transmit >= BUS_OFF_AT:
            self.go_off()

    def heard(self, ok: bool) -> None:
        """Counts a reception; a node in trouble comes back to 119…127 with its first good one."""
        if not ok:
            self.receive = min(self.receive + 1, 255)
        else:
            self.receive = min(max(0, self.receive - 1), PASSIVE_AT - 1)

    def go_off(self) -> None:
        """Takes the node off the bus."""
        self.off, self.transmit = True, BUS_OFF_AT

    def restart(self) -> None:
        """Puts the node back, with both counters at zero."""
        self.off, self.transmit, self.receive = False, 0, 0


def bus_error(counters: ErrorCounters) -> Frame:
    """What a node reports when a frame was destroyed on the wire."""
    data = bytes((0, 0, _BIT_ERROR, _AT_CHECKSUM, 0, 0, *_shown(counters)))
    return error_frame(CLASS_PROTOCOL | CLASS_BUS_ERROR | CLASS_COUNTERS, data)


def state_report(counters: ErrorCounters, *, restarted: bool = False) -> Frame:
    """What a node reports when its own state has changed."""
    shown = _shown(counters)
    if restarted:
        return error_frame(CLASS_RESTARTED | CLASS_COUNTERS, bytes((0,) * 6 + shown))
    if counters.off:
        return error_frame(CLASS_BUS_OFF | CLASS_COUNTERS, bytes((0,) * 6 + shown))
    detail = _ACTIVE_AGAIN
    if counters.state is State.PASSIVE:
        detail = (_TRANSMIT_PASSIVE if counters.transmit >= PASSIVE_AT else 0) | (
            _RECEIVE_PASSIVE if counters.receive >= PASSIVE_AT else 0
        )
    elif counters.warning:
        detail = (_TRANSMIT_WARNING if counters.transmit >= WARNING_AT else 0) | (
            _RECEIVE_WARNING if counters.receive >= WARNING_AT else 0
        )
    return error_frame(CLASS_CONTROLLER | CLASS_COUNTERS, bytes((0, detail, 0, 0, 0, 0, *shown)))


def _shown(counters: ErrorCounters) -> tuple[int, int]:
    return min(counters.transmit, 255), min(counters.receive, 255)
