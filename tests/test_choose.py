"""A suffix that formats share is read by what the file holds, and written as one of them."""

from pathlib import Path

import pytest

import linkwork as lw
from linkwork.formats import format_for
from linkwork.formats.humanoid_xml import HumanoidXmlFormat
from linkwork.formats.mjcf import MjcfFormat


@pytest.mark.parametrize("before", ["", "<robot/>", "<mujoco/>", "<html/>"])
def test_xml_is_written_as_mjcf(before: str, tmp_path: Path) -> None:
    """Whatever was in the file; humanoid XML has a suffix of its own."""
    path = tmp_path / "arm.xml"
    if before:
        path.write_text(before)
    lw.save(lw.load_part("gripper/arm"), path)
    assert "<mujoco" in path.read_text()
    assert isinstance(format_for(path), MjcfFormat)
    other = tmp_path / "arm.humanoid.xml"
    lw.save(lw.load_part("gripper/arm"), other)
    assert "<solids" in other.read_text()
    assert isinstance(format_for(other), HumanoidXmlFormat)
