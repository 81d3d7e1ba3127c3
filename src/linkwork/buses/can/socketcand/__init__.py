"""socketcand: a CAN bus over TCP, by its public protocol (doc/protocol.md)."""

from linkwork.buses.can.socketcand.server import Beacon, SocketcandServer, beacon_for, beacon_text

__all__ = ["Beacon", "SocketcandServer", "beacon_for", "beacon_text"]
