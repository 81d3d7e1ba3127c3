import uPlot from "uplot";
import { format, screenUnit } from "../app/numbers";
import { trailOf, valueOf } from "../app/signals";
import { Trail } from "../app/trail";
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

/** In a recording curves reach beyond the instant that is shown: a line says where it is. */
function drawNow(plot: uPlot): void {
  if (!store.scene?.replay) return;
  const x = Math.round(plot.valToPos(store.poseTime, "x", true));
  const { left, top, width, height } = plot.bbox;
  if (x < left || x > left + width) return;
  plot.ctx.fillStyle = token("text2");
  plot.ctx.fillRect(x, top, Math.max(1, devicePixelRatio), height);
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

  /** Builds the plot anew: after a change of curves, units or colours. */
  rebuild(): void {
    this.plot?.destroy();
    this.zoomed = false;
    const colors = this.colors();
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
          {
            ...axis,
            size: 46,
            gap: 4,
            space: 28,
            values: (_u, v) => v.map((y) => format(y, Math.abs(y) < 10 && y % 1 !== 0 ? 2 : 0)),
          },
        ],
        series: [
          {},
          ...this.chart.curves.map((name, i) => ({
            label: name,
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
          h("span", { class: "chart-name" }, `${name}${unit ? `, ${unit}` : ""}`),
          h("b", {}),
        );
      }),
    );
    this.draw();
  }

  draw(): void {
    if (!this.plot || !this.element.isConnected) return;
    if (!charts.paused && !this.zoomed) {
      const curves = this.chart.curves.map((name) => ({
        trail: trailOf(name) ?? new Trail(),
        factor: this.unit(name).factor,
      }));
      const middle = store.scene?.replay ? store.poseTime : undefined;
      this.plot.setData(align(curves, charts.span, middle) as uPlot.AlignedData);
    }
    this.values();
  }

  private values(): void {
    const at = this.plot?.cursor.idx;
    this.chart.curves.forEach((name, i) => {
      const { factor, digits } = this.unit(name);
      const under = at === null || at === undefined ? null : (this.plot?.data[i + 1]?.[at] ?? null);
      const live = valueOf(name);
      const shown = under ?? (live === null ? null : live / factor);
      const cell = this.legend.children[i]?.querySelector("b");
      if (cell) setText(cell, shown === null ? "–" : format(shown, digits));
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
        trail: trailOf(name) ?? new Trail(),
      })),
    );
  }

  remove(): void {
    this.plot?.destroy();
    this.element.remove();
  }
}
