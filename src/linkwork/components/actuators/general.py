"""GeneralDrive: an affine force on weighted sums of joints, as MuJoCo's actuators have it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np

from linkwork.components.actuators import Actuator, EffortBy
from linkwork.components.actuators.kernels import drive_general, meter_general
from linkwork.core.errors import SceneError
from linkwork.core.mujoco_library import mujoco
from linkwork.core.state import State
from linkwork.engines import Engine
from linkwork.engines.mujoco import Mujoco
from linkwork.engines.mujoco.actuators import EngineActuator, joint_transmission
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
        start: Control at the start, by the name of the posture in which the scene starts.
        start_activation: Activation at the start, likewise.
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
    start: dict[str, Finite] = {}
    start_activation: dict[str, Finite] = {}


class GeneralDrive(Actuator):
    """Affine drives: ``<name>.control`` in, ``<name>.activation``, ``<name>.force`` out.

    The force F = (g0 + g1·L + g2·L̇)·a + b0 + b1·L + b2·L̇ of activation a, within its range, acts
    on each joint by its weight. ``<name>.power`` is F·L̇, averaged over the step where an engine
    computes the drive, ``<name>.energy`` the work so far. The Mujoco engine computes the drives of
    its joints itself, as MuJoCo does. Elsewhere, if a drive is the only one of a joint, its effort
    is an affine law, which engines integrate implicitly; if several share a joint, or one acts on
    several, their sum at the start of the step is applied.

    A drive with the law kp (u − q) − kd v of a joint that has no other one is a position servo:
    its control is the joint's target, and ``<joint>.kp``, ``<joint>.kd`` may be changed while
    running. So may ``<joint>.gain`` of a drive with the law gain (u − v), and ``<name>.gain`` of
    one with a constant gain.
    """

    type: ClassVar[str] = "general"
    form = GeneralDriveParams
    metered = True

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
        self.dofs = list(users)
        self._first = {dof: specs[numbers[0]] for dof, numbers in users.items()}
        self._alone = np.zeros(len(specs), np.bool_)
        self._joint_of: dict[int, int] = {}
        for number, dof in terms:
            if len(self.params[number].joints) == 1 and len(users[dof]) == 1:
                self._alone[number] = True
                self._joint_of[number] = dof
        self._terms = np.array(terms, np.int64).reshape(-1, 2)
        self._weights = np.array(weights, np.float64)
        self._limits = np.array([_effort_range(world, dof) for dof in self.dofs]).reshape(-1, 2)
        self._laws = [self._law(number) for number in range(len(specs))]
        self._servo = {self._joint_of[n]: n for n, law in enumerate(self._laws) if law == "servo"}
        self._compiled: set[int] = set()
        for number, spec in enumerate(specs):
            self._offer(number, spec)

    def _law(self, number: int) -> str:
        """Returns the kind of the law, which determines the gains that may be changed."""
        params = self.params[number]
        gain, bias = params.gain, params.bias
        constant = not any(gain[1:])
        alone = constant and number in self._joint_of and params.dynamics == "none"
        unit = alone and next(iter(params.joints.values())) == 1.0
        if unit and gain[0] > 0.0 and bias[0] == 0.0 and bias[1] == -gain[0] and bias[2] <= 0.0:
            return "servo"
        if unit and gain[0] > 0.0 and bias[:2] == (0.0, 0.0) and bias[2] == -gain[0]:
            return "motor"
        return "constant" if constant else "affine"

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

    def _offer(self, number: int, spec: Spec) -> None:
        lo, hi = self.params[number].control_range or (-math.inf, math.inf)
        name, place, law = spec.name, (number,), self._laws[number]
        field, index = self._control(number)
        self._signals += [
            SignalSpec(f"{name}.control", field, index, "", lo, hi, "input"),
            SignalSpec(f"{name}.activation", self.field("activation"), place),
            SignalSpec(f"{name}.force", self.field("force"), place),
            SignalSpec(f"{name}.power", self.field("power"), place, "W"),
            SignalSpec(f"{name}.energy", self.field("energy"), place, "J"),
        ]
        prefix, gains, units = name, ("gain",), ("",)
        if law in ("servo", "motor"):
            dof = self._joint_of[number]
            prefix = self.world.dof_name(dof)
            unit, effort = ("rad", "N m") if self.world.dof_is_angle(dof) else ("m", "N")
            gains, units = ("gain",), (f"{effort} s/{unit}",)
            if law == "servo":
                gains, units = ("kp", "kd"), (f"{effort}/{unit}", f"{effort} s/{unit}")
                target = SignalSpec(f"{prefix}.target", "target", (dof,), unit, lo, hi, "input")
                self._signals.append(target)
        elif law == "affine":
            gains = ()
        for column, (gain, unit) in enumerate(zip(gains, units, strict=False)):
            lowest = -math.inf if law == "constant" else 0.0
            index = (number, column)
            self._signals.append(
                SignalSpec(f"{prefix}.{gain}", self.field("gains"), index, unit, lo=lowest,
                           direction="param")
            )  # fmt: skip

    def _control(self, number: int) -> tuple[str, tuple[int, ...]]:
        """Returns where the state holds the control: the joint's target of a position servo."""
        if self._laws[number] == "servo":
            return "target", (self._joint_of[number],)
        return self.field("control"), (number,)

    def attach_engines(self, engines: list[Engine]) -> None:
        """Lets Mujoco engines compute the drives of their joints.

        Drives that share a joint with one on joints of several engines are computed here, as that
        is: an engine takes either all efforts on a joint or none.
        """
        for engine in engines:
            if not isinstance(engine, Mujoco):
                continue
            for number in self._drives_within(engine.owned):
                self._compiled.add(number)
                engine.actuators.append(self._engine_actuator(number))

    def _drives_within(self, owned: np.ndarray) -> list[int]:
        """Returns the drives that act on nothing but owned bodies, nor do those of their joints."""
        terms, within = self._terms.tolist(), set(range(len(self.specs)))
        outside = {dof for _, dof in terms if not owned[self.world.dof_body[dof]]}
        while leaving := {number for number, dof in terms if number in within and dof in outside}:
            within -= leaving
            outside |= {dof for number, dof in terms if number in leaving}
        return sorted(within)

    def _engine_actuator(self, number: int) -> EngineActuator:
        params = self.params[number]
        name, place = f"{self.specs[number].name}#{self.type}", (number,)
        attributes: dict[str, Any] = {
            "gaintype": mujoco.mjtGain.mjGAIN_AFFINE
            if any(params.gain[1:])
            else mujoco.mjtGain.mjGAIN_FIXED,
            "gainprm": params.gain,
            "biastype": mujoco.mjtBias.mjBIAS_AFFINE
            if any(params.bias)
            else mujoco.mjtBias.mjBIAS_NONE,
            "biasprm": params.bias,
            "dyntype": getattr(mujoco.mjtDyn, f"mjDYN_{params.dynamics.upper()}"),
            "dynprm": (params.time,),
            "actearly": params.early,
        }
        for word, given in (("control", "ctrl"), ("activation", "act"), ("force", "force")):
            if (limits := getattr(params, f"{word}_range")) is not None:
                attributes[f"{given}range"] = limits
                attributes[f"{given}limited"] = mujoco.mjtLimited.mjLIMITED_TRUE
        weights = {dof: w for (n, dof), w in zip(self._terms.tolist(), self._weights.tolist(),
                                                 strict=True) if n == number}  # fmt: skip
        remembers = params.dynamics != "none"
        return EngineActuator(
            name, attributes, joint_transmission(weights, name), list(weights),
            controls=[self._control(number)],
            activations=[(self.field("activation"), place)] if remembers else [],
            used_control=None if remembers else (self.field("activation"), place),
            forces=[(self.field("force"), place)],
            power=(self.field("power"), place),
            energy=(self.field("energy"), place),
            gains=(self.field("law"), (number, 0)),
        )  # fmt: skip

    def inputs_of(self, number: int) -> Sequence[str]:  # noqa: D102
        return ("target",) if self.dofs[number] in self._servo else ("control",)

    def effort_by(self, number: int) -> EffortBy:  # noqa: D102
        dof = self.dofs[number]
        compiled = any(n in self._compiled for n, other in self._terms.tolist() if other == dof)
        return "engine" if compiled else "block"

    def spec_of(self, number: int) -> Spec:  # noqa: D102
        return self._first[self.dofs[number]]

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        count = len(self.specs)
        names = ("control", "activation", "force", "power", "energy")
        return dict.fromkeys(names, (count,)) | {"gains": (count, 2), "law": (count, 6)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)
        world, endless = self.world, (-math.inf, math.inf)
        bodies = world.dof_body
        coordinate = world.qadr[bodies] - world.vadr[bodies] + np.arange(world.nv)
        fixed = [
            (
                _DYNAMICS.index(p.dynamics), p.time, p.early,
                *(p.control_range or endless), *(p.activation_range or endless),
                *(p.force_range or endless),
            )
            for p in self.params
        ]  # fmt: skip
        own = [n for n in range(len(self.specs)) if n not in self._compiled]
        mine = np.isin(self._terms[:, 0], own)
        terms, weights = self._terms[mine], self._weights[mine]
        control = [state.address(f, *i) for f, i in map(self._control, range(len(self.specs)))]
        self._tables = (
            np.array(self.dofs, np.int64), self._limits, np.array(own, np.int64), terms, weights,
            self._alone, np.array(fixed, np.float64), self.slot("law"),
            coordinate.astype(np.int64), state.q, state.v, state.data,
            np.array(control, np.int64), self.slot("activation"), self.slot("force"), state.drive,
        )  # fmt: skip
        self._meter = (
            np.array(own, np.int64), terms, weights, state.v, self.slot("force"),
            self.slot("power"), self.slot("energy"),
        )  # fmt: skip
        self._simple = not own

    def reset(self) -> None:
        """Sets controls as at the start of a MuJoCo model; other engines' servos hold."""
        start, state, gains = self.world.scene.start, self.state, self.slot("gains")
        for number, params in enumerate(self.params):
            gains[number] = params.gain[0], -params.bias[2]
            control = params.start.get(start, 0.0)
            self.slot("activation")[number] = params.start_activation.get(start, 0.0)
            if self._laws[number] != "servo":
                self.slot("control")[number] = control
            elif number in self._compiled or start in params.start:
                state.target[self._joint_of[number]] = control
        self.params_changed()

    def params_changed(self) -> None:
        """Computes the laws from the gains."""
        for number, (law, gains) in enumerate(
            zip(self.slot("law"), self.slot("gains"), strict=True)
        ):
            params, kind = self.params[number], self._laws[number]
            law[:] = *params.gain, *params.bias
            if kind == "affine":
                continue
            law[0] = gains[0]
            if kind == "servo":
                law[4], law[5] = -gains[0], -gains[1]
            elif kind == "motor":
                law[5] = -gains[0]

    def drive(self, step: int) -> None:  # noqa: D102
        drive_general(self.world.scene.step, *self._tables)

    def meter(self) -> None:
        """Computes power and work of the drives that no engine computes."""
        if not self._simple:
            meter_general(self.world.scene.step, *self._meter)


def _effort_range(world: World, dof: int) -> tuple[float, float]:
    """Minimum and maximum total effort of all drives of a joint."""
    number = int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])
    given = world.joints[number].mujoco.get("effort_range")
    most = float(world.dof_effort[dof])
    return (float(given[0]), float(given[1])) if given is not None else (-most, most)
