"""Parts become URDF files that Pinocchio moves as defined."""

import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork as lw
from formats.test_mesh_parts import robot_glb
from linkwork.core.errors import FormatError, LinkworkError
from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.formats.text_output import number_text
from linkwork.geometry import Inertia, Pose
from linkwork.geometry.pose import quat_from_axis
from linkwork.model.parts import (
    Anchor,
    Box,
    Capsule,
    Cone,
    Coupling,
    Cylinder,
    Element,
    Joint,
    Mesh,
    Part,
    RailPiece,
    Spec,
    Sphere,
)
from linkwork.model.scene import Scene
from mesh_files import binary_stl, box, written

# Their names are made at run time.
mujoco: Any = import_module("mujoco")
pinocchio: Any = import_module("pinocchio")

PLACE = Pose.of((0.1, -0.2, 0.3), rpy=(0.4, 1.2, -0.7))
OTHER = Pose.of((-0.05, 0.15, 0.25), rpy=(-1.0, 0.3, 2.0))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "out.urdf"


def turn(axis: tuple[float, float, float], angle: float) -> Pose:
    return Pose(quat=quat_from_axis(axis, angle))


def pair(joint_type: str, **options: Any) -> Part:
    """Returns a base and an off-center block with a joint whose frame is skew in both."""
    block = Element("block", (Box((0.1, 0.2, 0.3), at=Pose.of((0.3, 0.1, 0.2))),), mass=2.0)
    joint = Joint("joint", joint_type, "base", "block", at=PLACE, at_to=OTHER, **options)
    return Part("pair").add(Element("base", (Sphere(0.1),), mass=1.0), block, joint)


def block_center(path: Path, q: list[float]) -> np.ndarray:
    """Returns Pinocchio's center of mass of all moving bodies [m]."""
    model = pinocchio.buildModelFromUrdf(str(path))
    data = model.createData()
    return pinocchio.centerOfMass(model, data, np.array(q))


def wheel(angle: float) -> list[float]:
    """Returns Pinocchio's two coordinates of a continuous joint."""
    return [math.cos(angle), math.sin(angle)]


AXIS = (2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0)
AXIS2 = (1.0 / math.sqrt(5), 2.0 / math.sqrt(5), 0.0)
ALONG = Pose.of(tuple(0.4 * c for c in AXIS))

MOTIONS = {
    "hinge": ({"axis": AXIS, "range": (-1.0, 1.0)}, [0.7], turn(AXIS, 0.7)),
    "slider": ({"axis": AXIS}, [0.4], ALONG),
    "universal": (
        {"axis": AXIS, "axis2": AXIS2},
        [*wheel(0.7), *wheel(-0.3)],
        turn(AXIS, 0.7) @ turn(AXIS2, -0.3),
    ),
    "cylindrical": (
        {"axis": AXIS, "range": ((-1.0, 1.0), None)},
        [0.4, *wheel(1.1)],
        ALONG @ turn(AXIS, 1.1),
    ),
    "ball": (
        {},
        [*wheel(0.2), *wheel(0.5), *wheel(-0.9)],
        turn((1, 0, 0), 0.2) @ turn((0, 1, 0), 0.5) @ turn((0, 0, 1), -0.9),
    ),
    "free": ({}, [*ALONG.xyz, 0.0, 0.0, math.sin(0.3), math.cos(0.3)],
             ALONG @ turn((0, 0, 1), 0.6)),
    "planar": ({"axis": (0, 0, 1)}, [0.2, -0.1, *wheel(0.6)],
               Pose.of((0.2, -0.1, 0.0)) @ turn((0, 0, 1), 0.6)),
    "fixed": ({}, [], Pose()),
}  # fmt: skip


