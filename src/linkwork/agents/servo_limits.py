"""Servo limits: what a joint and the servo that drives it can do at most."""

from __future__ import annotations

import math

from linkwork.actuators.smart_models import with_model
from linkwork.actuators.smart_params import SmartServoParams, motor_of
from linkwork.blocks import read_params
from linkwork.errors import LinkworkError
from linkwork.motion.profiles import Limits
from linkwork.parts import Spec
from linkwork.world import World


def servo_limits(world: World, dof: int) -> Limits:
    """The lowest of what the joint states, what its servo states, and what its motor can do.

    The motor's own are those without load: the free speed at the supply's voltage, and the stall
    effort, or the largest that is allowed, on the rotor alone.
    """
    speed = float(world.dof_speed[dof])
    found = Limits(speed=speed, whose=("the joint" if math.isfinite(speed) else "", "", ""))
    for spec in _drives(world, dof):
        try:
            spec = with_model(spec)
            params = {**spec.params, "joint": world.dof_name(dof)}
            read = read_params(Spec("actuator", spec.type, spec.name, params), SmartServoParams)
            most = float(world.dof_effort[dof]) if read.max_effort is None else read.max_effort
            found = found.within(_stated(read)).within(_unloaded(read, spec, most))
        except LinkworkError:
            continue  # the servo itself says what is wrong with it
    return found


def _stated(params: SmartServoParams) -> Limits:
    """What the servo's profile keeps to."""
    speed, acceleration = params.max_speed or math.inf, params.max_acceleration or math.inf
    return Limits(speed, acceleration, whose=("its servo", "its servo", ""))


def _unloaded(params: SmartServoParams, spec: Spec, most: float) -> Limits:
    """What its motor does with nothing to move, and no more than the effort ``most``.

    From V = R i + k ω with η k i = friction + damping ω, and J a = η k V/R − friction.
    """
    motor = motor_of(params, spec)
    voltage = params.max_duty * (params.voltage if params.supply is None else params.supply)
    passed = motor.efficiency * motor.constant
    drop = motor.resistance / passed
    speed = (voltage - drop * params.friction) / (motor.constant + drop * params.damping)
    if params.damping > 0.0 or most <= params.friction:
        speed = min(speed, (most - params.friction) / max(params.damping, 1e-9))
    effort = min(passed * voltage / motor.resistance, most) - params.friction
    acceleration = effort / motor.inertia if motor.inertia > 0.0 else math.inf
    tiny = 1e-9  # a servo that cannot move at all
    whose = ("the free speed of its servo", "its servo without load", "")
    return Limits(max(speed, tiny), max(acceleration, tiny), whose=whose)


def _drives(world: World, dof: int) -> list[Spec]:
    """Smart servos of a joint: on the joint itself, or among the scene's actuators."""
    name = world.dof_name(dof)
    joint = world.joints[world.joint(name.partition(".")[0])]
    own = [joint.drive] if joint.drive is not None else []
    others = [each for each in world.actuators if each.params.get("joint") == name]
    return [each for each in (*own, *others) if each.type == "smart_servo"]
