"""Engines: each moves the bodies it owns by one step."""

from linkwork.engines.engine import Engine

__all__ = ["Engine"]
