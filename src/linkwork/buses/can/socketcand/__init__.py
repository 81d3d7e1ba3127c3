"""socketcand: a CAN bus over TCP, as its public protocol (doc/protocol.md) defines it."""

from linkwork.buses.can.socketcand.beacon import Beacon, beacon_for, beacon_text
from linkwork.buses.can.socketcand.server import Socketcand

__all__ = ["Beacon", "Socketcand", "beacon_for", "beacon_text"]
