"""Narrower windows: panels give way in the order that the design says, until one only watches."""

import pytest
from playwright.sync_api import Browser, expect

from studio_fixture import Studio
from studio_page import SHARP, StudioPage, opened

VIEWS = "stage.views.filter((view) => !view.element.hidden).length"


@pytest.fixture(scope="module")
def scale() -> float:
    """Widths are measured to the pixel."""
    return SHARP


def widths(page: StudioPage, **regions: float) -> None:
    """Waits until regions are so wide [px]; 0 is not seen."""
    page.until(
        "Object.entries(a).every(([name, wide]) =>"
        " document.querySelector(`.${name}`).getBoundingClientRect().width === wide)",
        regions,
    )


def resize(page: StudioPage, wide: int) -> None:
    page.page.set_viewport_size({"width": wide, "height": 720})
    page.until("innerWidth === a", wide)


def test_panels_give_way_one_after_the_other(gripper_page: StudioPage) -> None:
    """All at 1280, smaller panels below, a drawer below 1120; four views down to 1024."""
    page = gripper_page
    resize(page, 1280)
    widths(page, left=264, right=320)
    resize(page, 1200)
    widths(page, left=220, right=288)
    expect(page.page.get_by_role("button", name="Commands")).to_be_visible()
    expect(page.page.get_by_text("Commands", exact=True).first).to_be_hidden()
    resize(page, 1040)
    page.until(f"{VIEWS} === 4")
    widths(page, left=0)
    expect(page.page.get_by_text("Engine")).to_be_hidden()
    page.page.get_by_role("button", name="Scene panel").click()
    widths(page, left=264)
    page.row("arm/J1").click()
    page.until("store.selection[0]?.name === 'arm/J1'")
    page.page.get_by_role("button", name="Scene panel").click()
    page.press("Escape")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 1040


@pytest.mark.parametrize("wide", [1440, 1300, 1280, 1120, 1040])
def test_the_bar_of_a_view_is_not_cut(gripper_page: StudioPage, wide: int) -> None:
    """Every control of every view is within it and none lies on another, whatever is followed."""
    page = gripper_page
    resize(page, wide)
    page.until(f"{VIEWS} === 4")
    for body in ("arm/E4", "none"):
        page.view("Perspective").get_by_role("button", name="Follow").click()
        page.page.get_by_role("menuitemradio", name=body).click()
        page.drawn()
        boxes = page.ask(
            "stage.views.map((view) => [view.element, ...view.element.querySelectorAll("
            "'.view-bar button:not([hidden])')].map((each) => {"
            " const box = each.getBoundingClientRect(); return [box.left, box.right]; }))"
        )
        for (left, right), *controls in boxes:
            edges = [left, *(edge for control in controls for edge in control), right]
            assert edges == sorted(edges)
    page.view("Perspective").get_by_role("button", name="One view").click()
    page.until(f"{VIEWS} === 1")
    page.press("v")
    page.until(f"{VIEWS} === 4")


@pytest.mark.parametrize("wide", [1000, 700, 400])
def test_below_1024_one_watches_one_view(
    gripper_page: StudioPage, gripper: Studio, wide: int
) -> None:
    """One view, no panels; what would drive is not there, and its keys say why."""
    page = gripper_page
    resize(page, wide)
    page.until(f"{VIEWS} === 1")
    widths(page, left=0, right=0, dock=0)
    page.until("document.querySelector('[role=main], main').clientWidth === a", wide)
    expect(page.page.get_by_role("button", name="Play")).to_have_count(0)
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
