"""A gallery scene is opened in a real browser and seen to move."""

from playwright.sync_api import Browser

from studio_fixture import Studio
from studio_page import StudioPage, opened


def test_a_scene_of_the_gallery_opens_and_moves(chromium: Browser, gallery: Studio) -> None:
    """A click on a card opens the scene, and it runs."""
    with opened(chromium, gallery) as page:
        page.page.locator("[data-scene='tripod/level']").click()
        page.ready()
        page.until("store.status.running && store.status.time > 0.2")
        assert gallery.host.open is not None
        assert gallery.host.open.session.world.scene.name == "level"
        first = page.ask("Array.from(store.poses)")
        page.until("Array.from(store.poses).some((v, n) => Math.abs(v - a[n]) > 1e-4)", first)


def test_there_are_four_views(gripper_page: StudioPage) -> None:
    """Each of the four views is a region with its name and draws the scene's bodies."""
    for view in ("Top", "Perspective", "Front", "Right"):
        box = gripper_page.view(view).bounding_box()
        assert box is not None, view
        assert min(box["width"], box["height"]) > 100, view
    drawn = gripper_page.ask("stage.bodies.groups.length === store.scene.bodies.length")
    assert drawn
