"""What browser tests share: a studio that runs, and pages on it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from studio_fixture import TIMEOUT, Studio, studio
from studio_page import COARSE, StudioPage, opened

expect.set_options(timeout=TIMEOUT * 1000)

#: Opens a studio on a scene, or on the gallery; it ends with the test.
OpenStudio = Callable[[str | None], Studio]


@pytest.fixture(scope="module")
def gripper(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Studio]:
    """A studio on ``gripper/follow``, shared by the tests of a file."""
    with studio("gripper/follow", tmp_path_factory.mktemp("studio")) as running:
        yield running


@pytest.fixture(scope="module")
def scale() -> float:
    """How finely pages are drawn; files that look at pixels and lines say SHARP."""
    return COARSE


@pytest.fixture
def gripper_page(gripper: Studio, chromium: Browser, scale: float) -> Iterator[StudioPage]:
    """A page on ``gripper/follow``, paused at its first state and driven by this page."""
    with opened(chromium, gripper, scale=scale) as page:
        page.ready()
        page.until("store.people.driver === store.you")
        fresh(page)
        yield page


def fresh(page: StudioPage) -> None:
    """Brings the scene back to its first state, paused, with no input taken."""
    page.page.keyboard.press("Escape")
    if page.ask("store.status.running"):
        page.press("Space")
    page.until("!store.status.running")
    page.press("Backspace")
    page.until("store.status.time === 0 && !store.status.seeking")


@pytest.fixture
def gallery(tmp_path: Path, chromium: Browser) -> Iterator[Studio]:
    """A studio that shows its start page."""
    with studio(None, tmp_path) as running:
        yield running
