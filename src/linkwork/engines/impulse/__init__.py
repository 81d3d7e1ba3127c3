"""The impulse engine: joints and loops that hold to a stated tolerance."""

from linkwork.engines.impulse.engine import Impulse

__all__ = ["Impulse"]
