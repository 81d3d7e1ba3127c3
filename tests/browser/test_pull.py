"""Ctrl-drag pulls a link with a spring while time runs."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from studio_fixture import Studio
from studio_page import StudioPage
from studio_state import at_the_start, eventually, owner, scene_of, value

_LABEL = "[data-view=front] .drag-label"


def grab(studio: Studio) -> np.ndarray:
    """The spring of the hand: on, body, point, target, stiffness, damping."""
    return scene_of(studio).session.state["param/grab"][0].copy()


def test_a_pull_moves_the_link_and_says_its_force(
    gripper_page: StudioPage, gripper: Studio
) -> None:
    """The hand's spring holds where the pointer took it, goes with it, and ends when let go."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    page.press("Space")
    tab.get_by_role("button", name="Take all over").click()
    eventually("taken", lambda: owner(gripper, "arm/J1.target") == "user")
    before = value(gripper, "arm/J1.target")
    start = page.find("front", "arm/E3")
    tab.keyboard.down("Control")
    tab.mouse.move(*start)
    tab.mouse.down()
    tab.mouse.move(start[0], start[1] - 60, steps=6)
    eventually("held", lambda: grab(gripper)[0] == 1.0)
    on, body, *_ = grab(gripper)
    session = scene_of(gripper).session
    assert (on, body) == (1.0, session.world.frame("arm/E3")[0])
    assert grab(gripper)[8] == pytest.approx(0.8 * 15.0**2)
    label = tab.locator(_LABEL)
    expect(label).to_have_class(re.compile(r"\bforce\b"))
    expect(label).to_have_text(re.compile(r"\d N$"))
    page.until("parseFloat(document.querySelector(a).textContent) > 1", _LABEL)
    at = grab(gripper)[5:8]
    tab.mouse.move(start[0], start[1] - 90, steps=3)
    eventually("followed", lambda: grab(gripper)[7] > at[2] + 0.02)
    eventually("pulled up", lambda: value(gripper, "arm/J1.angle") > before + 0.01)
    tab.mouse.up()
    tab.keyboard.up("Control")
    eventually("let go", lambda: grab(gripper)[0] == 0.0)
    assert value(gripper, "arm/J1.target") == pytest.approx(before, abs=1e-9)


def test_a_pull_while_time_stands_offers_to_play(gripper_page: StudioPage, gripper: Studio) -> None:
    """Nothing is held, and the page says what is missing."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    start = page.find("front", "arm/E3")
    tab.keyboard.down("Control")
    page.drag(start, (start[0], start[1] - 40))
    tab.keyboard.up("Control")
    tab.get_by_text("A pull needs time to run.").wait_for()
    assert grab(gripper)[0] == 0.0
    tab.locator(".toast").get_by_role("button", name="Play").click()
    eventually("running", lambda: scene_of(gripper).session.running)