@pytest.mark.parametrize("joint_type", MOTIONS)
def test_a_joint_moves_in_pinocchio_as_its_definition_says(file: Path, joint_type: str) -> None:
    """The block's center is at ∘ J(q) ∘ at_to⁻¹ applied to its center, with skew frames."""
    options, q, motion = MOTIONS[joint_type]
    UrdfFormat().write(pair(joint_type, **options), file)
    expected = (PLACE @ motion @ OTHER.inverse()).apply((0.3, 0.1, 0.2))
    if joint_type == "fixed":
        model = pinocchio.buildModelFromUrdf(str(file))
        found = model.inertias[0].lever * model.inertias[0].mass / 2.0
    else:
        found = block_center(file, q)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_written_masses_are_those_of_the_shapes(file: Path) -> None:
    """Pinocchio reads the block's closed-form inertia about its center."""
    UrdfFormat().write(pair("hinge"), file)
    found = pinocchio.buildModelFromUrdf(str(file)).inertias[1]
    assert found.mass == 2.0
    squares = np.array([0.01, 0.04, 0.09]) * 2.0 / 12.0
    rotation = OTHER.inverse().matrix()
    inertia = rotation @ np.diag(squares.sum() - squares) @ rotation.T
    np.testing.assert_allclose(found.inertia, inertia, atol=1e-15)


def test_split_joints_keep_range_and_losses_and_are_listed(file: Path) -> None:
    """A universal joint becomes two limited hinges, with a note."""
    part = pair("universal", range=((-1.0, 1.0), (-2.0, 2.0)), damping=0.1, max_effort=5.0)
    notes = UrdfFormat().write(part, file)
    assert notes == ["universal joints, written as two hinges each: joint."]
    again = UrdfFormat().read(file)
    first, second = again.joints["joint_1"], again.joints["joint_2"]
    assert (first.ranges, second.ranges) == (((-1.0, 1.0),), ((-2.0, 2.0),))
    assert (second.damping, second.max_effort, second.max_speed) == (0.1, 5.0, None)
    assert (first.to, second.from_) == ("joint_1_link", "joint_1_link")
    assert again.elements["joint_1_link"].mass_properties().mass == 0.0


def test_a_curved_rail_is_written_straight_and_listed(file: Path) -> None:
    """URDF has no curved guide: the slider follows the tangent at the start of the rail."""
    notes = UrdfFormat().write(pair("rail", rail=(RailPiece(1.0, turn=0.5),)), file)
    assert notes == ["curved rails, written as straight sliders along their start: joint."]
    read = UrdfFormat().read(file).joints["joint"]
    assert (read.type, read.axis, read.ranges) == ("slider", (1.0, 0.0, 0.0), ((0.0, 1.0),))


def test_a_degree_of_freedom_of_a_split_joint_can_be_coupled(file: Path) -> None:
    """The angle of a cylindrical joint leads, as the hinge that it becomes."""
    part = pair("cylindrical").add(Element("tip", mass=1.0), Joint("j", "hinge", "block", "tip"))
    part.add(Coupling("j", "joint.angle", 2.0, 0.5))
    UrdfFormat().write(part, file)
    assert UrdfFormat().read(file).couplings == [Coupling("j", "joint_angle", 2.0, 0.5)]


