"""Takes the pictures of the studio: the real page in Chromium, both scenes in both themes.

python tools/screenshots.py [name …] [--to folder]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from drawing.png import read_png, write_png

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1440, "height": 900}
#: Compiled kernels are kept from picture to picture.
CACHE = Path("~/.cache/linkwork").expanduser()
PATIENCE_MS = 60_000
#: Pictures of the docs are smaller than 200 kB [byte].
LARGEST = 190_000
#: Software drawing, and nothing that a browser does besides.
FLAGS = [
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--hide-scrollbars",
]  # fmt: skip
_START = "import sys; from linkwork.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Shot:
    """One picture: which scene, which colors, and what is done before it is taken."""

    scene: str | None
    theme: str
    prepare: Callable[[Page], None]


def start_page(page: Page) -> None:
    """The gallery with its pictures there."""
    page.get_by_role("main").wait_for()
    page.wait_for_function("[...document.images].length > 2")
    page.wait_for_function(
        "[...document.images].every((i) => i.complete"
        " || i.getBoundingClientRect().top > innerHeight)"
    )


def run_until(page: Page, seconds: float) -> None:
    """Lets the scene run to a simulated time and stops it."""
    page.wait_for_function("linkwork.store.poses && linkwork.store.status")
    page.wait_for_function("linkwork.store.people.driver === linkwork.store.you")
    if not page.evaluate("linkwork.store.status.running"):
        page.keyboard.press("Space")
        page.wait_for_function("linkwork.store.status.running")
    page.wait_for_function(f"linkwork.store.status.time >= {seconds}")
    page.keyboard.press("Space")
    page.wait_for_function("!linkwork.store.status.running")


def tripod(page: Page) -> None:
    """The tray is level while the floor tilts; one knee is selected."""
    run_until(page, 6.2)
    page.evaluate("linkwork.select({ kind: 'joint', name: 'tripod/leg1/knee' })")


def gripper(page: Page) -> None:
    """The second finger follows the first, which is selected."""
    run_until(page, 1.2)
    page.evaluate("linkwork.select({ kind: 'joint', name: 'arm/J2' })")


def buses(page: Page) -> None:
    """A program levels the tripod over CAN, and some of its frames are lost."""
    page.wait_for_function("linkwork.store.people.driver === linkwork.store.you")
    page.get_by_role("tab", name="Test", exact=True).click()
    page.wait_for_function("linkwork.buses.ports?.buses[0].doors.length")
    endpoint = page.evaluate("linkwork.buses.ports.buses[0].doors[0]").rpartition(" ")[2]
    program = ROOT / "examples" / "12_can_tripod.py"
    words = [sys.executable, str(program), *endpoint.split(":")]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    page.on("close", lambda _: process.terminate())
    page.evaluate("linkwork.select({ kind: 'joint', name: 'tripod/leg1/knee' })")
    panel = page.get_by_role("tabpanel", name="Faults")
    panel.get_by_label("Frames").fill("0x12")
    panel.get_by_label("Chance").fill("20")
    panel.get_by_role("button", name="Inject").click()
    page.evaluate("document.activeElement?.blur()")  # Space is for the time
    run_until(page, 4.0)


def loop(page: Page) -> None:
    """Two chains of bars, closed between two anchors, and what holds the joints."""
    run_until(page, 0.1)
    for name in ("Joint forces", "Anchors"):
        page.get_by_label(name, exact=True).set_checked(True, force=True)
    closing = {"type": "close_loop", "a": "bars/end", "b": "bars/tip", "joint": "hinge"}
    page.evaluate("(message) => linkwork.send(message)", {**closing, "axis": [0, 1, 0]})
    page.wait_for_function("linkwork.store.scene.loops.length === 1")
    page.evaluate("document.activeElement?.blur()")
    page.evaluate("linkwork.addCurve('world.gap')")
    page.evaluate("linkwork.select({ kind: 'loop', name: 'loop1' })")
    run_until(page, page.evaluate("linkwork.store.status.time") + 3.0)


def reach(page: Page) -> None:
    """The flange of an arm is dragged towards a block, with its ellipsoid and what is near."""
    page.wait_for_function("linkwork.store.people.driver === linkwork.store.you")
    run_until(page, 0.1)
    page.keyboard.press("Backspace")
    page.keyboard.press("i")
    page.set_default_timeout(10 * PATIENCE_MS)  # inverse kinematics may have to be compiled
    page.wait_for_function("linkwork.reach.joints.length && linkwork.reach.numbers")
    for gesture, place in enumerate(((0.1, -0.2, 1.2), (0.3, 0.0, 1.0), (0.32, 0.14, 0.87))):
        drag = """([x, y, z, gesture]) => {
          const turn = Array.from(linkwork.reach.numbers.subarray(3, 7));
          linkwork.send({ type: "reach", pose: [x, y, z, ...turn], gesture });
        }"""
        page.evaluate(drag, [*place, gesture + 1])
        page.wait_for_function(f"Math.abs(linkwork.reach.numbers[2] - {place[2]}) < 1e-3")
    page.evaluate("linkwork.send({ type: 'let_go' })")


def servos(page: Page) -> None:
    """Two steps of a shoulder, the second with a softer gain, charted."""
    page.wait_for_function("linkwork.store.people.driver === linkwork.store.you")
    page.evaluate("linkwork.select({ kind: 'joint', name: 'arm/shoulder' })")
    step = page.get_by_role("button", name="Step response")
    step.click()
    page.wait_for_function("linkwork.store.status.running")
    page.wait_for_timeout(2500)
    page.locator(".of-run summary").click()
    gain = page.locator("[role=complementary] [data-key='live.kp']")
    gain.fill("0.8")
    gain.press("Enter")
    step.click()
    page.evaluate("document.activeElement?.blur()")
    run_until(page, page.evaluate("linkwork.store.status.time") + 2.5)


def energy(page: Page) -> None:
    """What the servos of that arm took, as bars."""
    servos(page)
    page.get_by_role("tab", name="Energy").click()


def movement(page: Page) -> None:
    """The kit's greeting opened in the editor, its posture with the lifted arm selected."""
    page.wait_for_function("linkwork.store.people.driver === linkwork.store.you")
    run_until(page, 0.1)
    page.keyboard.press("e")
    page.get_by_role("tab", name="Movement", exact=True).wait_for()
    page.evaluate("linkwork.send({ type: 'open_movement', path: 'bioloid/greet' })")
    marks = page.get_by_role("listbox", name="Postures").get_by_role("option")
    marks.nth(4).wait_for()
    marks.nth(4).click()
    page.wait_for_function(
        "linkwork.movement.state.selected === 4 && linkwork.movement.state.shown"
    )


