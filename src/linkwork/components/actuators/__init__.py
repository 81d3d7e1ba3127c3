"""Actuators: base class of blocks that turn targets into affine efforts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.core.errors import SceneError
from linkwork.core.state import State
from linkwork.engines import Engine
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.blocks import Block, SignalSpec, read_params, scoped_name
from linkwork.model.parts import Spec
from linkwork.model.world import World

#: What computes an effort: the actuator's block, the engine itself, or nothing: it has no effect.
EffortBy = Literal["block", "engine", "nothing"]


class Actuator(Block):
    """Base of all actuator blocks: every actuator of one type in a scene, run by one call.

    :meth:`drive` fills columns of ``state.drive``: bias, kp, kd, lowest, highest, so that the
    effort is clip(bias − kp·q − kd·v, lowest, highest). One actuator drives a degree of freedom,
    or several whose efforts an engine computes.

    Attributes:
        dofs: Degrees of freedom that the rows drive.
        inputs: Fields of the state, by degree of freedom, used as inputs.
        metered: Whether :meth:`meter` is called after each step.
    """

    kind: ClassVar[str] = "actuator"
    inputs: ClassVar[Sequence[str]] = ()
    metered: ClassVar[bool] = False
    dofs: list[int]

    def attach_engines(self, engines: list[Engine]) -> None:
        """Lets engines compute actuators themselves, before they are prepared."""

    def inputs_of(self, number: int) -> Sequence[str]:
        """Returns the inputs of the drive of ``dofs[number]``."""
        return self.inputs

    def limits_of(self, number: int) -> tuple[float, float]:
        """Returns the maximum acceleration of the setpoint and the maximum effort, inf for none."""
        return math.inf, math.inf

    def armature(self) -> dict[int, float]:
        """Inertia that its rotors add to degrees of freedom [kg m² or kg]."""
        return {}

    def effort_by(self, number: int) -> EffortBy:
        """Returns what computes the effort on ``dofs[number]``, once engines are attached."""
        return "block"

    def spec_of(self, number: int) -> Spec:
        """Returns the spec of the drive of ``dofs[number]``."""
        return self.specs[number]

    def drive(self, step: int) -> None:
        """Fills the efforts of the driven degrees of freedom for this step."""
        raise NotImplementedError

    def meter(self) -> None:
        """Evaluates the step that the engines have made; for ``metered`` ones."""


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


class JointDrive(Actuator):
    """Base of actuator blocks that drive one degree of freedom per row.

    A subclass names its ``form`` of parameters and the ``inputs`` (fields of the state by degree
    of freedom) and ``gains`` that it reads. Gains may be changed while running: each is a signal
    ``<joint>.<gain>``, as is ``<joint>.max_effort``.

    Attributes:
        dofs: Degrees of freedom that the rows drive.
        coordinates: Their indices in ``q``.
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
        addresses = world.dofs(name, origin=spec.origin)
        kind = world.kind[world.dof_body[addresses[0]]] if addresses else 0
        if kind in (BALL, FREE):
            raise SceneError(
                f"{self.type} {spec.name!r} cannot drive {name!r}: it is a "
                f"{'ball' if kind == BALL else 'free'} joint.",
                origin=spec.origin,
                hint="Actuators drive hinges, sliders and other single degrees of freedom.",
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
        """Adds the signals of one row; a subclass adds its inputs."""
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
        """Adds a field of the state as the input ``<joint>.<field>``."""
        dof = self.dofs[number]
        full = f"{self.world.dof_name(dof)}.{name}"
        self._signals.append(SignalSpec(full, name, (dof,), unit, lo, hi, "input"))

    def max_effort(self, number: int) -> float:
        """Maximum effort at the start [N m or N]."""
        given = self.params[number].max_effort
        return float(self.world.dof_effort[self.dofs[number]]) if given is None else given

    def limits_of(self, number: int) -> tuple[float, float]:
        return math.inf, self.max_effort(number)

    def slots(self) -> dict[str, tuple[int, ...]]:
        return {"gains": (len(self.specs), len(self.gains) + 1)}

    def addresses(self, state: State, number: int) -> list[int]:
        """Addresses for one row of the kernel: effort, inputs, gains."""
        dof = self.dofs[number]
        inputs = [state.address(field, dof) for field in self.inputs]
        gains = state.address(self.field("gains"), number, 0)
        return [state.address("drive", 0, dof), *inputs, gains]

    def bind(self, state: State) -> None:
        super().bind(state)
        rows = [self.addresses(state, number) for number in range(len(self.specs))]
        self._stride = self.world.nv
        self._where = np.array(rows, np.int64)

    def reset(self) -> None:
        for number, row in enumerate(self.slot("gains")):
            row[:-1] = [getattr(self.params[number], gain) for gain in self.gains]
            row[-1] = self.max_effort(number)


def _who(spec: Spec) -> str:
    return f"{spec.type} {spec.name!r} ({spec.origin})"


__all__ = ["Actuator", "EffortBy"]
