"""MuJoCo's own actuators: any transmission, dynamics, gain and bias that MuJoCo has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from linkwork.components.actuators import Actuator, EffortBy
from linkwork.core.errors import SceneError, not_found
from linkwork.core.mujoco_library import mujoco
from linkwork.core.state import State
from linkwork.engines import Engine
from linkwork.engines.mujoco import Mujoco
from linkwork.engines.mujoco.actuators import EngineActuator, StateLocation
from linkwork.engines.mujoco.spec_builder import ModelBuilder, carrying_body
from linkwork.model.blocks import SignalSpec, read_params, scoped_name
from linkwork.model.parts import Spec
from linkwork.model.parts.joint import JOINT_TYPES
from linkwork.model.world import Finding, World

Finite = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
FloatPair = tuple[Finite, Finite]
#: Parameters of a law; MuJoCo has at most ten.
LawNumbers = Annotated[list[Finite], msgspec.Meta(max_length=10)]
ActivationNumbers = Annotated[list[Finite], msgspec.Meta(max_length=100)]
_TRANSMISSIONS = ("joint", "tendon", "site", "crank_site", "body")


class MujocoActuatorParams(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Parameters of ``MujocoActuators``; names and meanings are MuJoCo's.

    Attributes:
        joint: Joint that it acts on, or
        tendon: tendon of the engine, or
        site: anchor at which its force and torque act, or
        crank_site: anchor of the crank pin of a slider-crank, or
        body: element whose contacts it presses together (adhesion).
        in_parent: Whether the gear of a ball or free joint is in the parent's frame.
        ref_site: Anchor in whose frame ``site`` is measured.
        slider_site: Anchor and axis of the slider of a slider-crank.
        crank_length: Length of the connecting rod [m].
        gear: Up to six numbers that scale length and force.
        dynamics: Activation dynamics.
        gain_type: Kind of the gain.
        bias_type: Kind of the bias.
        dynprm: Parameters of the dynamics.
        gainprm: Parameters of the gain.
        biasprm: Parameters of the bias.
        activations: Number of activation variables.
        early: Whether the force follows the activation at the end of the step.
        control_range: Minimum and maximum of the control; none if absent.
        activation_range: Minimum and maximum of the activation; none if absent.
        force_range: Minimum and maximum of the force; none if absent.
        length_range: Feasible range of the transmission's length, for muscles.
        armature: Inertia of its rotor, seen at the transmission.
        damping: Damping of its rotor with the coefficients of the second and third power.
        control_spec: MuJoCo's code of the inputs.
        start: Control at the start, by the name of the posture in which the scene starts.
        start_activation: Activation at the start, likewise; a list of several.
    """

    joint: str = ""
    tendon: str = ""
    site: str = ""
    crank_site: str = ""
    body: str = ""
    in_parent: bool = False
    ref_site: str = ""
    slider_site: str = ""
    crank_length: Finite = 0.0
    gear: Annotated[tuple[Finite, ...], msgspec.Meta(max_length=6)] = (1.0,)
    dynamics: Literal["none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "pid"] = (
        "none"
    )
    gain_type: Literal["fixed", "affine", "muscle", "dcmotor", "so3", "pid"] = "fixed"
    bias_type: Literal["none", "affine", "muscle", "dcmotor", "so3"] = "none"
    dynprm: LawNumbers = []
    gainprm: LawNumbers = msgspec.field(default_factory=lambda: [1.0])
    biasprm: LawNumbers = []
    activations: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    early: bool = False
    control_range: FloatPair | None = None
    activation_range: FloatPair | None = None
    force_range: FloatPair | None = None
    length_range: FloatPair | None = None
    armature: Annotated[float, msgspec.Meta(ge=0.0, le=1e12)] = 0.0
    damping: tuple[Finite, Finite, Finite] = (0.0, 0.0, 0.0)
    control_spec: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    start: dict[str, Finite] = {}
    start_activation: dict[str, Finite | ActivationNumbers] = {}


