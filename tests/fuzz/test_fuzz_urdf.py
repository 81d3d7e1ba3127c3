"""Broken URDF files give errors that name the mistake, never a traceback.

A tenth of the 3500 cases runs, all of them with ``--full``. A failing case prints its number
and the file it read; the same number makes the same file again.
"""

import random
import re
import warnings
from importlib.metadata import distribution
from pathlib import Path

import pytest

from effort import cases
from fuzz.xml_mutations import XmlMutations
from linkwork.core.errors import LinkworkError
from linkwork.formats.robots.urdf import UrdfFormat
from linkwork.model.parts import Part

CASES = cases(3500)
GROUP = 250

ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
).joinpath("robots")
SMALL = (
    "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "hector_description/robots/quadrotor_base.urdf",
    "iris_description/robots/iris.urdf",
    "panda_description/urdf/panda.urdf",
)
OWN = """<?xml version="1.0" encoding="utf-8"?>
<robot name="all of it" version="1.1">
  <material name="red"><color rgba="1 0 0 1"/><texture filename="none.png"/></material>
  <link name="base"/>
  <link name="arm.one">
    <inertial><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
      <inertia ixx="1" ixy="0.1" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><geometry><capsule radius="0.1" length="0.5"/></geometry><material name="red"/></visual>
    <visual><origin quat_xyzw="0 0 0 1"/><geometry><box size="1 2 3"/></geometry></visual>
    <collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
    <contact><lateral_friction value="0.5"/><restitution value="0.1"/></contact>
  </link>
  <link name="arm_two"><collision><geometry><sphere radius="0.2"/></geometry></collision></link>
  <link name="tip"><visual><geometry><mesh filename="package://p/m.stl" scale="1 1 1"/></geometry>
    </visual></link>
  <joint name="one" type="revolute"><parent link="base"/><child link="arm.one"/>
    <origin xyz="1 2 3" rpy="0 1.5707963 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
    <dynamics damping="1" friction="2"/></joint>
  <joint name="two" type="prismatic"><parent link="arm.one"/><child link="arm_two"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
    <mimic joint="one" multiplier="2" offset="0.5"/></joint>
  <joint name="tip" type="planar"><parent link="arm_two"/><child link="tip"/></joint>
  <gazebo reference="tip"/>
</robot>
"""
#: Extensions of Bullet, Drake and Gazebo, and small faults of the XML.
EXTENDED = """<?xml version="1.0"?>
<!-- a -- b -->
<robot name="more" xmlns:drake="http://drake.mit.edu">
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <contact><lateral_friction value="0.5"/><rolling_friction value="0.1"/>
      <spinning_friction value="0.1"/><inertia_scaling value="2"/><stiffness value="3"/></contact>
    <collision><geometry><drake:ellipsoid a="1" b="2" c="3"/></geometry>
      <drake:proximity_properties><drake:mu_dynamic value="0.3"/></drake:proximity_properties>
    </collision></link>
  <link name="b"><collision><geometry><plane normal="0 0 1"/></geometry></collision></link>
  <link name="c"><visual><geometry><drake:capsule radius="1" length="2"/></geometry></visual></link>
  <link name="d"/> <link name="e"/>
  <joint name="w" type="fixed"><parent link="world"/><child link="a"/></joint>
  <drake:joint name="s" type="screw"><parent link="a"/><child link="b"/><axis xyz="0, 0 1 0"/>
    <drake:screw_thread_pitch value="0.04"/></drake:joint>
  <drake:joint name="r" type="curvilinear"><parent link="b"/><child link="c"/>
    <drake:initial_tangent xyz="0 0 1"/><drake:plane_normal xyz="1 0 0"/>
    <drake:curves><drake:line_segment length="1"/><drake:circular_arc radius="2" angle="1"/>
    </drake:curves></drake:joint>
  <drake:joint name="u" type="universal"><parent link="c"/><child link="d"/></drake:joint>
  <joint name="p" type="planar"><parent link="d"/><child link="e"/>
    <dynamics damping="1 2 3"/></joint>
  <frame name="f" link="e" xyz="0 0 1" rpy="0 0 0"/>
  <transmission><joint name="s"/><actuator name="m"><drake:rotor_inertia value="1e-5"/>
    <drake:gear_ratio value="100"/></actuator></transmission>
  <drake:ball_constraint><drake:ball_constraint_body_A name="a"/>
    <drake:ball_constraint_p_AP value="1 0 0"/><drake:ball_constraint_body_B name="e"/>
    <drake:ball_constraint_p_BQ value="0 0 0"/></drake:ball_constraint>
  <drake:collision_filter_group name="g"><drake:member link="a"/><drake:member link="c"/>
    <drake:ignored_collision_filter_group name="g"/></drake:collision_filter_group>
  <gazebo reference="s"><springStiffness>5</springStiffness><kp>1</kp></gazebo>
</robot>
"""
SOURCES = [OWN, *((ROBOTS / name).read_text() for name in SMALL)]

