import uPlot from "uplot";
import { format, formatFine, screenUnit } from "../app/numbers";
import { historyOf, valueOf } from "../app/signals";
import { SignalHistory } from "../app/signalHistory";
import { store } from "../app/store";
import { token } from "../app/theme";
import { iconButton } from "../ui/button";
import { h, setText } from "../ui/dom";
import { openMenu } from "../ui/menu";
import { saveBlob } from "../ui/saveFile";
import { charts, removeChart, removeCurve, type ChartSpec } from "./charts";
import { align } from "./align";
import { toCsv } from "./csv";
import { pickSignal } from "./signalPicker";

const HEAD_PX = 36;

/** A line at the displayed instant: curves of a recording extend beyond it. */
function drawNow(plot: uPlot): void {
  if (!store.scene?.replay) return;
  const x = Math.round(plot.valToPos(store.poseTime, "x", true));
  const { left, top, width, height } = plot.bbox;
  if (x < left || x > left + width) return;
  plot.ctx.fillStyle = token("text2");
  plot.ctx.fillRect(x, top, Math.max(1, devicePixelRatio), height);
}

/** An axis label with enough digits to distinguish it from its neighbors. */
function mark(y: number, all: number[]): string {
  const step = all.length > 1 ? Math.abs(all[1]! - all[0]!) : 1;
  if (step > 0 && step < 1e-5) return y === 0 ? "0" : y.toExponential(1).replaceAll("-", "−");
  return format(y, Math.min(5, Math.max(0, Math.ceil(-Math.log10(step || 1) - 1e-9))));
}

/** Length of the common prefix of curve names, up to the last `/`; 0 for a single curve. */
export function sharedScope(names: string[]): number {
  const scopes = new Set(names.map((name) => name.slice(0, name.lastIndexOf("/") + 1)));
  return names.length > 1 && scopes.size === 1 ? [...scopes][0]!.length : 0;
}

/** One chart: several curves over the last seconds, cursor values, zoom, CSV and PNG. */
export class ChartCard {
  readonly element: HTMLElement;
  private readonly legend = h("div", { class: "chart-legend" });
  private readonly box = h("div", { class: "chart-box" });
  private plot: uPlot | null = null;
  private zoomed = false;

