"""What browser tests share: one Chromium for all of them, and a studio that runs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from chromium import HOW, find, is_required, launch
from linkwork.cli.browse import is_built
from studio_page import StudioPage, opened
from studio_rig import Studio, studio

#: Opens a studio on a scene, or on the gallery; it ends with the test.
OpenStudio = Callable[[str | None], Studio]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    program = find()
    if program is None:
        if is_required():
            pytest.fail(f"there is no browser. {HOW}")
        pytest.skip(f"no browser: {HOW}")
    assert is_built(), "the studio's page has not been built: make client"
    with launch(program) as browser:
        yield browser


@pytest.fixture(scope="module")
def gripper(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Studio]:
    """A studio on ``gripper/follow``, shared by the tests of a file."""
    with studio("gripper/follow", tmp_path_factory.mktemp("studio")) as running:
        yield running


@pytest.fixture
def gripper_page(gripper: Studio, chromium: Browser) -> Iterator[StudioPage]:
    """A page on ``gripper/follow``, paused at its first state and driven by this page."""
    with opened(chromium, gripper) as page:
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
