"""Charts show what the server has, and can be saved."""

import csv
import io
import math
from pathlib import Path

import pytest
from playwright.sync_api import expect

from studio_fixture import Studio
from studio_page import StudioPage
from studio_state import at_the_start, eventually, scene_of, value

ANGLE, TARGET, SPEED = "arm/J2.angle", "arm/J2.target", "arm/J2.speed"


def pick(page: StudioPage, signal: str) -> None:
    """Picks a signal in the dialog that is open."""
    page.page.get_by_role("dialog", name="Pick a signal").locator(
        f"[role=option][data-signal='{signal}']"
    ).click()


@pytest.mark.capability(80, 169)
def test_a_chart_shows_what_the_session_computed(gripper_page: StudioPage, gripper: Studio) -> None:
    """Robot, joint and variable are picked; the saved values are the session's, step by step."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    tab.evaluate("document.activeElement?.blur()")
    page.press("c")
    tab.get_by_role("button", name="Pick a signal").click()
    tab.get_by_label("Robot").select_option("arm")
    tab.get_by_label("Joint or part").select_option("J2")
    tab.get_by_label("Variable").select_option("angle")
    assert tab.get_by_role("option").and_(tab.locator(".palette-row")).count() == 1
    tab.get_by_role("combobox", name="Signal", exact=True).press("Enter")
    chart = tab.get_by_role("group", name=f"Chart of {ANGLE}")
    for signal in (SPEED, TARGET):
        chart.get_by_role("button", name="Add a curve").click()
        pick(page, signal)
    chart = tab.locator("section.chart")
    expect(chart.locator(".chart-curve")).to_have_count(3)
    expect(chart.locator(".u-axis")).to_have_count(3)  # time, degrees, degrees per second
    session = scene_of(gripper).session
    truth: dict[float, tuple[float, float, float]] = {}
    session.after_step.append(
        lambda: truth.__setitem__(
            round(session.time, 6), (session[ANGLE], session[SPEED], session[TARGET])
        )
    )
    page.play()
    eventually("a second", lambda: session.time > 1.0)
    page.pause()
    eventually("paused", lambda: not session.running)
    session.after_step.pop()
    chart.get_by_role("button", name="Chart menu").click()
    with tab.expect_download() as saved:
        tab.get_by_role("menuitem", name="Save CSV").click()
    rows = list(csv.reader(io.StringIO(Path(saved.value.path()).read_text())))
    assert rows[0] == [
        "time [s]", f"{ANGLE} [rad]", f"{SPEED} [rad/s]", f"{TARGET} [rad]",
    ]  # fmt: skip
    known = [row for row in rows[1:] if round(float(row[0]), 6) in truth]
    assert len(known) > 10
    for row in known:
        assert [float(v) for v in row[1:]] == pytest.approx(
            truth[round(float(row[0]), 6)], abs=1e-9
        )
    page.until(
        "Math.abs(document.querySelector(a[0]).textContent.replace('−', '-') - a[1]) < 0.06",
        [f"section.chart [data-signal='{ANGLE}'] b", math.degrees(value(gripper, ANGLE))],
    )
    chart.get_by_role("button", name="Chart menu").click()
    with tab.expect_download() as picture:
        tab.get_by_role("menuitem", name="Save PNG").click()
    assert Path(picture.value.path()).read_bytes().startswith(b"\x89PNG")
    tab.reload()
    page.ready()
    expect(tab.locator("section.chart .chart-curve")).to_have_count(3)


def test_charts_pause_zoom_and_are_empty_at_first(
    gripper_page: StudioPage, gripper: Studio
) -> None:
    """An empty dock says what to do; a paused chart stands while time goes on; a zoom is left."""
    page, tab = gripper_page, gripper_page.page
    at_the_start(page, gripper)
    page.press("c")
    dock = tab.get_by_role("region", name="Charts")
    dock.get_by_text("No charts yet. Pick a signal.").wait_for()
    dock.get_by_role("button", name="Pick a signal").click()
    pick(page, ANGLE)
    session = scene_of(gripper).session
    page.play()
    eventually("running", lambda: session.time > 0.5)
    dock.get_by_role("button", name="Pause the charts").click()
    dock.get_by_role("button", name="Resume the charts").wait_for()
    page.drawn()
    picture = "document.querySelector('section.chart canvas').toDataURL()"
    before, then = page.ask(picture), session.time
    eventually("moved on", lambda: session.time > then + 0.5)
    assert page.ask(picture) == before
    dock.get_by_role("button", name="Resume the charts").click()
    page.until(f"{picture} !== a", before)
    page.pause()
    page.drawn()
    over = tab.locator("section.chart .u-over").bounding_box()
    assert over is not None
    y = over["y"] + over["height"] / 2
    whole = page.ask(picture)
    page.drag((over["x"] + 40, y), (over["x"] + 120, y))
    page.until(f"{picture} !== a", whole)
    page.drawn()
    zoomed = page.ask(picture)
    tab.locator("section.chart .u-over").dblclick()
    page.until(f"{picture} !== a", zoomed)
