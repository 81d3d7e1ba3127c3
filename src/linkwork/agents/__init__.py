"""Agents: decide targets, each at its own period."""

from linkwork.agents.agent import Agent, Bench

__all__ = ["Agent", "Bench"]
