"""Limits of a joint with its servo."""

from __future__ import annotations

import math

from linkwork.components.actuators.smart_params import SmartServoParams, motor_constants, with_model
from linkwork.core.errors import LinkworkError
from linkwork.model.blocks import read_params
from linkwork.model.parts import Spec
from linkwork.model.world import World
from linkwork.motion.profiles import MotionLimits


def servo_limits(world: World, dof: int) -> MotionLimits:
    """The lowest limits of the joint, of its servo's parameters, and of its motor.

    The motor's own limits are those without load: the free speed at the supply's voltage, and the
    stall effort, or the maximum effort, on the rotor alone.
    """
    speed = float(world.dof_speed[dof])
    found = MotionLimits(speed=speed, whose=("the joint" if math.isfinite(speed) else "", "", ""))
    for spec in _drives(world, dof):
        try:
            spec = with_model(spec)
            params = {**spec.params, "joint": world.dof_name(dof)}
            read = read_params(Spec("actuator", spec.type, spec.name, params), SmartServoParams)
            most = float(world.dof_effort[dof]) if read.max_effort is None else read.max_effort
            found = found.within(_limits_of_params(read)).within(_no_load_limits(read, spec, most))
        except LinkworkError:
            continue  # the servo itself reports the error
    return found


def _limits_of_params(params: SmartServoParams) -> MotionLimits:
    """Limits of the servo's profile."""
    speed, acceleration = params.max_speed or math.inf, params.max_acceleration or math.inf
    return MotionLimits(speed, acceleration, whose=("its servo", "its servo", ""))


def _no_load_limits(params: SmartServoParams, spec: Spec, most: float) -> MotionLimits:
    """Limits of its motor without load, with an effort of at most ``most``.

    From V = R i + k ω with η k i = friction + damping ω, and J a = η k V/R − friction.
    """
    motor = motor_constants(params, spec)
    voltage = params.max_duty * (params.voltage if params.supply is None else params.supply)
    passed = motor.efficiency * motor.constant
    drop = motor.resistance / passed
    speed = (voltage - drop * params.friction) / (motor.constant + drop * params.damping)
    if params.damping > 0.0 or most <= params.friction:
        speed = min(speed, (most - params.friction) / max(params.damping, 1e-9))
    effort = min(passed * voltage / motor.resistance, most) - params.friction
    acceleration = effort / motor.inertia if motor.inertia > 0.0 else math.inf
    tiny = 1e-9  # a servo that cannot move
    whose = ("the free speed of its servo", "its servo without load", "")
    return MotionLimits(max(speed, tiny), max(acceleration, tiny), whose=whose)


def _drives(world: World, dof: int) -> list[Spec]:
    """Smart servos of a joint: on the joint itself, or among the scene's actuators."""
    name = world.dof_name(dof)
    joint = world.joints[world.joint(name.partition(".")[0])]
    own = [joint.drive] if joint.drive is not None else []
    others = [each for each in world.actuators if each.params.get("joint") == name]
    return [each for each in (*own, *others) if each.type == "smart_servo"]
