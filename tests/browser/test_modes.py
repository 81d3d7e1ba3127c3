"""The three modes: one switch on one running scene, state tables, and feet put by sliders."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from studio_fixture import Studio, studio
from studio_page import StudioPage, opened
from studio_state import at_the_start, eventually, scene_of, value

KNEE = "robot/right_knee"


def on_page(running: Studio, chromium: Browser) -> Iterator[StudioPage]:
    with opened(chromium, running) as page:
        page.ready()
        page.until("store.people.driver === store.you")
        at_the_start(page, running)
        yield page


@pytest.fixture
def walk(tmp_path: Path, chromium: Browser) -> Iterator[Studio]:
    with studio("bart_uh/walk", tmp_path) as running:
        yield running


@pytest.fixture
def walk_page(walk: Studio, chromium: Browser) -> Iterator[StudioPage]:
    yield from on_page(walk, chromium)


@pytest.fixture
def feet(tmp_path: Path, chromium: Browser) -> Iterator[Studio]:
    with studio("bart_uh/feet", tmp_path) as running:
        yield running


@pytest.fixture
def feet_page(feet: Studio, chromium: Browser) -> Iterator[StudioPage]:
    yield from on_page(feet, chromium)


def run_on(page: StudioPage, running: Studio) -> None:
    """Lets a few steps pass, and stands still again."""
    session = scene_of(running).session
    then = session.state.step
    page.play()
    eventually("running", lambda: session.state.step > then + 100)
    page.pause()
    eventually("paused", lambda: not session.running)


def error(running: Studio) -> float:
    """How far the knee is from where it is wanted [rad]."""
    return abs(value(running, f"{KNEE}.target") - value(running, f"{KNEE}.angle"))


def test_the_switch_is_whole_as_long_as_one_can_drive(walk_page: StudioPage) -> None:
    """At the least width for driving, nothing lies over it."""
    walk_page.page.set_viewport_size({"width": 1024, "height": 800})
    last = walk_page.page.get_by_role("group", name="Mode").get_by_role("button").last
    expect(last).to_be_visible()
    last.click(trial=True)


@pytest.mark.capability(71)
@pytest.mark.capability(72)
@pytest.mark.capability(73)
@pytest.mark.capability(74)
@pytest.mark.capability(84)
def test_three_modes_on_one_running_scene(walk_page: StudioPage, walk: Studio) -> None:
    """Exact in kinematic, moments in emulation, an error in simulation; time never goes back."""
    page, tab = walk_page, walk_page.page
    session = scene_of(walk).session
    switch = tab.get_by_role("group", name="Mode")
    kinematic, emulation, simulation = (
        switch.get_by_role("button", name=name) for name in ("Kinematic", "Emulation", "Simulation")
    )
    expect(kinematic).to_have_attribute("aria-pressed", "true")
    run_on(page, walk)
    assert error(walk) == 0.0
    assert value(walk, f"{KNEE}.effort") == 0.0

    last, knee = session.time, value(walk, f"{KNEE}.angle")
    emulation.click()
    expect(emulation).to_have_attribute("aria-pressed", "true")
    assert session.mode == "emulation"
    assert session.time == last
    assert value(walk, f"{KNEE}.angle") == knee
    run_on(page, walk)
    assert session.time > last
    assert error(walk) == 0.0
    assert abs(value(walk, f"{KNEE}.effort")) > 0.1
    carried = value(walk, "robot/right_tread.force") + value(walk, "robot/left_tread.force")
    assert 150.0 < carried < 280.0

    last = session.time
    simulation.click()
    expect(simulation).to_have_attribute("aria-pressed", "true")
    run_on(page, walk)
    assert session.time > last
    assert session.mode == "simulation"
    assert 1e-6 < error(walk) < 0.1
    assert abs(value(walk, f"{KNEE}.effort")) > 0.01

    tab.keyboard.press("Control+z")  # back to emulation, by undo
    expect(emulation).to_have_attribute("aria-pressed", "true")
    kinematic.click()
    expect(kinematic).to_have_attribute("aria-pressed", "true")
    run_on(page, walk)
    assert error(walk) == 0.0

    page.press("c")
    tab.get_by_role("tab", name="Motion").click()
    table = tab.get_by_role("table", name="Motion states")
    expect(table.locator("tbody tr")).to_have_count(9)  # torso and feet, 3×6 each
    expect(table.locator("[data-name='torso_state'] td").nth(1)).not_to_have_text("–")
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Save as CSV", exact=True).click()
    head, *rows = csv.reader(io.StringIO(Path(download.value.path()).read_text()))
    assert head == ["motion", "x", "y", "z", "phi", "psi", "theta"]
    made = {row[0]: [float(cell) for cell in row[1:]] for row in rows}
    for name in ("torso_state", "right_state", "left_state"):
        for behind in ("", "_speed", "_acceleration"):
            wanted = [value(walk, f"{name}.{c}{behind}") for c in head[1:]]
            assert made[f"{name}{behind.replace('_', ' ')}"] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.capability(66)
@pytest.mark.capability(71)
def test_a_foot_goes_where_its_slider_says(feet_page: StudioPage, feet: Studio) -> None:
    """A number typed for the sole lifts the foot; the knee bends, and its speed is seen."""
    page, tab = feet_page, feet_page.page
    before = value(feet, "robot/left_knee.angle")
    field = tab.get_by_role("textbox", name="left_sole_z wanted")
    field.fill("0.1 m")
    field.press("Enter")
    eventually("told", lambda: value(feet, "legs.left_sole_z") == pytest.approx(0.1))
    run_on(page, feet)
    assert value(feet, "left_state.z") == pytest.approx(0.15, abs=1e-6)
    assert value(feet, "robot/left_knee.angle") < before - 0.1