  constructor(readonly chart: ChartSpec) {
    const more: HTMLButtonElement = iconButton("more", "Chart menu", () => this.menu(more));
    this.element = h(
      "section",
      { class: "chart", role: "group", "aria-label": `Chart of ${chart.curves.join(", ")}` },
      h(
        "div",
        { class: "chart-head" },
        this.legend,
        iconButton("plus", "Add a curve", () => pickSignal(chart)),
        more,
      ),
      this.box,
    );
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  private unit(signal: string): { unit: string; factor: number; digits: number } {
    return screenUnit(
      store.scene?.signals.find((s) => s.name === signal)?.unit ?? "",
      store.degrees,
    );
  }

  private colors(): string[] {
    return [
      token("accent"),
      token("text"),
      token("chart3"),
      token("chart4"),
      token("force"),
      token("ok"),
      token("warn"),
    ];
  }

  /** Rebuilds the plot after a change of curves, units or colors. */
  rebuild(): void {
    this.plot?.destroy();
    this.zoomed = false;
    const colors = this.colors();
    const scope = sharedScope(this.chart.curves);
    const units = [...new Set(this.chart.curves.map((name) => this.unit(name).unit))];
    const axis = {
      stroke: token("text3"),
      grid: { stroke: token("line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    this.plot = new uPlot(
      {
        width: Math.max(80, this.box.clientWidth),
        height: Math.max(60, this.box.clientHeight),
        legend: { show: false },
        cursor: { drag: { x: true, y: false }, points: { size: 7 } },
        scales: { x: { time: false } },
        axes: [
          {
            ...axis,
            size: 22,
            gap: 2,
            space: 70,
            values: (_u, v) => v.map((t) => `${Number(t.toFixed(2))} s`),
          },
          // Left and right; curves of a third unit have a separate scale, read by the cursor.
          ...units.slice(0, 2).map((unit, k) => ({
            ...axis,
            scale: unit || "1",
            side: (k === 0 ? 3 : 1) as uPlot.Axis.Side,
            grid: k === 0 ? axis.grid : { show: false },
            size: 46,
            gap: 4,
            space: 28,
            values: (_u: uPlot, v: number[]) => v.map((y) => mark(y, v)),
          })),
        ],
        series: [
          {},
          ...this.chart.curves.map((name, i) => ({
            label: name,
            scale: this.unit(name).unit || "1",
            stroke: colors[i % colors.length]!,
            width: 1.4,
            dash: name.endsWith(".target") || name.endsWith(".wanted") ? [5, 3] : [],
            points: { show: false },
          })),
        ],
        hooks: {
          draw: [drawNow],
          setCursor: [() => this.values()],
          setSelect: [(u) => u.select.width > 2 && (this.zoomed = true)],
        },
      },
      [[], ...this.chart.curves.map(() => [])],
      this.box,
    );
    this.plot.over.addEventListener("dblclick", () => (this.zoomed = false));
    this.plot.over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.legend.replaceChildren(
      ...this.chart.curves.map((name, i) => {
        const { unit } = this.unit(name);
        const key = h("span", { class: "chart-key" });
        key.style.background = colors[i % colors.length]!;
        return h(
          "button",
          {
            type: "button",
            class: "chart-curve",
            title: `${name}: click removes the curve`,
            "data-signal": name,
            onclick: () => removeCurve(this.chart, name),
          },
          key,
          h("span", { class: "chart-name" }, name.slice(scope) + (unit && `, ${unit}`)),
          h("b", {}),
        );
      }),
    );
    this.draw();
    this.values();
  }

  /** The wheel zooms in time about the pointer. */
  private wheel(event: WheelEvent): void {
    const plot = this.plot;
    const { min, max } = plot?.scales["x"] ?? {};
    if (!plot || min === undefined || max === undefined || min === null || max === null) return;
    event.preventDefault();
    const at = plot.posToVal(plot.cursor.left ?? 0, "x");
    const factor = Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004);
    this.zoomed = true;
    plot.setScale("x", { min: at - (at - min) * factor, max: at + (max - at) * factor });
  }

  /** Draws the curves; their numbers are updated together with all others of the page. */
  draw(): void {
    if (!this.plot || !this.element.isConnected) return;
    if (!charts.paused && !this.zoomed) {
      const curves = this.chart.curves.map((name) => ({
        history: historyOf(name) ?? new SignalHistory(),
        factor: this.unit(name).factor,
      }));
      const middle = store.scene?.replay ? store.poseTime : undefined;
      this.plot.setData(align(curves, charts.span, middle) as uPlot.AlignedData);
    }
  }

  /** Writes the values under the cursor, or the latest. */
  values(): void {
    const at = this.plot?.cursor.idx;
    this.chart.curves.forEach((name, i) => {
      const { factor, digits } = this.unit(name);
      const under = at === null || at === undefined ? null : (this.plot?.data[i + 1]?.[at] ?? null);
      const live = valueOf(name);
      const shown = under ?? (live === null ? null : live / factor);
      const cell = this.legend.children[i]?.querySelector("b");
      if (cell) setText(cell, shown === null ? "–" : formatFine(shown, digits));
    });
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (width > 0 && height > HEAD_PX) this.plot?.setSize({ width, height });
  }

  private menu(anchor: HTMLElement): void {
    const name = this.chart.curves
      .join("_")
      .replaceAll(/[^A-Za-z0-9_.-]/g, "_")
      .slice(0, 80);
    openMenu(
      anchor,
      [
        {
          label: "Save CSV",
          run: () => saveBlob(new Blob([this.csv()], { type: "text/csv" }), `${name}.csv`),
        },
        {
          label: "Save PNG",
          run: () => this.plot?.ctx.canvas.toBlob((blob) => blob && saveBlob(blob, `${name}.png`)),
        },
        { label: "Show all again", run: () => ((this.zoomed = false), this.rebuild()) },
        { label: "Remove chart", run: () => removeChart(this.chart) },
      ],
      "Chart",
    );
  }

  private csv(): string {
    return toCsv(
      this.chart.curves.map((name) => ({
        name,
        unit: store.scene?.signals.find((s) => s.name === name)?.unit ?? "",
        history: historyOf(name) ?? new SignalHistory(),
      })),
    );
  }

  remove(): void {
    this.plot?.destroy();
    this.element.remove();
  }
}
