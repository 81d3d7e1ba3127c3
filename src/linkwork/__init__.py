"""Linkwork: a virtual test bench for robots."""
