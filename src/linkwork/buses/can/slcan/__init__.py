"""slcan: the serial protocol of LAWICEL's CAN232 and CANUSB, on TCP and on a pseudo terminal."""

from linkwork.buses.can.slcan.adapter import SlcanAdapter
from linkwork.buses.can.slcan.pty import SlcanPty
from linkwork.buses.can.slcan.server import SlcanTcp

__all__ = ["SlcanAdapter", "SlcanPty", "SlcanTcp"]
