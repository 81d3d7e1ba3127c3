"""A joint follows the pointer: in each view, within its limits, paused and while time runs."""

import math

import numpy as np
import pytest
from playwright.sync_api import expect

from studio_fixture import Studio
from studio_page import StudioPage
from studio_state import at_the_start, eventually, owner, scene_of, value

J1, LOW, HIGH = "arm/J1.angle", math.radians(-40.0), math.radians(75.0)
#: Which way the pointer goes in each view to lift the arm [px]. From the top and from the right
#: its axis is seen edge-on.
LIFTS = {"top": (-24, 0), "front": (0, -24), "right": (0, -24), "perspective": (0, -24)}


def held(page: StudioPage, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Presses the button at a place and moves away from it, without letting go."""
    mouse = page.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(start[0] + by[0], start[1] + by[1], steps=5)


@pytest.mark.capability(50)
@pytest.mark.parametrize("view", LIFTS)
def test_a_paused_joint_follows_the_pointer_within_its_limits(
    gripper_page: StudioPage, gripper: Studio, view: str
) -> None:
    """The forearm is lifted, stops at its limit and says so, comes back, and goes where let go."""
    page, mouse = gripper_page, gripper_page.page.mouse
    at_the_start(page, gripper)
    first = value(gripper, J1)
    start = page.find(view, "arm/E3")
    dx, dy = LIFTS[view]
    held(page, start, (dx, dy))
    eventually("lifted", lambda: value(gripper, J1) > first + 0.05)
    label = page.page.locator(f"[data-view={view}] .joint-label")
    expect(label).to_contain_text("J1")
    round_ = page.place(view, (-0.2, 0.0, 0.6))  # beyond upright, where one sees it turn
    edge_on = view in ("top", "right")
    mouse.move(*((start[0] + 12 * dx, start[1] + 12 * dy) if edge_on else round_), steps=10)
    eventually("at its limit", lambda: value(gripper, J1) == pytest.approx(HIGH, abs=1e-9))
    page.page.get_by_text("J1 is at its limit, 75.0°. It stops here.").wait_for()
    expect(label).to_contain_text("at its limit")
    mouse.move(start[0] + dx, start[1] + dy, steps=10)
    mouse.move(*start, steps=4)
    eventually("back", lambda: value(gripper, J1) == pytest.approx(first, abs=0.02))
    mouse.up()
    assert value(gripper, "arm/J2.angle") == pytest.approx(math.radians(10.0))


def test_the_held_point_stays_under_the_pointer(gripper_page: StudioPage, gripper: Studio) -> None:
    """Seen along the axis, the point of the link that was taken is where the pointer is."""
    page = gripper_page
    at_the_start(page, gripper)
    first, pivot, far = value(gripper, J1), np.array([0.0, 0.32]), 0.25  # of J1: x and z [m]
    taken = pivot + far * np.array([math.cos(first), math.sin(first)])
    goal = np.array([0.18, 0.52])
    page.drag(
        page.place("front", (taken[0], 0.0, taken[1])), page.place("front", (0.18, 0.0, 0.52))
    )
    wanted = math.atan2(*(goal - pivot)[::-1])
    eventually("there", lambda: value(gripper, J1) == pytest.approx(wanted, abs=0.03))


@pytest.mark.capability(50)
def test_a_drag_while_time_stands_is_undone(gripper_page: StudioPage, gripper: Studio) -> None:
    """Ctrl+Z puts the posture back and Ctrl+Shift+Z does it again: one step for each drag."""
    page = gripper_page
    at_the_start(page, gripper)
    first = scene_of(gripper).session.state.q.copy()
    start = page.find("front", "arm/E3")
    page.drag(start, (start[0], start[1] - 30))
    expect(page.page.get_by_role("button", name="Undo: place arm/J1")).to_be_enabled()
    there = value(gripper, J1)
    assert there > first[0] + 0.05
    page.row("arm/J1").click()
    page.press("+")
    eventually("a degree on", lambda: value(gripper, J1) > there + 0.01)
    page.press("Control+Z")
    eventually("before the key", lambda: value(gripper, J1) == pytest.approx(there, abs=1e-9))
    page.press("Control+Z")
    eventually("as before", lambda: bool((scene_of(gripper).session.state.q == first).all()))
    page.until("!store.undo.can_undo && store.undo.can_redo")
    page.press("Control+Shift+Z")
    eventually("done again", lambda: value(gripper, J1) == pytest.approx(there, abs=1e-9))
    page.press("ArrowRight")
    page.until("!store.undo.can_undo && !store.undo.can_redo && store.status.time > 0")


def test_escape_gives_a_drag_up(gripper_page: StudioPage, gripper: Studio) -> None:
    """The joint goes back to where it was, and the button that is still down does nothing more."""
    page = gripper_page
    at_the_start(page, gripper)
    first = value(gripper, J1)
    held(page, page.find("front", "arm/E3"), (0, -30))
    eventually("lifted", lambda: value(gripper, J1) > first + 0.05)
    page.page.keyboard.press("Escape")
    eventually("put back", lambda: value(gripper, J1) == pytest.approx(first, abs=1e-6))
    page.page.mouse.up()


@pytest.mark.capability(57)
def test_while_time_runs_the_target_follows_and_the_joint_goes_there(
    gripper_page: StudioPage, gripper: Studio
) -> None:
    """A finger is taken over from its program; a drag moves its target, a ghost stands there."""
    page = gripper_page
    at_the_start(page, gripper)
    start_angle = value(gripper, J1)
    page.press("Space")
    page.until("store.owners['arm/J1.target'] === 'lift'")
    held(page, page.find("front", "arm/E3"), (0, -20))
    page.page.mouse.up()
    page.page.get_by_text("J1 is driven by lift.").wait_for()
    page.page.get_by_role("button", name="Take it over", exact=True).click()
    eventually("taken", lambda: owner(gripper, "arm/J1.target") == "user")
    page.page.evaluate(
        "(value) => linkwork.send({type: 'set', signal: 'arm/J1.target', value})", start_angle
    )
    eventually("back", lambda: value(gripper, J1) == pytest.approx(start_angle, abs=0.03))
    page.page.get_by_role("combobox", name="Speed", exact=True).select_option("0.1")
    page.until("store.status.speed === 0.1")
    start = page.find("front", "arm/E3")
    held(page, start, (-30, -60))
    eventually(
        "target set", lambda: value(gripper, "arm/J1.target") > value(gripper, J1) + math.radians(8)
    )
    body = scene_of(gripper).session.world.frame("arm/E3")[0]
    page.until(
        "store.ghost && Math.abs(store.ghost[a * 7 + 5] - store.poses[a * 7 + 5]) > 0.02", body
    )
    page.page.mouse.up()
    wanted = value(gripper, "arm/J1.target")
    assert LOW <= wanted <= HIGH
    page.page.get_by_role("combobox", name="Speed", exact=True).select_option("1")
    eventually("there", lambda: value(gripper, J1) == pytest.approx(wanted, abs=0.06))
    page.page.get_by_role("button", name="Give all back").click()
    eventually("given back", lambda: owner(gripper, "arm/J1.target") == "lift")
