import { announce } from "../app/topics";
import { arrange } from "../app/layout";
import { watch } from "../app/signals";

export interface ChartSpec {
  id: number;
  curves: string[];
}

/** The charts and their curves. */
export const charts = { list: [] as ChartSpec[], paused: false, span: 10 };
let next = 1;

const KEY = "linkwork-charts";
let scene = "";

/** Charts survive a reload of the page, for the same scene. */
function remember(): void {
  const curves = charts.list.map((chart) => chart.curves);
  if (scene) sessionStorage.setItem(KEY, JSON.stringify({ scene, curves, span: charts.span }));
}

function recall(known: Set<string>): void {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as {
      scene?: string;
      curves?: string[][];
      span?: number;
    };
    if (kept.scene !== scene || !kept.curves) return;
    charts.span = kept.span ?? charts.span;
    charts.list = kept.curves
      .map((curves) => curves.filter((name) => known.has(name)))
      .filter((curves) => curves.length > 0)
      .map((curves) => ({ id: next++, curves }));
  } catch {
    sessionStorage.removeItem(KEY);
  }
}

function changed(): void {
  remember();
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
  arrange({ dock: true, bottom: "Charts" });
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

/** Drops curves whose signals no longer exist; the first scene restores its stored ones. */
export function keepCurves(name: string, known: Set<string>): void {
  const first = scene === "";
  scene = name;
  if (first) recall(known);
  for (const chart of charts.list) chart.curves = chart.curves.filter((name) => known.has(name));
  charts.list = charts.list.filter((chart) => chart.curves.length > 0);
  changed();
}

export function pauseCharts(paused: boolean): void {
  charts.paused = paused;
  announce("charts");
}
