"""Narrower windows: panels give way in the order that the design says, until one only watches."""

import pytest
from playwright.sync_api import Browser

from studio_page import StudioPage, opened
from studio_rig import Studio

VIEWS = "stage.views.filter((view) => !view.element.hidden).length"


def width(page: StudioPage, query: str) -> float:
    """How wide a region is [px]; 0 if it is not seen."""
    box = page.page.locator(query).bounding_box()
    return box["width"] if box else 0.0


def resize(page: StudioPage, wide: int) -> None:
    page.page.set_viewport_size({"width": wide, "height": 720})
    page.until("innerWidth === a", wide)


def test_panels_give_way_one_after_the_other(gripper_page: StudioPage) -> None:
    """All at 1280, smaller panels below, a drawer below 1120; four views down to 1024."""
    page = gripper_page
    resize(page, 1280)
    assert (width(page, ".left"), width(page, ".right")) == (264, 320)
    resize(page, 1200)
    assert (width(page, ".left"), width(page, ".right")) == (220, 288)
    assert page.page.get_by_role("button", name="Commands").is_visible()
    assert not page.page.get_by_text("Commands", exact=True).first.is_visible()
    resize(page, 1040)
    page.until(f"{VIEWS} === 4")
    assert width(page, ".left") == 0
    assert not page.page.get_by_text("Engine").is_visible()
    page.page.get_by_role("button", name="Scene panel").click()
    assert width(page, ".left") == 264
    page.row("arm/J1").click()
    page.until("store.selection[0]?.name === 'arm/J1'")
    page.page.get_by_role("button", name="Scene panel").click()
    page.press("Escape")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 1040


@pytest.mark.parametrize("wide", [1000, 700, 400])
def test_below_1024_one_watches_one_view(
    gripper_page: StudioPage, gripper: Studio, wide: int
) -> None:
    """One view, no panels; what would drive is not there, and its keys say why."""
    page = gripper_page
    resize(page, wide)
    page.until(f"{VIEWS} === 1")
    for hidden in (".left", ".right", ".dock"):
        assert width(page, hidden) == 0
    box = page.page.get_by_role("main").bounding_box()
    assert box is not None
    assert box["width"] == wide
    assert page.page.get_by_role("button", name="Play").count() == 0
    page.press("Space")
    page.page.get_by_role("status").filter(has_text="too narrow to drive").wait_for()
    assert gripper.host.open is not None
    assert page.ask("!store.status.running")
    resize(page, 1280)
    page.until(f"{VIEWS} === 4")
    page.press("Space")
    page.until("store.status.running")


def test_rows_are_higher_for_fingers(chromium: Browser, gripper: Studio) -> None:
    """Where the pointer is coarse a row of the tree is 32 high, else 24."""
    heights = {}
    for touch in (False, True):
        context = chromium.new_context(
            viewport={"width": 1280, "height": 720}, has_touch=touch, is_mobile=touch
        )
        with opened(chromium, gripper, context=context) as page:
            page.ready()
            box = page.row("arm/J1").bounding_box()
            assert box is not None
            heights[touch] = box["height"]
        context.close()
    assert heights == {False: 24, True: 32}
