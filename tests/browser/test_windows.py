"""Several windows at once, the menu in the scene, and snapshots."""

import struct
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from studio_fixture import Studio
from studio_page import SHARP, StudioPage, opened, wait_for

SEEN = "stage.views.filter((view) => !view.element.hidden).map((view) => view.slot)"


@pytest.fixture(scope="module")
def scale() -> float:
    """Snapshots are as large as what they show."""
    return SHARP


def menu_at(page: StudioPage, x: float, y: float) -> None:
    """Opens the menu of a place in a view."""
    page.page.mouse.click(x, y, button="right")
    page.page.get_by_role("menu").wait_for()


def choose(page: StudioPage, name: str) -> None:
    page.page.get_by_role("menuitem", name=name, exact=True).click()


@pytest.mark.capability(107)
def test_the_menu_in_the_scene_is_about_the_element_there(gripper_page: StudioPage) -> None:
    """Select, frame, follow, hide, show again, chart its joint."""
    page = gripper_page
    at = page.find("front", "arm/E3")
    menu_at(page, *at)
    assert page.page.get_by_role("menu").get_attribute("aria-label") == "arm/E3"
    choose(page, "Select E3")
    page.until("store.selection[0]?.name === 'arm/E3'")
    menu_at(page, *at)
    choose(page, "Hide E3")
    page.until("stage.bodies.of('arm/E3').every((p) => !p.mesh.visible)")
    menu_at(page, *at)
    choose(page, "Show hidden elements")
    page.until("stage.bodies.of('arm/E3').every((p) => p.mesh.visible)")
    menu_at(page, *at)
    choose(page, "Show only E3")
    page.until("stage.bodies.shapeMeshes.filter((p) => p.mesh.visible).length === 1")
    menu_at(page, *at)
    choose(page, "Show hidden elements")
    menu_at(page, *at)
    choose(page, "Chart J1 angle")
    chart = page.page.get_by_role("region", name="Charts")
    chart.wait_for()
    assert "arm/J1.angle" in (chart.text_content() or "")
    page.press("c")
    menu_at(page, *page.find("front", "arm/E3"))
    choose(page, "Follow E3")
    assert page.page.get_by_role("button", name="Follow: arm/E3").is_visible()
    menu_at(page, *page.find("front", "arm/E3"))
    choose(page, "Stop following")


def test_the_menu_on_nothing_is_about_the_view(gripper_page: StudioPage) -> None:
    """Fit, one view, snapshots, windows; Escape leaves the focus in the view."""
    page = gripper_page
    box = page.view("Top").bounding_box()
    assert box is not None
    menu_at(page, box["x"] + 8, box["y"] + 60)
    names = [item.inner_text() for item in page.page.get_by_role("menuitem").all()]
    assert not any(name.startswith("Select") for name in names)
    assert any(name.startswith("Fit all") for name in names)
    page.page.keyboard.press("Escape")
    assert page.page.get_by_role("menu").count() == 0
    assert page.page.evaluate("document.activeElement.dataset.view") == "top"


@pytest.mark.capability(106)
def test_a_view_has_a_window_of_its_own(gripper_page: StudioPage) -> None:
    """It shows the same run and the view alone; however small, it is never a narrow page."""
    page = gripper_page
    box = page.view("Right").bounding_box()
    assert box is not None
    menu_at(page, box["x"] + 8, box["y"] + 60)
    with page.page.expect_popup() as found:
        choose(page, "This view in its own window")
    other: Page = found.value
    other.set_viewport_size({"width": 420, "height": 320})
    wait_for(other, "() => window.linkwork?.store.poses")
    assert other.evaluate(f"(({{ stage }}) => {SEEN})(linkwork)") == ["right"]
    assert other.get_by_role("banner").count() == 0
    assert other.evaluate("!document.querySelector('.watching')")
    page.until("store.people.people.length === 2")
    page.play()
    page.until("store.status.time > 0.2")
    page.pause()
    now = page.ask("store.poseTime")
    wait_for(other, "(t) => Math.abs(linkwork.store.poseTime - t) < 1e-9", now)
    assert other.evaluate("Array.from(linkwork.store.poses)") == page.ask("Array.from(store.poses)")
    assert page.ask(SEEN) == ["top", "perspective", "front", "right"]
    other.close()
    page.until("store.people.people.length === 1")


@pytest.mark.capability(106)
def test_charts_have_a_window_of_their_own(gripper_page: StudioPage) -> None:
    """With the curves that were drawn; an unknown window says what there is."""
    page = gripper_page
    menu_at(page, *page.find("front", "arm/E3"))
    choose(page, "Chart J1 angle")
    with page.page.expect_popup() as found:
        page.page.get_by_role("button", name="Charts in their own window").click()
    other: Page = found.value
    other.get_by_role("region", name="Charts").get_by_text("arm/J1.angle").first.wait_for()
    assert other.locator("canvas.stage").count() == 0
    other.goto(other.url.replace("alone=charts", "alone=door"))
    other.get_by_text("There is no window door. There are views, charts").wait_for()
    other.close()
    page.press("c")


def size_of(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


@pytest.mark.capability(107)
def test_snapshots_of_one_view_and_of_all(gripper_page: StudioPage, tmp_path: Path) -> None:
    """PNG files as large as what they show, and not empty."""
    page = gripper_page
    box = page.view("Top").bounding_box()
    whole = page.page.locator(".views").bounding_box()
    assert box is not None
    assert whole is not None
    for label, shown in (("Snapshot of this view", box), ("Snapshot of all views", whole)):
        menu_at(page, box["x"] + 8, box["y"] + 60)
        with page.page.expect_download() as saved:
            page.page.get_by_role("menuitem", name=label).click()
        assert saved.value.suggested_filename.startswith("follow")
        path = tmp_path / f"{label}.png"
        saved.value.save_as(path)
        assert size_of(path) == pytest.approx((shown["width"], shown["height"]), abs=1)
        assert path.stat().st_size > 5_000


def test_views_alone_may_be_four(chromium: Browser, gripper: Studio) -> None:
    """All views in one window, four or one, without the panels."""
    with opened(chromium, gripper, size=(700, 500), alone="views") as page:
        page.ready()
        assert len(page.ask(SEEN)) == 4
        page.press("v")
        page.until(f"{SEEN}.length === 1")
        assert page.page.get_by_role("navigation").count() == 0
