import { addCurve, charts } from "../charts/charts";
import { chartDock } from "../charts/dock";
import { ALONE, arrange, layout, type ViewName } from "../app/layout";
import { readToken } from "../app/token";
import { h } from "../ui/dom";
import { toast } from "../ui/toast";
import { attachPointer } from "../views/pointer";
import type { Stage } from "../views/stage";
import { statusBar } from "./statusBar";
import { summarise } from "./summary";

/** What can have a window of its own. */
export type Alone = ViewName | "views" | "charts";
const KNOWN: readonly string[] = ["views", "charts", "top", "perspective", "front", "right"];

/** Opens a view, all views or the charts in a window of its own, for another screen. */
export function openAlone(what: Alone): void {
  const url = new URL(location.href);
  url.searchParams.set("alone", what);
  if (what === "charts")
    for (const chart of charts.list) url.searchParams.append("chart", chart.curves.join(" "));
  const token = readToken();
  if (token) url.searchParams.set("token", token);
  const size = what === "charts" ? "width=900,height=420" : "width=900,height=700";
  if (!window.open(url.href, `linkwork-${what}`, `popup,${size}`))
    toast({
      level: "warning",
      text: "The browser blocked the window. Allow windows of this page.",
    });
}

/** The page of such a window; null where the address asks for none. */
export function alonePage(stage: Stage): HTMLElement | null {
  if (ALONE === null) return null;
  if (!KNOWN.includes(ALONE))
    return h(
      "main",
      { class: "alone" },
      h("p", { class: "empty" }, `There is no window ${ALONE}. There are ${KNOWN.join(", ")}.`),
    );
  if (ALONE === "charts") {
    layout.dock = true;
    bringCharts();
    return h("main", { class: "alone", "aria-label": "Charts" }, chartDock(), statusBar());
  }
  layout.dock = false;
  if (ALONE !== "views") arrange({ active: ALONE as ViewName });
  stage.views.forEach((view) => attachPointer(stage, view));
  summarise(stage);
  return h("main", { class: "alone", "aria-label": "Views" }, stage.element, statusBar());
}

/** Draws the curves that the address names: one `chart` each, its signals apart by blanks. */
function bringCharts(): void {
  for (const curves of new URLSearchParams(location.search).getAll("chart")) {
    const [first, ...more] = curves.split(" ").filter(Boolean);
    if (first === undefined) continue;
    addCurve(first);
    const chart = charts.list.at(-1);
    more.forEach((signal) => addCurve(signal, chart));
  }
}