class MujocoActuators(Actuator):
    """Actuators that only the Mujoco engine has: ``<name>.control`` in, ``<name>.force`` out.

    Muscles, adhesion, thrust at a site, slider-cranks, spatial tendons, ball and free joints.
    ``<name>.activation`` is their activation, ``<name>.power`` [W] the force times the speed of the
    transmission, ``<name>.energy`` [J] the work so far. ``<name>.gain`` may be changed while
    running if the gain is fixed.
    """

    type: ClassVar[str] = "mujoco"
    form = MujocoActuatorParams

    def __init__(self, world: World, specs: list[Spec], name: str = "") -> None:
        super().__init__(world, specs, name)
        self.params = [read_params(spec, MujocoActuatorParams) for spec in specs]
        self._engines: list[Mujoco | None] = []
        self._acting: set[int] = set()  # degrees of freedom on which an engine lets them act
        self.dofs = []
        self._owners: list[Spec] = []
        for number, (spec, params) in enumerate(zip(specs, self.params, strict=True)):
            self._check_transmission(spec, params)
            self._check_activations(spec, params)
            for dof in self._single_dofs(spec, params):
                if dof not in self.dofs:
                    self.dofs.append(dof)
                    self._owners.append(spec)
            self._offer(number, spec, params)

    def _check_activations(self, spec: Spec, params: MujocoActuatorParams) -> None:
        for start, given in params.start_activation.items():
            if isinstance(given, list) and len(given) != params.activations:
                raise SceneError(
                    f"actuator {spec.name!r} has {params.activations} activations, but "
                    f"{len(given)} at the start of {start!r}.",
                    origin=spec.at("start_activation"),
                    hint="Give one number for each activation, or one for all.",
                )

    def _check_transmission(self, spec: Spec, params: MujocoActuatorParams) -> None:
        given = [word for word in _TRANSMISSIONS if getattr(params, word)]
        if len(given) != 1:
            raise SceneError(
                f"actuator {spec.name!r} names {' and '.join(given) or 'nothing'} to act on.",
                origin=spec.origin,
                hint=f"Give exactly one of {', '.join(_TRANSMISSIONS)}.",
            )
        if params.crank_site and not params.slider_site:
            raise SceneError(
                f"actuator {spec.name!r}: a slider-crank needs 'slider_site'.", origin=spec.origin
            )

    def _single_dofs(self, spec: Spec, params: MujocoActuatorParams) -> list[int]:
        """Degrees of freedom of a joint that it drives along one coordinate each."""
        if not params.joint:
            return []
        dofs = self.world.dofs(scoped_name(spec, params.joint), origin=spec.at("joint"))
        kind = self.world.kind[self.world.dof_body[dofs[0]]] if dofs else 0
        turning = (JOINT_TYPES["ball"].code, JOINT_TYPES["free"].code)
        return [] if kind in turning else [self.world.single_dof(
            scoped_name(spec, params.joint), origin=spec.at("joint"))]  # fmt: skip

    def _offer(self, number: int, spec: Spec, params: MujocoActuatorParams) -> None:
        lo, hi = params.control_range or (-math.inf, math.inf)
        name, place = spec.name, (number,)
        self._signals += [
            SignalSpec(f"{name}.control", self.field("control"), place, "", lo, hi, "input"),
            SignalSpec(f"{name}.force", self.field("force"), place),
            SignalSpec(f"{name}.power", self.field("power"), place, "W"),
            SignalSpec(f"{name}.energy", self.field("energy"), place, "J"),
        ]
        for k in range(params.activations):
            word = "activation" if params.activations == 1 else f"activation{k}"
            at = (number, k)
            self._signals.append(SignalSpec(f"{name}.{word}", self.field("activation"), at))
        if params.gain_type == "fixed":
            gain = SignalSpec(f"{name}.gain", self.field("gain"), place, direction="param")
            self._signals.append(gain)

    def attach_engines(self, engines: list[Engine]) -> None:
        """Adds each actuator to the model of the engine that moves what it acts on."""
        own = [engine for engine in engines if isinstance(engine, Mujoco)]
        for number, (spec, params) in enumerate(zip(self.specs, self.params, strict=True)):
            engine = self._engine_of(spec, params, own)
            self._engines.append(engine)
            if engine is not None:
                engine.actuators.append(self._engine_actuator(number))
                self._acting.update(self._single_dofs(spec, params))

    def _engine_of(
        self, spec: Spec, params: MujocoActuatorParams, engines: list[Mujoco]
    ) -> Mujoco | None:
        world = self.world
        if params.tendon:
            for engine in engines:
                if any(tendon.name == params.tendon for tendon in engine.params.tendons):
                    return engine
            known = [tendon.name for engine in engines for tendon in engine.params.tendons]
            if engines:
                raise not_found("tendon", params.tendon, known, origin=spec.at("tendon"))
            return None
        if params.joint:
            number = world.joint(scoped_name(spec, params.joint), origin=spec.at("joint"))
            body = int(world.joint_body[number])
        else:
            word = next(word for word in ("site", "crank_site", "body") if getattr(params, word))
            body = world.frame(scoped_name(spec, getattr(params, word)), origin=spec.at(word))[0]
        if world.is_static(body):
            return engines[0] if engines else None
        return next((engine for engine in engines if engine.owned[body]), None)

    def check(self) -> list[Finding]:
        """Returns actuators without effect, because another engine moves their target."""
        text = "only the Mujoco engine has this actuator; it has no effect."
        return [
            Finding("approximated", spec.name, text, spec.origin)
            for spec, engine in zip(self.specs, self._engines, strict=True)
            if engine is None
        ]

    def _engine_actuator(self, number: int) -> EngineActuator:
        spec, params = self.specs[number], self.params[number]
        attributes: dict[str, Any] = {
            "dyntype": getattr(mujoco.mjtDyn, f"mjDYN_{params.dynamics.upper()}"),
            "gaintype": getattr(mujoco.mjtGain, f"mjGAIN_{params.gain_type.upper()}"),
            "biastype": getattr(mujoco.mjtBias, f"mjBIAS_{params.bias_type.upper()}"),
            "dynprm": params.dynprm,
            "gainprm": params.gainprm,
            "biasprm": params.biasprm,
            "actearly": params.early,
            "armature": params.armature,
            "damping": params.damping,
            "cranklength": params.crank_length,
            "gear": params.gear,
        }
        if params.activations > 1:
            attributes["actdim"] = params.activations
        if params.control_spec:
            attributes["ctrlspec"] = params.control_spec
        if params.length_range is not None:
            attributes["lengthrange"] = params.length_range
        for word, given in (("control", "ctrl"), ("activation", "act"), ("force", "force")):
            if (limits := getattr(params, f"{word}_range")) is not None:
                attributes[f"{given}range"] = limits
                attributes[f"{given}limited"] = mujoco.mjtLimited.mjLIMITED_TRUE
        place = (number,)
        activations: list[StateLocation] = [
            (self.field("activation"), (number, k)) for k in range(params.activations)
        ]
        name = f"{spec.name}#{self.type}"
        return EngineActuator(
            name, attributes, lambda build: _transmit(build, self.world, spec, params, name),
            self._single_dofs(spec, params),
            controls=[(self.field("control"), place)],
            activations=activations,
            forces=[(self.field("force"), place)],
            power=(self.field("power"), place),
            energy=(self.field("energy"), place),
            gains=(self.field("law"), (number, 0)),
        )  # fmt: skip

    def effort_by(self, number: int) -> EffortBy:  # noqa: D102
        return "engine" if self.dofs[number] in self._acting else "nothing"

    def spec_of(self, number: int) -> Spec:  # noqa: D102
        return self._owners[number]

    def slots(self) -> dict[str, tuple[int, ...]]:  # noqa: D102
        count = len(self.specs)
        slots = dict.fromkeys(("control", "force", "power", "energy", "gain"), (count,))
        most = max((params.activations for params in self.params), default=0)
        return slots | {"activation": (count, most), "law": (count, 6)}

    def bind(self, state: State) -> None:  # noqa: D102
        super().bind(state)

    def reset(self) -> None:
        """Sets controls and activations as at the start of a MuJoCo model."""
        start = self.world.scene.start
        for number, params in enumerate(self.params):
            self.slot("control")[number] = params.start.get(start, 0.0)
            self.slot("activation")[number] = 0.0
            given = params.start_activation.get(start, 0.0)
            values = given if isinstance(given, list) else [given] * params.activations
            self.slot("activation")[number, : len(values)] = values
            self.slot("gain")[number] = params.gainprm[0] if params.gainprm else 1.0
        self.params_changed()

    def params_changed(self) -> None:
        """Computes the laws from the parameters and the gains that may be changed."""
        for number, params in enumerate(self.params):
            law = self.slot("law")[number]
            for column, numbers in ((0, params.gainprm or [1.0]), (3, params.biasprm)):
                law[column : column + 3] = [*numbers, 0.0, 0.0, 0.0][:3]
            if params.gain_type == "fixed":
                law[0] = self.slot("gain")[number]

    def drive(self, step: int) -> None:
        """The engine computes the efforts; only limits that faults may change are written."""
        dofs = list(self._acting)  # without effect, they leave the joint to other actuators
        if dofs:
            self.state.drive[:3, dofs] = 0.0
            self.state.drive[3, dofs], self.state.drive[4, dofs] = -math.inf, math.inf


