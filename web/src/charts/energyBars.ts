import { paced } from "../app/throttle";
import { format } from "../app/numbers";
import { valueOf, watch } from "../app/signals";
import { store } from "../app/store";
import { on } from "../app/topics";
import { h, setText } from "../ui/dom";

/** Quantity of a bar: its label, and the signals with and without recuperation. */
const BARS = [
  { kind: "supply", words: "from the supply", net: "energy", gross: "energy_gross" },
  { kind: "heat", words: "heat of the winding", net: "heat", gross: "heat" },
  { kind: "work", words: "work on the joint", net: "work", gross: "work_gross" },
] as const;

interface Line {
  name: string;
  whole: boolean;
  bars: HTMLElement[];
  value: HTMLElement;
}

/** Joints and robots that have an energy meter, robots first. */
export function metered(signals: { name: string }[]): { name: string; whole: boolean }[] {
  const found = signals
    .filter((signal) => signal.name.endsWith(".energy_gross"))
    .map((signal) => signal.name.slice(0, -".energy_gross".length))
    .map((name) => ({ name, whole: !name.includes("/") }));
  return [...found.filter((each) => each.whole), ...found.filter((each) => !each.whole)];
}

/** Energy of each joint's servo as bars that grow: from the supply, heat, work. */
export class EnergyBars {
  readonly element: HTMLElement;
  private readonly list = h("div", { class: "energy-list", role: "table", "aria-label": "Energy" });
  private readonly returned = h("input", { type: "checkbox", onchange: () => this.rebuild() });
  private lines: Line[] = [];
  /** Full scale of the bars, for robots and for joints. */
  private readonly scales = [true, false].map(() => h("span", { role: "cell" }));

  constructor() {
    this.element = h(
      "div",
      { class: "state energy", hidden: true },
      h("div", { class: "state-scroll" }, this.list),
      h(
        "div",
        { class: "state-actions" },
        ...BARS.map(({ kind, words }) =>
          h("span", { class: "energy-key" }, h("i", { class: `energy-bar ${kind}` }), words),
        ),
        h("span", { class: "spring" }),
        h("label", {}, this.returned, " Subtract recuperated energy"),
      ),
    );
    on("scene", () => this.rebuild());
    on(
      "signals",
      paced(() => this.draw()),
    );
  }

  /** Shows or hides it; only visible values are requested. */
  show(seen: boolean): void {
    if (seen === !this.element.hidden) return;
    this.element.hidden = !seen;
    this.rebuild();
  }

  private signals(name: string): string[] {
    return BARS.map((bar) => `${name}.${this.returned.checked ? bar.net : bar.gross}`);
  }

  private rebuild(): void {
    const seen = !this.element.hidden && store.scene !== null;
    const found = seen ? metered(store.scene?.signals ?? []) : [];
    this.lines = found.map(({ name, whole }) => ({
      name,
      whole,
      bars: BARS.map(({ kind }) => h("i", { class: `energy-bar ${kind}` })),
      value: h("b", { role: "cell" }),
    }));
    watch(
      "energy",
      found.flatMap(({ name }) => this.signals(name)),
    );
    this.list.replaceChildren(
      ...[true, false].flatMap((whole, i) => {
        const rows = this.lines.filter((line) => line.whole === whole).map(rowOf);
        return rows.length > 0
          ? [h("div", { class: "energy-scale", role: "row" }, this.scales[i]!), ...rows]
          : [];
      }),
    );
    if (seen && found.length === 0)
      this.list.replaceChildren(
        h("p", { class: "empty" }, "No joint here has an energy meter: give it a smart_servo."),
      );
    this.draw();
  }

  private draw(): void {
    if (this.element.hidden) return;
    const values = this.lines.map((line) => this.signals(line.name).map((name) => valueOf(name)));
    // Joints are scaled by the largest joint, robots by the largest robot.
    const most = [true, false].map((whole) =>
      Math.max(
        1e-12,
        ...this.lines.flatMap((line, i) =>
          line.whole === whole ? values[i]!.map((value) => value ?? 0) : [],
        ),
      ),
    );
    most.forEach((scale, i) => {
      const what = i === 0 ? "Robots" : "Joints";
      setText(this.scales[i]!, `${what}: full scale ${joules(scale)}`);
    });
    this.lines.forEach((line, i) => {
      const scale = most[line.whole ? 0 : 1]!;
      line.bars.forEach((bar, k) => {
        const share = Math.max(0, (values[i]![k] ?? 0) / scale);
        bar.style.width = `${(100 * share).toFixed(2)}%`;
      });
      const total = values[i]![0];
      setText(line.value, total === null || total === undefined ? "–" : joules(total));
    });
  }
}

function joules(energy: number): string {
  return `${format(energy, 2)} J`;
}

function rowOf({ name, whole, bars, value }: Line): HTMLElement {
  return h(
    "div",
    { class: whole ? "energy-row whole" : "energy-row", role: "row", "data-name": name },
    h("span", { role: "rowheader" }, name),
    h("span", { class: "energy-track", role: "cell" }, ...bars),
    value,
  );
}
