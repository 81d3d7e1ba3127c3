"""Postures of a running world."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork.components.agents.lookup import value_signal
from linkwork.core.errors import SessionError, SignalError, listing, not_found
from linkwork.core.value_types import format_value
from linkwork.geometry.pose import quat_from_axis
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.model.parts.constraints import coupled_value
from linkwork.model.world import World
from linkwork.session.cycle import Cycle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linkwork.model.world import World
    from linkwork.session.cycle import Cycle


def place(cycle: Cycle, joint: str, dof: str, value: float) -> None:
    """Sets one degree of freedom of a joint, at rest; joints coupled to it follow.

    Args:
        cycle: The world and its state.
        joint: Name of the joint.
        dof: Name of the degree of freedom; empty if the joint has only one.
        value: Value [rad or m]; rx, ry, rz of a ball or free joint are a rotation vector.

    Raises:
        LinkworkError: If there is no such degree of freedom, or the value is out of its range.
    """
    world, state = cycle.world, cycle.state
    number = world.joint(joint)
    kind, body = world.joints[number].kind, int(world.joint_body[number])
    if dof not in kind.dofs and (dof or kind.nv != 1):
        raise not_found("degree of freedom", dof, kind.dofs)
    index = kind.dofs.index(dof) if dof else 0
    row = int(world.vadr[body]) + index
    lo, hi = float(world.dof_lo[row]), float(world.dof_hi[row])
    if not (math.isfinite(value) and lo <= value <= hi):
        unit = "rad" if kind.is_angle(index) else "m"
        raise SignalError(f"joint {joint!r} has the range {lo:g} to {hi:g} {unit}, not {value:g}.")
    turned = world.kind[body] == BALL or (world.kind[body] == FREE and index >= 3)
    if turned:
        _turn(cycle, body, index % 3, value)
    else:
        moved = {row: value}
        for (follower, leader), law in zip(world.coupling_dof.tolist(), world.laws(), strict=True):
            if leader in moved:  # coupled joints come after the joints that drive them
                moved[follower] = coupled_value(law, moved[leader])
        for each, there in moved.items():
            _move(cycle, each, there)
        settle(cycle, set(moved))
        return
    state.v[row] = 0.0
    cycle.refresh()


def arrange(cycle: Cycle, joints: Mapping[str, Sequence[float]]) -> None:
    """Sets joints to coordinates, at rest; no joint moves if one value is invalid.

    Args:
        cycle: The world and its state.
        joints: Coordinates by joint [rad, m, or a quaternion].

    Raises:
        LinkworkError: If there is no such joint, or a value is out of its range.
    """
    world, state = cycle.world, cycle.state
    wanted = state.q.copy()
    moved: set[int] = set()
    for name, values in joints.items():
        body = int(world.joint_body[world.joint(name)])
        dofs, first = world.dofs(name), int(world.qadr[body])
        kind = world.kind[body]
        size = {BALL: 4, FREE: 7}.get(int(kind), len(dofs))
        if len(values) != size or not np.isfinite(values).all():
            raise SignalError(f"joint {name!r} takes {size} finite coordinates, not {values!r}.")
        wanted[first : first + size] = values
        if kind in (BALL, FREE):
            turn = wanted[first + size - 4 : first + size]
            if not abs(float(np.linalg.norm(turn)) - 1.0) < 1e-6:
                raise SignalError(f"joint {name!r} takes a quaternion of length one.")
            turn /= np.linalg.norm(turn)
        else:
            _check_ranges(world, name, dofs, values)
        moved.update(dofs)
    state.q[:] = wanted
    for dof in moved:
        body = int(world.dof_body[dof])
        state.v[dof] = 0.0
        if world.kind[body] not in (BALL, FREE):
            state.target[dof] = wanted[int(world.qadr[body]) + dof - int(world.vadr[body])]
    settle(cycle, moved)


def _check_ranges(world: World, name: str, dofs: range, values: Sequence[float]) -> None:
    for dof, value in zip(dofs, values, strict=True):
        lo, hi = float(world.dof_lo[dof]), float(world.dof_hi[dof])
        if not lo <= value <= hi:
            unit = "rad" if world.dof_is_angle(dof) else "m"
            raise SignalError(
                f"joint {name!r} has the range {lo:g} to {hi:g} {unit}, not {value:g}."
            )


def settle(cycle: Cycle, dofs: set[int]) -> None:
    """Updates derived values after coordinates were set; servo setpoints jump to their targets."""
    for actuator in cycle.actuators:
        if "setpoint" in actuator.slots():
            for n, dof in enumerate(actuator.dofs):
                if dof in dofs:
                    actuator.slot("setpoint")[n] = cycle.state.target[dof]
    cycle.refresh()


def _move(cycle: Cycle, dof: int, value: float) -> None:
    world, state = cycle.world, cycle.state
    body = int(world.dof_body[dof])
    state.q[int(world.qadr[body]) + dof - int(world.vadr[body])] = value
    state.v[dof] = 0.0
    if world.kind[body] != FREE:
        state.target[dof] = value


def _turn(cycle: Cycle, body: int, axis: int, value: float) -> None:
    """Sets one component of a body's rotation vector."""
    world, state = cycle.world, cycle.state
    first = int(world.qadr[body]) + (3 if world.kind[body] == FREE else 0)
    w, *xyz = state.q[first : first + 4].tolist()
    sine = math.hypot(*xyz)
    turn = 2.0 * math.atan2(sine, abs(w)) * math.copysign(1.0, w)
    vector = np.array(xyz) * (turn / sine if sine > 1e-12 else 0.0)
    vector[axis] = value
    angle = float(np.linalg.norm(vector))
    quat = quat_from_axis(vector / angle, angle) if angle > 1e-12 else (1.0, 0.0, 0.0, 0.0)
    state.q[first : first + 4] = quat


