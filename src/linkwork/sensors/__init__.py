"""Sensors: all of one type are one block that reads the state and the last report."""

from linkwork.sensors.sensor import Sensor

__all__ = ["Sensor"]
