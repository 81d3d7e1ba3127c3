"""AutoServo: servos whose gains follow from what they move."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, ClassVar

import msgspec
import numpy as np

from linkwork.components.actuators import DriveParams, JointDrive
from linkwork.components.actuators.servo_rule import (
    SAG,
    JointLoad,
    ServoGains,
    is_wheel,
    joint_loads,
    servo_gains,
)
from linkwork.core.errors import listing
from linkwork.model.blocks import read_params, scoped_name
from linkwork.model.parts import Spec
from linkwork.model.world import Finding, World

#: Finite, above 0.
_Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]


class AutoServoParams(DriveParams):
    """Parameters of ``AutoServo``.

    Attributes:
        bandwidth: Bandwidth of the servo, or of the motor of a wheel [Hz]; less if the step is
            longer than 0.1/(2π·bandwidth).
        damping_ratio: Damping relative to critical damping.
        sag: Largest static deflection under the weight [rad or m]; 0.5° or 1 mm if absent.
    """

    bandwidth: _Positive = 5.0
    damping_ratio: _Positive = 1.0
    sag: _Positive | None = None


class AutoServo(JointDrive):
    """Becomes a ``servo``, or the ``motor`` of a wheel, when the scene is compiled.

    Its gains follow from inertia and weight by the rule of
    :mod:`~linkwork.components.actuators.servo_rule`.
    """

    type: ClassVar[str] = "auto_servo"
    form = AutoServoParams
    inputs = ("target", "target_speed")


def resolve_auto_servos(world: World) -> list[Finding]:
    """Replaces the auto servos of a world by servos and motors; returns notes about them.

    Of the joints in a loop only as many are driven as determine the others, the first ones of the
    chain; followers of couplings are not driven.
    """
    specs = _take_specs(world)
    if not specs:
        return []
    driven = [dof for dof in _driven_dofs(world) if dof not in specs]
    loads = joint_loads(world, list(specs), driven)
    findings: list[Finding] = []
    made: dict[int, Spec] = {}
    for dof, load in loads.items():
        spec = specs[dof]
        params = read_params(spec, AutoServoParams)
        made[dof] = _resolved(world, dof, spec, params, load)
        findings += _remarks(world, dof, spec, params, load)
    _put_specs(world, made)
    return [*_summary(world, specs, made), *findings]


def _take_specs(world: World) -> dict[int, Spec]:
    """Removes the auto servos from the world; returns them by degree of freedom."""
    found: dict[int, Spec] = {}
    for number, joint in enumerate(world.joints):
        if joint.drive is not None and joint.drive.type == AutoServo.type:
            name = world.joint_names[number]
            params = {**joint.drive.params, "joint": name}
            spec = replace(joint.drive, kind="actuator", name=name, params=params, scope="")
            found[AutoServo(world, [spec]).dofs[0]] = spec
            world.joints[number] = replace(joint, drive=None)
    scene = [spec for spec in world.actuators if spec.type == AutoServo.type]
    if scene:
        block = AutoServo(world, scene)
        found |= dict(zip(block.dofs, scene, strict=True))
        world.actuators = [spec for spec in world.actuators if spec.type != AutoServo.type]
    return dict(sorted(found.items()))


def _driven_dofs(world: World) -> list[int]:
    """Degrees of freedom with another drive."""
    names = [n for n, j in zip(world.joint_names, world.joints, strict=True) if j.drive is not None]
    for spec in world.actuators:
        own = [spec.params.get("joint"), *dict(spec.params.get("joints") or {})]
        names += [scoped_name(spec, name) for name in own if name]
    return [dof for name in names for dof in world.dofs(name)]


def _resolved(world: World, dof: int, spec: Spec, params: AutoServoParams, load: JointLoad) -> Spec:
    gains = _gains(world, dof, params, load)
    kept = {"joint": spec.params["joint"]}
    if params.max_effort is not None:
        kept["max_effort"] = params.max_effort
    if gains.kp == 0.0:
        return replace(spec, type="motor", params={**kept, "gain": gains.kd}, lines={})
    return replace(spec, type="servo", params={**kept, "kp": gains.kp, "kd": gains.kd}, lines={})


def _gains(world: World, dof: int, params: AutoServoParams, load: JointLoad) -> ServoGains:
    angle = world.dof_is_angle(dof)
    wheel = is_wheel(world, dof)
    if wheel:
        load = replace(load, weight=0.0)
    gains = servo_gains(
        load,
        angle=angle,
        step=world.scene.step,
        bandwidth=params.bandwidth,
        damping_ratio=params.damping_ratio,
        sag=params.sag or SAG[0 if angle else 1],
        explicit=any(spec.params.get("integrator") == "RK4" for spec in world.scene.engines),
    )
    return ServoGains(0.0, gains.kd) if wheel else gains


def _remarks(
    world: World, dof: int, spec: Spec, params: AutoServoParams, load: JointLoad
) -> list[Finding]:
    """Notes on a joint that cannot hold its load, or that moves no mass."""
    most = float(world.dof_effort[dof]) if params.max_effort is None else params.max_effort
    name, unit = world.dof_name(dof), "N m" if world.dof_is_angle(dof) else "N"
    made = []
    if most < load.holding and math.isfinite(most):
        text = (
            f"its servo can hold {most:.3g} of the {load.holding:.3g} {unit} that it needs at the "
            "start; it gives way. Raise max_effort of the joint, or start in another posture."
        )
        made.append(Finding("note", name, text, spec.origin))
    if load.inertia <= 0.0:
        text = "it moves nothing that has mass; its servo has the gains of the least inertia."
        made.append(Finding("note", name, text, spec.origin))
    return made


def _put_specs(world: World, made: dict[int, Spec]) -> None:
    """Adds the servos and motors to the world, as drives of joints or actuators of the scene."""
    for dof, spec in made.items():
        number = int(np.flatnonzero(world.joint_body == world.dof_body[dof])[0])
        joint = world.joints[number]
        if joint.drive is None and joint.kind.nv == 1 and spec.name == world.joint_names[number]:
            params = {key: value for key, value in spec.params.items() if key != "joint"}
            world.joints[number] = replace(joint, drive=replace(spec, name="", params=params))
        else:
            world.actuators = [*world.actuators, spec]


def _summary(world: World, specs: dict[int, Spec], made: dict[int, Spec]) -> list[Finding]:
    """One note: how many servos and motors there are, and what stays without."""
    motors = [world.dof_name(d) for d, spec in made.items() if spec.type == "motor"]
    servos = len(made) - len(motors)
    passive = [world.dof_name(dof) for dof in specs if dof not in made]
    parts = [f"{servos} servo{'s' * (servos != 1)} with gains from inertia and weight"]
    if motors:
        parts.append(f"motors at speed 0 for wheels: {listing(motors, most=6)}")
    if passive:
        parts.append(f"left to their loops: {listing(passive, most=6)}")
    names = {name.partition("/")[0] for name in map(world.dof_name, specs)}
    others = [
        f"{name} ({'spring' if joint.kind.nv == 1 else joint.type})"
        for name, joint in zip(world.joint_names, world.joints, strict=True)
        if joint.drive is None and joint.type not in ("free", "fixed")
        and name.partition("/")[0] in names
        and (joint.kind.nv > 1 or joint.stiffness > 0.0)
        and not {*world.dofs(name)} & {*_driven_dofs(world), *specs}
    ]  # fmt: skip
    if others:
        parts.append(f"left passive: {listing(others, most=6)}")
    about = ", ".join(sorted(names)) or world.scene.name
    return [Finding("note", about, f"{'; '.join(parts)}.", next(iter(specs.values())).origin)]
