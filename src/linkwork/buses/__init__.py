"""Buses: connections of a scene to external controllers or hardware.

Importing it loads neither the compiler nor the physics, which bus processes do not need.
"""

from linkwork.buses.adapter import Adapter
from linkwork.buses.port import BusPlan, Port, PortSignal, Quant

__all__ = ["Adapter", "BusPlan", "Port", "PortSignal", "Quant"]
