"""The picture of a selected camera is in the panel, and the views show where it looks."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

import linkwork as lw
from camera_room import room
from studio_fixture import studio
from studio_page import opened

#: A pixel of the picture as the page has drawn it.
_PIXEL = """([x, y]) => {
  const canvas = document.querySelector("canvas.camera-picture");
  return Array.from(canvas.getContext("2d").getImageData(x, y, 1, 1).data);
}"""
_SIZE = """() => {
  const canvas = document.querySelector("canvas.camera-picture");
  return [canvas.hidden, canvas.width, canvas.height];
}"""


@pytest.mark.capability(21)
def test_a_selected_camera_shows_its_picture(tmp_path: Path, chromium: Browser) -> None:
    """Selected in the tree, its newest picture is drawn pixel by pixel, and follows the cart."""
    scene = room().sensor("scan", "lidar", on="cart/lens", range=6.0, count=24)
    lw.save(scene, tmp_path / "room.toml")
    with (
        studio(str(tmp_path / "room.toml"), tmp_path) as running,
        opened(chromium, running, size=(1280, 800)) as page,
    ):
        page.ready()
        page.until("store.people.driver === store.you")
        page.row("eye").click()
        page.until("document.querySelector('canvas.camera-picture')?.width === 64")
        page.until("!document.querySelector('canvas.camera-picture').hidden")
        assert page.page.evaluate(_SIZE) == [False, 64, 48]
        assert running.host.open is not None
        session = running.host.open.session
        first = session.image("eye")
        for x, y in ((32, 10), (5, 24), (60, 40), (40, 26)):
            drawn = page.page.evaluate(_PIXEL, [x, y])
            assert drawn == [*first[y, x].tolist(), 255]
        page.until("(stage.draw(), stage.marks.cones.lines.visible)")
        page.row("scan").click()
        page.until("(stage.draw(), !stage.marks.cones.lines.visible)")
        page.page.get_by_label("Sensor rays", exact=True).set_checked(True, force=True)
        page.until("(stage.draw(), stage.marks.rays.dots.count === 24)")
        page.row("eye").click()
        page.page.evaluate("linkwork.send({type: 'set', signal: 'cart/J.target', value: 1})")
        began = page.ask("store.status.time")
        page.until("store.status.time > a + 0.3 && store.status.running", began)
        page.pause()
        last = session.image("eye")
        moved = np.argwhere((first != last).any(axis=2))
        assert len(moved) > 50  # the ball is nearer
        y, x = moved[len(moved) // 2].tolist()
        page.until(f"({_PIXEL})([{x}, {y}]).join() === a", f"{','.join(map(str, last[y, x]))},255")
