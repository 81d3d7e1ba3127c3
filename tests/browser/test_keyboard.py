"""The studio without a mouse: regions, focus, menus, names, and words for what is seen."""

import pytest
from playwright.sync_api import expect

from studio_page import SHARP, StudioPage

#: Regions with their roles and names, as the design has them.
REGIONS = (
    ("banner", None), ("navigation", "Scene"), ("main", "Views"), ("region", "Top view"),
    ("region", "Perspective view"), ("region", "Front view"), ("region", "Right view"),
    ("complementary", "Attributes"), ("toolbar", "Transport"), ("tree", "Scene"),
    ("tablist", "Workspace"), ("group", "Show in views"),
)  # fmt: skip


@pytest.fixture(scope="module")
def scale() -> float:
    """Outlines are measured to the pixel."""
    return SHARP


def region(page: StudioPage) -> str:
    """The class of the region that has the focus."""
    return page.page.evaluate(
        "['top-bar', 'left', 'view', 'right', 'dock', 'transport']"
        ".find((name) => document.activeElement.closest('.' + name)) ?? ''"
    )


def test_f6_goes_from_region_to_region(gripper_page: StudioPage) -> None:
    """Every region once, then the first again, also out of a text field."""
    gripper_page.page.evaluate("document.activeElement?.blur()")
    seen = []
    for _ in range(6):
        gripper_page.page.keyboard.press("F6")
        seen.append(region(gripper_page))
    assert seen == ["top-bar", "left", "view", "right", "transport", "top-bar"]
    gripper_page.page.get_by_role("textbox", name="Search").focus()
    gripper_page.page.keyboard.press("F6")
    assert region(gripper_page) == "view"


def test_focus_is_seen(gripper_page: StudioPage) -> None:
    """What the keyboard goes to has an outline of two pixels in the accent's colour."""
    gripper_page.page.evaluate("document.activeElement?.blur()")
    for _ in range(5):
        gripper_page.page.keyboard.press("F6")
        style = gripper_page.page.evaluate(
            "(({ outlineWidth, outlineStyle, outlineColor }) =>"
            " [outlineWidth, outlineStyle, outlineColor])(getComputedStyle(document.activeElement))"
        )
        assert style == ["2px", "solid", "rgb(60, 195, 214)"]


def test_regions_have_roles_and_names(gripper_page: StudioPage) -> None:
    """As the design names them."""
    for role, name in REGIONS:
        found = gripper_page.page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
        expect(found.first, f"{role} {name}").to_be_visible()


def test_every_control_has_a_name(gripper_page: StudioPage) -> None:
    """A button, field or slider without words has a label."""
    nameless = gripper_page.page.evaluate(
        "[...document.querySelectorAll('button, input, select, [role=slider], [role=separator]')]"
        ".filter((e) => e.offsetParent !== null && !(e.ariaLabel || e.textContent.trim()"
        " || e.labels?.length || e.title || e.getAttribute('aria-labelledby')))"
        ".map((e) => e.outerHTML.slice(0, 120))"
    )
    assert nameless == []


def test_each_view_says_what_it_shows(gripper_page: StudioPage) -> None:
    """A sentence about the scene and the selection describes each view."""
    gripper_page.row("arm/J1").click()
    for view in ("Top", "Perspective", "Front", "Right"):
        place = gripper_page.view(view)
        summary = gripper_page.page.locator(f"#{place.get_attribute('aria-describedby')}")
        summary.filter(has_text="Selected: arm/J1 at").wait_for(state="attached")
        assert "3 joints" in (summary.text_content() or "")


@pytest.mark.capability(107)
def test_a_key_opens_the_menu_of_a_view(gripper_page: StudioPage) -> None:
    """Shift+F10 opens it for the selection; arrows and letters move in it, Escape closes it."""
    page = gripper_page.page
    gripper_page.row("arm/E3").click()
    gripper_page.view("Front").focus()
    page.keyboard.press("Shift+F10")
    menu = page.get_by_role("menu", name="arm/E3")
    menu.wait_for()
    focus = "document.activeElement.textContent"
    assert page.evaluate(focus) == "Select E3"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focus) == "Frame E3"
    page.keyboard.press("h")
    assert page.evaluate(focus) == "Hide E3"
    page.keyboard.press("Home")
    assert page.evaluate(focus) == "Select E3"
    page.keyboard.press("Escape")
    assert menu.count() == 0
    assert page.evaluate("document.activeElement.dataset.view") == "front"


def test_nothing_glides_where_motion_is_unwanted(gripper_page: StudioPage) -> None:
    """With prefers-reduced-motion a camera is there at once; else it takes its time."""
    gripper_page.press("3")
    assert gripper_page.ask("stage.active().camera.update()") is False
    gripper_page.page.emulate_media(reduced_motion="no-preference")
    # At once, for a glide is over after a fraction of a second.
    assert gripper_page.ask(
        "(document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '5', bubbles: true })),"
        " stage.active().camera.update())"
    )
    gripper_page.rest()