#: Rounding error allowed beyond a joint's range [rad or m].
_TOLERANCE = 1e-6


def machine_buses(cycle: Cycle) -> list[str]:
    """Returns the buses with a real plant whose sensors measure joints."""
    return [
        block.plan.name
        for block in cycle.buses
        if block.plan.plant != "virtual" and _sensors(cycle, block.plan.name)
    ]


def read_posture(cycle: Cycle, bus: str = "") -> dict[str, float]:
    """The values last reported by a machine, regardless of overrides of the ports.

    Args:
        cycle: The world and its state.
        bus: Its bus; the only one with a real plant if empty.

    Returns:
        Values [rad or m] by joint, ``arm/elbow``, or by ``joint.dof``; unclipped, also beyond the
            joint's range.

    Raises:
        LinkworkError: If there is no such bus, it has no real plant, or has not yet reported all
            joints, or is lost.
    """
    known = machine_buses(cycle)
    if not bus:
        if len(known) != 1:
            what = f"{len(known)} buses have one: {listing(known)}" if known else "no bus has one"
            raise SessionError(
                f"a posture is read from a machine, and {what}.",
                hint="Name the bus." if known else "Give a bus plant = 'real', or 'both'.",
            )
        bus = known[0]
    cycle.bus(bus)
    if bus not in known:
        if any(block.plan.name == bus and block.plan.plant != "virtual" for block in cycle.buses):
            raise SessionError(f"bus {bus!r} has no sensor of a joint's value.")
        raise SessionError(
            f"the scene itself is behind bus {bus!r}, no machine.",
            hint="Give it plant = 'real', or 'both'.",
        )
    block = cycle.bus(bus)
    values = {joint: block.last_input(key) for key, joint in _sensors(cycle, bus).items()}
    missing = [joint for joint, value in values.items() if value is None]
    if missing:
        raise SessionError(
            f"bus {bus!r}: the machine has not reported {listing(missing)}.",
            hint="Check that it is on and connected; values arrive while the session runs.",
        )
    return {joint: value for joint, value in values.items() if value is not None}


def out_of_range(world: World, found: Mapping[str, float]) -> list[str]:
    """Returns messages about joints that a machine reports beyond their range."""
    problems = []
    for name, value in found.items():
        dof = world.single_dof(name)
        low, high = float(world.dof_lo[dof]), float(world.dof_hi[dof])
        if not low - _TOLERANCE <= value <= high + _TOLERANCE:
            unit = "rad" if world.dof_is_angle(dof) else "m"
            at, least, most = (format_value(each, unit) for each in (value, low, high))
            problems.append(f"{name} is at {at}, beyond its range of {least} to {most}.")
    return problems


def _sensors(cycle: Cycle, bus: str) -> dict[str, str]:
    """Returns joints by the key of the sensor on a bus that measures them."""
    world, block = cycle.world, cycle.bus(bus)
    names = {value_signal(world, dof): world.dof_name(dof) for dof in range(world.nv)}
    return {
        key: names[signal.signal]
        for key, signal in block.plan.entries("sensor")
        if signal.signal in names
    }
