"""The page comes back by itself when its server ends, or all of the studio is started anew."""

import os
import signal
from pathlib import Path

from playwright.sync_api import Browser

from studio_fixture import studio
from studio_page import StudioPage, opened
from studio_state import eventually, scene_of

MINE = "store.people.driver === store.you"
_MASS = "document.querySelector('[role=complementary] [data-key=mass]')"
#: Edits an attribute at once, while there is no line.
_EDIT = f"""() => {{
  const field = {_MASS};
  window.shown = field.value;
  field.value = "7.5";
  field.dispatchEvent(new Event("change"));
  return true;
}}"""


def test_a_server_that_dies_is_started_anew_and_found_again(
    chromium: Browser, tmp_path: Path
) -> None:
    """The session goes on, who drove drives again; what was edited meanwhile is put back."""
    with (
        studio("gripper/follow", tmp_path) as running,
        opened(chromium, running, expect_errors=True) as page,
        opened(chromium, running, expect_errors=True) as other,
    ):
        page.ready()
        other.ready()
        page.until("store.people.people.length === 2")
        drives, watches = (page, other) if page.ask(MINE) else (other, page)
        before = scene_of(running)
        drives.row("arm/E3").click()
        drives.until(f"store.attributes?.name === 'arm/E3' && {_MASS}")
        os.kill(running.server.pid, signal.SIGKILL)
        drives.until(f"store.link !== 'open' && ({_EDIT})()")
        drives.page.get_by_text("Not connected: this was not done.").wait_for()
        drives.until(f"{_MASS}?.value === window.shown")
        for each in (drives, watches):
            each.until("store.link === 'open' && store.people.people.length === 2")
        drives.until(MINE)
        watches.until(f"!({MINE})")
        assert running.host.open is before
        drives.until("store.status.running")
        drives.press("Space")
        eventually("paused", lambda: not before.session.running)


def test_a_studio_that_was_stopped_is_found_again(chromium: Browser, tmp_path: Path) -> None:
    """At the same port and with the same token the page that is open shows the new one."""
    with studio("gripper/follow", tmp_path) as first:
        port = first.server.port
        context = chromium.new_context(viewport={"width": 1280, "height": 720})
        page = StudioPage(context.new_page(), first)
        page.go()
        page.ready()
    alert = page.page.get_by_role("alert")
    alert.get_by_text("The server does not answer. Trying again.").wait_for()
    with studio("gripper/follow", tmp_path, port=port) as again:
        page.until(f"store.link === 'open' && {MINE}")
        alert.wait_for(state="hidden")
        page.ready()
        page.until("store.status.running")
        page.press("Space")
        eventually("paused", lambda: not scene_of(again).session.running)
    context.close()
