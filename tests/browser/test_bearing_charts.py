"""Forces of bearings and the energy are charted like any other signal."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from studio_fixture import Studio, studio
from studio_page import StudioPage, opened
from studio_state import eventually, scene_of

FORCE, ENERGY = "pendulum/shoulder.force", "world.energy"


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Studio]:
    """A studio on the double pendulum."""
    with studio("mechanisms/double_pendulum", tmp_path_factory.mktemp("studio")) as running:
        yield running


def test_the_force_of_a_bearing_and_the_energy_are_charted(
    pendulum: Studio, chromium: Browser, scale: float
) -> None:
    """Picked by name, they show the session's values in newtons and joules."""
    with opened(chromium, pendulum, scale=scale) as page:
        check_charts(page, pendulum)


def check_charts(page: StudioPage, pendulum: Studio) -> None:
    tab = page.page
    page.ready()
    page.until("store.people.driver === store.you")
    session = scene_of(pendulum).session
    page.press("c")
    for signal, button in ((FORCE, "Pick a signal"), (ENERGY, "Add a curve")):
        tab.get_by_role("button", name=button).click()
        tab.get_by_role("dialog", name="Pick a signal").locator(
            f"[role=option][data-signal='{signal}']"
        ).click()
    if not session.running:
        page.play()
    eventually("half a second", lambda: session.time > 0.5)
    page.pause()
    eventually("paused", lambda: not session.running)
    expect(tab.locator("section.chart .chart-curve")).to_have_count(2)
    for signal in (FORCE, ENERGY):
        shown = tab.locator(f"section.chart [data-signal='{signal}'] b")
        assert session[signal] != 0.0
        eventually(
            f"the value of {signal}",
            lambda cell=shown, name=signal: (
                abs(float(cell.inner_text().split()[0].replace("−", "-")) - session[name])
                < 0.01 * abs(session[name])
            ),
        )
