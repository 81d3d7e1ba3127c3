"""Agents: decide targets, each at its own period."""

from linkwork.agents.agent import Agent, Bench
from linkwork.agents.control import Control

__all__ = ["Agent", "Bench", "Control"]
