"""The newcomer's walk: from a fresh start to a robot that was built, driven, recorded, replayed.

One path through the product, as somebody would go it on the first day. It grows and never shrinks.
"""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from command_line import linkwork, start
from linkwork import Document, LinkworkError, connect, load_part
from linkwork.core.jit import cache_directory
from studio_page import wait_for

PROGRAM = '''
"""J1 leans as far as the hip bends, halved."""

from linkwork import Control


class Lean(Control):
    def init(self):
        self.joint("foot/hip").on_change(self.lean, by=0.01)

    def lean(self, angle):
        self.joint("J1").target = angle / 2
        if angle > 0.9 and not self.memory("bent"):
            self.memory.bent = 1
            self.log("the hip is bent")
'''

TIMEOUT = 60.0


@pytest.mark.capability(41, 51, 52, 156, 160)
def test_the_first_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kits, a robot of one's own, a part snapped on, a program, a driver, a recording, a replay."""
    monkeypatch.chdir(tmp_path)

    # What is there?
    kits = linkwork("kits")
    assert kits.code == 0
    assert re.search(r"^tripod/leg +part", kits.out, re.MULTILINE)

    # A scene of the kits, to see something move: the cart sets out to explore its room.
    seen = linkwork("run", "vehicles/explore", "--for", 0.5, "--watch", "cart.x")
    assert seen.code == 0, seen.err
    assert "cart.x" in seen.out

    # A robot of one's own, which runs as it is.
    assert linkwork("new", "robot", "walker").code == 0
    assert linkwork("run", "walker_scene.toml", "--for", 0.3).code == 0

    # A leg from the kit is snapped to its tip. A wrong name is told, and changes nothing.
    document = Document.open("walker.toml")
    before = document.text
    with pytest.raises(LinkworkError, match="tip"):
        document.add("attach", {"part": "tripod/leg", "to": "top", "name": "foot"})
    assert document.text == before
    document.add("attach", {"part": "tripod/leg", "to": "tip", "name": "foot"})
    document.save()
    assert "# where another part fits" in Path("walker.toml").read_text()
    assert list(load_part("walker.toml").attachments) == ["foot"]
    checked = linkwork("check", "walker_scene.toml", "--signals")
    assert checked.code == 0, checked.err
    assert re.search(r"^robot/foot/hip.target +° .* watch, set *$", checked.out, re.MULTILINE)

    # A program that listens; another program joins the run and drives the leg.
    Path("walker.py").write_text(PROGRAM)
    run = start(
        "run", "walker_scene.toml", "--link", "link.json", "--record", "walk.mcap", cwd=tmp_path
    )
    guard = threading.Timer(2 * TIMEOUT, run.kill)
    guard.start()
    try:
        drive(Path("link.json"))
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=TIMEOUT)
    finally:
        guard.cancel()
        run.kill()
    assert run.returncode == 0, err
    assert "program: the hip is bent" in out
    assert "s simulated in" in out
    assert not Path("link.json").exists()

    # What was recorded comes out the same in a new process, bit for bit.
    again = start("replay", "walk.mcap", "--verify", "--events", cwd=tmp_path)
    out, err = again.communicate(timeout=2 * TIMEOUT)
    assert again.returncode == 0, out + err
    assert "Bit-identical" in out
    assert "program: the hip is bent" in out


