"""Writing drives, sensors and postures: what moves and reads the joints."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from linkwork.errors import LinkworkError
from linkwork.formats.flat import Flat, unique
from linkwork.formats.mjcf.write_joints import JointWriter
from linkwork.formats.notes import Notes
from linkwork.formats.numerals import numeral, numerals
from linkwork.formats.posture import start_values
from linkwork.parts import Joint, Spec
from linkwork.parts.names import scoped

#: Gains of drives whose file gives none, as the drives themselves have them.
SERVO_KP, SERVO_KD, MOTOR_GAIN = 20.0, 0.5, 1.0


def actuators(flat: Flat, joints: JointWriter, notes: Notes) -> ET.Element:
    """The drives of joints and the actuators of the scene, as MuJoCo's."""
    node = ET.Element("actuator")
    taken: set[str] = set()
    known = {link.joint_name: link.joint for link in flat.links if link.joint is not None}
    specs = [(name, joint.drive) for name, joint in known.items() if joint.drive is not None]
    if flat.scene is not None:
        specs += [
            (scoped(s.scope, str(s.params.get("joint", ""))), s) for s in flat.scene.actuators
        ]
    for name, spec in specs:
        joint, written = known.get(name), joints.written.get(name, [])
        made = _actuator(spec, joint) if joint is not None and len(written) == 1 else None
        if made is None:
            notes.about(f"drives of type {spec.type}, left out", spec.name or name)
            continue
        made.set("name", unique(spec.name or name, taken))
        made.set("joint", written[0])
        node.append(made)
    return node


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


def sensors(flat: Flat, joints: JointWriter, notes: Notes) -> ET.Element:
    """Encoders, as MuJoCo's joint sensors; others are told."""
    node = ET.Element("sensor")
    taken: set[str] = set()
    found = [(scope, spec) for scope, part in flat.parts for spec in part.sensors]
    if flat.scene is not None:
        found += [("", spec) for spec in flat.scene.sensors]
    for scope, spec in found:
        name = scoped(scope, spec.name or spec.type)
        written = joints.written.get(scoped(scope, str(spec.params.get("joint", ""))), [])
        if spec.type == "encoder" and len(written) == 1:
            ET.SubElement(node, "jointpos", name=unique(name, taken), joint=written[0])
        else:
            notes.about(f"sensors of type {spec.type}, left out", name)
    return node


def keyframes(flat: Flat, joints: JointWriter) -> ET.Element:
    """The start, where it is not 0, and the scene's postures.

    Raises:
        LinkworkError: If a posture names what does not exist.
    """
    node = ET.Element("keyframe")
    postures = list(flat.scene.postures) if flat.scene is not None else []
    first = start_values(flat)
    if joints.order and any(any(values) for values in first.values()):
        name = "start" if "start" not in postures else "start_values"
        ET.SubElement(node, "key", name=name, qpos=numerals(joints.coordinates(first)))
    for name in postures:
        try:
            values = start_values(flat, name)
        except LinkworkError as error:
            raise error.at(flat.scene.origin if flat.scene else None) from None
        ET.SubElement(node, "key", name=name, qpos=numerals(joints.coordinates(values)))
    return node
