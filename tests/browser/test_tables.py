"""Tables: wanted and actual joint values, and the state of joints and bodies, read and saved."""

import csv
import io
import math
import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import expect

from studio_fixture import Studio
from studio_page import StudioPage
from studio_state import at_the_start, eventually, scene_of, value

J1 = "arm/J1.angle"
WORDS = ("angle", "speed", "acceleration", "effort", "target")


def saved(page: StudioPage, button: str) -> list[list[str]]:
    """The rows of the CSV file that a button of the dock saves."""
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name=button, exact=True).click()
    return list(csv.reader(io.StringIO(Path(download.value.path()).read_text())))


@pytest.mark.capability(170)
def test_every_drag_has_its_table(gripper_page: StudioPage, gripper: Studio) -> None:
    """A slider's keys, a typed value with a unit and the step keys place a paused joint."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    slider = tab.get_by_role("slider", name="J1 wanted")
    slider.focus()
    slider.press("ArrowRight")
    eventually("one step", lambda: value(gripper, J1) == pytest.approx(math.radians(16.0)))
    slider.press("End")
    eventually("at the end", lambda: value(gripper, J1) == pytest.approx(math.radians(75.0)))
    page.until("document.activeElement.getAttribute('aria-valuetext') === '75.0 degrees'")
    field = tab.get_by_role("textbox", name="J1 wanted")
    for typed, radians in (
        ("2*15", math.radians(30.0)),
        ("0.25 rad", 0.25),
        ("-5°", -math.pi / 36),
    ):
        field.fill(typed)
        field.press("Enter")
        eventually(typed, lambda radians=radians: value(gripper, J1) == pytest.approx(radians))
    field.fill("200")
    field.press("Enter")
    tab.get_by_text("J1 stops at 75.0°.").wait_for()
    eventually("as far as it goes", lambda: value(gripper, J1) == pytest.approx(math.radians(75.0)))
    field.fill("many")
    field.press("Enter")
    tab.get_by_text("J1: not a number.").wait_for()
    assert value(gripper, J1) == pytest.approx(math.radians(75.0))
    tab.get_by_role("button", name="rad", exact=True).click()
    field.fill("0.5")
    field.press("Enter")
    eventually("radians", lambda: value(gripper, J1) == pytest.approx(0.5))
    tab.get_by_role("button", name="deg", exact=True).click()


@pytest.mark.capability(121)
def test_the_default_step_the_posture_as_text_and_a_reload(
    gripper_page: StudioPage, gripper: Studio
) -> None:
    """+ and − move the selected joint by the step that is chosen; the posture is text for a file;
    the scene is read again from its file."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    tab.get_by_label("Step of the keys + and −").select_option(label="± 5°")
    page.row("arm/J1").click()
    page.press("+")
    eventually("up", lambda: value(gripper, J1) == pytest.approx(math.radians(20.0)))
    actual = tab.locator("[data-joint='arm/J1'] .joint-actual")
    actual.scroll_into_view_if_needed()  # what is out of sight is not drawn
    expect(actual).to_have_text("20.0")
    page.press("-")
    eventually("down", lambda: value(gripper, J1) == pytest.approx(math.radians(15.0)))
    expect(actual).to_have_text("15.0")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="Copy posture").click()
    tab.get_by_text("Posture of 3 joints copied as text.").wait_for()
    (posture,) = tomllib.loads(tab.evaluate("navigator.clipboard.readText()"))["posture"]
    assert posture["joints_deg"] == pytest.approx({"arm/J1": 15, "arm/J2": 10, "arm/J3": 10})
    before = scene_of(gripper)
    tab.keyboard.press("Control+k")
    tab.get_by_role("combobox", name="Command").fill("reload")
    tab.get_by_role("combobox", name="Command").press("Enter")
    eventually("read again", lambda: gripper.host.open not in (None, before))
    page.ready()


def test_match_wanted_to_actual(gripper_page: StudioPage, gripper: Studio) -> None:
    """Targets become what is measured; those of programs are left to them, and it is said."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    page.play()
    eventually("running", lambda: scene_of(gripper).session.time > 0.6)
    page.pause()
    button = tab.get_by_role("button", name="Match wanted to actual")
    button.click()
    tab.get_by_text("3 joints are driven by a program and left to it.").wait_for()
    tab.get_by_role("button", name="Take all over").click()
    page.until("Object.values(store.owners).every((who) => who === 'user')")
    button.click()
    for name in ("arm/J1", "arm/J2", "arm/J3"):
        eventually(
            name,
            lambda name=name: (
                value(gripper, f"{name}.target")
                == pytest.approx(value(gripper, f"{name}.angle"), abs=1e-9)
            ),
        )


@pytest.mark.capability(84)
def test_the_state_is_read_and_saved(gripper_page: StudioPage, gripper: Studio) -> None:
    """The dock's tables hold positions, speeds, efforts and poses as the session has them."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    session = scene_of(gripper).session
    page.play()
    eventually("running", lambda: session.time > 0.6)
    page.pause()
    page.press("c")
    tab.get_by_role("tab", name="Joints").click()
    table = tab.get_by_role("table", name="Joint states")
    cells = table.locator("[data-name='arm/J1'] td")
    expect(cells.nth(3)).not_to_have_text("–")
    page.until(
        "Math.abs(parseFloat(document.querySelector('[data-name=\"arm/J1\"] td').textContent"
        ".replace('−', '-')) - a) < 0.006",
        math.degrees(value(gripper, J1)),
    )
    head, *rows = saved(page, "Save as CSV")
    assert head == [
        "joint", "position [rad]", "speed [rad/s]", "acceleration [rad/s²]", "effort [N m]",
        "wanted [rad]",
    ]  # fmt: skip
    by_name = {row[0]: [float(v) for v in row[1:]] for row in rows}
    for name, numbers in by_name.items():
        signals = [f"{name}.{word}" for word in WORDS]
        assert numbers == pytest.approx([value(gripper, each) for each in signals], abs=1e-12)
    assert set(by_name) == {"arm/J1", "arm/J2", "arm/J3"}
    assert saved(page, "Save the past as CSV")[0][:2] == ["time [s]", "arm/J1.angle [rad]"]
    tab.get_by_role("tab", name="Bodies").click()
    head, *rows = saved(page, "Save as CSV")
    assert head == ["body", "x [m]", "y [m]", "z [m]", "roll [rad]", "pitch [rad]", "yaw [rad]"]
    forearm = next(row for row in rows if row[0] == "arm/E3")
    body = session.world.frame("arm/E3")[0]
    assert [float(v) for v in forearm[1:4]] == pytest.approx(session.state.pose[body, :3], abs=1e-6)
    assert float(forearm[5]) == pytest.approx(-value(gripper, J1), abs=1e-5)
    page.press("c")
