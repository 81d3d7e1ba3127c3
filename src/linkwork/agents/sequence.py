"""Sequence: leads a signal through a list of values."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import ClassVar

from linkwork.agents.reference import Reference, ReferenceParams
from linkwork.blocks import read_params
from linkwork.parts import Spec
from linkwork.world import World


class SequenceParams(ReferenceParams, forbid_unknown_fields=True):
    """Parameters of ``Sequence``.

    Attributes:
        times: Rising times [s].
        values: What to reach at each time [the signal's unit].
        hold: Keep each value until the next time, rather than go over evenly.
        repeat: Begin again at the last time, where the first value stands in for the last.
    """

    times: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    hold: bool = False
    repeat: bool = False


class Sequence(Reference):
    """Writes values at times: held, or joined by straight lines.

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
        self._params = params

    def value(self, time: float) -> float:
        """The value at ``time`` [s]."""
        p = self._params
        times, values = p.times, p.values
        if p.repeat and time >= times[-1]:
            time = times[0] + (time - times[0]) % (times[-1] - times[0])
        n = bisect_right(times, time)
        if n == 0:
            return values[0]
        if n == len(times) or p.hold:
            return values[n - 1]
        share = (time - times[n - 1]) / (times[n] - times[n - 1])
        return values[n - 1] + share * (values[n] - values[n - 1])

    def extent(self) -> tuple[float, float]:
        """Lowest and highest of the values."""
        return min(self._params.values), max(self._params.values)
