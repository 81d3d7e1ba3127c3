"""CAN buses."""

from linkwork.buses.can.faults import CanFault, CanFaultKind, CanFaultSet
from linkwork.buses.can.frame import (
    CanError,
    CanFrame,
    data_frame,
    error_frame,
    parse_frame,
    remote_frame,
)
from linkwork.buses.can.hub import CanHub, HubEvent
from linkwork.buses.can.monitoring import FrameLog, LogEntry
from linkwork.buses.can.node import CanNode, Counters, ErrorCounters, NodeState

__all__ = [
    "CanError",
    "CanFault",
    "CanFaultKind",
    "CanFaultSet",
    "CanFrame",
    "CanHub",
    "CanNode",
    "Counters",
    "ErrorCounters",
    "FrameLog",
    "HubEvent",
    "LogEntry",
    "NodeState",
    "data_frame",
    "error_frame",
    "parse_frame",
    "remote_frame",
]
