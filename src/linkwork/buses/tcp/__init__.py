"""The TCP part (000 §6): joint angles and speeds in, joint angles out, as lines of text."""

from linkwork.buses.tcp.adapter import Tcp

__all__ = ["Tcp"]
