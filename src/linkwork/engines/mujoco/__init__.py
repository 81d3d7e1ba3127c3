"""Mujoco: contact-rich dynamics by the MuJoCo library, on our world and state."""

from linkwork.engines.mujoco.engine import Mujoco

__all__ = ["Mujoco"]