def test_everything_left_out_is_listed(file: Path) -> None:
    """Every unsupported feature has a note."""
    part = Part("arm", labels={"de": "Arm"})
    part.add(
        Element("base", (Cone(0.1, 0.2), Box((1, 1, 1), visible=False, collide=False)), mass=1.0,
                mujoco={"gravcomp": 1.0}),
        Element("tip", group="soft", spin=(0, 0, 1), mass=1.0, labels={"de": "Spitze"}),
        Joint(
            "j", "hinge", "base", "tip", stiffness=2.0, armature=0.1, value=0.5, speed=2.0,
            drive=Spec("actuator", "servo"), bus={"can_id": 4}, labels={"de": "Gelenk"},
        ),
        Anchor("a", "base"),
        Anchor("b", "tip"),
        Coupling("j", "elsewhere"),
    )  # fmt: skip
    part.close("a", "b", name="ring")
    part.sensors.append(Spec("sensor", "encoder", "enc"))
    assert UrdfFormat().write(part, file) == [
        "anchors, left out: a, b.",
        "loops, left out: ring.",
        "sensors, left out: enc.",
        "labels, left out: arm.",
        "engine words of elements, left out: base.",
        "collision groups of elements, left out: tip.",
        "initial motion of elements, left out: tip.",
        "labels of elements, left out: tip.",
        "springs of joints, left out: j.",
        "rotor inertias of joints, left out: j.",
        "initial speeds of joints, left out: j.",
        "drives of joints, left out: j.",
        "bus settings of joints, left out: j.",
        "labels of joints, left out: j.",
        "initial values of joints, left out: j.",
        "shapes of kind cone, left out: base.",
        "shapes that are neither visible nor collide, left out: base.",
        "couplings of joints that are not single axes of the file, left out: j.",
    ]
    brick = Box((1, 1, 1), texture=str(file.with_name("brick.png")), texture_repeat=(2.0, 1.0))
    notes = UrdfFormat().write(Part("wall").add(Element("wall", (brick,), mass=1.0)), file)
    assert notes == ["texture repeats of elements, left out: wall."]
    notes = UrdfFormat().write(pair("ball", range=((-1, 1), (-1, 1), (-1, 1))), file)
    assert notes[0] == "ranges of joints, left out: joint."
    assert notes[1].startswith("ball joints, written as three hinges")


def test_attached_parts_are_written_in_place(file: Path) -> None:
    """A hand on an arm's flange is at the anchor, under a joined name."""
    finger = Element("tip", (Sphere(0.01),), mass=0.5, on="palm", at=Pose.of((0, 0, 0.1)))
    hand = Part("hand").add(Element("palm", mass=0.0), finger, Anchor("mount", "palm", at=OTHER))
    arm = Part("arm").add(
        Element("base", mass=0.0),
        Anchor("flange", "base", at=PLACE),
        Element("hand_tip", on="base"),
    )
    arm.attach("flange", hand, turn=0.5)
    UrdfFormat().write(arm, file)
    model = pinocchio.buildModelFromUrdf(str(file))
    expected = PLACE @ turn((0, 0, 1), 0.5) @ OTHER.inverse() @ Pose.of((0, 0, 0.1))
    np.testing.assert_allclose(model.inertias[0].lever, expected.xyz, atol=1e-12)
    again = UrdfFormat().read(file)
    assert set(again.elements) == {"base", "hand_tip", "hand_palm", "hand_tip_2"}
    assert {j.type for j in again.joints.values()} == {"fixed"}


def test_attached_twice_and_nested(file: Path) -> None:
    """Scopes separate equal names, and couplings inside a scope find their joints."""
    finger = Part("finger").add(
        Element("root"), Element("mid"), Element("tip"), Anchor("next", "tip"),
        Joint("j1", "hinge", "root", "mid"), Joint("j2", "hinge", "mid", "tip"),
        Coupling("j2", "j1", 0.5, 0.1),
    )  # fmt: skip
    nail = Part("nail").add(Element("plate", mass=0.1))
    hand = Part("hand").add(
        Element("palm"), Anchor("left", "palm"), Anchor("right", "palm", at=PLACE)
    )
    hand.attach("left", finger, name="l").attach("right", finger, name="r")
    hand.attach("l/next", nail)
    UrdfFormat().write(hand, file)
    again = UrdfFormat().read(file)
    assert set(again.elements) == {
        "palm", "l_root", "l_mid", "l_tip", "r_root", "r_mid", "r_tip", "nail_plate",
    }  # fmt: skip
    assert again.joints["nail_plate_fixed"].from_ == "l_tip"
    assert {(c.joint, c.of) for c in again.couplings} == {("l_j2", "l_j1"), ("r_j2", "r_j1")}
    assert {(c.ratio, c.offset) for c in again.couplings} == {(0.5, 0.1)}


