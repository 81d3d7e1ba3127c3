"""Initial state: coordinates and velocities of a world at its start and in its postures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from linkwork.core.errors import Origin, SceneError, not_found
from linkwork.core.value_types import format_value
from linkwork.geometry.pose import Pose, quat_from_axis
from linkwork.model.parts.constraints import coupled_value
from linkwork.model.parts.joint import JOINT_TYPES, Joint
from linkwork.model.world.flatten import FlatElement
from linkwork.model.world.world import World


def set_initial_state(world: World, heads: list[FlatElement], free: dict[int, Pose]) -> None:
    """Fills initial coordinates and velocities, and the named postures."""
    for joint, b in zip(world.joints, world.joint_body, strict=True):
        a = int(world.qadr[b])
        world.q0[a : a + joint.kind.nq] = _coordinates(joint, joint.values, free.get(int(b)))
        if joint.type != "free":
            v = int(world.vadr[b])
            world.v0[v : v + joint.kind.nv] = joint.speeds
    world.authored_q = world.q0.copy()
    _apply_couplings(world, world.q0)
    for name, values in world.scene.postures.items():
        origin = world.scene.posture_origins.get(name, world.scene.origin)
        q = world.q0.copy()
        given: dict[int, list[float]] = {}
        for joint_name, value in values.items():
            dof = world.single_dof(joint_name, origin=origin)
            body = int(world.dof_body[dof])
            number = int(np.flatnonzero(world.joint_body == body)[0])
            joint = world.joints[number]
            given.setdefault(number, list(joint.values))[dof - int(world.vadr[body])] = value
            turned = joint.type in ("ball", "free")  # whose limit is on the rotation angle
            if not (turned or world.dof_lo[dof] <= value <= world.dof_hi[dof]):
                unit = "rad" if world.dof_is_angle(dof) else "m"
                lo, hi = (format_value(v[dof], unit) for v in (world.dof_lo, world.dof_hi))
                raise SceneError(
                    f"posture {name!r} puts {joint_name!r} at {format_value(value, unit)}, "
                    f"out of its range {lo} to {hi}.",
                    origin=origin,
                )
        for number, all_of in given.items():
            joint, body = world.joints[number], int(world.joint_body[number])
            a = int(world.qadr[body])
            q[a : a + joint.kind.nq] = _coordinates(joint, all_of, free.get(body))
        _apply_couplings(world, q)
        world.postures[name] = q
    if world.scene.start:
        if world.scene.start not in world.postures:
            raise not_found("posture", world.scene.start, world.postures, origin=world.scene.origin)
        world.q0 = world.postures[world.scene.start].copy()
    for joint, b in zip(world.joints, world.joint_body, strict=True):
        if joint.type == "free":  # whose angular velocity depends on its initial rotation
            _initial_motion(world, heads[int(b) - 1], int(b))


def _coordinates(joint: Joint, values: Sequence[float], place: Pose | None) -> Sequence[float]:
    """Returns a joint's coordinates at given values; ``place`` is the pose of a free body at 0."""
    if joint.type not in ("ball", "free"):
        return values
    *xyz, rx, ry, rz = values
    angle = math.sqrt(rx * rx + ry * ry + rz * rz)
    turn = quat_from_axis((rx, ry, rz), angle) if angle >= 1e-12 else None
    moved = Pose.of(xyz or (0.0, 0.0, 0.0), quat=turn)
    moved = joint.at_to @ moved @ joint.at_to.inverse()
    if joint.type == "ball" or place is None:
        return moved.quat
    return (place @ moved).array().tolist()


def _apply_couplings(world: World, q: np.ndarray) -> None:
    """Sets coupled joints to the values that their leaders give."""
    for (follows, leads), law in zip(world.coupling_dof.tolist(), world.laws(), strict=True):
        leader = float(q[single_coordinate(world, leads, "a coupling", Origin())])
        q[single_coordinate(world, follows, "a coupling", Origin())] = coupled_value(law, leader)


def single_coordinate(world: World, dof: int, who: str, origin: Origin) -> int:
    """Returns the coordinate of a degree of freedom that has one.

    Raises:
        SceneError: If it is part of a rotation.
    """
    body = int(world.dof_body[dof])
    offset = dof - int(world.vadr[body])
    if world.kind[body] == JOINT_TYPES["ball"].code or (
        world.kind[body] == JOINT_TYPES["free"].code and offset > 2
    ):
        raise SceneError(
            f"{who} names {world.dof_name(dof)!r}, which has no coordinate of its own: the "
            "rotation of a ball or free joint is one quaternion.",
            origin=origin,
            hint="Name angles of hinges and positions.",
        )
    return int(world.qadr[body]) + offset


def _initial_motion(world: World, head: FlatElement, body: int) -> None:
    element = head.element
    if element is None:
        return
    a, start = int(world.vadr[body]), int(world.qadr[body])
    turn = Pose.of(quat=world.q0[start + 3 : start + 7])
    world.v0[a : a + 3] = element.velocity
    world.v0[a + 3 : a + 6] = turn.inverse().rotate(element.spin)
