"""The command line: ``linkwork run | replay | check | convert | kits | new | warmup | studio``."""

from linkwork.cli.app import main

__all__ = ["main"]