def test_chained_joints_get_a_link_between_them(file: Path) -> None:
    """Two chained joints without an element between are two joints in Pinocchio too."""
    part = Part("gimbal").add(
        Element("base", mass=1.0),
        Element("cup", mass=1.0),
        Joint("pan", "hinge", "base", "tilt", axis=(0, 0, 1), at=PLACE),
        Joint("tilt", "hinge", "pan", "cup", axis=(0, 1, 0), at=OTHER),
    )
    UrdfFormat().write(part, file)
    model = pinocchio.buildModelFromUrdf(str(file))
    assert list(model.names) == ["universe", "pan", "tilt"]
    found = block_center(file, [*wheel(0.3), *wheel(0.4)])
    expected = PLACE @ turn((0, 0, 1), 0.3) @ OTHER
    np.testing.assert_allclose(found, expected.xyz, atol=1e-12)


def test_capsules_are_written_where_readers_look_for_them(file: Path) -> None:
    """The file declares the URDF version with capsules only if it has one."""
    part = Part("pill").add(Element("pill", (Capsule(0.1, 0.2),), mass=1.0))
    UrdfFormat().write(part, file)
    model = pinocchio.buildModelFromUrdf(str(file))
    geometry = pinocchio.buildGeomFromUrdf(model, str(file), pinocchio.GeometryType.COLLISION)
    assert len(geometry.geometryObjects) == 1
    assert UrdfFormat().read(file).elements["pill"].shapes == part.elements["pill"].shapes
    UrdfFormat().write(pair("hinge"), file)
    assert "version" not in file.read_text().splitlines()[1]


def test_looks_and_surfaces_come_back(file: Path) -> None:
    """Colours of shapes and elements, transparency, friction and restitution survive."""
    shapes = (
        Box((1, 2, 3), color="#11223344", at=PLACE),
        Cylinder(0.1, 0.2, collide=False),
        Sphere(0.5, visible=False),
    )
    part = Part("p").add(Element("e", shapes, color="#abcdef", friction=0.1, restitution=0.2))
    assert UrdfFormat().write(part, file) == []
    element = UrdfFormat().read(file).elements["e"]
    assert [s.color for s in element.shapes] == ["#11223344", "#abcdef", ""]
    assert [(s.visible, s.collide) for s in element.shapes] == [
        (True, True), (True, False), (False, True),
    ]  # fmt: skip
    assert (element.friction, element.restitution) == (0.1, 0.2)


def test_meshes_are_referred_to_by_the_nearest_way(tmp_path: Path) -> None:
    """Relative below the file, package:// in its package, otherwise as a copy beside it."""
    package = tmp_path / "pkg dir"
    positions = [package / "urdf" / "in" / "a.stl", package / "b.stl", tmp_path / "c d.stl"]
    for place in positions:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(binary_stl(box()))
    (package / "package.xml").write_text("<package><name>my_arm</name></package>")
    (tmp_path / "wood.png").write_bytes(b"a picture")
    meshes = tuple(Mesh(str(p), (1, 1, 2)) for p in positions)
    panel = Box((1, 1, 1), texture=str(tmp_path / "wood.png"))
    file = package / "urdf" / "arm.urdf"
    part = Part("p").add(Element("e", (*meshes, panel), inertia=Inertia.of(1.0)))
    assert UrdfFormat().write(part, file) == []
    text = file.read_text()
    assert 'filename="in/a.stl" scale="1 1 2"' in text
    assert 'filename="package://my_arm/b.stl"' in text
    assert 'filename="arm_meshes/c d/c d.stl"' in text
    assert 'filename="arm_meshes/wood/wood.png"' in text
    assert (file.parent / "arm_meshes" / "wood" / "wood.png").read_bytes() == b"a picture"
    copy = str(file.parent / "arm_meshes" / "c d" / "c d.stl")
    shapes = UrdfFormat().read(file).elements["e"].shapes
    assert shapes[:3] == (*meshes[:2], Mesh(copy, (1, 1, 2)))


