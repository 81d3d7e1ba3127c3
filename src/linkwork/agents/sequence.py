"""Sequence: leads a signal through a list of values."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from linkwork.agents.reference import Reference, ReferenceParams
from linkwork.blocks import read_params
from linkwork.parts import Spec
from linkwork.scene.track import Track
from linkwork.world import World


class SequenceParams(ReferenceParams, forbid_unknown_fields=True):
    """Parameters of ``Sequence``.

    Attributes:
        times: Rising times [s].
        values: What to reach at each time [the signal's unit].
        hold: Keep each value until the next time, rather than go over evenly.
        smooth: Go over without jumps in speed, at rest at both ends, never beyond the values.
        repeat: Begin again at the last time, where the first value stands in for the last.
    """

    times: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    hold: bool = False
    smooth: bool = False
    repeat: bool = False


class Sequence(Reference):
    """Writes values at times: held, or joined by straight or smooth lines.

    Before the first time it writes the first value; after the last time the last, unless it
    repeats.
    """

    type: ClassVar[str] = "sequence"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, SequenceParams)
        super().__init__(world, spec, name, params)
        times, values = params.times, params.values
        if not times or len(times) != len(values):
            self._refuse(
                f"it needs as many values as times, not {len(values)} values at {len(times)} times"
            )
        for each in (*times, *values):
            self._check_number("each time and value", each)
        for before, after in pairwise(times):
            if after <= before:
                self._refuse(f"times must rise, but {after:g} s comes after {before:g} s")
        if params.repeat and len(times) < 2:
            self._refuse("to repeat, it needs at least two times")
        if params.hold and params.smooth:
            self._refuse("hold and smooth are both given; one is enough")
        way = "hold" if params.hold else "smooth" if params.smooth else "linear"
        self._track, self._repeat = Track(times, values, way), params.repeat

    def value(self, time: float) -> float:
        """The value at ``time`` [s]."""
        times = self._track.times
        if self._repeat and time >= times[-1]:
            time = times[0] + (time - times[0]) % (times[-1] - times[0])
        return self._track.value(time)

    def extent(self) -> tuple[float, float]:
        """Lowest and highest of the values."""
        return self._track.extent()
