"""Sensor: reads the state and the report; its readings are signals."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linkwork.blocks import Block
from linkwork.engines import Engine


class Sensor(Block):
    """Base of all sensor blocks: every sensor of one type in a scene, read by one call."""

    kind: ClassVar[str] = "sensor"
    #: Whether the sensor reads the report's contact table, which engines then fill each step.
    reads_contacts: ClassVar[bool] = False
    #: Whether it is read when a step is done, and not when the next begins: a view of the state.
    at_the_end: ClassVar[bool] = False
    #: Names of readings that are arrays, which are no signals; see :meth:`array`.
    arrays: ClassVar[tuple[str, ...]] = ()

    def meet(self, engines: list[Engine]) -> None:
        """Told of the engines, before they lay out their models."""

    def read(self, step: int, *, now: bool = False) -> None:
        """Fills the readings that are due at ``step``; all of them with ``now``."""
        raise NotImplementedError

    def array(self, number: int, name: str) -> np.ndarray:
        """A copy of a reading that is an array, of the sensor in row ``number``."""
        raise NotImplementedError
