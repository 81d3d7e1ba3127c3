"""Drives: what all actuator blocks share: a degree of freedom each, gains, and its signals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from linkwork.actuators.actuator import Actuator
from linkwork.blocks import SignalSpec, read_params, scoped_name
from linkwork.errors import SceneError
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.parts import Spec
from linkwork.state import State
from linkwork.world import World

#: A finite number of at least 0.
Gain = Annotated[float, msgspec.Meta(ge=0.0, le=1e12)]


class DriveParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of every actuator.

    Attributes:
        joint: A joint of one degree of freedom, or ``joint.dof``.
        max_effort: Largest torque or force [N m or N]; the joint's own if absent, else unlimited.
    """

    joint: str
    max_effort: Gain | None = None


class Drives(Actuator):
    """Base of actuator blocks that drive one degree of freedom a row.

    A subclass names its ``form`` of parameters and the ``inputs`` (fields of the state by degree
    of freedom) and ``gains`` that it reads. Gains may be changed while running: each is a signal
    ``<joint>.<gain>``, as is ``<joint>.max_effort``.

    Attributes:
        dofs: Degrees of freedom that the rows drive.
        coordinates: Their places in ``q``.
    """

    form: ClassVar[type[DriveParams]] = DriveParams
    inputs: ClassVar[Sequence[str]] = ()
    gains: ClassVar[Sequence[str]] = ()

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        self.params: list[Any] = [read_params(spec, self.form) for spec in specs]
        self.dofs = []
        for spec, params in zip(specs, self.params, strict=True):
            self.dofs.append(self._find(spec, params.joint))
        bodies = world.dof_body[self.dofs]
        first = world.qadr[bodies] - world.vadr[bodies]
        self.coordinates: np.ndarray = first + np.array(self.dofs, np.int64)
        for number, dof in enumerate(self.dofs):
            angle = world.dof_is_angle(dof)
            self.offer(number, *(("rad", "N m") if angle else ("m", "N")))

    def _find(self, spec: Spec, joint: str) -> int:
        world = self.world
        name = scoped_name(spec, joint)
        places = world.dofs(name, origin=spec.origin)
        kind = world.kind[world.dof_body[places[0]]] if places else 0
        if kind in (BALL, FREE):
            raise SceneError(
                f"{self.type} {spec.name!r} cannot drive {name!r}: it is a "
                f"{'ball' if kind == BALL else 'free'} joint.",
                origin=spec.origin,
                hint="Actuators drive hinges, sliders and single degrees of freedom of the like.",
            )
        dof = world.single_dof(name, origin=spec.origin)
        if dof in self.dofs:
            other = self.specs[self.dofs.index(dof)]
            raise SceneError(
                f"joint {world.dof_name(dof)!r} has two actuators: {_who(other)} and {_who(spec)}.",
                origin=spec.origin,
                hint="One actuator drives a joint.",
            )
        return dof

    def offer(self, number: int, unit: str, effort: str) -> None:
        """Offers the signals of one row; a subclass adds its inputs."""
        dof = self.world.dof_name(self.dofs[number])
        units = {"kp": f"{effort}/{unit}"}
        for column, gain in enumerate((*self.gains, "max_effort")):
            self._signals.append(
                SignalSpec(
                    f"{dof}.{gain}", self.field("gains"), (number, column),
                    effort if gain == "max_effort" else units.get(gain, f"{effort} s/{unit}"),
                    lo=0.0, direction="param",
                )
            )  # fmt: skip

    def offer_input(
        self, number: int, name: str, unit: str, lo: float, hi: float = math.inf
    ) -> None:
        """Offers a field of the state as the input ``<joint>.<field>``."""
        dof = self.dofs[number]
        full = f"{self.world.dof_name(dof)}.{name}"
        self._signals.append(SignalSpec(full, name, (dof,), unit, lo, hi, "input"))

    def max_effort(self, number: int) -> float:
        """Largest effort at the start [N m or N]."""
        given = self.params[number].max_effort
        return float(self.world.dof_effort[self.dofs[number]]) if given is None else given

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        return {"gains": (len(self.specs), len(self.gains) + 1)}

    def places(self, state: State, number: int) -> list[int]:
        """Addresses that the kernel needs for one row: effort, inputs, gains."""
        dof = self.dofs[number]
        inputs = [state.address(field, dof) for field in self.inputs]
        gains = state.address(self.field("gains"), number, 0)
        return [state.address("drive", 0, dof), *inputs, gains]

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        rows = [self.places(state, number) for number in range(len(self.specs))]
        self._stride = self.world.nv
        self._where = np.array(rows, np.int64)

    def reset(self) -> None:  # noqa: D102
        for number, row in enumerate(self.slot("gains")):
            row[:-1] = [getattr(self.params[number], gain) for gain in self.gains]
            row[-1] = self.max_effort(number)


def _who(spec: Spec) -> str:
    return f"{spec.type} {spec.name!r} ({spec.origin})"
