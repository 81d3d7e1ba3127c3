"""TablePlayer: joints and other signals from a table of values over time."""

from __future__ import annotations

import math
from typing import ClassVar

import msgspec

from linkwork.agents.agent import Bench
from linkwork.agents.lookup import find_scope
from linkwork.agents.prescribe import Prescription
from linkwork.agents.program_file import ProgramFile
from linkwork.blocks import read_params
from linkwork.errors import FormatError, LinkworkError
from linkwork.motion.table import read_table
from linkwork.parts import Spec
from linkwork.world import World


class TablePlayerParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of ``TablePlayer``.

    Attributes:
        file: A file of comma-separated values, relative to the file that names it. Its heading
            begins with ``time`` and names joints or signals, with the unit where it is not SI:
            ``time [s],elbow [deg]``.
        columns: Which of them to play; all if absent. The others may hold anything.
        on: Part that the names are looked up in first.
        start: When it begins [s].
    """

    file: str
    columns: list[str] = []
    on: str = ""
    start: float = 0.0


class TablePlayer(Prescription):
    """Sets joints' targets and other inputs to what a table says, on smooth curves between.

    Speeds and accelerations are those of the curves (cubic splines). What ``linkwork run --csv``
    and ``--tables`` write can be played: a joint's ``angle`` or ``position`` becomes its target;
    ``columns`` says which, for what was measured cannot be set.
    """

    type: ClassVar[str] = "table"

    def __init__(self, world: World, spec: Spec, name: str) -> None:
        params = read_params(spec, TablePlayerParams)
        super().__init__(world, spec, name, find_scope(world, spec, params.on))
        if not (math.isfinite(params.start) and params.start >= 0.0):
            raise FormatError(
                f"{self.what}: start must be a finite number of 0 or more, not {params.start:g}.",
                origin=spec.origin,
            )
        self._start = params.start
        text = ProgramFile(params.file, spec.name, spec.origin).read()
        try:
            self._table = read_table(text, params.columns, origin=spec.at("file"))
        except LinkworkError as error:
            raise self.refused(error) from None

    def start(self, bench: Bench) -> None:
        """Finds what is set.

        Raises:
            LinkworkError: If a column means nothing that can be set.
        """
        super().start(bench)
        table = self._table
        self._ways = self.find_ways(bench, table.names, table.units)

    def decide(self, step: int) -> None:
        """Sets the values of the end of this step."""
        time = self.next_time - self._start
        if time < 0.0:
            return
        made = self._table.curves.at(time)
        for k, way in enumerate(self._ways):
            self.put(way, made[:, k].tolist())
