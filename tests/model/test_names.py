"""Names of imported files are exported in their original spelling; format keys are not."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

import linkwork as lw
from formats.test_humanoid_xml import EXCERPT
from formats.test_mesh_parts import robot_glb
from formats.test_robotix import INDUSTRIAL
from linkwork.formats.names import KEY_PREFIX, original_keys, original_names
from linkwork.model.parts import Element, Joint, Part


def humanoid(folder: Path) -> Path:
    (folder / "robot.xml").write_text(EXCERPT)
    return folder / "robot.xml"


def robot_text(folder: Path) -> Path:
    (folder / "robot.cfg").write_text(INDUSTRIAL)
    return folder / "robot.cfg"


#: Names of an imported file's links and joints in a URDF.
EXPECTED: dict[Callable[[Path], Path], tuple[set[str], set[str]]] = {
    humanoid: ({"trunk", "left_femur", "left_leg"}, {"left_hip_1", "left_hip_2", "left_knee"}),
    robot_text: ({"base", "J1_link", "J2_link", "lift_link"}, {"J1", "J2", "lift"}),
    robot_glb: ({"robot", "base plate", "arm", "finger", "finger_2"}, set()),
}


@pytest.mark.parametrize("source", EXPECTED)
def test_keys_of_a_format_are_no_names_in_others(
    source: Callable[[Path], Path], tmp_path: Path
) -> None:
    """Numbers of solids and joints, names of axes and poses of nodes are not exported."""
    part = lw.load_part(source(tmp_path))
    lw.save(part, tmp_path / "out.urdf")
    root = ET.parse(tmp_path / "out.urdf").getroot()
    links, joints = EXPECTED[source]
    assert links <= {link.attrib["name"] for link in root.iter("link")}
    found = {joint.attrib["name"] for joint in root.iter("joint")}
    assert joints <= found
    assert not [name for name in found if ":" in name or KEY_PREFIX in name or "#" in name]


def test_spellings_and_keys_are_told_apart() -> None:
    """An alias is a spelling, that of a joint named as a link, or a key of a kind."""
    part = Part("p").add(Element("a_b", mass=1.0), Element("c", mass=1.0))
    part.add(Joint("a_b_joint", "hinge", "a_b", "c"))
    part.aliases = {
        "a b": "a_b",
        "joint:a b": "a_b_joint",
        "~joint:7": "a_b_joint",
        "~solid:1": "c",
    }
    assert original_names(part) == {"a_b": "a b", "a_b_joint": "a b"}
    assert original_keys(part, "joint:") == {"a_b_joint": "7"}
    assert original_keys(part, "solid:") == {"c": "1"}
