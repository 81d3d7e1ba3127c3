"""Sensors: base class of blocks that read the state into signals."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from linkwork.core.errors import SceneError
from linkwork.core.state import State
from linkwork.core.value_types import NonNegative
from linkwork.engines import Engine
from linkwork.model.blocks import Block, SignalSpec, period_in_steps, read_params
from linkwork.model.parts import Spec
from linkwork.model.world import World


class Sensor(Block):
    """Base of all sensor blocks: every sensor of one type in a scene, read by one call."""

    kind: ClassVar[str] = "sensor"
    #: Whether the sensor reads the report's contact table, which engines then fill each step.
    reads_contacts: ClassVar[bool] = False
    #: Whether it is read at the end of a step instead of the beginning of the next: a view of the
    #: state.
    reads_after_step: ClassVar[bool] = False
    #: Names of array readings, which are not signals; see :meth:`array`.
    arrays: ClassVar[tuple[str, ...]] = ()

    def attach_engines(self, engines: list[Engine]) -> None:
        """Receives the engines, before they build their models."""

    def read(self, step: int, *, now: bool = False) -> None:
        """Updates the readings that are due at ``step``; all of them with ``now``."""
        raise NotImplementedError

    @classmethod
    def array_name(cls, name: str) -> str:
        """Returns the present name of an array that may be given by an earlier name."""
        return name

    def array(self, number: int, name: str) -> np.ndarray:
        """A copy of an array reading of the sensor in row ``number``."""
        raise NotImplementedError


#: A finite number.
Finite = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]


class ReadingParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of every sensor.

    Attributes:
        period: Time between readings [s], a whole multiple of the step; each step if 0.
        noise: Standard deviation of the noise on the reading [the reading's unit].
    """

    period: NonNegative = 0.0
    noise: NonNegative = 0.0


@dataclass(frozen=True)
class ReadingRow:
    """Kernel data of one sensor.

    Attributes:
        fields: Numbers of the state that it reads: name of the field, then the index.
        numbers: Parameters, the noise first.
        whole: Integer parameters.
    """

    fields: tuple[tuple[Any, ...], ...]
    numbers: tuple[float, ...]
    whole: tuple[int, ...] = ()


class SampledSensor(Sensor):
    """Base of sensor blocks whose rows hold a few numbers each.

    A subclass sets ``form``, its parameters, its ``kernel`` and the number of ``columns`` per row,
    and implements :meth:`resolve`. A reading is taken at steps that are whole multiples of the
    period and held in between. Its noise is a function of the scene's seed, the sensor's name and
    the step: it has no memory, and a replay repeats it exactly.
    """

    form: ClassVar[type[ReadingParams]] = ReadingParams
    kernel: ClassVar[Callable[..., Any]]
    columns: ClassVar[int] = 1

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        self.params: list[Any] = [read_params(spec, self.form) for spec in specs]
        self.every: list[int] = []
        self.rows: list[ReadingRow] = []
        for number, (spec, params) in enumerate(zip(specs, self.params, strict=True)):
            if spec.name in world.joint_names:
                raise SceneError(
                    f"sensor {spec.name!r} has the name of a joint.",
                    origin=spec.origin,
                    hint=f"Name it otherwise, for example '{spec.name}_{self.type}'.",
                )
            what = f"sensor {spec.name!r}"
            self.every.append(
                period_in_steps(params.period, world.scene.step, what, spec.at("period"))
            )
            self.rows.append(self.resolve(number, spec, params))

    def resolve(self, number: int, spec: Spec, params: Any) -> ReadingRow:
        """Resolves the names of one sensor, and adds its signals."""
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
        """Adds one number of a row as the signal ``<sensor>.<name>``."""
        full = f"{self.specs[number].name}.{name}"
        place = self.field("reading"), (number, column)
        self._signals.append(SignalSpec(full, *place, unit, lo, hi))

    def slots(self) -> dict[str, tuple[int, ...]]:
        return {"reading": (len(self.specs), self.columns)}

    def bind(self, state: State) -> None:
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
        """Updates the readings that are due at ``step``; all of them with ``now``."""
        self.kernel(step, now, *self._tables)


def noise_key(seed: int, spec: Spec) -> int:
    """Start of a sensor's own noise stream, independent of other sensors."""
    text = f"{seed} {spec.type} {spec.name}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


__all__ = ["Sensor"]
