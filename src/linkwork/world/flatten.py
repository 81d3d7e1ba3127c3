"""Flattening: a scene's nested parts become flat lists with full names (``arm/hand/flange``)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from linkwork.errors import Origin, PartError, SceneError, not_found
from linkwork.parts import Anchor, Coupling, Element, Joint, Loop, Part, Spec, Spring
from linkwork.parts.names import scoped
from linkwork.scene import Placement, Scene
from linkwork.scene.placed_drives import placed_drives
from linkwork.spatial.pose import IDENTITY, Pose


@dataclass
class FlatElement:
    """An element with its full name and what carries it.

    Attributes:
        name: Full name.
        element: The element; None for the massless link between two chained joints.
        carrier: Full name of the carrying element, empty for the world.
        pose: Pose in the carrier's frame, at joint value 0.
        joint: Full name of the joint between them, empty for a rigid connection.
        part: Name of the placed part, empty for scenery.
        origin: Where it was said.
    """

    name: str
    element: Element | None
    carrier: str = ""
    pose: Pose = IDENTITY
    joint: str = ""
    part: str = ""
    origin: Origin = Origin()


@dataclass
class Flat:
    """A scene without nesting."""

    elements: dict[str, FlatElement] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    anchors: dict[str, tuple[Anchor, str]] = field(default_factory=dict)
    loops: dict[str, Loop] = field(default_factory=dict)
    couplings: list[Coupling] = field(default_factory=list)
    springs: dict[str, Spring] = field(default_factory=dict)
    sensors: list[Spec] = field(default_factory=list)
    ports: list[Spec] = field(default_factory=list)
    snapped: list[tuple[str, str]] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)


def flatten(scene: Scene) -> Flat:
    """Writes out a scene's parts with full names.

    Raises:
        PartError: If a part is not one tree (two parents, unknown element, cycle, falls apart).
    """
    flat = Flat()
    for element in scene.scenery.values():
        carrier = element.on
        if carrier and carrier not in scene.scenery:
            raise not_found("element", carrier, scene.scenery, origin=element.origin)
        flat.elements[element.name] = FlatElement(
            element.name, element, carrier, element.at, origin=element.origin
        )
        _check_stack(scene, element)
    for placement in scene.parts.values():
        _place(flat, placement)
    for loop in scene.loops.values():
        flat.loops[loop.name] = loop
    flat.couplings.extend(scene.couplings)
    flat.springs.update(scene.springs)
    flat.sensors.extend(scene.sensors)
    flat.ports.extend(scene.ports)
    return flat


def _check_stack(scene: Scene, element: Element) -> None:
    seen = {element.name}
    walker = scene.scenery.get(element.on)
    while walker is not None:
        if walker.name in seen:
            raise SceneError(
                f"element {element.name!r} carries itself in a cycle.", origin=element.origin
            )
        seen.add(walker.name)
        walker = scene.scenery.get(walker.on)


def _place(flat: Flat, placement: Placement) -> None:
    part, name = placement.part, placement.name
    root = scoped(name, part.root())
    carrier, pose = "", placement.at
    if placement.on:
        if placement.on not in flat.anchors:
            raise not_found("anchor", placement.on, flat.anchors, origin=placement.origin)
        anchor, owner = flat.anchors[placement.on]
        carrier = owner
        pose = anchor.at @ pose
    by = placement.by or (part.mount if placement.on else "")
    pose = pose @ part.anchor_pose(by, origin=placement.origin).inverse()
    _add_part(flat, part, name, name)
    for joint, drive in placed_drives(placement, flat.joints).items():
        flat.joints[joint] = replace(flat.joints[joint], drive=drive)
    flat.elements[root].carrier = carrier
    flat.elements[root].pose = pose
    if placement.base == "free":
        flat.elements[root].joint = name
        flat.joints[name] = Joint(
            name.replace("/", "_"), "free", carrier, root, origin=placement.origin
        )
    elif carrier:
        flat.snapped.append((carrier, root))


def _add_part(flat: Flat, part: Part, scope: str, placed: str) -> None:
    root = part.root()
    for element in part.elements.values():
        carrier = ""
        if element.on:
            if element.on not in part.elements:
                raise not_found("element", element.on, part.elements, origin=element.origin)
            carrier = scoped(scope, element.on)
        name = scoped(scope, element.name)
        flat.elements[name] = FlatElement(
            name, element, carrier, element.at, part=placed, origin=element.origin
        )
    for alias, name in part.aliases.items():
        flat.aliases[scoped(scope, alias)] = scoped(scope, name)
    _add_joints(flat, part, scope, placed)
    for anchor in part.anchors.values():
        if anchor.on not in part.elements:
            raise not_found("element", anchor.on, part.elements, origin=anchor.origin)
        flat.anchors[scoped(scope, anchor.name)] = (anchor, scoped(scope, anchor.on))
    for attachment in part.attachments.values():
        inner = scoped(scope, attachment.name)
        _add_part(flat, attachment.part, inner, placed)
        carrier = part.find_anchor(attachment.anchor, origin=attachment.origin)
        owner = flat.anchors[scoped(scope, attachment.anchor)][1]
        top = flat.elements[scoped(inner, attachment.part.root())]
        top.carrier, top.pose = owner, attachment.pose(carrier)
        flat.snapped.append((owner, top.name))
    for loop in part.loops.values():
        full = replace(loop, a=scoped(scope, loop.a), b=scoped(scope, loop.b))
        flat.loops[scoped(scope, loop.name)] = full
    for spring in part.springs.values():
        full = replace(spring, a=scoped(scope, spring.a), b=scoped(scope, spring.b))
        flat.springs[scoped(scope, spring.name)] = full
    for coupling in part.couplings:
        full = replace(coupling, joint=scoped(scope, coupling.joint), of=scoped(scope, coupling.of))
        flat.couplings.append(full)
    for sensor in part.sensors:
        flat.sensors.append(replace(sensor, name=scoped(scope, sensor.name), scope=scope))
    for port in part.ports:
        flat.ports.append(replace(port, name=scoped(scope, port.name), scope=scope))
    _check_tree(flat, part, scope, root)


def _add_joints(flat: Flat, part: Part, scope: str, placed: str) -> None:
    for joint in part.joints.values():
        _check_chain(part, joint)
        name = scoped(scope, joint.name)
        flat.joints[name] = joint
        if joint.to in part.joints:
            link = FlatElement(_link(name), None, part=placed, origin=joint.origin)
            flat.elements[link.name] = link
            target = link
        else:
            if joint.to not in part.elements:
                raise not_found("element", joint.to, part.elements, origin=joint.origin)
            target = flat.elements[scoped(scope, joint.to)]
        if joint.from_ in part.joints:
            carrier = _link(scoped(scope, joint.from_))
        elif joint.from_ in part.elements:
            carrier = scoped(scope, joint.from_)
        else:
            raise not_found("element", joint.from_, part.elements, origin=joint.origin)
        if target.joint or target.carrier:
            other = target.joint or target.carrier
            raise PartError(
                f"element {target.name!r} has two parents: {other!r} and joint {name!r}.",
                origin=joint.origin,
                hint="A tree has one parent each; close a loop with [[loop]] and two anchors.",
            )
        target.carrier = carrier
        target.joint = name
        target.pose = joint.at @ joint.at_to.inverse()


def _link(joint: str) -> str:
    """Name of the massless piece behind a chained joint; no element can have it."""
    return f"{joint}/link"


def _check_chain(part: Part, joint: Joint) -> None:
    """Refuses a chain of joints whose neighbours do not name each other, or that has no start."""
    before, after = part.joints.get(joint.from_), part.joints.get(joint.to)
    for other, wrong in (
        (before, before is not None and before.to != joint.name),
        (after, after is not None and after.from_ != joint.name),
    ):
        if other is not None and wrong:
            raise PartError(
                f"joints {joint.name!r} and {other.name!r} of part {part.name!r} make no chain.",
                origin=joint.origin,
                hint="Of two chained joints, 'to' of the first names the second and 'from' of "
                "the second names the first.",
            )
    walker, seen = before, {joint.name}
    while walker is not None and walker.name not in seen:
        seen.add(walker.name)
        walker = part.joints.get(walker.from_)
    if walker is not None:
        raise PartError(
            f"joint {joint.name!r} of part {part.name!r} hangs on itself in a circle of joints.",
            origin=joint.origin,
        )


def _check_tree(flat: Flat, part: Part, scope: str, root: str) -> None:
    top = scoped(scope, root)
    for name in part.elements:
        seen: set[str] = set()
        walker = scoped(scope, name)
        while walker != top:
            if walker in seen:
                raise PartError(
                    f"element {name!r} of part {part.name!r} carries itself in a cycle.",
                    origin=part.elements[name].origin,
                )
            seen.add(walker)
            walker = flat.elements[walker].carrier
