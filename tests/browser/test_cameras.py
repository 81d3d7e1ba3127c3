"""Where the views look from: sides, viewpoints, steps by key and mouse; all stays in sight."""

import math

import pytest
from playwright.sync_api import Browser, expect

from studio_fixture import Studio
from studio_page import StudioPage, opened

#: Yaw and pitch of each side [rad], and the key that chooses it.
SIDES = {
    "Front": ("1", -math.pi / 2, 0.0),
    "Back": ("2", math.pi / 2, 0.0),
    "Right": ("3", 0.0, 0.0),
    "Left": ("4", math.pi, 0.0),
    "Top": ("7", -math.pi / 2, math.pi / 2),
    "Bottom": ("8", -math.pi / 2, -math.pi / 2),
}
STAND = "(({ stand: s }) => [s.yaw, s.pitch, s.half, ...s.target.toArray()])"
ACTIVE = "stage.active().camera"
#: Whether every corner of every body is within every view that is seen.
ALL_SEEN = (
    "(stage.draw(), stage.views.filter((v) => !v.element.hidden)"
    ".every((v) => stage.bodies.corners().every((c) => v.shows(c))))"
)


def stand(page: StudioPage, camera: str = ACTIVE) -> list[float]:
    """Yaw, pitch [rad], half height and target [m] of a camera."""
    return page.ask(f"{STAND}({camera})")


def same_angle(a: float, b: float) -> bool:
    return abs(math.remainder(a - b, math.tau)) < 0.01


@pytest.mark.capability(81)
def test_a_key_chooses_a_side(gripper_page: StudioPage) -> None:
    """The active view looks from there, is called so, and still shows everything."""
    for side, (key, yaw, pitch) in SIDES.items():
        gripper_page.press("0")
        gripper_page.press(key)
        expect(gripper_page.view(side).first).to_be_visible()
        found = stand(gripper_page)
        assert same_angle(found[0], yaw), side
        assert abs(found[1] - pitch) < 0.01, side
        assert gripper_page.ask(f"{ACTIVE}.flat"), side
        assert gripper_page.ask(ALL_SEEN), side


@pytest.mark.capability(81)
def test_the_menu_of_a_view_has_all_sides_and_reset(gripper_page: StudioPage) -> None:
    """Each side by name; reset brings the four views back."""
    page = gripper_page.page
    gripper_page.view("Front").get_by_role("button", name="Front").click()
    names = [each.inner_text() for each in page.get_by_role("menuitemradio").all()]
    words = " ".join(names)
    assert all(side in words for side in (*SIDES, "Perspective"))
    page.get_by_role("menuitemradio", name="Left").click()
    assert gripper_page.view("Left").is_visible()
    gripper_page.view("Left").get_by_role("button", name="Left").click()
    page.get_by_role("menuitem", name="Reset all views").click()
    for side in ("Top", "Front", "Right", "Perspective"):
        assert gripper_page.view(side).is_visible()


@pytest.mark.capability(82)
def test_keys_turn_move_and_zoom(gripper_page: StudioPage) -> None:
    """Shift and arrows turn by 15°, Ctrl and arrows move, page up and down zoom; 0 resets."""
    before = stand(gripper_page)
    gripper_page.press("Shift+ArrowRight")
    gripper_page.press("Shift+ArrowUp")
    turned = stand(gripper_page)
    assert turned[0] - before[0] == pytest.approx(math.pi / 12)
    assert turned[1] - before[1] == pytest.approx(math.pi / 12)
    gripper_page.press("Control+ArrowUp")
    assert stand(gripper_page)[5] > turned[5]
    gripper_page.press("PageUp")
    assert stand(gripper_page)[2] == pytest.approx(0.8 * turned[2])
    gripper_page.press("PageDown")
    assert stand(gripper_page)[2] == pytest.approx(turned[2])
    gripper_page.press("0")
    assert stand(gripper_page)[:2] == pytest.approx(before[:2])
    assert gripper_page.ask("store.status.time") == 0  # the arrows alone would have stepped


