"""Actuators: turn targets into affine efforts with limits."""

from linkwork.actuators.actuator import Actuator

__all__ = ["Actuator"]
