"""URDF extensions of Bullet, Drake and Gazebo: surfaces, rotors, springs, frames, filters."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, product

from linkwork.core.errors import FormatError, suggestion
from linkwork.formats.robots.gazebo import is_false, is_true, is_zero, note_plugin
from linkwork.formats.robots.links import clamp_surface
from linkwork.formats.robots.urdf.context import UrdfReadContext, vector3
from linkwork.formats.robots.xml import (
    XmlNode,
    number_attribute,
    parse_number,
    required_attribute,
)
from linkwork.geometry.pose import Pose
from linkwork.model.parts import Anchor, Element, Part, Shape, Spring
from linkwork.model.parts.spec import plain_name

#: Dimensions of a contact with rolling and spinning friction.
FULL_CONTACT = 6
#: Torsional and rolling friction if only the other one is given [m].
NO_FRICTION = 0.0
#: Bullet's properties of contacts that are not read, with the consequence.
BULLET_CONTACT = {
    "stiffness": "contacts of these links are as stiff as the engine's",
    "damping": "contacts of these links are damped as the engine's",
    "contact_cfm": "contacts of these links are as stiff as the engine's",
    "contact_erp": "contacts of these links are as stiff as the engine's",
    "friction_anchor": "these links may creep where they should stick",
}
#: Drake's properties of contacts that are read.
DRAKE_FRICTION = ("drake:mu_dynamic", "drake:mu_static")
#: Elements of the robot that are left out and change the motion, with the consequence.
UNREAD_MOTION = {
    "drake:linear_bushing_rpy": "nothing holds these links together",
    "drake:distance_constraint": "the distance between these links changes",
    "drake:tendon_constraint": "their joints move independently",
    "loop_joint": "this loop is open",
    "force_element": "this force does not act",
    "deformable": "this body is missing",
    "reduced_deformable": "this body is missing",
}
#: Those of the ``<gazebo>`` of a link or joint that change the motion, with the consequence.
GAZEBO_MOTION = {
    "kp": "contacts of these links are as stiff as the engine's",
    "kd": "contacts of these links are damped as the engine's",
    "mu2": "friction is the same in all directions",
    "dampingFactor": "these links move without this damping",
    "kinematic": "forces move these links",
    "selfCollide": "the links of the robot collide, whatever it says",
    "static": "the robot is fixed only if it is placed so",
}
#: Values of ``<gazebo>`` that are read.
GAZEBO_READ = ("mu1", "springStiffness", "springReference", "gravity", "turnGravityOff")


@dataclass(frozen=True)
class UrdfSurface:
    """Surface of a link: friction, restitution; torsional and rolling friction [m] or None."""

    friction: float = Element.friction
    restitution: float = Element.restitution
    spinning: float | None = None
    rolling: float | None = None

    def on(self, shape: Shape) -> Shape:
        """Returns a shape of the link with its torsional and rolling friction, for mujoco."""
        if not shape.collide or (self.spinning is None and self.rolling is None):
            return shape
        friction = [self.friction, self.spinning or NO_FRICTION, self.rolling or NO_FRICTION]
        return replace(shape, mujoco={"condim": FULL_CONTACT, "friction": friction})


def value_of(node: XmlNode) -> float:
    """Returns the number in the attribute ``value``, or in the text.

    Raises:
        FormatError: If it is not a number.
    """
    if "value" in node.attributes or not node.text.strip():
        return number_attribute(node, "value")
    value = parse_number(node.text.strip())
    if math.isnan(value):
        raise FormatError(f"<{node.tag}> is not a number.", origin=node.origin)
    return value


def read_surface(link: XmlNode, name: str, reading: UrdfReadContext) -> UrdfSurface:
    """Returns the surface of a link: Bullet's ``<contact>``, else Drake's, else Gazebo's values.

    Raises:
        FormatError: If a value is not a number.
    """
    found: dict[str, float] = {}
    contact = link.first("contact")
    for node in contact.children if contact is not None else ():
        if node.tag in ("lateral_friction", "restitution", "rolling_friction", "spinning_friction"):
            found[node.tag] = value_of(node)
        elif node.tag in BULLET_CONTACT:
            what = f"{node.tag} of contacts (Bullet), left out; {BULLET_CONTACT[node.tag]}"
            reading.notes.about(what, name, kind="motion")
    if "lateral_friction" not in found:
        friction = _drake_friction(link, name, reading)
        gazebo = reading.gazebo_value(required_attribute(link, "name"), "mu1")
        if friction is not None or gazebo is not None:
            found["lateral_friction"] = friction if friction is not None else gazebo or 0.0
    friction, restitution = clamp_surface(
        found.get("lateral_friction", Element.friction),
        found.get("restitution", Element.restitution),
        f"{(contact or link).origin}",
        reading.notes,
    )
    spinning, rolling = (
        max(found[tag], 0.0) if found.get(tag) else None
        for tag in ("spinning_friction", "rolling_friction")
    )
    if spinning is not None or rolling is not None:
        reading.notes.about("rolling and spinning friction (Bullet), with mujoco only", name)
    return UrdfSurface(friction, restitution, spinning, rolling)


def is_weightless(link: XmlNode, reading: UrdfReadContext) -> bool:
    """Whether the ``<gazebo>`` of a link switches gravity off."""
    for node in reading.gazebo.get(required_attribute(link, "name"), ()):
        off = node.first("turnGravityOff")
        if is_false(node.first("gravity")) or is_true(off):
            return True
    return False


def inertia_scale(link: XmlNode) -> float:
    """Returns the factor of Bullet's ``<inertia_scaling>``, 1 without it."""
    contact = link.first("contact")
    node = contact.first("inertia_scaling") if contact is not None else None
    return max(value_of(node), 0.0) if node is not None else 1.0


