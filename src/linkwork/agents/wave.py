"""Wave: moves a signal to and fro."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from linkwork.agents.reference import Reference, ReferenceParams
from linkwork.blocks import read_params
from linkwork.parts import Spec
from linkwork.world import World


class WaveParams(ReferenceParams, forbid_unknown_fields=True):
    """Parameters of ``Wave``.

    Attributes:
        shape: "sine", "square" or "triangle".
        frequency: [Hz].
        amplitude: [the signal's unit].
        offset: The middle [the signal's unit].
        phase: [rad].
    """

    shape: Literal["sine", "square", "triangle"] = "sine"
    frequency: float = 1.0
    amplitude: float = 1.0
    offset: float = 0.0
    phase: float = 0.0


class Wave(Reference):
    """Writes offset + amplitude·w(2π·frequency·t + phase).

    w is the sine, its sign (1 at 0), or the triangle that meets the sine at its zeros and peaks.
    """

    type: ClassVar[str] = "wave"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, WaveParams)
        super().__init__(world, spec, name, params)
        for each in ("amplitude", "offset", "phase"):
            self._check_number(each, getattr(params, each))
        self._check_number("frequency", params.frequency, lowest=0.0)
        self._params = params

    def value(self, time: float) -> float:
        """The value at ``time`` [s]."""
        p = self._params
        turns = p.frequency * time + p.phase / (2.0 * math.pi)
        return p.offset + p.amplitude * _wave(p.shape, turns - math.floor(turns))

    def extent(self) -> tuple[float, float]:
        """From one peak to the other."""
        p = self._params
        return p.offset - abs(p.amplitude), p.offset + abs(p.amplitude)


def _wave(shape: str, part: float) -> float:
    """The wave at ``part`` of its period, 0 ≤ part < 1."""
    if shape == "sine":
        return math.sin(2.0 * math.pi * part)
    if shape == "square":
        return 1.0 if part < 0.5 else -1.0
    return 1.0 - abs(4.0 * ((part + 0.25) % 1.0) - 2.0)
