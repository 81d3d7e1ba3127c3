"""GeneralDrive: an affine force on weighted sums of joints."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.components.actuators import Actuator
from linkwork.components.actuators.kernels import drive_general
from linkwork.core.errors import SceneError
from linkwork.core.state import State
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.blocks import SignalSpec, read_params, scoped_name
from linkwork.model.parts import Spec
from linkwork.model.world import World

Finite = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
FloatPair = tuple[Finite, Finite]
FloatTriple = tuple[Finite, Finite, Finite]

_DYNAMICS = ("none", "integrator", "filter", "filterexact")


class GeneralDriveParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``GeneralDrive``.

    Attributes:
        joints: Weight of each driven joint; the length L is their weighted sum.
        gain: Force per activation: g0 + g1·L + g2·dL/dt.
        bias: Force without activation: b0 + b1·L + b2·dL/dt.
        dynamics: Activation dynamics: none, integral, or a first-order filter, by Euler steps
            ("filter") or exactly ("filterexact").
        time: Time constant of the filter [s].
        early: Whether the force follows the activation at the end of the step.
        control_range: Minimum and maximum of the control; none if absent.
        activation_range: Minimum and maximum of the activation; none if absent.
        force_range: Minimum and maximum of the force; none if absent.
    """

    joints: Annotated[dict[str, Finite], msgspec.Meta(min_length=1)]
    gain: FloatTriple = (1.0, 0.0, 0.0)
    bias: FloatTriple = (0.0, 0.0, 0.0)
    dynamics: Literal["none", "integrator", "filter", "filterexact"] = "none"
    time: Annotated[float, msgspec.Meta(gt=0.0, le=1e6)] = 1.0
    early: bool = False
    control_range: FloatPair | None = None
    activation_range: FloatPair | None = None
    force_range: FloatPair | None = None


class GeneralDrive(Actuator):
    """Affine drives: ``<name>.control`` in, ``<name>.activation`` and ``<name>.force`` out.

    The force F = (g0 + g1·L + g2·L̇)·a + b0 + b1·L + b2·L̇ of activation a, within its range, acts
    on each joint by its weight. If a drive is the only one of a joint, its effort is an affine law,
    which engines integrate implicitly; if several share a joint, or one acts on several, their sum
    at the start of the step is applied.
    """

    type: ClassVar[str] = "general"
    form = GeneralDriveParams
    inputs = ("control",)

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        self.params = [read_params(spec, GeneralDriveParams) for spec in specs]
        terms: list[tuple[int, int]] = []
        weights: list[float] = []
        users: dict[int, list[int]] = {}
        for number, (spec, params) in enumerate(zip(specs, self.params, strict=True)):
            for joint, weight in params.joints.items():
                dof = self._find(spec, joint)
                terms.append((number, dof))
                weights.append(weight)
                users.setdefault(dof, []).append(number)
            self._offer(number, spec, params)
        self.dofs = list(users)
        self._first = {dof: specs[numbers[0]] for dof, numbers in users.items()}
        alone = [n for n, p in enumerate(self.params) if len(p.joints) == 1]
        self._alone = np.zeros(len(specs), np.bool_)
        for number in alone:
            dof = next(d for n, d in terms if n == number)
            self._alone[number] = len(users[dof]) == 1
        self._terms = np.array(terms, np.int64).reshape(-1, 2)
        self._weights = np.array(weights, np.float64)
        self._limits = np.array([_effort_range(world, dof) for dof in self.dofs]).reshape(-1, 2)

    def _find(self, spec: Spec, joint: str) -> int:
        world, name = self.world, scoped_name(spec, joint)
        dof = world.single_dof(name, origin=spec.origin)
        if world.kind[world.dof_body[dof]] in (BALL, FREE):
            raise SceneError(
                f"general {spec.name!r} cannot drive {name!r}: it is a ball or free joint.",
                origin=spec.origin,
                hint="Actuators drive hinges, sliders and other single degrees of freedom.",
            )
        return dof

    def _offer(self, number: int, spec: Spec, params: GeneralDriveParams) -> None:
        lo, hi = params.control_range or (-math.inf, math.inf)
        name, place = spec.name, (number,)
        self._signals += [
            SignalSpec(f"{name}.control", self.field("control"), place, "", lo, hi, "input"),
            SignalSpec(f"{name}.activation", self.field("activation"), place),
            SignalSpec(f"{name}.force", self.field("force"), place),
        ]

    def spec_of(self, number: int) -> Spec:  # noqa: D102
        return self._first[self.dofs[number]]

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        count = (len(self.specs),)
        return {"control": count, "activation": count, "force": count}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        world, endless = self.world, (-math.inf, math.inf)
        bodies = world.dof_body
        coordinate = world.qadr[bodies] - world.vadr[bodies] + np.arange(world.nv)
        laws = [
            (
                *p.gain, *p.bias, _DYNAMICS.index(p.dynamics), p.time, p.early,
                *(p.control_range or endless), *(p.activation_range or endless),
                *(p.force_range or endless),
            )
            for p in self.params
        ]  # fmt: skip
        self._tables = (
            np.array(self.dofs, np.int64), self._limits, self._terms, self._weights, self._alone,
            np.array(laws, np.float64), coordinate.astype(np.int64), state.q, state.v,
            self.slot("control"), self.slot("activation"), self.slot("force"), state.drive,
        )  # fmt: skip

    def drive(self, step: int) -> None:  # noqa: D102
        drive_general(self.world.scene.step, *self._tables)


def _effort_range(world: World, dof: int) -> tuple[float, float]:
    """Minimum and maximum total effort of all drives of a joint."""
    number = int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])
    given = world.joints[number].mujoco.get("effort_range")
    most = float(world.dof_effort[dof])
    return (float(given[0]), float(given[1])) if given is not None else (-most, most)
