"""Postures for writers: where the links of a flat part or scene stand at given joint values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from linkwork.errors import SceneError, not_found
from linkwork.formats.flat import Flat, FlatLink
from linkwork.parts import Joint, RailPiece
from linkwork.parts.coupling import follow
from linkwork.spatial.pose import IDENTITY, Pose, Vec3, quat_from_axis

#: Values of each degree of freedom [rad or m] by the full name of the joint.
Values = Mapping[str, Sequence[float]]


def motion(joint: Joint, values: Sequence[float]) -> Pose:
    """The motion J(q) of a joint in its own frame; rx, ry, rz together are a rotation vector."""
    if joint.type == "fixed":
        return IDENTITY
    if joint.type in ("ball", "free"):
        *xyz, rx, ry, rz = values
        angle = math.sqrt(rx * rx + ry * ry + rz * rz)
        place = Pose.of(xyz or (0.0, 0.0, 0.0))
        return place @ _turn((rx, ry, rz), angle) if angle > 1e-12 else place
    axis, second = joint.directions
    match joint.type:
        case "hinge":
            return _turn(axis, values[0])
        case "slider":
            return _along(axis, values[0])
        case "universal":
            return _turn(axis, values[0]) @ _turn(second, values[1])
        case "cylindrical":
            return _along(axis, values[0]) @ _turn(axis, values[1])
        case "screw":
            return _along(axis, joint.pitch * values[0] / (2.0 * math.pi)) @ _turn(axis, values[0])
        case "planar":
            across = _cross(axis, second)
            return _along(second, values[0]) @ _along(across, values[1]) @ _turn(axis, values[2])
    return _on_rail(joint.rail, values[0])


def start_values(flat: Flat, posture: str = "") -> dict[str, tuple[float, ...]]:
    """The values in which a session would start, or those of a named posture of the scene.

    Raises:
        LinkworkError: If the posture, or a joint that it names, does not exist.
    """
    joints = {link.joint_name: link.joint for link in flat.links if link.joint is not None}
    values = {name: list(joint.values) for name, joint in joints.items()}
    scene = flat.scene
    posture = posture or (scene.start if scene else "")
    if posture and scene is not None:
        if posture not in scene.postures:
            raise not_found("posture", posture, scene.postures, origin=scene.origin)
        origin = scene.posture_origins.get(posture, scene.origin)
        for name, value in scene.postures[posture].items():
            whole, _, dof = name.rpartition(".")
            if name in joints:
                whole, dof = name, joints[name].kind.dofs[0]
            if whole not in joints:
                raise not_found("joint", name, joints, origin=origin)
            if dof not in joints[whole].kind.dofs:
                raise not_found("degree of freedom", dof, joints[whole].kind.dofs, origin=origin)
            values[whole][joints[whole].kind.dofs.index(dof)] = value
    for _ in flat.couplings:  # a leader may itself follow: as often as the longest chain
        for coupling in flat.couplings:
            if coupling.joint in values and len(values.get(coupling.of, ())) == 1:
                values[coupling.joint][0] = follow(coupling.law, values[coupling.of][0])
    return {name: tuple(found) for name, found in values.items()}


def zero_values(flat: Flat) -> dict[str, tuple[float, ...]]:
    """All values 0."""
    return {link.joint_name: (0.0,) * link.joint.kind.nv for link in flat.links if link.joint}


def link_pose(link: FlatLink, values: Values) -> Pose:
    """Pose of the link's frame (at its joint) in the element frame of its carrier."""
    if link.joint is None:
        return link.at
    return link.at @ motion(link.joint, values[link.joint_name])


def element_poses(flat: Flat, values: Values) -> dict[str, Pose]:
    """Poses of all elements in the frame of the world, or of a part's root, by full name."""
    found: dict[str, Pose] = {"": IDENTITY}
    for link in flat.links:
        found[link.name] = found[link.carrier] @ link_pose(link, values) @ link.offset
    return found


def moving(flat: Flat) -> set[str]:
    """Full names of the links that some joint can move relative to the world or root."""
    found: set[str] = set()
    for link in flat.links:
        if link.carrier in found or (link.joint is not None and link.joint.type != "fixed"):
            found.add(link.name)
    return found


def static_pose(link: FlatLink, flat: Flat) -> Pose:
    """Pose of a link's frame in the world at value 0, all its carriers being fixed.

    Raises:
        SceneError: If it stands on something that moves.
    """
    links = {each.name: each for each in flat.links}
    pose, walker = link.at, links.get(link.carrier)
    while walker is not None:
        if walker.joint is not None and walker.joint.type != "fixed":
            raise SceneError(
                f"{link.name!r} is free but stands on the moving {walker.name!r}.",
                origin=link.joint.origin if link.joint else None,
                hint="Place it in the world, or join it by a ball or planar joint.",
            )
        pose, walker = walker.at_zero @ pose, links.get(walker.carrier)
    return pose


def _turn(axis: Vec3, angle: float) -> Pose:
    return Pose(quat=quat_from_axis(axis, angle))


def _along(axis: Vec3, way: float) -> Pose:
    return Pose((axis[0] * way, axis[1] * way, axis[2] * way))


def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _on_rail(pieces: Sequence[RailPiece], s: float) -> Pose:
    """Pose at arc length ``s`` [m]; before 0 and past the end the rail runs straight on."""
    pose, left = IDENTITY, s
    for number, piece in enumerate(pieces):
        if number == 0 and left < 0.0:
            return Pose((left, 0.0, 0.0))
        way = min(left, piece.length)
        pose = pose @ _bend(piece, way)
        if left <= piece.length:
            return pose
        left -= piece.length
    return pose @ Pose((left, 0.0, 0.0))


def _bend(piece: RailPiece, s: float) -> Pose:
    """The exponential of an even twist: x forward, turning about z and −y."""
    wy, wz = -piece.climb / piece.length, piece.turn / piece.length
    w = math.hypot(wy, wz)
    angle = w * s
    if angle < 1e-9:
        return Pose((s, wz * s * s / 2.0, -wy * s * s / 2.0))
    k = (1.0 - math.cos(angle)) / (w * w)
    place = Pose((math.sin(angle) / w, wz * k, -wy * k))
    return place @ _turn((0.0, wy, wz), angle)
