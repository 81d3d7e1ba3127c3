"""Writing drives and postures: what moves the joints, and where they stand."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from linkwork.errors import LinkworkError
from linkwork.formats.flat import Flat, unique
from linkwork.formats.mjcf.spelling import STARTS
from linkwork.formats.mjcf.write_bodies import BodyWriter
from linkwork.formats.mjcf.write_joints import REFERRED, JointWriter
from linkwork.formats.mjcf.write_tendons import fixed
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.posture import Values, start_values
from linkwork.parts import Joint, Spec
from linkwork.parts.names import scoped

#: Gains of drives whose file gives none, as the drives themselves have them.
SERVO_KP, SERVO_KD, MOTOR_GAIN = 20.0, 0.5, 1.0


def actuators(flat: Flat, bodies: BodyWriter, tendons: ET.Element, notes: Notes) -> ET.Element:
    """The drives of joints and the actuators of the scene, as MuJoCo's.

    Adds a tendon for each that pulls at several joints.
    """
    node = ET.Element("actuator")
    taken: set[str] = set()
    known = {link.joint_name: link.joint for link in flat.links if link.joint is not None}
    specs = [(name, joint.drive) for name, joint in known.items() if joint.drive is not None]
    if flat.scene is not None:
        specs += [
            (scoped(s.scope, str(s.params.get("joint", ""))), s) for s in flat.scene.actuators
        ]
    first = start_values(flat)
    for name, spec in specs:
        called = spec.name or bodies.spelling(name)
        if spec.type == "servo" and any(first.get(name, ())):
            notes.about("where servos hold at the start: MuJoCo's controls begin at 0", called)
        if spec.type == "general":
            made = _general(spec, called, bodies, tendons)
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
    return node


def _general(spec: Spec, name: str, bodies: BodyWriter, tendons: ET.Element) -> ET.Element | None:
    """An affine force on a joint, or on a tendon where it pulls at several."""
    given = spec.params
    made = ET.Element("general")
    weights = {scoped(spec.scope, joint): w for joint, w in given.get("joints", {}).items()}
    if len(weights) == 1:
        ((joint, weight),) = weights.items()
        written = bodies.joints.single(joint)
        if written is None:
            return None
        made.set("joint", written)
        made.set("gear", numeral(weight))
    else:
        known = {str(node.get("name")) for node in tendons}
        tendon = fixed(unique(f"{name}_tendon", known), weights, bodies)
        if tendon is None or not weights:
            return None
        tendons.append(tendon)
        made.set("tendon", tendon.attrib["name"])
    gain, bias = given.get("gain", (1.0, 0.0, 0.0)), given.get("bias", (0.0, 0.0, 0.0))
    made.set("gaintype", "affine" if any(gain[1:]) else "fixed")
    made.set("gainprm", numerals(gain))
    if any(bias):
        made.set("biastype", "affine")
        made.set("biasprm", numerals(bias))
    if given.get("dynamics", "none") != "none":
        made.set("dyntype", given["dynamics"])
        made.set("dynprm", numeral(given.get("time", 1.0)))
        if given.get("early"):
            made.set("actearly", "true")
    for word, there in (("control", "ctrl"), ("activation", "act"), ("force", "force")):
        if given.get(f"{word}_range") is not None:
            made.set(f"{there}range", numerals(given[f"{word}_range"]))
    return made


def _actuator(spec: Spec, joint: Joint) -> ET.Element | None:
    given = spec.params
    effort = given.get("max_effort", joint.max_effort)
    limits = {} if effort is None else {"forcerange": numerals((-effort, effort))}
    if spec.type == "servo":
        gains = {
            "kp": numeral(given.get("kp", SERVO_KP)),
            "kv": numeral(given.get("kd", SERVO_KD)),
        }
        if joint.ranges[0] is not None:
            limits["ctrlrange"] = numerals(joint.ranges[0])
        return ET.Element("position", {**gains, **limits})
    if spec.type == "motor":
        if joint.max_speed is not None:
            limits["ctrlrange"] = numerals((-joint.max_speed, joint.max_speed))
        return ET.Element("velocity", {"kv": numeral(given.get("gain", MOTOR_GAIN)), **limits})
    if spec.type == "effort":
        if effort is not None:
            limits["ctrlrange"] = numerals((-effort, effort))
        return ET.Element("motor", limits)
    return None


def keyframes(flat: Flat, joints: JointWriter, notes: Notes) -> ET.Element:
    """The start, where it is not that of MuJoCo's references or moves, and the scene's postures.

    Raises:
        LinkworkError: If a posture names what does not exist.
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
        own = link.joint.values if link.joint.type in REFERRED else (0.0,) * len(link.joint.values)
        moved |= tuple(first[link.joint_name]) != tuple(own)
    speeds, start = joints.speeds(first), ""
    if moved or any(speeds):
        same = [name for name, values in postures.items() if values == first]
        start = next((name for name in same if not any(speeds) or name in STARTS), "")
        if not start:
            start = "start" if "start" not in postures else "start_values"
            postures = {start: first, **postures}
        notes.about("the posture at the start, written as a keyframe", start)
    for name, values in postures.items():
        key = ET.SubElement(node, "key", name=name, qpos=numerals(joints.coordinates(values)))
        if name == start and any(speeds):
            key.set("qvel", numerals(speeds))
    return node
