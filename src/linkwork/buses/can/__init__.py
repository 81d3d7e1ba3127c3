"""CAN: frames, the hub that carries them, and the doors through which programs reach it."""

from linkwork.buses.can.faults import Fault, Faults, Kind
from linkwork.buses.can.frame import (
    CanError,
    Frame,
    data_frame,
    error_frame,
    parse_frame,
    remote_frame,
)
from linkwork.buses.can.hub import Event, Hub
from linkwork.buses.can.log import Entry, FrameLog
from linkwork.buses.can.node import Counters, Node
from linkwork.buses.can.states import ErrorCounters, State

__all__ = [
    "CanError",
    "Counters",
    "Entry",
    "ErrorCounters",
    "Event",
    "Fault",
    "Faults",
    "Frame",
    "FrameLog",
    "Hub",
    "Kind",
    "Node",
    "State",
    "data_frame",
    "error_frame",
    "parse_frame",
    "remote_frame",
]