@pytest.mark.capability(34)
def test_the_mouse_orbits_pans_and_zooms(gripper_page: StudioPage) -> None:
    """Left-drag on the background orbits, right-drag pans, the wheel zooms to the pointer."""
    mouse = gripper_page.page.mouse
    box = gripper_page.view("Perspective").bounding_box()
    assert box is not None
    x, y = box["x"] + 30, box["y"] + box["height"] - 30
    before = stand(gripper_page, "stage.views[1].camera")
    gripper_page.drag((x, y), (x + 60, y - 20))
    orbited = stand(gripper_page, "stage.views[1].camera")
    assert orbited[0] < before[0] - 0.2
    assert orbited[3:] == pytest.approx(before[3:])
    mouse.move(x, y)
    mouse.down(button="right")
    mouse.move(x + 40, y, steps=4)
    mouse.up(button="right")
    panned = stand(gripper_page, "stage.views[1].camera")
    assert panned[:3] == pytest.approx(orbited[:3])
    assert math.dist(panned[3:], orbited[3:]) > 0.01
    assert gripper_page.page.get_by_role("menu").count() == 0
    under = "(([x, y]) => stage.views[1].ray({ clientX: x, clientY: y }).direction.toArray())(a)"
    mouse.wheel(0, -240)
    gripper_page.until(f"{ACTIVE}.stand.half < a - 1e-6", panned[2])
    gripper_page.ask("stage.draw()")
    assert gripper_page.ask(under, [x, y]) is not None
    flat = gripper_page.view("Top").bounding_box()
    assert flat is not None
    at = stand(gripper_page, "stage.views[0].camera")
    corner = (flat["x"] + 20, flat["y"] + flat["height"] - 20)
    gripper_page.drag(corner, (corner[0] + 50, corner[1] - 30))
    moved = stand(gripper_page, "stage.views[0].camera")
    assert moved[:2] == at[:2]
    assert moved[3] < at[3]


@pytest.mark.capability(173)
def test_zoom_goes_to_the_pointer(gripper_page: StudioPage) -> None:
    """What is under the pointer in a flat view stays there."""
    box = gripper_page.view("Front").bounding_box()
    assert box is not None
    x, y = int(box["x"] + 0.7 * box["width"]), int(box["y"] + 0.4 * box["height"])
    where = "(stage.draw(), stage.views[2].ray({ clientX: a[0], clientY: a[1] }).origin.toArray())"
    before = gripper_page.ask(where, [x, y])
    half = stand(gripper_page, "stage.views[2].camera")[2]
    gripper_page.page.mouse.move(x, y)
    gripper_page.page.mouse.wheel(0, -200)
    gripper_page.until("stage.views[2].camera.stand.half < a * 0.95", half)
    after = gripper_page.ask(where, [x, y])
    assert (after[0], after[2]) == pytest.approx((before[0], before[2]), abs=1e-6)


def test_the_scene_has_viewpoints_of_its_own(gripper_page: StudioPage) -> None:
    """A key goes to the next one, the menu names them; the eye is where the file says."""
    gripper_page.press("9")
    gripper_page.rest()
    place = gripper_page.ask("(stage.draw(), stage.active().camera.camera.position.toArray())")
    assert place == pytest.approx([0.9, -0.9, 0.7], abs=1e-6)
    assert stand(gripper_page)[3:] == pytest.approx([0.2, 0.0, 0.25])
    gripper_page.view("Top").get_by_role("button", name="Top").click()
    gripper_page.page.get_by_role("menuitemradio", name="Viewpoint: side").click()
    gripper_page.until("stage.views[0].camera.viewpoint === 'side'")


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900), (1300, 560)])
def test_fit_all_cuts_nothing(chromium: Browser, gripper: Studio, size: tuple[int, int]) -> None:
    """At the start, after Home, after the window changed, and while the robot moves."""
    with opened(chromium, gripper, size=size) as page:
        page.ready()
        assert page.ask(ALL_SEEN)
        page.page.set_viewport_size({"width": size[0] + 100, "height": size[1] - 60})
        page.until(ALL_SEEN)
        page.press("V")
        page.until(f"stage.views.filter((v) => !v.element.hidden).length === 1 && {ALL_SEEN}")
        page.press("Shift+ArrowLeft")
        page.press("PageUp")
        page.press("PageUp")
        page.press("Home")
        page.rest()
        assert page.ask(ALL_SEEN)


