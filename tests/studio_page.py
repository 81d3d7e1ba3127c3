"""The studio's page in a browser, by roles, by its state, by pixels."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
)

from studio_fixture import TIMEOUT, TOKEN, Studio

#: Large enough for every panel, small enough for a graphics card made of software.
SIZE = (1280, 720)
#: Pixels of the screen for one of the page's: a fourth of all are drawn where none is looked at.
COARSE, SHARP = 0.5, 1.0
#: Polling interval of conditions [ms].
POLL = 50
#: How long a scene may take to open on a machine that has to compile its kernels first [s].
COMPILING = 180.0

#: Whether a condition holds; a page that is still loading, or a scene that is still to come, is
#: no error.
_UNTIL = """(a) => {
  if (!window.linkwork) return false;
  const { store, stage } = linkwork;
  try {
    return %s;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    window.untilError = String(error);
    return false;
  }
}"""
#: Polls a function, compiled once. Playwright's own wait compiles it again and again as text,
#: which the page's Content-Security-Policy forbids.
_POLLED = """([a, period, patience]) => {
  const test = %s;
  const end = performance.now() + patience;
  return new Promise((done, fail) => {
    const look = () => {
      try {
        if (test(a)) done(true);
        else if (performance.now() > end) done(false);
        else setTimeout(look, period);
      } catch (error) {
        fail(error);
      }
    };
    look();
  });
}"""
#: Report of a page on which a condition never held.
_STORY = """() => JSON.stringify({
  link: window.linkwork?.store.link, status: window.linkwork?.store.status,
  error: window.untilError, toasts: document.querySelector(".toasts")?.textContent,
})"""
#: Waits for pictures of the screen.
_PICTURES = """(number) => new Promise((done) => {
  const next = () => (number-- > 0 ? requestAnimationFrame(next) : done());
  next();
})"""
#: Where a point of the world [m] is on the page [px], in the view of a slot.
_PLACE = """([slot, x, y, z]) => {
  const { stage } = linkwork;
  stage.draw();
  const view = stage.views.find((each) => each.slot === slot);
  const at = view.project(view.camera.stand.target.clone().set(x, y, z));
  const box = view.element.getBoundingClientRect();
  return [box.left + at.x, box.top + at.y];
}"""
#: A place on the page where the pointer meets an element, in the view of a slot, or null.
_FIND = """([slot, name]) => {
  const { stage } = linkwork;
  stage.draw();
  const view = stage.views.find((each) => each.slot === slot);
  const box = view.element.getBoundingClientRect();
  const meshes = stage.bodies.shapeMeshes.filter((p) => p.mesh.visible).map((p) => p.mesh);
  let best = null;
  for (let y = box.top + 44; y < box.bottom - 30; y += 5) {
    let run = 0;
    for (let x = box.left + 6; x < box.right - 6; x += 5) {
      const hit = view.caught({ clientX: x, clientY: y }).intersectObjects(meshes, false)[0];
      const met = hit && hit.object.userData.piece.element.name === name;
      run = met ? run + 1 : 0;
      if (met && (best === null || run > best[2])) best = [x, y, run];
    }
  }
  if (best === null) return null;
  return [best[0] - 5 * ((best[2] - 1) >> 1), best[1]];
}"""


def wait_for(page: Page, test: str, argument: object = None, timeout: float = TIMEOUT) -> None:
    """Waits until a JavaScript function is true, also while the page loads."""
    end = time.monotonic() + timeout
    while (left := end - time.monotonic()) > 0.0:
        try:
            if page.evaluate(_POLLED % test, [argument, POLL, 1000.0 * left]):
                return
        except Error as error:
            if "context was destroyed" not in str(error):
                raise
    raise AssertionError(f"after {timeout:g} s still not: {test}")


class StudioPage:
    """A tab with the studio.

    Attributes:
        page: The tab.
        errors: What the page complained of; a test that does not expect any fails with them.
    """

    def __init__(self, page: Page, studio: Studio | None) -> None:
        self.page, self.studio = page, studio
        self.errors: list[str] = []
        page.set_default_timeout(TIMEOUT * 1000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._received)

    def _received(self, message: ConsoleMessage) -> None:
        # That a request failed is told by whoever made it, in words.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def go(self, *, token: str = TOKEN, **query: str) -> None:
        """Loads the page; ``query`` is added to its address."""
        assert self.studio is not None, "this page has no server"
        more = "".join(f"&{key}={value}" for key, value in query.items())
        self.page.goto(f"http://{self.studio.address}/?token={token}&antialias=off{more}")

    def until(self, condition: str, argument: object = None, *, timeout: float = TIMEOUT) -> None:
        """Waits until a JavaScript condition holds; it may speak of ``store`` and ``stage``."""
        try:
            wait_for(self.page, _UNTIL % condition, argument, timeout)
        except AssertionError:
            raise AssertionError(
                f"after {timeout:g} s still not: {condition}\n{self.page.evaluate(_STORY)}\n"
                f"errors: {self.errors}"
            ) from None

    def ask(self, expression: str, argument: object = None) -> Any:
        """The value of a JavaScript expression; it may speak of ``store`` and ``stage``."""
        return self.page.evaluate(
            f"(a) => {{ const {{ store, stage }} = linkwork; return {expression}; }}", argument
        )

    def ready(self) -> None:
        """Waits until a scene is open, drawn and its cameras stand still."""
        self.until(
            "store.link === 'open' && store.scene && store.poses && store.status"
            " && stage.bodies.shapeMeshes.length"
            " >= store.scene.elements.reduce((n, e) => n + e.shapes.length, 0)",
            timeout=COMPILING,
        )
        self.rest()

    def rest(self) -> None:
        """Waits until no camera moves."""
        self.until("stage.views.every((view) => !view.update())")

    def view(self, name: str) -> Locator:
        """Returns the region of a view: Top, Perspective, Front or Right."""
        return self.page.get_by_role("region", name=f"{name} view", exact=True)

    def place(self, slot: str, point: tuple[float, float, float]) -> tuple[float, float]:
        """Where a point of the world [m] is on the page [px], in the view of a slot."""
        x, y = self.page.evaluate(_PLACE, [slot, *point])
        return x, y

    def find(self, slot: str, element: str) -> tuple[float, float]:
        """A place on the page where an element is seen in the view of a slot."""
        found = self.page.evaluate(_FIND, [slot, element])
        assert found is not None, f"{element} is not seen in the {slot} view"
        return found[0], found[1]

    def drag(self, start: tuple[float, float], end: tuple[float, float], *, steps: int = 8) -> None:
        """Drags with the left button."""
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(*end, steps=steps)
        mouse.up()

    def press(self, key: str) -> None:
        """Presses a key where no field has the focus."""
        self.page.evaluate("document.activeElement?.blur()")
        self.page.keyboard.press(key)

    def play(self) -> None:
        """Starts the simulation by its key."""
        self.until("!store.status.running")
        self.press("Space")
        self.until("store.status.running")

    def pause(self) -> None:
        """Pauses the simulation by its key, and waits until the page shows the state."""
        self.until("store.status.running")
        self.press("Space")
        self.until("!store.status.running && store.poseTime === store.status.time")

    def drawn(self) -> None:
        """Waits until requested changes are drawn: three animation frames."""
        self.page.evaluate(_PICTURES, 3)

    def row(self, name: str) -> Locator:
        """Returns the row of an object in the tree, by its full name."""
        return self.page.locator(f"[role=treeitem][data-signal='{name}']")


@contextlib.contextmanager
def opened(
    browser: Browser, studio: Studio, *, size: tuple[int, int] = SIZE, theme: str = "dark",
    scale: float = COARSE, context: BrowserContext | None = None, expect_errors: bool = False,
    **query: str,
) -> Iterator[StudioPage]:  # fmt: skip
    """A tab that shows a studio, of a person of its own unless a context is given."""
    own = context or browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="light" if theme == "light" else "dark",
        reduced_motion="reduce",
        device_scale_factor=scale,
        accept_downloads=True,
    )
    page = StudioPage(own.new_page(), studio)
    try:
        page.go(**query)
        yield page
        assert expect_errors or not page.errors, page.errors
    finally:
        page.page.close()
        if context is None:
            own.close()
