"""A movement is made in the browser: by table, slider, hand and time line; saved and replayed."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

import linkwork as lw
from linkwork.model.scene import Movement
from linkwork.model.scene.motion_limits import MotionLimits
from studio_fixture import Studio, studio
from studio_page import StudioPage, opened
from studio_state import at_the_start, eventually, scene_of, value

DEG = math.pi / 180


@pytest.fixture
def humanoid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chromium: Browser
) -> Iterator[tuple[StudioPage, Studio]]:
    """The humanoid held at its trunk, paused at its first state, with the editor open."""
    monkeypatch.chdir(tmp_path)
    with studio("bioloid/fixed", tmp_path / ".linkwork") as made, opened(chromium, made) as page:
        page.ready()
        page.until("store.people.driver === store.you")
        at_the_start(page, made)
        page.press("e")
        page.page.get_by_role("button", name="Add posture").wait_for()
        yield page, made


def movement(made: Studio) -> Movement:
    return scene_of(made).movement.work.movement


def joint(made: Studio, posture: int, name: str) -> float | None:
    """A value of a posture as the session has it, in degrees."""
    found = scene_of(made).movement.work.now.movement
    if found is None or len(found.postures) <= posture:
        return None
    there = found.postures[posture].joints.get(name)
    return None if there is None else there / DEG


def near(made: Studio, posture: int, name: str, angle: float) -> None:
    def holds() -> bool:
        there = joint(made, posture, name)
        return there is not None and abs(there - angle) < 1e-6

    eventually(f"{name} of posture {posture} at {angle}", holds)


def cell(page: StudioPage, name: str, posture: int) -> Locator:
    return page.page.get_by_label(f"{name} in posture {posture}", exact=True)


def typed(field: Locator, text: str) -> None:
    field.fill(text)
    field.press("Enter")


@pytest.mark.capability(171, 172)
def test_a_movement_is_made_saved_and_replayed(
    humanoid: tuple[StudioPage, Studio], tmp_path: Path
) -> None:
    """Postures by table and slider, mirrored, timed, undone; the file is what the robot plays."""
    page, made = humanoid
    tab = page.page
    expect(tab.get_by_text("No movement yet.")).to_be_visible()
    tab.get_by_role("button", name="Add posture").click()
    marks = tab.get_by_role("listbox", name="Postures").get_by_role("option")
    expect(marks).to_have_count(1)
    tab.get_by_role("button", name="Add posture").last.click()
    expect(marks).to_have_count(2)
    expect(tab.locator(".movement-hint")).to_contain_text("add the next posture")

    typed(cell(page, "left_shoulder_roll", 2), "70")
    near(made, 1, "left_shoulder_roll", 70.0)
    shoulder = "robot/left_shoulder_roll.angle"
    eventually("shown", lambda: abs(value(made, shoulder) - 70 * DEG) < 1e-9)
    tab.get_by_role("slider", name="neck wanted").press("End")  # the usual slider of the joint
    near(made, 1, "neck", scene_range(made, "neck")[1] / DEG)
    near(made, 0, "neck", 0.0)
    typed(cell(page, "neck", 2), "25")
    near(made, 1, "neck", 25.0)

    typed(cell(page, "left_knee", 2), "80")  # beyond its range: told at once, not taken
    expect(tab.locator(".movement-wrong")).to_contain_text("left_knee stops at 32.0°")
    near(made, 1, "left_knee", 0.0)
    typed(tab.get_by_label("Time of posture 2", exact=True), "0")
    expect(tab.locator(".movement-wrong")).to_contain_text("There is a posture at 0 s already")
    typed(tab.get_by_label("Time of posture 2", exact=True), "0.8")
    eventually("at 0.8 s", lambda: movement(made).postures[1].time == 0.8)

    tab.get_by_role("button", name="Mirror", exact=True).click()
    near(made, 1, "right_shoulder_roll", 70.0)
    near(made, 1, "neck", -25.0)
    expect(cell(page, "right_shoulder_roll", 2)).to_have_value("70.0")
    page.press("Control+z")
    near(made, 1, "neck", 25.0)
    page.press("Control+Shift+Z")
    near(made, 1, "neck", -25.0)

    tab.get_by_role("button", name="Duplicate").click()
    expect(marks).to_have_count(3)
    marks.nth(2).focus()
    tab.keyboard.press("Shift+ArrowRight")
    eventually("a tenth later", lambda: movement(made).postures[2].time == 1.4)
    tab.keyboard.press("Delete")
    expect(marks).to_have_count(2)

    typed(tab.get_by_label("Name of the movement"), "wave")
    tab.get_by_role("button", name="Save", exact=True).click()
    dialog = tab.get_by_role("dialog")
    dialog.get_by_label("File").fill("wave")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(tab.get_by_role("button", name="Saved", exact=True)).to_be_disabled()
    kept = lw.load_movement(tmp_path / "wave.toml")
    assert kept == movement(made)
    assert (kept.name, kept.interpolation, kept.duration) == ("wave", "smooth", 0.8)
    assert kept.postures[1].joints["right_shoulder_roll"] == 70 * DEG

    tab.get_by_role("button", name="New", exact=True).click()
    expect(tab.get_by_text("No movement yet.")).to_be_visible()
    tab.get_by_role("button", name="Open a movement…").click()
    dialog = tab.get_by_role("dialog")
    dialog.get_by_label("File").fill("wave.toml")
    dialog.get_by_role("button", name="Open", exact=True).click()
    expect(marks).to_have_count(2)
    tab.get_by_role("button", name="Preview").click()
    session = scene_of(made).session
    play = scene_of(made).movement.play
    eventually("played", lambda: session.time > 1.2 and not (play.playing or session.running))
    assert play.time == 0.8
    page.until("!linkwork.movement.playing && linkwork.movement.time === 0.8")
    wanted = {name: value(made, f"robot/{name}.target") for name in kept.postures[1].joints}
    assert wanted == pytest.approx(kept.postures[1].joints, abs=1e-9)
    assert value(made, "robot/neck.angle") == pytest.approx(-25 * DEG, abs=1 * DEG)
    assert session.signals.owners["robot/neck.target"] == "user"


def scene_range(made: Studio, name: str) -> tuple[float, float]:
    world = scene_of(made).session.world
    dof = world.single_dof(f"robot/{name}")
    return float(world.dof_lo[dof]), float(world.dof_hi[dof])


def test_a_page_that_is_loaded_anew_has_the_movement(humanoid: tuple[StudioPage, Studio]) -> None:
    """What is edited is the session's: who comes later sees it, saved or not."""
    page, _ = humanoid
    page.page.get_by_role("button", name="Add posture").click()
    page.until("linkwork.movement.state?.draft?.postures.length === 1")
    page.page.reload()
    page.ready()
    page.until("linkwork.movement.state?.draft?.postures.length === 1")


