"""Flattening: nested parts of a scene as lists with full names (``arm/hand/flange``)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from linkwork.core.errors import Origin, PartError, SceneError, not_found
from linkwork.geometry.pose import IDENTITY, Pose
from linkwork.model.parts import Anchor, Coupling, Element, Joint, Loop, Part, Spec, Spring
from linkwork.model.parts.spec import scoped_name_of
from linkwork.model.scene import Placement, Scene, placed_drives, taken_joints


@dataclass
class FlatElement:
    """An element with its full name and its parent.

    Attributes:
        name: Full name.
        element: The element; None for the massless link between two chained joints.
        carrier: Full name of the parent element, empty for the world.
        pose: Pose in the parent's frame, at joint value 0.
        joint: Full name of the joint between them, empty for a rigid connection.
        part: Name of the placed part, empty for scenery.
        self_collision: Rule of its part.
        origin: Where it is defined.
    """

    name: str
    element: Element | None
    carrier: str = ""
    pose: Pose = IDENTITY
    joint: str = ""
    part: str = ""
    self_collision: str = "all"
    origin: Origin = Origin()


@dataclass
class FlatScene:
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


def flatten(scene: Scene) -> FlatScene:
    """Flattens a scene.

    Raises:
        PartError: If a part is not one tree (two parents, unknown element, cycle, several roots).
    """
    flat = FlatScene()
    for element in scene.scenery.values():
        carrier = element.on
        if carrier and carrier not in scene.scenery:
            raise not_found("element", carrier, scene.scenery, origin=element.origin)
        flat.elements[element.name] = FlatElement(
            element.name, element, carrier, element.at, origin=element.origin
        )
        _check_stack(scene, element)
    for placement in scene.parts.values():
        _place(flat, placement, scene)
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


def _place(flat: FlatScene, placement: Placement, scene: Scene) -> None:
    part, name = placement.part, placement.name
    root = scoped_name_of(name, part.root())
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
    couplings = [*flat.couplings, *scene.couplings]
    taken = taken_joints(couplings, scene.actuators, flat.aliases) if placement.drives else ()
    for joint, drive in placed_drives(placement, flat.joints, taken).items():
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


def _add_part(flat: FlatScene, part: Part, scope: str, placed: str) -> None:
    root = part.root()
    for element in part.elements.values():
        carrier = ""
        if element.on:
            if element.on not in part.elements:
                raise not_found("element", element.on, part.elements, origin=element.origin)
            carrier = scoped_name_of(scope, element.on)
        name = scoped_name_of(scope, element.name)
        flat.elements[name] = FlatElement(
            name, element, carrier, element.at, part=placed, self_collision=part.self_collision,
            origin=element.origin,
        )  # fmt: skip
    for alias, name in part.aliases.items():
        flat.aliases[scoped_name_of(scope, alias)] = scoped_name_of(scope, name)
    _add_joints(flat, part, scope, placed)
    for anchor in part.anchors.values():
        if anchor.on not in part.elements:
            raise not_found("element", anchor.on, part.elements, origin=anchor.origin)
        flat.anchors[scoped_name_of(scope, anchor.name)] = (
            anchor,
            scoped_name_of(scope, anchor.on),
        )
    for attachment in part.attachments.values():
        inner = scoped_name_of(scope, attachment.name)
        _add_part(flat, attachment.part, inner, placed)
        carrier = part.find_anchor(attachment.anchor, origin=attachment.origin)
        owner = flat.anchors[scoped_name_of(scope, attachment.anchor)][1]
        top = flat.elements[scoped_name_of(inner, attachment.part.root())]
        top.carrier, top.pose = owner, attachment.pose(carrier)
        flat.snapped.append((owner, top.name))
    for loop in part.loops.values():
        full = replace(loop, a=scoped_name_of(scope, loop.a), b=scoped_name_of(scope, loop.b))
        flat.loops[scoped_name_of(scope, loop.name)] = full
    for spring in part.springs.values():
        full = replace(spring, a=scoped_name_of(scope, spring.a), b=scoped_name_of(scope, spring.b))
        flat.springs[scoped_name_of(scope, spring.name)] = full
    for coupling in part.couplings:
        full = replace(
            coupling,
            joint=scoped_name_of(scope, coupling.joint),
            of=scoped_name_of(scope, coupling.of),
        )
        flat.couplings.append(full)
    for sensor in part.sensors:
        flat.sensors.append(replace(sensor, name=scoped_name_of(scope, sensor.name), scope=scope))
    for port in part.ports:
        flat.ports.append(replace(port, name=scoped_name_of(scope, port.name), scope=scope))
    _check_tree(flat, part, scope, root)


def _add_joints(flat: FlatScene, part: Part, scope: str, placed: str) -> None:
    for joint in part.joints.values():
        _check_chain(part, joint)
        name = scoped_name_of(scope, joint.name)
        flat.joints[name] = joint
        if joint.to in part.joints:
            link = FlatElement(_chain_link_name(name), None, part=placed, origin=joint.origin)
            flat.elements[link.name] = link
            target = link
        else:
            if joint.to not in part.elements:
                raise not_found("element", joint.to, part.elements, origin=joint.origin)
            target = flat.elements[scoped_name_of(scope, joint.to)]
        if joint.from_ in part.joints:
            carrier = _chain_link_name(scoped_name_of(scope, joint.from_))
        elif joint.from_ in part.elements:
            carrier = scoped_name_of(scope, joint.from_)
        else:
            raise not_found("element", joint.from_, part.elements, origin=joint.origin)
        if target.joint or target.carrier:
            other = target.joint or target.carrier
            raise PartError(
                f"element {target.name!r} has two parents: {other!r} and joint {name!r}.",
                origin=joint.origin,
                hint="Each element has one parent; close a loop with [[loop]] and two anchors.",
            )
        target.carrier = carrier
        target.joint = name
        target.pose = joint.at @ joint.at_to.inverse()


def _chain_link_name(joint: str) -> str:
    """Returns the name of the massless link after a chained joint; no element can have it."""
    return f"{joint}/link"


def _check_chain(part: Part, joint: Joint) -> None:
    """Checks that the joints of a chain name each other and that it has a start."""
    before, after = part.joints.get(joint.from_), part.joints.get(joint.to)
    for other, wrong in (
        (before, before is not None and before.to != joint.name),
        (after, after is not None and after.from_ != joint.name),
    ):
        if other is not None and wrong:
            raise PartError(
                f"joints {joint.name!r} and {other.name!r} of part {part.name!r} are not a chain.",
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
            f"joint {joint.name!r} of part {part.name!r} is part of a cycle of joints.",
            origin=joint.origin,
        )


def _check_tree(flat: FlatScene, part: Part, scope: str, root: str) -> None:
    top = scoped_name_of(scope, root)
    for name in part.elements:
        seen: set[str] = set()
        walker = scoped_name_of(scope, name)
        while walker != top:
            if walker in seen:
                raise PartError(
                    f"element {name!r} of part {part.name!r} carries itself in a cycle.",
                    origin=part.elements[name].origin,
                )
            seen.add(walker)
            walker = flat.elements[walker].carrier
