"""What a newcomer stumbled over does not come back."""

from playwright.sync_api import Browser, expect

from studio_fixture import Studio
from studio_page import StudioPage, opened


def test_space_is_for_time_after_a_click(gripper_page: StudioPage) -> None:
    """A click on a button or a tree row does not keep Space for itself."""
    page = gripper_page
    page.page.get_by_role("button", name="Step (→)").click()
    page.until("store.status.step > 0")
    page.page.keyboard.press("Space")
    page.until("store.status.running")
    page.row("arm/J1").click()
    page.page.keyboard.press("Space")
    page.until("!store.status.running")


def test_a_link_that_cannot_be_dragged_leaves_the_view_alone(gripper_page: StudioPage) -> None:
    """While a program drives it, a drag offers to take it over and moves no camera."""
    page = gripper_page
    speed = page.page.get_by_role("combobox", name="Speed", exact=True)
    speed.select_option("0.1")  # so that the link is still where it was found
    page.press("Space")
    page.until("store.status.running && store.owners['arm/J1.target']")
    page.ask("stage.views.forEach((v) => (v.camera.fitted = false))")  # none widens by itself
    page.rest()
    before = page.ask("stage.views.map((v) => ({ ...v.camera.stand }))")
    x, y = page.find("front", "arm/E3")
    page.drag((x, y), (x, y - 40))
    expect(page.page.get_by_role("button", name="Take it over")).to_be_visible()
    assert page.ask("stage.views.map((v) => ({ ...v.camera.stand }))") == before
    speed.select_option("1")


def test_a_ghost_stays_in_its_scene(chromium: Browser, gallery: Studio) -> None:
    """The outline of a wanted posture is gone when another scene opens."""
    with opened(chromium, gallery) as page:
        page.page.locator("[data-scene='gripper/follow']").click()
        page.ready()
        page.until("stage.ghost.edge.root.children.length > 0")
        page.ask("linkwork.run('close')")
        page.page.locator("[data-scene='tripod/twin']").click()
        page.ready()
        page.until("stage.ghost.edge.root.children.every((c) => c.userData.of.parent.parent)")


def test_save_and_undo_work_in_the_field_just_edited(gripper_page: StudioPage) -> None:
    """After Enter, Ctrl+Z in the same field takes the edit back."""
    page = gripper_page
    page.row("arm/E4").click()
    field = page.page.locator("[data-key='mass']")
    before = field.input_value()
    field.fill("0.3")
    field.press("Enter")
    page.until("store.undo.can_undo")
    page.page.locator("[data-key='mass']").focus()
    page.page.keyboard.press("Control+z")
    page.until("!store.undo.can_undo")
    expect(page.page.locator("[data-key='mass']")).to_have_value(before)


def test_a_value_beyond_the_range_becomes_the_limit(gripper_page: StudioPage) -> None:
    """Typed into the table, as when a link is dragged."""
    page = gripper_page
    field = page.page.get_by_role("textbox", name="J1 wanted")
    field.fill("999deg")
    field.press("Enter")
    expect(page.page.get_by_text("J1 stops at 75.0°.")).to_be_visible()
    actual = page.page.locator("[data-joint='arm/J1'] .joint-actual")
    actual.scroll_into_view_if_needed()  # what is out of sight is not drawn
    expect(actual).to_have_text("75.0")


def test_a_button_drawn_anew_under_the_pointer_keeps_its_click(gripper_page: StudioPage) -> None:
    """The server's answer redraws the panel between press and release: the click counts."""
    page, mouse = gripper_page, gripper_page.page.mouse
    page.row("arm/E4").click()
    field = page.page.locator("[data-key='mass']")
    before = field.input_value()
    field.fill("much")
    field.press("Enter")
    box = page.page.get_by_role("button", name="Restore").bounding_box()
    assert box is not None
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()
    page.ask(
        "(window.shown = store.attributes,"
        " linkwork.send({ type: 'inspect', name: 'arm/E4', kind: 'element' }))"
    )
    page.until("store.attributes !== window.shown")
    mouse.up()
    expect(field).to_have_value(before)
    expect(page.page.get_by_role("button", name="Restore")).to_have_count(0)
