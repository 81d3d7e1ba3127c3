"""FormulaPlayer: joints and other signals as formulas of time."""

from __future__ import annotations

import math
from typing import ClassVar

import msgspec

from linkwork.agents.agent import Bench
from linkwork.agents.lookup import find_scope
from linkwork.agents.prescribe import Prescription
from linkwork.blocks import read_params
from linkwork.errors import FormatError
from linkwork.motion.formula import Formula
from linkwork.parts import Spec
from linkwork.world import World


class FormulaPlayerParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``FormulaPlayer``.

    Attributes:
        formulas: Formula of the time t [s] by joint or signal, in SI units:
            ``{ "robot/right_knee" = "-0.5 + 0.3*sin(2*pi*t)" }``.
        on: Part that the names are looked up in first.
        start: When it begins [s], which is its t = 0; until then it sets nothing.
    """

    formulas: dict[str, str]
    on: str = ""
    start: float = 0.0


class FormulaPlayer(Prescription):
    """Sets joints' targets and other inputs to formulas of time.

    Speeds and accelerations are the formulas' derivatives, so that in the modes ``kinematic`` and
    ``emulation`` joints have them exactly, and servos know how fast their target goes.
    """

    type: ClassVar[str] = "formula"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, FormulaPlayerParams)
        super().__init__(world, spec, name, find_scope(world, spec, params.on))
        if not (math.isfinite(params.start) and params.start >= 0.0):
            raise FormatError(
                f"{self.what}: start must be a finite number of 0 or more, not {params.start:g}.",
                origin=spec.origin,
            )
        if not params.formulas:
            raise FormatError(f"{self.what}: it needs at least one formula.", origin=spec.origin)
        self._start = params.start
        self._formulas: dict[str, Formula] = {}
        for target, text in params.formulas.items():
            try:
                formula = self._formulas[target] = Formula(text, origin=spec.at("formulas"))
                formula.at(0.0)
            except FormatError as error:
                raise self.refused(error) from None

    def start(self, bench: Bench) -> None:
        """Finds what is set.

        Raises:
            LinkworkError: If a name means nothing that can be set.
        """
        super().start(bench)
        ways = self.find_ways(bench, list(self._formulas))
        self._ways = list(zip(ways, self._formulas.values(), strict=True))

    def decide(self, step: int) -> None:
        """Sets the values of the end of this step."""
        time = self.next_time - self._start
        if time < 0.0:
            return
        for way, formula in self._ways:
            try:
                made = formula.at(time)
            except FormatError as error:
                raise self.refused(error) from None
            self.put(way, (made.value, made.speed, made.change))
