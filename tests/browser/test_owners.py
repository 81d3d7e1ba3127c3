"""Who drives a joint is shown, and taken over only by a word."""

import re

import pytest

from studio_fixture import Studio
from studio_page import StudioPage
from studio_state import at_the_start, eventually, owner, value

TARGET = "arm/J2.target"


def test_a_programs_joint_is_marked_and_taken_over(
    gripper_page: StudioPage, gripper: Studio
) -> None:
    """A typed value is not forced on a program; taken over it is, and given back it is not."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    page.press("Space")
    page.until("store.owners['arm/J2.target'] === 'fingers'")
    field = tab.get_by_role("textbox", name="J2 wanted")
    field.fill("40deg")
    field.press("Enter")
    tab.get_by_text("J2 is driven by fingers.").wait_for()
    assert owner(gripper, TARGET) == "fingers"
    tab.get_by_role("button", name="Take J2 over from fingers").click()
    eventually("taken", lambda: owner(gripper, TARGET) == "user")
    page.until("store.owners['arm/J2.target'] === 'user'")  # the page knows it a little later
    field.fill("0.5 rad")
    field.press("Enter")
    eventually("set", lambda: value(gripper, TARGET) == pytest.approx(0.5))
    eventually("there", lambda: value(gripper, "arm/J2.angle") == pytest.approx(0.5, abs=0.05))
    tab.get_by_role("button", name=re.compile("Give back J2")).click()
    eventually("given back", lambda: owner(gripper, TARGET) == "fingers")


def test_all_are_taken_over_and_given_back(gripper_page: StudioPage, gripper: Studio) -> None:
    """One button takes every program's joint, another gives them back."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    page.press("Space")
    targets = ["arm/J1.target", "arm/J2.target", "arm/J3.target"]
    eventually("owned", lambda: all(owner(gripper, each) not in (None, "user") for each in targets))
    tab.get_by_role("button", name="Take all over").click()
    eventually("taken", lambda: all(owner(gripper, each) == "user" for each in targets))
    tab.get_by_role("button", name="Give all back").click()
    eventually("given back", lambda: all(owner(gripper, each) != "user" for each in targets))
