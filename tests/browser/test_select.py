"""Selecting: in a view, in the tree, by keys; the panel and the outline follow."""

from playwright.sync_api import expect

from studio_page import StudioPage


def focused(page: StudioPage) -> str:
    return page.page.evaluate("document.activeElement.dataset.signal ?? ''")


def test_a_click_in_a_view_selects_and_the_tree_follows(gripper_page: StudioPage) -> None:
    """The element under the pointer is selected, its row marked, its attributes shown."""
    page = gripper_page
    name = "arm/E1"
    spot = page.find("perspective", name)
    page.page.mouse.click(*spot)
    page.until("store.selection[0]?.name === a && store.selection[0].kind === 'element'", name)
    expect(page.row(name)).to_have_attribute("aria-selected", "true")
    page.until("store.attributes?.name === a", name)
    heading = page.page.get_by_role("complementary", name="Attributes").get_by_role("heading")
    expect(heading.first).to_have_text(name)
    page.press("Escape")
    page.until("store.selection.length === 0")
    expect(page.page.get_by_role("complementary", name="Attributes")).to_contain_text(
        "Nothing is selected."
    )


def test_a_row_of_the_tree_selects_and_shift_adds(gripper_page: StudioPage) -> None:
    """The tree is scene, robot, elements and joints; agents and viewpoints stand below."""
    page = gripper_page
    for kind in ("scene", "part", "element", "joint", "agent", "viewpoint"):
        expect(page.page.locator(f"[role=treeitem][data-kind={kind}]").first).to_be_visible()
    page.row("arm/J1").click()
    page.row("arm/J2").click(modifiers=["Shift"])
    assert page.ask("store.selection.map((t) => t.name)") == ["arm/J1", "arm/J2"]
    page.row("follow").and_(page.page.locator("[data-kind=agent]")).click()
    page.until("store.attributes?.rows.some((r) => r.key === 'file')")


def test_a_search_keeps_ancestors_dim(gripper_page: StudioPage) -> None:
    """What fits is shown with what holds it; nothing found says so; Escape shows all."""
    page = gripper_page
    search = page.page.get_by_label("Search by name or signal")
    search.fill("J2")
    expect(page.row("arm/J2")).to_be_visible()
    expect(page.row("arm/J1")).to_be_hidden()
    arm = page.page.locator("[role=treeitem][data-kind=part][data-signal=arm]")
    expect(arm).to_have_class("tree-row dim")
    search.fill("zebra")
    expect(page.page.locator(".tree-count").first).to_have_text("Nothing has this name.")
    search.press("Escape")
    expect(page.row("arm/J1")).to_be_visible()


def test_the_tree_is_walked_by_keys(gripper_page: StudioPage) -> None:
    """Arrows, Home, End, letters and Enter, with no mouse."""
    page = gripper_page
    tree = page.page.get_by_role("tree", name="Scene")
    page.row("arm/J1").click()
    page.page.keyboard.press("Home")
    assert focused(page) == "follow"
    page.page.keyboard.press("ArrowDown")
    first = focused(page)
    assert first != "follow"
    page.page.keyboard.press("End")
    page.page.keyboard.press("Home")
    page.page.keyboard.press("J")
    assert focused(page) == "arm/J1"
    page.page.keyboard.press("2")
    assert focused(page) == "arm/J2"
    page.page.keyboard.press("Enter")
    page.until("store.selection[0]?.name === 'arm/J2'")
    page.page.keyboard.press("ArrowLeft")
    assert focused(page) == "arm"
    page.page.keyboard.press("ArrowLeft")
    expect(tree.locator("[data-kind=part][data-signal=arm]")).to_have_attribute(
        "aria-expanded", "false"
    )
    expect(page.row("arm/J1")).to_be_hidden()
    page.page.keyboard.press("ArrowRight")
    expect(page.row("arm/J1")).to_be_visible()
    page.page.keyboard.press("ArrowRight")
    assert focused(page).startswith("arm/")
