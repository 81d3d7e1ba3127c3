"""A suffix shared by several formats is read by content, and written as one of them."""

from pathlib import Path

import pytest

import linkwork as lw
from linkwork.formats import format_for
from linkwork.formats.robots.humanoid_xml import HumanoidXmlFormat
from linkwork.formats.robots.mjcf import MjcfFormat


@pytest.mark.parametrize("before", ["", "<robot/>", "<mujoco/>", "<html/>"])
def test_xml_is_written_as_mjcf(before: str, tmp_path: Path) -> None:
    """Regardless of the file's content; humanoid XML has its own suffix."""
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