NASTY = (
    "", " ", "0", "-0", "-1", "1e308", "-1e308", "1e30", "1e-320", "1e999", "nan", "NaN", "inf",
    "-inf", "0x10", "1_0", "1,5", "٣", "1 2", "1 2 3 4", "0 0 0", "1e30 1e30 1e30", "nan 0 0",
    "a", "base", "one", "tip", "é", "🤖", "../../..", "/", "//", "package://", "package://..",
    "package:///", "file://", "model://a", "http://a/b", "&#0;", "&lt;", "&quot;", "&x;",
    "${a}", "$(find a)", "fixed", "floating", "planar", "continuous", "revolute", "x" * 5000,
    "a" * 300 + ".stl", "%00.stl", "\t", "joint:one", "#ffffff",
)  # fmt: skip
TAGS = (
    "robot", "link", "joint", "inertial", "mass", "inertia", "origin", "visual", "collision",
    "geometry", "box", "sphere", "cylinder", "capsule", "mesh", "material", "color", "texture",
    "parent", "child", "axis", "limit", "dynamics", "mimic", "contact", "lateral_friction",
    "restitution", "gazebo", "xacro:macro", "x",
)  # fmt: skip
ATTRIBUTES = (
    "name", "type", "link", "xyz", "rpy", "quat_xyzw", "value", "ixx", "ixy", "ixz", "iyy", "iyz",
    "izz", "size", "radius", "length", "filename", "scale", "rgba", "lower", "upper", "effort",
    "velocity", "damping", "friction", "joint", "multiplier", "offset", "xmlns:x",
)  # fmt: skip

MUTATIONS = XmlMutations(
    "robot", TAGS, NASTY, re.compile(r'"[^"<>]*"'), longest_cut=400,
    document_types=(
        '[<!ENTITY x "y">]', 'SYSTEM "a.dtd"', "[<!ATTLIST robot a CDATA 'b'>]",
    ),
)  # fmt: skip


def change_encoding(text: str, dice: random.Random) -> str:
    name = dice.choice(("utf-16", "ascii", "latin-1", "utf-7", "idna", "rot13", "big5", "none", ""))
    head = f'<?xml version="1.0" encoding="{name}"?>'
    return head + re.sub(r"^\s*<\?xml[^>]*\?>", "", text)


CHANGES = (
    MUTATIONS.change_value,
    MUTATIONS.change_value,
    MUTATIONS.change_value,
    MUTATIONS.swap_values,
    MUTATIONS.swap_values,
    MUTATIONS.drop_element,
    MUTATIONS.double_element,
    MUTATIONS.drop_attribute,
    MUTATIONS.drop_attribute,
    MUTATIONS.rename,
    MUTATIONS.flip_byte,
    MUTATIONS.cut,
    MUTATIONS.add_document_type,
    change_encoding,
)


def random_tree(dice: random.Random, depth: int = 0) -> str:
    """Returns XML of URDF's tags in random order."""
    tag = "robot" if depth == 0 else dice.choice(TAGS)
    names = {"name"} if depth == 0 else set(dice.sample(ATTRIBUTES, dice.randrange(4)))
    values = (v for v in (dice.choice(NASTY) for _ in names))
    attributes = "".join(f' {n}="{v}"' for n, v in zip(sorted(names), values, strict=True))
    inside = "".join(random_tree(dice, depth + 1) for _ in range(dice.randrange(6 - depth)))
    return f"<{tag}{attributes}>{inside}</{tag}>"


def make_case(number: int) -> bytes:
    dice = random.Random(number)
    if number % 8 == 0:
        return random_tree(dice).encode("utf-8", "surrogatepass")
    text = dice.choice(SOURCES)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        text = dice.choice(CHANGES)(text, dice)
    data = text.encode("utf-8", "surrogatepass")
    if dice.random() < 0.03:
        data = text.encode("utf-16", "surrogatepass")
    return data


def read_or_refuse(form: UrdfFormat, source: Path, number: int) -> Part | None:
    """Returns the content of the file; None if it was rejected with an error that names it."""
    try:
        return form.read(source)
    except LinkworkError as error:
        message = str(error)
    except Exception as error:
        pytest.fail(f"case {number} ({source}): {error!r}")
    assert str(source) in message, f"case {number}: {message!r} does not name the file"
    return None


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_a_broken_file_gives_an_error_of_ours(first: int, tmp_path: Path) -> None:
    """Any file is read or rejected; what was read can be written and read again."""
    source, target = tmp_path / "case.urdf", tmp_path / "again.urdf"
    form = UrdfFormat(missing_meshes="skip")
    read = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(first, min(first + GROUP, CASES)):
            source.write_bytes(make_case(number))
            part = read_or_refuse(form, source, number)
            if part is None:
                refused += 1
                continue
            read += 1
            form.write(part, target)
            again = form.read(target)
            assert again.elements.keys() == part.elements.keys(), f"case {number} ({source})"
            assert again.joints.keys() == part.joints.keys(), f"case {number} ({source})"
            assert again.aliases == part.aliases, f"case {number} ({source})"
    if first + GROUP <= CASES:
        assert read > GROUP / 20, "too few cases are readable: the changes are too rough"
        assert refused > GROUP / 20, "too few cases are refused: the changes are too gentle"


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_broken_extensions_give_an_error_of_ours(first: int, tmp_path: Path) -> None:
    """Files with extensions and small faults, damaged further, are read or rejected."""
    source, form = tmp_path / "case.urdf", UrdfFormat(missing_meshes="skip")
    read = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(first, min(first + GROUP, CASES)):
            dice, text = random.Random(number), EXTENDED
            for _ in range(dice.choice((1, 1, 2, 3))):
                text = dice.choice(CHANGES)(text, dice)
            source.write_bytes(text.encode("utf-8", "surrogatepass"))
            read += read_or_refuse(form, source, number) is not None
    if first + GROUP <= CASES:
        assert read > GROUP / 20, "too few cases are readable: the changes are too rough"