def _drake_friction(link: XmlNode, name: str, reading: UrdfReadContext) -> float | None:
    """Returns the friction of the first collision that has one."""
    values: dict[float, None] = {}
    for collision in link.all("collision"):
        for properties in collision.all("drake:proximity_properties"):
            given = {node.tag: node for node in properties.children}
            first = next((given[tag] for tag in DRAKE_FRICTION if tag in given), None)
            if first is not None:
                values[value_of(first)] = None
            for tag in given:
                if tag not in DRAKE_FRICTION:
                    what = f"{tag} (Drake), left out; contacts are as stiff as the engine's"
                    reading.notes.about(what, name, kind="motion")
    if len(values) > 1:
        reading.notes.about(
            "links whose collisions differ in friction, the first one counts", name, kind="motion"
        )
    return next(iter(values), None)


def read_transmissions(robot: XmlNode) -> dict[str, dict[str, float]]:
    """Returns the attributes that the transmissions give their joints, by the joint's name.

    The rotor inertia of a joint is the sum of drake:rotor_inertia · drake:gear_ratio² [kg m²].

    Raises:
        FormatError: If a value is not a number.
    """
    found: dict[str, dict[str, float]] = {}
    for transmission in robot.all("transmission"):
        joint = transmission.first("joint")
        for actuator in transmission.all("actuator"):
            rotor, gear = (
                actuator.first(f"drake:{what}") for what in ("rotor_inertia", "gear_ratio")
            )
            if joint is not None and rotor is not None:
                ratio = value_of(gear) if gear is not None else 1.0
                given = found.setdefault(required_attribute(joint, "name"), {"armature": 0.0})
                given["armature"] += max(value_of(rotor), 0.0) * ratio**2
    return found


def add_extensions(
    part: Part, robot: XmlNode, names: dict[str, str], reading: UrdfReadContext
) -> None:
    """Adds frames as anchors, Drake's ball constraints as loops, its springs as springs.

    Raises:
        LinkworkError: If a value is missing or not a number, or a link does not exist.
    """
    for node in robot.all("frame"):
        link = names[_known(required_attribute(node, "link"), names, node)]
        at = Pose.of(vector3(node, "xyz", reading), rpy=vector3(node, "rpy", reading))
        _anchor(part, required_attribute(node, "name"), link, at, node)
    for tag, short in (("drake:ball_constraint", "ball"), ("drake:linear_spring_damper", "spring")):
        for number, node in enumerate(robot.all(tag), 1):
            name = plain_name(f"{short}_{number}", {*part.loops, *part.springs})
            ends = []
            for body, point in (("body_A", "p_AP"), ("body_B", "p_BQ")):
                link = required_attribute(_child(node, f"{tag}_{body}"), "name")
                at = vector3(_child(node, f"{tag}_{point}"), "value", reading)
                on = names[_known(link, names, node)]
                ends.append(_anchor(part, f"{name}_{body[-1].lower()}", on, Pose.of(at), node))
            if short == "ball":
                part.close(*ends, joint="ball", name=name, origin=node.origin)
            else:
                stiffness, damping, rest = (
                    value_of(_child(node, f"{tag}_{what}"))
                    for what in ("stiffness", "damping", "free_length")
                )
                part.add(
                    Spring(
                        name, *ends, stiffness=stiffness, damping=damping, rest=rest,
                        origin=node.origin,
                    )
                )  # fmt: skip