def test_views_widen_while_the_robot_moves(gripper_page: StudioPage) -> None:
    """Nothing leaves a view that was fitted and not moved since."""
    gripper_page.press("Home")
    gripper_page.press("Space")
    for when in (0.6, 1.2, 1.8, 2.4):
        gripper_page.until("store.status.time > a", when)
        gripper_page.until(ALL_SEEN)


def test_views_widen_when_a_hand_lets_go(gripper_page: StudioPage) -> None:
    """A drag while time stands leaves nothing outside; the camera waits until its end."""
    page = gripper_page
    page.press("Home")
    page.rest()
    x, y = page.find("front", "arm/E3")
    mouse = page.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y - 12, steps=3)  # the hand has it: no camera moves by itself
    page.page.evaluate(
        "() => { for (const { camera } of linkwork.stage.views) { camera.stand.half *= 0.78;"
        " camera.fitted = true; } linkwork.stage.draw(); }"
    )
    mouse.move(x, y - 60, steps=6)
    page.until(f"!{ALL_SEEN}")
    shown = page.ask("store.poses.slice()")
    page.page.wait_for_timeout(600)  # the last picture of the drag is long there
    assert shown is not None
    mouse.up()
    page.until(ALL_SEEN)


def test_f_frames_the_selection_in_every_view(gripper_page: StudioPage) -> None:
    """The finger is in the middle and large; Home shows everything again."""
    gripper_page.row("arm/E4").click()
    wide = [stand(gripper_page, f"stage.views[{n}].camera")[2] for n in range(4)]
    gripper_page.press("f")
    gripper_page.rest()
    near = [stand(gripper_page, f"stage.views[{n}].camera")[2] for n in range(4)]
    assert all(a < 0.7 * b for a, b in zip(near, wide, strict=True))
    assert gripper_page.ask(
        "(stage.draw(), stage.views.every((v) =>"
        " stage.bodies.corners(stage.bodies.of('arm/E4')).every((c) => v.shows(c))))"
    )
    gripper_page.press("Home")
    assert gripper_page.ask(ALL_SEEN)


def test_the_cameras_follow_a_body(gripper_page: StudioPage) -> None:
    """They keep their distance to it in every view; none lets them stand still."""
    page = gripper_page.page
    page.get_by_role("button", name="Follow: none").click()
    page.get_by_role("menuitemradio", name="arm/E4").click()
    away = (
        "stage.views.map((v) => { const g = stage.bodies.groups.find((b) => b.name === 'arm/E4');"
        " const e = g.matrix.elements; const t = v.camera.stand.target;"
        " return Math.hypot(t.x - e[12], t.y - e[13], t.z - e[14]); })"
    )
    first = gripper_page.ask("stage.views[1].camera.stand.target.toArray()")
    assert gripper_page.ask(away) == pytest.approx([0.0] * 4, abs=1e-6)
    gripper_page.press("Space")
    gripper_page.until("store.status.time > 0.8")
    gripper_page.press("Space")
    gripper_page.until("!store.status.running")
    assert gripper_page.ask(away) == pytest.approx([0.0] * 4, abs=1e-5)
    assert math.dist(gripper_page.ask("stage.views[1].camera.stand.target.toArray()"), first) > 0.01
    page.get_by_role("button", name="Follow: arm/E4").click()
    page.get_by_role("menuitemradio", name="none").click()


@pytest.mark.capability(47)
def test_four_views_are_linked(gripper_page: StudioPage) -> None:
    """A selection in one is the selection of all; one view and four views by button and key."""
    x, y = gripper_page.find("right", "arm/E2")
    gripper_page.page.mouse.click(x, y)
    gripper_page.until("store.selection[0]?.name === 'arm/E2'")
    assert gripper_page.row("arm/E2").get_attribute("aria-selected") == "true"
    gripper_page.view("Top").get_by_role("button", name="One view").click()
    gripper_page.until("stage.views.filter((v) => !v.element.hidden).length === 1")
    assert gripper_page.view("Top").is_visible()
    gripper_page.press("v")
    gripper_page.until("stage.views.filter((v) => !v.element.hidden).length === 4")
