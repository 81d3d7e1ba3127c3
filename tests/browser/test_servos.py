"""A servo is tuned in the browser while it runs: its step changes, its energy is shown."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from studio_fixture import Studio, studio
from studio_page import StudioPage, opened
from studio_state import eventually, scene_of, value

ARM = """format = "linkwork/part 1"
name = "arm"

[[element]]
name = "post"
shape = { box = { size = [0.1, 0.1, 0.2] } }
mass = 1

[[element]]
name = "link"
shape = { box = { size = [0.3, 0.05, 0.05] }, at = { xyz = [0.1, 0, 0] } }
mass = 0.3

[[joint]]
name = "J"
type = "hinge"
from = "post"
to = "link"
at = { xyz = [0, 0, 0.15] }
axis = [0, 0, 1]
range_deg = [-120, 120]
drive = { type = "smart_servo", model = "XM430-W350" }
"""
BENCH = """format = "linkwork/scene 1"
name = "servos"

[[part]]
name = "arm"
part = "./arm.toml"
"""


@pytest.fixture
def servos(tmp_path: Path, chromium: Browser) -> Iterator[tuple[StudioPage, Studio]]:
    (tmp_path / "arm.toml").write_text(ARM)
    (tmp_path / "servos.toml").write_text(BENCH)
    with (
        studio(str(tmp_path / "servos.toml"), tmp_path / ".linkwork") as made,
        opened(chromium, made) as page,
    ):
        page.ready()
        page.until("store.people.driver === store.you")
        yield page, made


@pytest.mark.capability(75, 167, 169)
def test_a_gain_is_tuned_and_the_step_response_changes(
    servos: tuple[StudioPage, Studio],
) -> None:
    """A step is charted; with a softer gain the next one stops short; bars show what it took."""
    page, made = servos
    tab, session = page.page, scene_of(made).session

    def missing() -> float:
        """What is missing when a step has come to rest."""
        before = value(made, "arm/J.target")
        tab.get_by_role("button", name="Step response").click()
        eventually("a step", lambda: value(made, "arm/J.target") != before)
        then = session.time
        eventually("time", lambda: session.time > then + 1.0)
        return abs(value(made, "arm/J.target") - value(made, "arm/J.angle"))

    page.row("arm").click()
    page.row("arm/J").click()
    stiff = missing()
    chart = tab.locator("section.chart")
    expect(chart.locator(".chart-curve")).to_have_count(2)
    expect(chart.locator("[data-signal='arm/J.target']")).to_be_visible()
    expect(chart.locator("[data-signal='arm/J.angle']")).to_be_visible()
    tab.locator(".of-run summary").click()
    field = tab.locator("[role=complementary] [data-key='live.kp']")
    field.fill("0.4")
    field.press("Enter")
    eventually("a softer gain", lambda: value(made, "arm/J.kp") == 0.4)
    soft = missing()
    assert stiff < math.radians(2.0)
    assert soft > 3.0 * stiff
    tab.get_by_role("tab", name="Energy").click()
    row = tab.locator(".energy-row[data-name='arm/J']")
    page.until("document.querySelector(a)?.offsetWidth > 20", ".energy-row.whole .supply")
    page.until("document.querySelector(a)?.offsetWidth > 0", ".energy-row[data-name='arm/J'] .heat")
    page.pause()
    eventually("paused", lambda: not session.running)
    page.until(
        "Math.abs(parseFloat(document.querySelector(a[0]).textContent) - a[1]) < 0.02",
        [".energy-row[data-name='arm/J'] b", value(made, "arm/J.energy_gross")],
    )
    expect(row).to_contain_text("J")
    took = max(value(made, f"arm/J.{word}") for word in ("energy_gross", "heat", "work_gross"))
    scale = f"Joints: full scale {took:.2f} J"
    expect(tab.get_by_role("table", name="Energy").get_by_text(scale)).to_be_visible()
