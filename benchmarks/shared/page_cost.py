"""What a picture costs the page: the main thread's CPU time, in a real Chromium."""

from __future__ import annotations

import statistics
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, ViewportSize

from linkwork.server.messages import IN_FLIGHT

#: Large enough for four views, panels and charts; a graphics card made of software draws it.
SIZE: ViewportSize = {"width": 1280, "height": 720}
CURVES, CHARTS = 20, 4
PATIENCE_MS = 60_000

#: The page acknowledges in its own time; here it does so when it has drawn, and so that two more
#: pictures may come: as many frames as pictures, however slow the machine.
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
#: Every command to draw goes out, with nothing to be drawn: the graphics card, which is made of
#: software here and works in another process, would take the cores away from what is measured.
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
  && linkwork.stage.bodies.pieces.length > 100
  && linkwork.store.people.driver === linkwork.store.you"""


def page_cost(browser: Browser, address: str, seconds: float, rounds: int) -> dict[str, float]:
    """Four views of the moving bodies with twenty live curves.

    Chromium's own account (``Performance.getMetrics``) in CPU time of the thread: everything that
    the main thread does, from taking in pictures to laying out the page. What a graphics card does
    in another process does not count.

    Returns:
        Medians over rounds: CPU time per drawn frame and of that the scripts' [ms], frames and
        pictures per second.
    """
    context = browser.new_context(viewport=SIZE, color_scheme="dark", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(f"({_PACE})({IN_FLIGHT - 2}); ({_EMPTY})()")
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
    """Puts the curves into charts and makes sure that all four views are seen."""
    per = CURVES // CHARTS
    names = [[f"crowd/J{n + per * chart}.angle" for n in range(per)] for chart in range(CHARTS)]
    page.evaluate(_FILL, names)
    page.wait_for_function(
        "(n) => document.querySelectorAll('.chart-curve').length === n", arg=CURVES
    )
    seen = "() => linkwork.stage.views.filter((view) => !view.element.hidden).length === 4"
    page.wait_for_function(seen)


def _measure(page: Page, cdp: CDPSession, seconds: float) -> dict[str, float]:
    first = _stand(page, cdp)
    page.wait_for_timeout(seconds * 1000.0)
    last = _stand(page, cdp)
    drawn = last["drawn"] - first["drawn"]
    passed = last["now"] - first["now"]
    return {
        "task": (last["TaskDuration"] - first["TaskDuration"]) / drawn * 1e3,
        "script": (last["ScriptDuration"] - first["ScriptDuration"]) / drawn * 1e3,
        "layout": (last["LayoutDuration"] - first["LayoutDuration"]) / drawn * 1e3,
        "style": (last["RecalcStyleDuration"] - first["RecalcStyleDuration"]) / drawn * 1e3,
        "frames": drawn / passed * 1e3,
    }


def _stand(page: Page, cdp: CDPSession) -> dict[str, Any]:
    metrics = {
        each["name"]: each["value"] for each in cdp.send("Performance.getMetrics")["metrics"]
    }
    drawn, now = page.evaluate("() => [window.drawn, performance.now()]")
    return {**metrics, "drawn": drawn, "now": now}