def test_meshes_of_one_stem_are_found_by_others(tmp_path: Path) -> None:
    """Nodes of one file and files of one name load correctly in MuJoCo, Pinocchio and here."""
    whole = Part("p").add(Element("base", inertia=Inertia.of(1.0)))
    nodes = lw.load_part(robot_glb(tmp_path)).elements
    whole.add(*(replace(nodes[name], on="base") for name in ("arm", "finger")))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, "asm.stl", binary_stl(box()))
        mesh = Mesh(str(tmp_path / name / "asm.stl"))
        whole.add(Element(name, (mesh,), on="base", mass=1.0))
    folder = tmp_path / "made"
    folder.mkdir()
    for suffix in ("urdf", "mjcf", "sdf"):
        lw.save(whole, folder / f"p_{suffix}.{suffix}")
        assert len(load_part_of(folder / f"p_{suffix}.{suffix}").elements) == 5
    names = sorted(each.name for each in (folder / "p_mjcf_meshes").iterdir())
    assert names == ["asm.stl", "asm_2.stl", "robot.stl", "robot_2.stl"]
    assert mujoco.MjModel.from_xml_path(str(folder / "p_mjcf.mjcf")).nmesh == 4
    file = str(folder / "p_urdf.urdf")
    assert "file://" not in Path(file).read_text()
    model = pinocchio.buildModelFromUrdf(file)
    kind = pinocchio.GeometryType.COLLISION
    shapes = pinocchio.buildGeomFromUrdf(model, file, kind, package_dirs=[str(folder)])
    assert len({shape.meshPath for shape in shapes.geometryObjects}) == 4


def load_part_of(file: Path) -> Part:
    """Returns the part of a file, or the only one of its scene."""
    thing = lw.load(file)
    return thing if isinstance(thing, Part) else next(iter(thing.parts.values())).part


def test_a_part_that_is_no_tree_is_refused(file: Path) -> None:
    """The error is that of the part, and nothing is written."""
    two = Part("p").add(Element("a"), Element("b"))
    ring = Part("p").add(
        Element("r", inertia=Inertia.of(1.0)), Element("a", inertia=Inertia.of(1.0)),
        Element("b", inertia=Inertia.of(1.0)), Joint("j", "hinge", "a", "b"),
        Joint("k", "hinge", "b", "a"),
    )  # fmt: skip
    lost = Part("p").add(Element("a"), Joint("j", "hinge", "a", "b"))
    for part, message in ((two, "falls apart"), (ring, "cycle"), (lost, "no element named 'b'")):
        with pytest.raises(LinkworkError, match=message):
            UrdfFormat().write(part, file)
    assert not file.exists()


def test_a_scene_is_refused(file: Path) -> None:
    """The error names the parts that could be written."""
    scene = Scene("stage").place(pair("hinge"))
    with pytest.raises(FormatError, match=r"'stage' is a scene\. Write one of its parts: pair\."):
        UrdfFormat().write(scene, file)


def test_an_unnamed_part_keeps_its_name(file: Path) -> None:
    """A name that means none in other files is an ordinary name."""
    UrdfFormat().write(Part("unnamed").add(Element("e")), file)
    assert UrdfFormat().read(file).name == "unnamed"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A missing folder gives an error with the path, not a traceback."""
    with pytest.raises(FormatError, match=r"none/a\.urdf: the file cannot be written"):
        UrdfFormat().write(pair("hinge"), tmp_path / "none" / "a.urdf")


ANGLES = st.one_of(
    st.floats(-7.0, 7.0), st.sampled_from([0.0, math.pi / 2, -math.pi / 2, math.pi, 1.570796])
)


@given(ANGLES, ANGLES, ANGLES)
def test_written_angles_give_the_same_rotation(roll: float, pitch: float, yaw: float) -> None:
    """Including a pitch of ±90°, where roll and yaw have the same axis."""
    pose = Pose.of(rpy=(roll, pitch, yaw))
    again = Pose.of(rpy=pose.rpy())
    np.testing.assert_allclose(again.matrix(), pose.matrix(), rtol=0, atol=1e-14)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_numbers_read_back_exactly(value: float) -> None:
    """No digit is lost."""
    assert float(number_text(value)) == value
