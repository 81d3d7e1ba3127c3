"""Tests that need Drake and PyBullet, which have an environment of their own: ``make peers``."""

from pathlib import Path

HOME = Path(__file__).resolve().parent.parent.parent / ".venv-peers" / "bin" / "python"

# Without it nothing here is collected: its wheels are large, and not for every machine.
collect_ignore_glob = [] if HOME.exists() else ["test_*.py"]
