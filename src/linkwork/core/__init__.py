"""Foundations of the package."""
