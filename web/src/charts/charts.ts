import { announce } from "../app/topics";
import { arrange } from "../app/layout";
import { watch } from "../app/signals";

export interface ChartSpec {
  id: number;
  curves: string[];
}

/** Which charts there are and which curves they hold. */
export const charts = { list: [] as ChartSpec[], paused: false, span: 10 };
let next = 1;

function changed(): void {
  watch(
    "charts",
    charts.list.flatMap((chart) => chart.curves),
  );
  announce("charts");
}

/** Adds a curve to a chart, or to a new one; opens the dock. */
export function addCurve(signal: string, chart?: ChartSpec): void {
  if (chart) {
    if (!chart.curves.includes(signal)) chart.curves.push(signal);
  } else if (!charts.list.some((c) => c.curves.length === 1 && c.curves[0] === signal)) {
    charts.list.push({ id: next++, curves: [signal] });
  }
  arrange({ dock: true });
  changed();
}

export function removeCurve(chart: ChartSpec, signal: string): void {
  chart.curves = chart.curves.filter((name) => name !== signal);
  if (chart.curves.length === 0) removeChart(chart);
  else changed();
}

export function removeChart(chart: ChartSpec): void {
  charts.list = charts.list.filter((c) => c !== chart);
  changed();
}

/** Forgets curves whose signals the scene no longer has. */
export function keepCurves(known: Set<string>): void {
  for (const chart of charts.list) chart.curves = chart.curves.filter((name) => known.has(name));
  charts.list = charts.list.filter((chart) => chart.curves.length > 0);
  changed();
}

export function pauseCharts(paused: boolean): void {
  charts.paused = paused;
  announce("charts");
}