@pytest.mark.capability(50, 170)
def test_the_first_day_in_the_studio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chromium: Browser
) -> None:
    """A robot of one's own in the browser: seen, driven, recorded, looked at again, replayed."""
    monkeypatch.chdir(tmp_path)
    assert linkwork("new", "robot", "walker").code == 0
    home = tmp_path / "home"
    home.mkdir()
    studio = start(
        "studio", "walker_scene.toml", "--no-open", "--port", 0, cwd=tmp_path,
        HOME=str(home), LINKWORK_CACHE=str(cache_directory().parent),
    )  # fmt: skip
    guard = threading.Timer(4 * TIMEOUT, studio.kill)
    guard.start()
    page = chromium.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page.set_default_timeout(1000 * TIMEOUT)
    try:
        assert studio.stdout is not None
        address = re.search(r"http://\S+", studio.stdout.readline())
        assert address, studio.stderr
        page.goto(f"{address[0]}&antialias=off")
        recording = walk(page)
        studio.send_signal(signal.SIGINT)
        out, err = studio.communicate(timeout=TIMEOUT)
    finally:
        page.close()
        guard.cancel()
        studio.kill()
    assert studio.returncode == 0, err
    assert "Stopped." in out
    assert home in recording.parents
    nod = linkwork("check", "nod.toml")
    assert nod.code == 0, nod.err
    assert "1 posture of" in nod.out
    replayed = linkwork("replay", recording, "--verify")
    assert replayed.code == 0, replayed.err
    assert "Bit-identical" in replayed.out


def walk(page: Page) -> Path:
    """What somebody does in the studio on the first day; returns what was recorded."""

    def until(condition: str) -> None:
        test = f"() => {{ const store = window.linkwork?.store; return store && {condition}; }}"
        wait_for(page, test, timeout=TIMEOUT)

    # The robot is there, and stands still until it is told to go.
    until("store.scene && store.poses && store.status && store.people.driver === store.you")
    assert page.get_by_role("treeitem", name="J1").first.is_visible()

    # It is recorded while it runs, and J1 goes where the table says.
    page.get_by_role("button", name="Record", exact=True).click()
    until("store.status.recording")
    if not page.evaluate("linkwork.store.status.running"):
        page.get_by_role("button", name="Play (Space)").click()
    until("store.status.running")
    field = page.get_by_role("textbox", name="J1 wanted")
    field.fill("20deg")
    field.press("Enter")
    page.get_by_role("button", name="Take it over").click()  # the robot's program drives it
    until("store.owners['robot/J1.target'] === 'user'")
    field.fill("20deg")
    field.press("Enter")
    actual = page.locator("[data-joint='robot/J1'] .joint-actual")
    wait_for(
        page,
        "(cell) => Math.abs(parseFloat(cell.textContent) - 20) < 0.6",
        actual.element_handle(),
    )
    recording = Path(page.evaluate("linkwork.store.status.recording"))
    page.get_by_role("button", name="Stop recording", exact=True).click()
    until("!store.status.recording")

    # Back through history: the robot is seen where it was.
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("Space")
    until("!store.status.running")
    now = page.evaluate("linkwork.store.status.time")
    page.keyboard.press("ArrowLeft")
    until(f"store.status.seeking && store.status.time < {now}")

    # The posture of that instant begins a movement, which is kept in a file.
    page.keyboard.press("e")
    page.get_by_role("button", name="Add posture").click()
    until("linkwork.movement.state?.draft?.postures.length === 1 && store.status.seeking")
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("File").fill("nod")
    dialog.get_by_role("button", name="Save", exact=True).click()
    until("linkwork.movement.state.file.endsWith('nod.toml')")
    return recording


def drive(link: Path) -> None:
    """Joins the session that a link file names, and bends the leg."""
    end = time.monotonic() + TIMEOUT
    while not link.exists():
        assert time.monotonic() < end, "the run did not begin"
        time.sleep(0.05)
    assert link.stat().st_mode & 0o777 == 0o600
    hip, lean = "robot/foot/hip.angle", "robot/J1.angle"
    with connect(**json.loads(link.read_text())) as remote:
        assert {hip, lean} <= remote.signals.keys()
        remote["robot/foot/hip.target"] = 1.0
        remote.wait(lambda: abs(remote[hip] - 1.0) < 0.02)
        remote.wait(lambda: abs(remote[lean] - 0.5) < 0.05)
        with pytest.raises(LinkworkError, match="foot/knee"):
            remote["robot/foot/knee.target"] = 1.0
        assert [e.text for e in remote.events if e.source == "program"] == ["the hip is bent"]
