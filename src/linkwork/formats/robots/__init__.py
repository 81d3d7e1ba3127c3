"""Formats that describe robots."""
