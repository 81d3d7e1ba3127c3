"""Forward kinematics for writers: poses of links at given joint values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from linkwork.core.errors import SceneError, not_found
from linkwork.formats.flat import FlatLink, FlatStructure
from linkwork.geometry.pose import IDENTITY, Pose, Vec3, cross, quat_from_axis
from linkwork.model.parts import Joint, RailPiece
from linkwork.model.parts.constraints import coupled_value

#: Values of each degree of freedom [rad or m] by the full name of the joint.
Values = Mapping[str, Sequence[float]]


def joint_motion(joint: Joint, values: Sequence[float]) -> Pose:
    """Returns the motion J(q) of a joint in its frame; rx, ry, rz are a rotation vector."""
    if joint.type == "fixed":
        return IDENTITY
    if joint.type in ("ball", "free"):
        *xyz, rx, ry, rz = values
        angle = math.sqrt(rx * rx + ry * ry + rz * rz)
        place = Pose.of(xyz or (0.0, 0.0, 0.0))
        return place @ _rotation((rx, ry, rz), angle) if angle > 1e-12 else place
    axis, second = joint.directions
    match joint.type:
        case "hinge":
            return _rotation(axis, values[0])
        case "slider":
            return _along(axis, values[0])
        case "universal":
            return _rotation(axis, values[0]) @ _rotation(second, values[1])
        case "cylindrical":
            return _along(axis, values[0]) @ _rotation(axis, values[1])
        case "screw":
            return _along(axis, joint.pitch * values[0] / (2.0 * math.pi)) @ _rotation(
                axis, values[0]
            )
        case "planar":
            across = cross(axis, second)
            return (
                _along(second, values[0]) @ _along(across, values[1]) @ _rotation(axis, values[2])
            )
    return _on_rail(joint.rail, values[0])


def start_values(flat: FlatStructure, posture: str = "") -> dict[str, tuple[float, ...]]:
    """Returns the initial values of a session, or those of a named posture of the scene.

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
    for _ in flat.couplings:  # a leader may follow another: repeat as often as the longest chain
        for coupling in flat.couplings:
            if coupling.joint in values and len(values.get(coupling.of, ())) == 1:
                values[coupling.joint][0] = coupled_value(coupling.law, values[coupling.of][0])
    return {name: tuple(found) for name, found in values.items()}


def zero_values(flat: FlatStructure) -> dict[str, tuple[float, ...]]:
    """Returns all values 0."""
    return {link.joint_name: (0.0,) * link.joint.kind.nv for link in flat.links if link.joint}


def link_pose(link: FlatLink, values: Values) -> Pose:
    """Returns the pose of the link's frame (at its joint) in the element frame of its parent."""
    if link.joint is None:
        return link.at
    return link.at @ joint_motion(link.joint, values[link.joint_name])


def element_poses(flat: FlatStructure, values: Values) -> dict[str, Pose]:
    """Returns the poses of all elements in the world, or in a part's root, by full name."""
    found: dict[str, Pose] = {"": IDENTITY}
    for link in flat.links:
        found[link.name] = found[link.carrier] @ link_pose(link, values) @ link.offset
    return found


def movable_links(flat: FlatStructure) -> set[str]:
    """Returns the full names of the links that joints move relative to the world or root."""
    found: set[str] = set()
    for link in flat.links:
        if link.carrier in found or (link.joint is not None and link.joint.type != "fixed"):
            found.add(link.name)
    return found


def static_pose(link: FlatLink, flat: FlatStructure) -> Pose:
    """Returns the pose of a link's frame in the world at value 0, if all its parents are fixed.

    Raises:
        SceneError: If a parent moves.
    """
    links = {each.name: each for each in flat.links}
    pose, walker = link.at, links.get(link.carrier)
    while walker is not None:
        if walker.joint is not None and walker.joint.type != "fixed":
            raise SceneError(
                f"{link.name!r} is free but placed on the moving {walker.name!r}.",
                origin=link.joint.origin if link.joint else None,
                hint="Place it in the world, or join it by a ball or planar joint.",
            )
        pose, walker = walker.at_zero @ pose, links.get(walker.carrier)
    return pose


def _rotation(axis: Vec3, angle: float) -> Pose:
    return Pose(quat=quat_from_axis(axis, angle))


def _along(axis: Vec3, distance: float) -> Pose:
    return Pose((axis[0] * distance, axis[1] * distance, axis[2] * distance))


def _on_rail(rail_pieces: Sequence[RailPiece], s: float) -> Pose:
    """Returns the pose at arc length ``s`` [m]; the rail is straight before 0 and after its end."""
    pose, left = IDENTITY, s
    for number, piece in enumerate(rail_pieces):
        if number == 0 and left < 0.0:
            return Pose((left, 0.0, 0.0))
        distance = min(left, piece.length)
        pose = pose @ _rail_motion(piece, distance)
        if left <= piece.length:
            return pose
        left -= piece.length
    return pose @ Pose((left, 0.0, 0.0))


def _rail_motion(piece: RailPiece, s: float) -> Pose:
    """Returns the exponential of a constant twist: x forward, rotation about z and −y."""
    wy, wz = -piece.climb / piece.length, piece.turn / piece.length
    w = math.hypot(wy, wz)
    angle = w * s
    if angle < 1e-9:
        return Pose((s, wz * s * s / 2.0, -wy * s * s / 2.0))
    k = (1.0 - math.cos(angle)) / (w * w)
    place = Pose((math.sin(angle) / w, wz * k, -wy * k))
    return place @ _rotation((0.0, wy, wz), angle)