@pytest.mark.capability(171, 172)
def test_postures_are_shaped_by_hand_and_moved_along_the_line(
    humanoid: tuple[StudioPage, Studio],
) -> None:
    """A dragged link goes into the posture as one step; a mark that is dragged changes its time."""
    page, made = humanoid
    tab = page.page
    tab.get_by_role("button", name="Add posture").click()
    marks = tab.get_by_role("listbox", name="Postures").get_by_role("option")
    expect(marks).to_have_count(1)
    tab.get_by_role("button", name="Add posture").last.click()
    expect(marks).to_have_count(2)
    page.until("linkwork.movement.state.selected === -1")
    marks.nth(1).click()
    page.until("linkwork.movement.state.shown && linkwork.movement.state.selected === 1")
    page.rest()
    before = {name: joint(made, 1, name) for name in movement(made).postures[1].joints}
    start = page.find("perspective", "robot/left_forearm")
    page.drag(start, (start[0] + 40, start[1] - 40))
    tab.mouse.move(2, 2)

    def changed() -> list[str]:
        return [name for name, was in before.items() if joint(made, 1, name) != was]

    eventually("something moved", lambda: bool(changed()))
    page.drawn()  # the last wish of the hand is on its way
    assert {joint(made, 0, name) for name in changed()} == {before[name] for name in changed()}
    page.press("Control+z")  # the whole drag
    eventually("put back", lambda: not changed())
    expect(marks).to_have_count(2)

    box = marks.nth(1).bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.drag(at, (at[0] - 200, at[1]))
    eventually("earlier", lambda: movement(made).postures[1].time < 0.95)
    moved = movement(made).postures[1].time
    page.press("Control+z")
    eventually("at 1 s again", lambda: movement(made).postures[1].time == 1.0)
    assert moved > 0.0

    tab.get_by_role("slider", name="Time of the movement").press("ArrowRight")
    page.until("linkwork.movement.state.selected === -1")
    tab.get_by_label("From posture to posture").select_option("acceleration")
    typed(tab.get_by_label("Largest speed"), "281")
    limits = MotionLimits(speed=281 * DEG)
    eventually("limits", lambda: movement(made).limits.get("neck") == limits)
    typed(cell(page, "neck", 2), "60")
    near(made, 1, "neck", 60.0)
    typed(tab.get_by_label("Time of posture 2", exact=True), "0.1")
    expect(tab.locator(".movement-wrong")).to_contain_text("neck")  # what cannot be met is told
    tab.get_by_role("button", name="Preview").click()
    expect(tab.get_by_role("alert").filter(has_text="cannot be played")).to_be_visible()
