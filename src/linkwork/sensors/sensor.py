"""Sensor: reads the state and the report; its readings are signals."""

from __future__ import annotations

from typing import ClassVar

from linkwork.blocks import Block


class Sensor(Block):
    """Base of all sensor blocks: every sensor of one type in a scene, read by one call."""

    kind: ClassVar[str] = "sensor"
    #: Whether the sensor reads the report's contact table, which engines then fill each step.
    reads_contacts: ClassVar[bool] = False

    def read(self, step: int, *, now: bool = False) -> None:
        """Fills the readings that are due at ``step``; all of them with ``now``."""
        raise NotImplementedError
