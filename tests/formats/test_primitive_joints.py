"""Joints written to URDF, SDF and MJCF move as defined."""

from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from export_fixture import AXIS, OTHER, PLACE
from linkwork.formats.flat import flatten
from linkwork.formats.posture import element_poses
from linkwork.geometry import Pose
from linkwork.geometry.pose import quat_from_axis
from linkwork.model.parts import Box, Element, Joint, Part, RailPiece, Sphere
from linkwork.model.scene import Scene

# Their names are made at run time.
mujoco: Any = import_module("mujoco")
pinocchio: Any = import_module("pinocchio")

JOINTS: dict[str, dict[str, Any]] = {
    "screw": {"axis": AXIS, "pitch": 0.02, "range": (-3.0, 3.0)},
    "rail": {"rail": (RailPiece(0.4), RailPiece(0.3))},
    "cylindrical": {"axis": AXIS},
    "universal": {"axis": AXIS, "axis2": (1.0, 2.0, 0.0)},
}
FORMATS = (".urdf", ".sdf", ".mjcf")


def carried(joint_type: str) -> Part:
    """Returns a base and a block with a joint whose frame is skew in both."""
    block = Element("block", (Box((0.1, 0.2, 0.3), at=Pose.of((0.3, 0.1, 0.2))),), mass=2.0)
    joint = Joint("joint", joint_type, "base", "block", at=PLACE, at_to=OTHER, **JOINTS[joint_type])
    return Part("pair").add(Element("base", (Sphere(0.1),), mass=1.0), block, joint)


def random_values(joint: Joint, rng: np.random.Generator) -> tuple[float, ...]:
    """One value inside the range of each degree of freedom [rad or m]."""
    ranges = [(-1.0, 1.0) if r is None else r for r in joint.ranges]
    return tuple(float(rng.uniform(*r)) for r in ranges)


def analytic_pose(joint: Joint, values: tuple[float, ...]) -> Pose:
    """Pose of the block in the base by the definition of each type."""

    def rotation(axis, angle: float) -> Pose:
        return Pose(quat=quat_from_axis(axis, angle))

    def along(axis, distance: float) -> Pose:
        return Pose.of([distance * c for c in axis])

    axis = joint.axis
    motion = {
        "screw": lambda q: along(axis, 0.02 * q[0] / (2 * np.pi)) @ rotation(axis, q[0]),
        "rail": lambda q: along((1.0, 0.0, 0.0), q[0]),
        "cylindrical": lambda q: along(axis, q[0]) @ rotation(axis, q[1]),
        "universal": lambda q: rotation(axis, q[0]) @ rotation(joint.axis2, q[1]),
    }[joint.type](values)
    return PLACE @ motion @ OTHER.inverse()


def assert_close(found: Pose, expected: Pose) -> None:
    np.testing.assert_allclose(found.xyz, expected.xyz, atol=1e-9)
    np.testing.assert_allclose(found.matrix(), expected.matrix(), atol=1e-9)


def read_back(path: Path) -> Part:
    thing = lw.load(path)
    return next(iter(thing.parts.values())).part if isinstance(thing, Scene) else thing


def pose_when_read(part: Part, values: tuple[float, ...]) -> Pose:
    """Pose of the block in the base, with the values on the independent joints in order."""
    flat = flatten(part)
    coupled = {coupling.joint: coupling for coupling in part.couplings}
    given, left = {}, list(values)
    for name, joint in part.joints.items():
        if name not in coupled:
            given[name] = tuple(left.pop(0) for _ in range(joint.kind.nv))
    assert not left
    for name, coupling in coupled.items():
        given[name] = (coupling.ratio * given[coupling.of][0] + coupling.offset,)
    poses = element_poses(flat, given)
    return poses["base"].inverse() @ poses["block"]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("joint_type", JOINTS)
