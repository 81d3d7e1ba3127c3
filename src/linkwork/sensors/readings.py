"""Readings: what all sensor blocks share: period, noise, memory and one compiled call."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from linkwork.blocks import SignalSpec, read_params, whole_steps
from linkwork.errors import SceneError
from linkwork.parts import Spec
from linkwork.sensors.sensor import Sensor
from linkwork.state import State
from linkwork.world import World

#: A finite number of at least 0.
Positive = Annotated[float, msgspec.Meta(ge=0.0, le=1e12)]
#: A finite number.
Finite = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]


class ReadingParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of every sensor.

    Attributes:
        period: Time between readings [s], a whole multiple of the step; each step if 0.
        noise: Standard deviation of the noise on the reading [the reading's unit].
    """

    period: Positive = 0.0
    noise: Positive = 0.0


@dataclass(frozen=True)
class Row:
    """What a kernel needs to know of one sensor.

    Attributes:
        fields: Numbers of the state that it starts from: name of the field, then the index.
        numbers: Parameters, the noise first.
        whole: Whole numbers.
    """

    fields: tuple[tuple[Any, ...], ...]
    numbers: tuple[float, ...]
    whole: tuple[int, ...] = ()


class Readings(Sensor):
    """Base of sensor blocks whose rows hold a few numbers each.

    A subclass names its ``form`` of parameters, its ``kernel`` and how many ``columns`` a row
    has, and fills in :meth:`resolve`. A reading is taken at steps that are whole multiples of
    the period and held in between. Its noise is a function of the scene's seed, the sensor's name
    and the step: nothing of it is remembered, and a replay repeats it exactly.
    """

    form: ClassVar[type[ReadingParams]] = ReadingParams
    kernel: ClassVar[Callable[..., Any]]
    columns: ClassVar[int] = 1

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        self.params: list[Any] = [read_params(spec, self.form) for spec in specs]
        self.every: list[int] = []
        self.rows: list[Row] = []
        for number, (spec, params) in enumerate(zip(specs, self.params, strict=True)):
            if spec.name in world.joint_names:
                raise SceneError(
                    f"sensor {spec.name!r} has the name of a joint.",
                    origin=spec.origin,
                    hint=f"Name it otherwise, for example '{spec.name}_{self.type}'.",
                )
            what = f"sensor {spec.name!r}"
            self.every.append(whole_steps(params.period, world.scene.step, what, spec.at("period")))
            self.rows.append(self.resolve(number, spec, params))

    def resolve(self, number: int, spec: Spec, params: Any) -> Row:
        """Finds what one sensor names, and offers its signals."""
        raise NotImplementedError

    def offer(
        self,
        number: int,
        column: int,
        name: str,
        unit: str = "",
        *,
        lo: float = -math.inf,
        hi: float = math.inf,
    ) -> None:
        """Offers one number of a row as the signal ``<sensor>.<name>``."""
        full = f"{self.specs[number].name}.{name}"
        place = self.field("reading"), (number, column)
        self._signals.append(SignalSpec(full, *place, unit, lo, hi))

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return {"reading": (len(self.specs), self.columns)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        where = [
            [
                state.address(self.field("reading"), number, 0),
                self.every[number],
                *(state.address(*field) for field in row.fields),
                *row.whole,
            ]
            for number, row in enumerate(self.rows)
        ]
        form = [row.numbers for row in self.rows]
        keys = [noise_key(self.world.scene.seed, spec) for spec in self.specs]
        self._tables = (
            state.data,
            np.array(where, np.int64),
            np.array(form, np.float64),
            np.array(keys, np.uint64),
        )

    def read(self, step: int, *, now: bool = False) -> None:
        """Fills the readings that are due at ``step``; all of them with ``now``."""
        self.kernel(step, now, *self._tables)


def noise_key(seed: int, spec: Spec) -> int:
    """Start of a sensor's own stream of noise; other sensors do not change it."""
    text = f"{seed} {spec.type} {spec.name}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