SHOTS: dict[str, Shot] = {
    f"studio-{name}-{theme}": Shot(scene, theme, prepare)
    for name, scene, prepare in (
        ("tripod", "tripod/level", tripod),
        ("gripper", "gripper/follow", gripper),
        ("start", None, start_page),
        ("buses", "tripod/can", buses),
        ("reach", "kuka/table", reach),
        ("loop", str(ROOT / "tools" / "drawing" / "scenes" / "loop.toml"), loop),
        ("servos", str(ROOT / "tools" / "drawing" / "scenes" / "servos.toml"), servos),
        ("movement", "bioloid/fixed", movement),
        ("energy", str(ROOT / "tools" / "drawing" / "scenes" / "servos.toml"), energy),
    )
    for theme in ("dark", "light")
    if (name, theme) not in (("servos", "light"), ("energy", "dark"))
}


@contextlib.contextmanager
def studio(scene: str | None) -> Iterator[str]:
    """The address of a running studio that knows nothing of this machine's files."""
    with tempfile.TemporaryDirectory() as home:
        words = ["studio", *([scene] if scene else []), "--no-open", "--port", "0"]
        process = subprocess.Popen(
            [sys.executable, "-c", _START, *words], stdout=subprocess.PIPE, text=True, cwd=home,
            env={"LINKWORK_CACHE": str(CACHE), **os.environ, "HOME": home},
        )  # fmt: skip
        try:
            assert process.stdout is not None
            found = (re.search(r"http://\S+", line) for line in process.stdout)
            match = next((each for each in found if each), None)
            if match is None:
                raise SystemExit("The studio did not start; its words are above.")
            yield match.group()
        finally:
            process.terminate()
            process.wait(30)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def open_page(browser: Browser, address: str, theme: str, **more: Any) -> Page:
    """A page of the studio in one of its colors."""
    context = browser.new_context(viewport=SIZE, color_scheme=theme, **more)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    return page


def take(browser: Browser, address: str, shot: Shot, path: Path) -> None:
    """Takes one picture."""
    page = open_page(browser, address, shot.theme, reduced_motion="reduce")
    shot.prepare(page)
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)  # the next status and the attributes are there
    page.evaluate("document.activeElement?.blur()")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.screenshot(path=path)
    page.context.close()
    image = read_png(path)
    for mask in (0xFF, 0xFE, 0xFC, 0xF8):  # nobody sees the last bits
        write_png(path, image & mask)
        if path.stat().st_size < LARGEST:
            break
    print(f"{path.name}  {path.stat().st_size / 1000:.0f} kB")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *SHOTS], metavar="name")
    parser.add_argument("--to", type=Path, default=PICTURES)
    given = parser.parse_args(words)
    given.to.mkdir(parents=True, exist_ok=True)
    wanted = {name: SHOTS[name] for name in given.names or SHOTS}
    with chromium() as browser:
        for scene in dict.fromkeys(shot.scene for shot in wanted.values()):
            for name, shot in wanted.items():
                if shot.scene == scene:
                    with studio(scene) as address:
                        take(browser, address, shot, given.to / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
