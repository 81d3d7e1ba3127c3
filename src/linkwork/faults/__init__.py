"""Faults: what goes wrong on purpose, at a time, by chance or by hand."""

from linkwork.faults.fault import Fault, Phase, Targets

__all__ = ["Fault", "Phase", "Targets"]
