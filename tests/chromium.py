"""The browser of the tests: the machine's Chromium, headless and without a graphics card."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

#: Set to ``required`` where a missing browser is a failure, as in ``.ci/run``.
WANTED = "LINKWORK_BROWSER"
HOW = "Install Chromium (Debian: apt-get install chromium), or name one in LINKWORK_CHROMIUM."

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

#: What Playwright leaves away (a later list replaces its own), and the pages behind the address
#: bar, which nobody sees: each window would load them, for half a second of the processor.
_WITHOUT = (
    "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades",
    "LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints",
    "PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning", "Translate",
    "AimEnabled", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup",
)  # fmt: skip

#: A graphics card made of software, for WebGL only: all else, which Debian's Chromium would draw
#: with it too, is drawn sooner without one.
_SOFTWARE = (
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--disable-gpu-rasterization",
    "--disable-accelerated-2d-canvas",
)


def find() -> Path | None:
    """Returns the browser's program, or None."""
    named = os.environ.get("LINKWORK_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, _NAMES)), None)
    return Path(found) if found else None


def is_required() -> bool:
    return os.environ.get(WANTED) == "required"


@contextlib.contextmanager
def launch(program: Path) -> Iterator[Browser]:
    """Runs a browser until the block ends."""
    flags = [*_FLAGS, *_SOFTWARE, f"--disable-features={','.join(_WITHOUT)}"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        try:
            yield browser
        finally:
            browser.close()
