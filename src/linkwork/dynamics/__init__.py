"""Recursive dynamics over a world's arrays: efforts, mass matrix and accelerations."""

from linkwork.dynamics.holding_efforts import Load, holding_efforts
from linkwork.dynamics.recursive import aba, accelerations, bias, crba, drift, rnea

__all__ = [
    "Load",
    "aba",
    "accelerations",
    "bias",
    "crba",
    "drift",
    "holding_efforts",
    "rnea",
]
