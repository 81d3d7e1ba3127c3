"""Ports and buses: how controller software and hardware outside talk to a scene.

This front door is light: bus processes import it, and never the compiler or the physics.
"""

from linkwork.buses.adapter import Adapter
from linkwork.buses.port import BusPlan, Port, PortSignal
from linkwork.buses.quant import Quant

__all__ = ["Adapter", "BusPlan", "Port", "PortSignal", "Quant"]
