"""Lagrange: trees in their joint coordinates, with Runge–Kutta's methods."""

from linkwork.engines.lagrange.engine import Lagrange

__all__ = ["Lagrange"]
