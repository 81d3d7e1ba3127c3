"""Devices: what physical devices mean to a scene, said in a file (003 §2.3.1)."""

from linkwork.devices.mapping import Device, Map, Mapping
from linkwork.devices.read import load_devices

__all__ = ["Device", "Map", "Mapping", "load_devices"]