def _child(node: XmlNode, tag: str) -> XmlNode:
    child = node.first(tag)
    if child is None:
        raise FormatError(f"<{node.tag}> needs a <{tag}>.", origin=node.origin)
    return child


def _known(link: str, names: dict[str, str], node: XmlNode) -> str:
    if link not in names:
        raise FormatError(
            f"<{node.tag}>: there is no link {link!r}.",
            origin=node.origin,
            hint=suggestion(link, names, kind="links"),
        )
    return link


def _anchor(part: Part, name: str, on: str, at: Pose, node: XmlNode) -> str:
    name = plain_name(name, {*part.anchors, *part.elements})
    part.add(Anchor(name, on, at=at, origin=node.origin))
    return name


def read_filters(
    robot: XmlNode, part: Part, names: dict[str, str], reading: UrdfReadContext
) -> None:
    """Applies Drake's collision filter groups: to the whole robot, else as a note.

    Raises:
        FormatError: If a link or group does not exist.
    """
    groups: dict[str, list[str]] = {}
    nodes = {}
    for node in robot.all("drake:collision_filter_group"):
        if node.attributes.get("ignore", "").strip().lower() in ("true", "1"):
            continue
        group = required_attribute(node, "name")
        links = [required_attribute(member, "link") for member in node.all("drake:member")]
        groups[group] = [names[_known(link, names, node)] for link in links]
        nodes[group] = node
    for group, node in nodes.items():
        for inner in node.all("drake:member_group"):
            groups[group] += groups.get(required_attribute(inner, "name"), [])
    apart: set[tuple[str, str]] = set()
    for group, node in nodes.items():
        for ignored in node.all("drake:ignored_collision_filter_group"):
            others = groups.get(required_attribute(ignored, "name"), [])
            apart |= {(min(a, b), max(a, b)) for a, b in product(groups[group], others) if a != b}
    solid = sorted(n for n, e in part.elements.items() if any(s.collide for s in e.shapes))
    joined = {tuple(sorted((joint.from_, joint.to))) for joint in part.joints.values()}
    pairs = {pair for pair in combinations(solid, 2) if pair not in joined}
    apart &= pairs
    if apart and apart == pairs:
        part.self_collision = "none"
    elif apart:
        for one, other in apart:
            reading.notes.about(
                "pairs that Drake's collision filter groups exclude collide here; in a scene, "
                "[collide] never excludes them",
                f"{one} and {other}",
                kind="motion",
            )


def note_unread(
    robot: XmlNode, known: dict[str, set[str]], part: Part, reading: UrdfReadContext
) -> None:
    """Notes the elements that are not read.

    Args:
        robot: The robot.
        known: Children that are read, of "robot", "link" and "joint".
        part: The part.
        reading: The file being read.
    """
    unread: Counter[str] = Counter()
    for child in robot.children:
        if child.tag in UNREAD_MOTION:
            what = f"<{child.tag}>, left out; {UNREAD_MOTION[child.tag]}, in line"
            reading.notes.about(what, f"{child.origin.line}", kind="motion")
        elif child.tag == "gazebo":
            _note_gazebo(child, unread, part, reading)
        elif child.tag == "transmission":
            drawn = any(node.tag.startswith("drake:") for node in child.walk())
            unread.update([] if drawn else ["transmission"])
        elif child.tag not in known["robot"]:
            unread[child.tag] += 1
        for inner in child.children if child.tag in ("link", "joint", "drake:joint") else ():
            if inner.tag not in known[child.tag.removeprefix("drake:")]:
                unread[f"{child.tag}/{inner.tag}"] += 1
    for tag, count in unread.items():
        reading.notes.about("elements that are not read", f"{tag} ({count})")


def _note_gazebo(node: XmlNode, unread: Counter[str], part: Part, reading: UrdfReadContext) -> None:
    owner = node.attributes.get("reference", "").strip() or part.name
    unread.update([] if node.children else ["gazebo"])
    for child in node.children:
        idle = is_false(child) or is_zero(child)
        if child.tag == "mu2":
            idle = parse_number(child.text.strip()) == reading.gazebo_value(owner, "mu1")
        if child.tag == "plugin":
            note_plugin(child, f"line {child.origin.line}", reading.notes)
        elif child.tag in GAZEBO_MOTION and not idle:
            what = f"<{child.tag}> of <gazebo>, left out; {GAZEBO_MOTION[child.tag]}"
            reading.notes.about(what, owner, kind="motion")
        elif child.tag not in GAZEBO_READ and child.tag not in GAZEBO_MOTION:
            unread[f"gazebo/{child.tag}"] += 1