def _transmit(
    build: ModelBuilder, world: World, spec: Spec, params: MujocoActuatorParams, name: str
) -> Mapping[str, Any]:
    """Adds the sites of a transmission, and returns its attributes."""
    kinds = mujoco.mjtTrn
    if params.joint:
        kind = kinds.mjTRN_JOINTINPARENT if params.in_parent else kinds.mjTRN_JOINT
        number = world.joint(scoped_name(spec, params.joint), origin=spec.at("joint"))
        return {"trntype": kind, "target": world.joint_names[number]}
    if params.tendon:
        return {"trntype": kinds.mjTRN_TENDON, "target": params.tendon}
    if params.body:
        carrier, _ = carrying_body(build, scoped_name(spec, params.body), spec.origin)
        return {"trntype": kinds.mjTRN_BODY, "target": carrier.name}
    sites = {}
    for word in ("site", "ref_site", "crank_site", "slider_site"):
        if given := getattr(params, word):
            carrier, pose = carrying_body(build, scoped_name(spec, given), spec.origin)
            sites[word] = f"{name}#{word}"
            carrier.add_site(name=sites[word], pos=list(pose.xyz), quat=list(pose.quat))
    if params.crank_site:
        made = {"trntype": kinds.mjTRN_SLIDERCRANK, "target": sites["crank_site"]}
        return made | {"slidersite": sites["slider_site"]}
    made = {"trntype": kinds.mjTRN_SITE, "target": sites["site"]}
    return made | ({"refsite": sites["ref_site"]} if params.ref_site else {})
