"""Placing: moves joints by hand, where time stands still."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from linkwork.errors import SignalError, not_found
from linkwork.kinematics.kernels import BALL, FREE
from linkwork.parts.coupling import follow
from linkwork.session.cycle import Cycle
from linkwork.spatial.pose import quat_from_axis
from linkwork.world import World


def place(cycle: Cycle, joint: str, dof: str, value: float) -> None:
    """Moves one degree of freedom of a joint, at rest; joints coupled to it follow.

    Args:
        cycle: The world and its state.
        joint: Name of the joint.
        dof: Name of the degree of freedom; empty where the joint has one.
        value: Where to [rad or m]; rx, ry, rz of a ball or free joint are a rotation vector.

    Raises:
        LinkworkError: If there is no such freedom, or the value is out of its range.
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
        raise SignalError(f"joint {joint!r} goes from {lo:g} to {hi:g} {unit}, not to {value:g}.")
    turned = world.kind[body] == BALL or (world.kind[body] == FREE and index >= 3)
    if turned:
        _turn(cycle, body, index % 3, value)
    else:
        moved = {row: value}
        for (follower, leader), law in zip(world.coupling_dof.tolist(), world.laws(), strict=True):
            if leader in moved:  # leaders come before those who follow them
                moved[follower] = follow(law, moved[leader])
        for each, there in moved.items():
            _move(cycle, each, there)
        settle(cycle, set(moved))
        return
    state.v[row] = 0.0
    cycle.refresh()


def arrange(cycle: Cycle, joints: Mapping[str, Sequence[float]]) -> None:
    """Moves joints to coordinates, at rest; nothing moves if one of them cannot.

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
                f"joint {name!r} goes from {lo:g} to {hi:g} {unit}, not to {value:g}."
            )


def settle(cycle: Cycle, dofs: set[int]) -> None:
    """Lets everything fit coordinates that were written: their servos are there, not on the way."""
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
