import { addCurve } from "../charts/charts";
import { format, screenUnit } from "../app/numbers";
import { paced } from "../app/throttle";
import { historyOf, valueOf, watch } from "../app/signals";
import { primary, store } from "../app/store";
import { on } from "../app/topics";
import { iconButton } from "../ui/button";
import { h, setText } from "../ui/dom";
import { section } from "./section";

const SPAN_S = 5;
const MOST = 12;

interface Line {
  name: string;
  unit: string;
  value: HTMLElement;
  canvas: HTMLCanvasElement;
}

/** Signals of the selected object with a small curve of the last seconds. */
export function liveSignals(): HTMLElement {
  const list = h("div", { class: "live" });
  const whole = section("Live signals", null, list);
  let lines: Line[] = [];
  const rebuild = (): void => {
    const thing = primary();
    const names = (store.scene?.signals ?? []).filter(
      (s) =>
        thing !== null &&
        s.direction !== "param" &&
        (s.name.startsWith(`${thing.name}.`) || isOf(thing.name, s.name)),
    );
    lines = names.slice(0, MOST).map((signal) => ({
      name: signal.name,
      unit: signal.unit,
      value: h("b", {}),
      canvas: h("canvas", { width: "184", height: "32", "aria-hidden": "true" }),
    }));
    watch(
      "live",
      lines.map((line) => line.name),
    );
    list.replaceChildren(
      ...lines.map((line) =>
        h(
          "div",
          { class: "live-row", "data-signal": line.name },
          h(
            "span",
            { class: "live-name", title: line.name },
            line.name.slice(line.name.lastIndexOf(".") + 1),
          ),
          line.canvas,
          line.value,
          h("span", { class: "unit" }, screenUnit(line.unit, store.degrees).unit),
          iconButton("chart", `Chart ${line.name}`, () => addCurve(line.name)),
        ),
      ),
    );
    whole.hidden = lines.length === 0;
  };
  const draw = (): void => {
    if (whole.hidden || !whole.isConnected) return;
    for (const line of lines) {
      const value = valueOf(line.name);
      const { factor, digits } = screenUnit(line.unit, store.degrees);
      setText(line.value, value === null ? "–" : format(value / factor, digits));
      sparkline(line.canvas, line.name);
    }
  };
  on(["selection", "scene", "units"], rebuild);
  on("signals", paced(draw));
  rebuild();
  return whole;
}

function isOf(thing: string, signal: string): boolean {
  return store.scene?.sensors.some((s) => s.name === thing && s.signals.includes(signal)) ?? false;
}

function sparkline(canvas: HTMLCanvasElement, name: string): void {
  const history = historyOf(name);
  const pen = canvas.getContext("2d");
  if (!pen || !history || history.times.length < 2) return;
  const end = history.times.at(-1)!;
  let first = history.times.length - 1;
  while (first > 0 && history.times[first - 1]! > end - SPAN_S) first--;
  const values = history.values.slice(first);
  const lo = Math.min(...values);
  const hi = Math.max(...values);
  const span = Math.max(hi - lo, 1e-9);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.strokeStyle = getComputedStyle(canvas).color;
  pen.lineWidth = 2;
  pen.beginPath();
  values.forEach((value, i) => {
    const x = ((history.times[first + i]! - end) / SPAN_S + 1) * canvas.width;
    const y = canvas.height - 4 - ((value - lo) / span) * (canvas.height - 8);
    if (i === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  });
  pen.stroke();
}
