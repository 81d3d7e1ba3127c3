"""Names of imported files go out again as they were spelled; keys of a format stay in it."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.formats.names import KEY_PREFIX, file_names, keys_of
from linkwork.parts import Element, Joint, Part
from test_humanoid_xml import EXCERPT
from test_mesh_parts import robot_glb
from test_robotix import INDUSTRIAL


def humanoid(folder: Path) -> Path:
    (folder / "robot.xml").write_text(EXCERPT)
    return folder / "robot.xml"


def robot_text(folder: Path) -> Path:
    (folder / "robot.cfg").write_text(INDUSTRIAL)
    return folder / "robot.cfg"


#: How the links and joints of an imported file are called in a URDF.
EXPECTED: dict[Callable[[Path], Path], tuple[set[str], set[str]]] = {
    humanoid: ({"trunk", "left_femur", "left_leg"}, {"left_hip_1", "left_hip_2", "left_knee"}),
    robot_text: ({"base", "J1_link", "J2_link", "lift_link"}, {"J1", "J2", "lift"}),
    robot_glb: ({"robot", "base plate", "arm", "finger", "finger_2"}, set()),
}


@pytest.mark.parametrize("source", EXPECTED)
def test_keys_of_a_format_are_no_names_in_others(
    source: Callable[[Path], Path], tmp_path: Path
) -> None:
    """Numbers of solids and joints, names of axes and places of nodes are not exported."""
    part = lw.load_part(source(tmp_path))
    lw.save(part, tmp_path / "out.urdf")
    root = ET.parse(tmp_path / "out.urdf").getroot()
    links, joints = EXPECTED[source]
    assert links <= {link.attrib["name"] for link in root.iter("link")}
    found = {joint.attrib["name"] for joint in root.iter("joint")}
    assert joints <= found
    assert not [name for name in found if ":" in name or KEY_PREFIX in name or "#" in name]


def test_spellings_and_keys_are_told_apart() -> None:
    """An alias is a spelling, a joint's that a link has too, or a key of a kind."""
    part = Part("p").add(Element("a_b", mass=1.0), Element("c", mass=1.0))
    part.add(Joint("a_b_joint", "hinge", "a_b", "c"))
    part.aliases = {
        "a b": "a_b",
        "joint:a b": "a_b_joint",
        "~joint:7": "a_b_joint",
        "~solid:1": "c",
    }
    assert file_names(part) == {"a_b": "a b", "a_b_joint": "a b"}
    assert keys_of(part, "joint:") == {"a_b_joint": "7"}
    assert keys_of(part, "solid:") == {"c": "1"}
