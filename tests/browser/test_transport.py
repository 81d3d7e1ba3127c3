"""Time: play, pause, step, back through history, scrubbing, reset and speed."""

from playwright.sync_api import expect

from studio_fixture import Studio
from studio_page import StudioPage
from studio_state import at_the_start, eventually, scene_of


def test_play_pause_and_step(gripper_page: StudioPage, gripper: Studio) -> None:
    """Buttons and keys do the same; a step is one step of the session."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    session = scene_of(gripper).session
    bar = tab.get_by_role("toolbar", name="Transport")
    bar.get_by_role("button", name="Play (Space)").click()
    eventually("running", lambda: session.running and session.time > 0.1)
    page.pause()
    before = session.state.step
    bar.get_by_role("button", name="Step (→)").click()
    eventually("one step", lambda: session.state.step == before + 1)
    page.press("ArrowRight")
    eventually("two steps", lambda: session.state.step == before + 2)
    page.until("store.status.step === a", before + 2)
    bar.get_by_label("Simulated time").get_by_text(f"{session.time:.3f}").wait_for()
    expect(tab.get_by_role("contentinfo")).to_contain_text(f"{session.time:.3f} s")


def test_the_past_is_scrubbed_without_losing_the_present(
    gripper_page: StudioPage, gripper: Studio
) -> None:
    """The line shows the past, the present waits, and playing goes on from what is shown."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    session = scene_of(gripper).session
    page.play()
    eventually("some past", lambda: session.time > 1.2)
    page.pause()
    now = session.time
    line = tab.get_by_role("slider", name="Time", exact=True)
    page.until(
        "document.querySelector('[role=slider][aria-label=Time]').getAttribute('aria-valuemax')"
        " >= store.status.history[1]"
    )
    box = line.bounding_box()
    assert box is not None
    span = float(line.get_attribute("aria-valuemax") or 0)
    half = box["x"] + box["width"] * 0.5 / span
    page.drag((half + 40, box["y"] + 10), (half, box["y"] + 10))
    page.until("store.status.seeking && Math.abs(store.status.time - 0.5) < 0.1")
    page.until("store.poseTime === store.status.time")
    past = page.ask("Array.from(store.poses)")
    assert session.time == now
    tab.get_by_role("button", name="Back to now").click()
    page.until("!store.status.seeking && Math.abs(store.status.time - a) < 1e-6", now)
    page.until("Array.from(store.poses).some((v, n) => Math.abs(v - a[n]) > 1e-3)", past)
    page.press("ArrowLeft")
    page.until("store.status.seeking && store.status.time < a", now)
    page.press("n")
    page.until("!store.status.seeking")
    page.drag((half + 40, box["y"] + 10), (half, box["y"] + 10))
    page.until("store.status.seeking && Math.abs(store.status.time - 0.5) < 0.1")
    page.press("ArrowRight")
    eventually("gone on from there", lambda: abs(session.time - 0.5) < 0.11)
    page.until("!store.status.seeking")


def test_speed_by_menu_and_keys_and_reset(gripper_page: StudioPage, gripper: Studio) -> None:
    """The clock of the session takes the speed; reset goes to the first state."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    session = scene_of(gripper).session
    tab.get_by_role("combobox", name="Speed", exact=True).select_option("0.5")
    eventually("half speed", lambda: session.clock.speed == 0.5)
    page.until("store.status.speed === 0.5")
    page.press("]")
    eventually("real time", lambda: session.clock.speed == 1.0)
    page.until("store.status.speed === 1")
    page.press("[")
    eventually("half again", lambda: session.clock.speed == 0.5)
    page.until("store.status.speed === 0.5")
    page.press("]")
    eventually("real time again", lambda: session.clock.speed == 1.0)
    for _ in range(5):
        page.press("ArrowRight")
    eventually("stepped", lambda: session.state.step == 5)
    tab.get_by_role("button", name="Reset (Backspace)").click()
    eventually("reset", lambda: session.state.step == 0)
