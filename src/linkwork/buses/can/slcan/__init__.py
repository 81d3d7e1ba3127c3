"""slcan: the serial protocol of LAWICEL's CAN232, on TCP or on a pseudo terminal."""

from linkwork.buses.can.slcan.adapter import SlcanAdapter
from linkwork.buses.can.slcan.server import SlcanPty, SlcanServer

__all__ = ["SlcanAdapter", "SlcanPty", "SlcanServer"]