def test_a_joint_read_back_moves_as_it_was_defined(
    joint_type: str, suffix: str, tmp_path: Path
) -> None:
    """The block has the same pose at random values, by the formula of the joint's type."""
    part, path = carried(joint_type), tmp_path / f"out{suffix}"
    lw.save(part, path)
    back, rng = read_back(path), np.random.default_rng(1)
    for _ in range(5):
        values = random_values(part.joints["joint"], rng)
        expected = analytic_pose(part.joints["joint"], values)
        if suffix == ".urdf":  # whose link frames are at the joints
            expected = expected @ OTHER
        assert_close(pose_when_read(back, values), expected)


@pytest.mark.parametrize("joint_type", JOINTS)
def test_a_joint_in_a_urdf_moves_in_pinocchio_as_it_was_defined(
    joint_type: str, tmp_path: Path
) -> None:
    """In Pinocchio the block's link has the pose of the joint's formula."""
    part, path = carried(joint_type), tmp_path / "out.urdf"
    lw.save(part, path)
    robot = pinocchio.buildModelFromUrdf(str(path))
    mimics = {
        node.attrib["name"]: (mimic.attrib["joint"], float(mimic.attrib["multiplier"]))
        for node in ElementTree.parse(path).iter("joint")
        for mimic in node.iter("mimic")
    }
    rng = np.random.default_rng(2)
    for _ in range(5):
        values = random_values(part.joints["joint"], rng)
        q: dict[str, float] = dict(
            zip((n for n in list(robot.names)[1:] if n not in mimics), values, strict=True)
        )
        q |= {name: ratio * q[leader] for name, (leader, ratio) in mimics.items()}
        coordinates: list[float] = []
        for name in list(robot.names)[1:]:
            two = robot.joints[robot.getJointId(name)].nq == 2  # a continuous joint
            coordinates += [np.cos(q[name]), np.sin(q[name])] if two else [q[name]]
        data = robot.createData()
        pinocchio.framesForwardKinematics(robot, data, np.array(coordinates))
        found = data.oMf[robot.getFrameId("block")]
        # The link's frame is at the joint; the element's frame is at OTHER⁻¹ in it.
        expected = analytic_pose(part.joints["joint"], values) @ OTHER
        np.testing.assert_allclose(found.translation, expected.xyz, atol=1e-9)
        np.testing.assert_allclose(found.rotation, expected.matrix(), atol=1e-9)


@pytest.mark.parametrize("joint_type", JOINTS)
def test_a_joint_in_an_mjcf_moves_in_mujoco_as_it_was_defined(
    joint_type: str, tmp_path: Path
) -> None:
    """MuJoCo has the block at the same pose; the slide of a screw obeys its equality."""
    part, path = carried(joint_type), tmp_path / "out.xml"
    lw.save(part, path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(5):
        values = random_values(part.joints["joint"], rng)
        data.qpos[: len(values)] = values
        if joint_type == "screw":
            polynomial = model.eq_data[0, :5]
            data.qpos[1] = np.polynomial.polynomial.polyval(values[0], polynomial)
        mujoco.mj_kinematics(model, data)
        base, block = (
            Pose.of(data.body(name).xpos, quat=data.body(name).xquat) for name in ("base", "block")
        )
        assert_close(base.inverse() @ block, analytic_pose(part.joints["joint"], values))


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_writes_a_curved_rail_straight_with_the_same_note(
    suffix: str, tmp_path: Path
) -> None:
    """No robot format has curved guides."""
    part = carried("rail")
    part.joints["joint"] = lw.Joint(
        "joint", "rail", "base", "block", rail=(RailPiece(0.4, turn=0.5),)
    )
    note = "curved rails, written as straight sliders along their start: joint."
    assert note in lw.save(part, tmp_path / f"out{suffix}")


@pytest.mark.parametrize("suffix", [".urdf", ".mjcf"])
def test_formats_without_screws_note_them_in_the_same_words(suffix: str, tmp_path: Path) -> None:
    """SDF has screws; the others couple a slider to a hinge."""
    note = "screws, written as a hinge and a coupled slider each: joint."
    assert note in lw.save(carried("screw"), tmp_path / f"out{suffix}")
