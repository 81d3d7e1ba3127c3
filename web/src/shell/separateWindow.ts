import { addCurve, charts } from "../charts/charts";
import { chartDock } from "../charts/dock";
import { SEPARATE_WINDOW, arrange, layout, type ViewName } from "../app/layout";
import { h } from "../ui/dom";
import { toast } from "../ui/toast";
import { attachPointer } from "../views/pointer";
import type { Stage } from "../views/stage";
import { statusBar } from "./statusBar";
import { summarise } from "./summary";

/** Content of separate windows. */
export type SeparateWindow = ViewName | "views" | "charts";
const KNOWN: readonly string[] = ["views", "charts", "top", "perspective", "front", "right"];

/** Opens a view, all views or the charts in a separate window, for another screen. */
export function openSeparateWindow(what: SeparateWindow): void {
  const url = new URL(location.href);
  url.searchParams.set("alone", what);
  if (what === "charts")
    for (const chart of charts.list) url.searchParams.append("chart", chart.curves.join(" "));
  const size = what === "charts" ? "width=900,height=420" : "width=900,height=700";
  if (!window.open(url.href, `linkwork-${what}`, `popup,${size}`))
    toast({
      level: "warning",
      text: "The browser blocked the window. Allow windows of this page.",
    });
}

/** The page of such a window; null if the address requests none. */
export function separatePage(stage: Stage): HTMLElement | null {
  if (SEPARATE_WINDOW === null) return null;
  if (!KNOWN.includes(SEPARATE_WINDOW))
    return h(
      "main",
      { class: "alone" },
      h(
        "p",
        { class: "empty" },
        `There is no window ${SEPARATE_WINDOW}. There are ${KNOWN.join(", ")}.`,
      ),
    );
  if (SEPARATE_WINDOW === "charts") {
    layout.dock = true;
    bringCharts();
    return h("main", { class: "alone", "aria-label": "Charts" }, chartDock(), statusBar());
  }
  layout.dock = false;
  if (SEPARATE_WINDOW !== "views") arrange({ active: SEPARATE_WINDOW as ViewName });
  stage.views.forEach((view) => attachPointer(stage, view));
  summarise(stage);
  return h("main", { class: "alone", "aria-label": "Views" }, stage.element, statusBar());
}

/** Draws the curves named in the address: one `chart` each, its signals separated by spaces. */
function bringCharts(): void {
  for (const curves of new URLSearchParams(location.search).getAll("chart")) {
    const [first, ...more] = curves.split(" ").filter(Boolean);
    if (first === undefined) continue;
    addCurve(first);
    const chart = charts.list.at(-1);
    more.forEach((signal) => addCurve(signal, chart));
  }
}
