"""CPU time of the page's main thread per frame, measured in Chromium."""

from __future__ import annotations

import statistics
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, ViewportSize

from linkwork.studio.protocol import MAX_IN_FLIGHT

#: Large enough for four views, panels and charts.
SIZE: ViewportSize = {"width": 1280, "height": 720}
CURVES, CHARTS = 20, 4
TIMEOUT_MS = 60_000

#: The page acknowledges frames at its own pace. Here it acknowledges when it has drawn, so that at
#: most two frames are on the way: every frame is drawn, however slow the machine is.
_PACE = """(spare) => {
  const Real = window.WebSocket;
  let line = null, received = 0;
  window.drawn = 0;
  window.WebSocket = class extends Real {
    constructor(...words) {
      super(...words);
      line = this;
      received = 0;
      this.addEventListener("message", (e) => { if (typeof e.data !== "string") received++; });
    }
    send(data) { if (!data.includes('"ack"')) super.send(data); }
  };
  window.pace = () => {
    const { stage } = linkwork;
    const draw = stage.draw.bind(stage);
    stage.draw = () => {
      draw();
      window.drawn++;
      const frame = Math.max(0, received - spare);
      Real.prototype.send.call(line, JSON.stringify({ type: "ack", frame }));
    };
  };
}"""
#: Every drawing command is issued with a count of zero: the software renderer works in another
#: process and would take the cores away from what is measured.
_EMPTY = """() => {
  const at = { drawArrays: 2, drawArraysInstanced: 2, drawElements: 1, drawElementsInstanced: 1 };
  for (const [name, place] of Object.entries(at)) {
    const real = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...words) {
      words[place] = 0;
      return real.apply(this, words);
    };
  }
}"""
_FILL = """(charts) => charts.forEach(([first, ...others]) => {
  linkwork.addCurve(first);
  const chart = linkwork.charts.list.at(-1);
  others.forEach((name) => linkwork.addCurve(name, chart));
})"""
_READY = """() => linkwork.store.link === "open" && linkwork.store.poses
  && linkwork.stage.bodies.shapeMeshes.length > 100
  && linkwork.store.people.driver === linkwork.store.you"""


def page_cost(browser: Browser, address: str, seconds: float, rounds: int) -> dict[str, float]:
    """Four views of the moving bodies with twenty live curves.

    Measured by Chromium (``Performance.getMetrics``) as CPU time of the main thread: everything
    from receiving frames to the layout of the page. Rendering in another process does not count.

    Returns:
        Medians over rounds: CPU time per drawn frame [ms] ("task"), the parts of it that scripts,
        layout and style take, and frames per second.
    """
    context = browser.new_context(viewport=SIZE, color_scheme="dark", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.add_init_script(f"({_PACE})({MAX_IN_FLIGHT - 2}); ({_EMPTY})()")
    try:
        page.goto(f"{address}&antialias=off")
        page.wait_for_function(_READY)
        _fill(page)
        page.evaluate("() => { window.pace(); linkwork.stage.draw(); }")
        cdp = context.new_cdp_session(page)
        cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        if not page.evaluate("() => linkwork.store.status.running"):
            page.keyboard.press("Space")
        page.wait_for_function("() => linkwork.store.status.running && linkwork.store.poseTime > 2")
        found = [_measure(page, cdp, seconds) for _ in range(rounds)]
        page.keyboard.press("Space")
        page.wait_for_function("() => !linkwork.store.status.running")
    finally:
        context.close()
    return {key: statistics.median(each[key] for each in found) for key in found[0]}


def _fill(page: Page) -> None:
    """Adds the curves to charts and waits until all four views are shown."""
    per = CURVES // CHARTS
    names = [[f"crowd/J{n + per * chart}.angle" for n in range(per)] for chart in range(CHARTS)]
    page.evaluate(_FILL, names)
    page.wait_for_function(
        "(n) => document.querySelectorAll('.chart-curve').length === n", arg=CURVES
    )
    seen = "() => linkwork.stage.views.filter((view) => !view.element.hidden).length === 4"
    page.wait_for_function(seen)


def _measure(page: Page, cdp: CDPSession, seconds: float) -> dict[str, float]:
    first = _read(page, cdp)
    page.wait_for_timeout(seconds * 1000.0)
    last = _read(page, cdp)
    drawn = last["drawn"] - first["drawn"]
    passed = last["now"] - first["now"]
    return {
        "task": (last["TaskDuration"] - first["TaskDuration"]) / drawn * 1e3,
        "script": (last["ScriptDuration"] - first["ScriptDuration"]) / drawn * 1e3,
        "layout": (last["LayoutDuration"] - first["LayoutDuration"]) / drawn * 1e3,
        "style": (last["RecalcStyleDuration"] - first["RecalcStyleDuration"]) / drawn * 1e3,
        "frames": drawn / passed * 1e3,
    }


def _read(page: Page, cdp: CDPSession) -> dict[str, Any]:
    metrics = {
        each["name"]: each["value"] for each in cdp.send("Performance.getMetrics")["metrics"]
    }
    drawn, now = page.evaluate("() => [window.drawn, performance.now()]")
    return {**metrics, "drawn": drawn, "now": now}
