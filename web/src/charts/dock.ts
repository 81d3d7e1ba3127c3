import { SEPARATE_WINDOW, arrange, layout, showSheet } from "../app/layout";
import { paced, Turns } from "../app/throttle";
import { store } from "../app/store";
import { on } from "../app/topics";
import { button, iconButton } from "../ui/button";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { openSeparateWindow } from "../shell/separateWindow";
import { MovementTab } from "../shell/movementTab";
import { tabs } from "../ui/tabs";
import { RowVisibility } from "../ui/rowVisibility";
import { ChartCard } from "./chartCard";
import { EnergyBars } from "./energyBars";
import { FrameLog } from "./frameLog";
import { charts, keepCurves, pauseCharts } from "./charts";
import { pickSignal } from "./signalPicker";
import { bodyPoses, jointStates, motionStates, StateTable } from "./stateTable";
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
  const states = {
    Joints: new StateTable("Joint states", jointStates, "No joints."),
    Bodies: new StateTable("Body poses", bodyPoses, "No body moves."),
    Motion: new StateTable("Motion states", motionStates, "No sensor of type motion."),
  };
  const frames = new FrameLog();
  const energy = new EnergyBars();
  const movement = new MovementTab();
  const sheets = ["Charts", "Joints", "Bodies", "Motion", "Energy", "Movement", "Frames"];
  const strip = tabs("Dock", sheets, layout.bottom, showSheet);
  const tools = h(
    "span",
    { class: "dock-tools" },
    h("div", { class: "input-box plain" }, span),
    pause,
    iconButton("plus", "Add a chart", () => pickSignal()),
  );
  const dock = h(
    "section",
    { class: "dock", role: "region", "aria-label": "Charts" },
    h(
      "div",
      { class: "dock-head" },
      strip.element,
      h("span", { class: "spring" }),
      tools,
      frames.tools,
      SEPARATE_WINDOW === null &&
        h(
          "span",
          { class: "dock-corner" },
          iconButton("window", "Charts in their own window", () => openSeparateWindow("charts")),
          iconButton("close", "Hide the charts", () => arrange({ dock: false })),
        ),
    ),
    row,
    empty,
    ...Object.values(states).map((table) => table.element),
    energy.element,
    movement.element,
    frames.element,
  );
  const place = (): void => {
    const plots = layout.bottom === "Charts";
    dock.hidden = !layout.dock;
    tools.hidden = !plots;
    row.hidden = !plots || charts.list.length === 0;
    empty.hidden = !plots || charts.list.length > 0;
    strip.choose(layout.bottom);
    frames.show(layout.dock && layout.bottom === "Frames");
    energy.show(layout.dock && layout.bottom === "Energy");
    movement.show(layout.dock && layout.bottom === "Movement");
    for (const [name, table] of Object.entries(states))
      table.show(layout.dock && layout.bottom === name);
  };
  const cards = new Map<number, ChartCard>();
  const turns = new Turns<ChartCard>();
  const visibility = new RowVisibility(row, () => turns.ask(cards.values()));
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
    place();
    span.value = String(charts.span);
    pause.replaceChildren(icon(charts.paused ? "play" : "pause"));
    pause.setAttribute("aria-label", charts.paused ? "Resume the charts" : "Pause the charts");
  };
  on(["charts", "theme", "units"], rebuild);
  on("scene", () => {
    if (store.scene) keepCurves(store.scene.name, new Set(store.scene.signals.map((s) => s.name)));
  });
  const numbers = paced(() => cards.forEach((card) => card.values()));
  on(["signals", "status"], () => {
    if (!layout.dock || row.hidden) return;
    turns.ask(visibility.among([...cards.values()]));
    numbers();
  });
  on("layout", place);
  rebuild();
  return dock;
}
