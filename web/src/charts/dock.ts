import { ALONE, arrange, layout } from "../app/layout";
import { Turns } from "../app/paced";
import { store } from "../app/store";
import { on } from "../app/topics";
import { button, iconButton } from "../ui/button";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { openAlone } from "../shell/alone";
import { ChartCard } from "./chartCard";
import { charts, keepCurves, pauseCharts } from "./charts";
import { pickSignal } from "./signalPicker";
import "uplot/dist/uPlot.min.css";

const SPANS = [2, 5, 10, 30, 60];

/** The bottom dock with the charts. */
export function chartDock(): HTMLElement {
  const row = h("div", { class: "chart-row" });
  const pause = iconButton("pause", "Pause the charts", () => pauseCharts(!charts.paused));
  const span = h(
    "select",
    { "aria-label": "Seconds shown", onchange: () => (charts.span = Number(span.value)) },
    ...SPANS.map((s) =>
      h("option", { value: String(s), selected: s === charts.span }, `last ${s} s`),
    ),
  );
  const empty = h(
    "div",
    { class: "empty" },
    h("p", {}, "No charts yet. Pick a signal."),
    button("Pick a signal", () => pickSignal(), "raised", "plus"),
  );
  const dock = h(
    "section",
    { class: "dock", role: "region", "aria-label": "Charts" },
    h(
      "div",
      { class: "dock-head" },
      h("b", {}, "Charts"),
      h("span", { class: "spring" }),
      h("div", { class: "input-box plain" }, span),
      pause,
      iconButton("plus", "Add a chart", () => pickSignal()),
      ALONE === null &&
        iconButton("window", "Charts in their own window", () => openAlone("charts")),
      ALONE === null && iconButton("close", "Hide the charts", () => arrange({ dock: false })),
    ),
    row,
    empty,
  );
  const cards = new Map<number, ChartCard>();
  const turns = new Turns<ChartCard>();
  const rebuild = (): void => {
    for (const [id, card] of cards) {
      if (charts.list.some((c) => c.id === id)) continue;
      card.remove();
      turns.forget(card);
      cards.delete(id);
    }
    for (const chart of charts.list) {
      if (cards.has(chart.id)) continue;
      const card = new ChartCard(chart);
      cards.set(chart.id, card);
      row.append(card.element);
    }
    cards.forEach((card) => card.rebuild());
    empty.hidden = charts.list.length > 0;
    row.hidden = charts.list.length === 0;
    pause.replaceChildren(icon(charts.paused ? "play" : "pause"));
    pause.setAttribute("aria-label", charts.paused ? "Go on drawing" : "Pause the charts");
  };
  on(["charts", "theme", "units"], rebuild);
  on("scene", () => {
    if (store.scene) keepCurves(new Set(store.scene.signals.map((s) => s.name)));
  });
  on("signals", () => {
    if (layout.dock) turns.ask(cards.values());
  });
  on("layout", () => (dock.hidden = !layout.dock));
  dock.hidden = !layout.dock;
  rebuild();
  return dock;
}
