"""MJCF writer of actuators and keyframes."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from linkwork.core.errors import LinkworkError
from linkwork.formats.conversion_notes import ConversionNotes
from linkwork.formats.flat import FlatStructure, unique
from linkwork.formats.posture import Values, start_values
from linkwork.formats.robots.mjcf.naming import START_KEYFRAMES, set_native_attributes
from linkwork.formats.robots.mjcf.write_bodies import BodyWriter
from linkwork.formats.robots.mjcf.write_constraints import fixed_tendon
from linkwork.formats.robots.mjcf.write_joints import REFERENCE_TYPES, JointWriter
from linkwork.formats.text_output import number_text, numbers_text
from linkwork.model.parts import Joint, Spec
from linkwork.model.parts.spec import scoped_name_of

#: Default gains of drives.
SERVO_KP, SERVO_KD, MOTOR_GAIN = 20.0, 0.5, 1.0


def actuators(
    flat: FlatStructure, bodies: BodyWriter, tendons: ET.Element, notes: ConversionNotes
) -> tuple[ET.Element, list[Spec]]:
    """Returns the drives of joints and the actuators of the scene as ``<actuator>``.

    Also returns the specs of those written. Adds a tendon for each actuator that acts on several
    joints.
    """
    node, drives = ET.Element("actuator"), list[Spec]()
    taken: set[str] = set()
    known = {link.joint_name: link.joint for link in flat.links if link.joint is not None}
    specs = [(name, joint.drive) for name, joint in known.items() if joint.drive is not None]
    if flat.scene is not None:
        specs += [
            (scoped_name_of(s.scope, str(s.params.get("joint", ""))), s)
            for s in flat.scene.actuators
        ]
    first = start_values(flat)
    for name, spec in specs:
        called = spec.name or bodies.spelling(name)
        if spec.type == "servo" and any(first.get(name, ())):
            notes.about("initial targets of servos: MuJoCo's controls start at 0", called)
        if spec.type == "general":
            made = _general(spec, called, bodies, tendons)
        elif spec.type == "mujoco":
            made = _own(spec, bodies, tendons)
        else:
            joint, written = known.get(name), bodies.joints.written.get(name, [])
            made = _actuator(spec, joint) if joint is not None and len(written) == 1 else None
            if made is not None:
                made.set("joint", written[0])
        if made is None:
            notes.about(f"drives of type {spec.type}, left out", spec.name or name)
            continue
        made.set("name", unique(called, taken))
        node.append(made)
        drives.append(spec)
    return node, drives


def _general(spec: Spec, name: str, bodies: BodyWriter, tendons: ET.Element) -> ET.Element | None:
    """Returns an affine force on a joint, or on a tendon of several joints."""
    given = spec.params
    made = ET.Element("general")
    weights = {scoped_name_of(spec.scope, joint): w for joint, w in given.get("joints", {}).items()}
    if len(weights) == 1:
        ((joint, weight),) = weights.items()
        written = bodies.joints.axes.get(joint)
        if written is None:
            return None
        made.set("joint", written)
        made.set("gear", number_text(weight))
    else:
        known = {str(node.get("name")) for node in tendons}
        tendon = fixed_tendon(unique(f"{name}_tendon", known), weights, bodies)
        if tendon is None or not weights:
            return None
        tendons.append(tendon)
        made.set("tendon", tendon.attrib["name"])
    gain, bias = given.get("gain", (1.0, 0.0, 0.0)), given.get("bias", (0.0, 0.0, 0.0))
    made.set("gaintype", "affine" if any(gain[1:]) else "fixed")
    made.set("gainprm", numbers_text(gain))
    if any(bias):
        made.set("biastype", "affine")
        made.set("biasprm", numbers_text(bias))
    if given.get("dynamics", "none") != "none":
        made.set("dyntype", given["dynamics"])
        made.set("dynprm", number_text(given.get("time", 1.0)))
        if given.get("early"):
            made.set("actearly", "true")
    for word, there in (("control", "ctrl"), ("activation", "act"), ("force", "force")):
        if given.get(f"{word}_range") is not None:
            made.set(f"{there}range", numbers_text(given[f"{word}_range"]))
    return made


#: Attributes of MJCF's ``<general>`` by our parameter.
_OWN_ATTRIBUTES = {
    "gear": "gear", "crank_length": "cranklength", "dynamics": "dyntype", "gain_type": "gaintype",
    "bias_type": "biastype", "dynprm": "dynprm", "gainprm": "gainprm", "biasprm": "biasprm",
    "early": "actearly", "control_range": "ctrlrange", "activation_range": "actrange",
    "force_range": "forcerange", "length_range": "lengthrange", "armature": "armature",
    "damping": "damping",
}  # fmt: skip


def _own(spec: Spec, bodies: BodyWriter, tendons: ET.Element) -> ET.Element | None:
    """Returns an actuator that only MuJoCo has; None if what it acts on is not written."""
    given, made = spec.params, ET.Element("general")

    def site(word: str) -> str | None:
        found = bodies.sites.get(scoped_name_of(spec.scope, str(given.get(word, ""))))
        return None if found is None else str(found.attrib["name"])

    targets: dict[str, str | None] = {}
    if given.get("joint"):
        name = scoped_name_of(spec.scope, given["joint"])
        word = "jointinparent" if given.get("in_parent") else "joint"
        targets[word] = next(iter(bodies.joints.written.get(name, [])), None)
    elif given.get("tendon"):
        known = {str(node.get("name")) for node in tendons}
        targets["tendon"] = given["tendon"] if given["tendon"] in known else None
    elif given.get("body"):
        targets["body"] = bodies.names.get(scoped_name_of(spec.scope, given["body"]))
    elif given.get("crank_site"):
        targets = {"cranksite": site("crank_site"), "slidersite": site("slider_site")}
    else:
        targets["site"] = site("site")
        if given.get("ref_site"):
            targets["refsite"] = site("ref_site")
    if not all(targets.values()):
        return None
    for word, there in targets.items():
        made.set(word, str(there))
    own = {_OWN_ATTRIBUTES[w]: value for w, value in given.items() if w in _OWN_ATTRIBUTES}
    set_native_attributes(made, own)
    if given.get("activations", 0) > 1:
        made.set("actdim", str(given["activations"]))
    return made


def _actuator(spec: Spec, joint: Joint) -> ET.Element | None:
    given = spec.params
    effort = given.get("max_effort", joint.max_effort)
    limits = {} if effort is None else {"forcerange": numbers_text((-effort, effort))}
    if spec.type == "servo":
        gains = {
            "kp": number_text(given.get("kp", SERVO_KP)),
            "kv": number_text(given.get("kd", SERVO_KD)),
        }
        if joint.ranges[0] is not None:
            limits["ctrlrange"] = numbers_text(joint.ranges[0])
        return ET.Element("position", {**gains, **limits})
    if spec.type == "motor":
        if joint.max_speed is not None:
            limits["ctrlrange"] = numbers_text((-joint.max_speed, joint.max_speed))
        return ET.Element("velocity", {"kv": number_text(given.get("gain", MOTOR_GAIN)), **limits})
    if spec.type == "effort":
        if effort is not None:
            limits["ctrlrange"] = numbers_text((-effort, effort))
        return ET.Element("motor", limits)
    return None


def keyframes(
    flat: FlatStructure, joints: JointWriter, drives: list[Spec], notes: ConversionNotes
) -> ET.Element:
    """Returns the postures, and the initial state if it differs from MuJoCo's or has velocities.

    ``drives`` are the specs of the written actuators, in their order.

    Raises:
        LinkworkError: If a posture names a joint that does not exist.
    """
    node = ET.Element("keyframe")
    first, postures = start_values(flat), dict[str, Values]()
    for name in flat.scene.postures if flat.scene is not None else ():
        try:
            postures[name] = start_values(flat, name)
        except LinkworkError as error:
            raise error.at(flat.scene.origin if flat.scene else None) from None
    moved = False
    for link, _ in joints.order:
        assert link.joint is not None
        own = (
            link.joint.values
            if link.joint.type in REFERENCE_TYPES
            else (0.0,) * len(link.joint.values)
        )
        moved |= tuple(first[link.joint_name]) != tuple(own)
    speeds, start = joints.speeds(first), ""
    if moved or any(speeds):
        same = [name for name, values in postures.items() if values == first]
        start = next((name for name in same if not any(speeds) or name in START_KEYFRAMES), "")
        if not start:
            start = "start" if "start" not in postures else "start_values"
            postures = {start: first, **postures}
        notes.about("the posture at the start, written as a keyframe", start)
    for name, values in postures.items():
        key = ET.SubElement(node, "key", name=name, qpos=numbers_text(joints.coordinates(values)))
        if name == start and any(speeds):
            key.set("qvel", numbers_text(speeds))
        if any(controls := [spec.params.get("start", {}).get(name, 0.0) for spec in drives]):
            key.set("ctrl", numbers_text(controls))
        if any(acts := [value for spec in drives for value in _activations(spec, name)]):
            key.set("act", numbers_text(acts))
    return node


def _activations(spec: Spec, posture: str) -> list[float]:
    """Returns an actuator's activations at the start of a posture."""
    count = spec.params.get("activations", 0) if spec.type == "mujoco" else 0
    if spec.params.get("dynamics", "none") not in ("none", "dcmotor", "pid"):
        count = 1
    given = spec.params.get("start_activation", {}).get(posture, 0.0)
    return list(given) if isinstance(given, list | tuple) else [given] * count
