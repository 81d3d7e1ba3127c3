"""An import without drives gets servos by one click in a real browser."""

import math
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from studio_fixture import studio
from studio_page import opened
from studio_state import eventually, scene_of, value

URDF = """<robot name="lamp">
<link name="base"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
<link name="arm">
<visual><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.05 0.05"/></geometry></visual>
<inertial><origin xyz="0.2 0 0"/><mass value="2"/>
<inertia ixx="0.001" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="J" type="revolute"><parent link="base"/><child link="arm"/>
<origin xyz="0 0 0.6"/><axis xyz="0 1 0"/>
<limit lower="-1.5" upper="1.5" effort="50" velocity="3"/></joint>
</robot>"""


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_one_click_gives_servos_and_undo_takes_them(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    """The button writes the drive into a TOML copy in one step; the arm then holds."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "lamp.urdf"
    file.write_text(URDF)
    with (
        studio(str(file), tmp_path / ".linkwork") as made,
        opened(chromium, made, theme=theme) as page,
    ):
        page.ready()
        page.until("store.people.driver === store.you")
        banner = page.page.get_by_label("Joints without servos")
        expect(banner).to_contain_text("lamp/J has no drive and moves freely.")
        banner.get_by_role("button", name="Give it servos").click()
        expect(banner).to_be_hidden()
        page.until("store.scene.signals.some((each) => each.name === 'lamp/J.kp')")
        page.until("store.scene.can_undo")
        session = scene_of(made).session
        eventually("a second has passed", lambda: session.time > 1.0)
        assert abs(value(made, "lamp/J.angle")) < math.radians(1.0)
        page.pause()
        page.press("Control+z")
        page.until("!store.scene.signals.some((each) => each.name === 'lamp/J.kp')")
