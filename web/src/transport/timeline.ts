import { format } from "../app/numbers";
import { command } from "../app/session";
import { isDriver, store } from "../app/store";
import { h } from "../ui/dom";
import { Lane } from "./lane";

const SHORTEST_S = 20;

/** Seconds the line spans: doubles whenever time would run off its end. */
export function spanFor(time: number): number {
  let span = SHORTEST_S;
  while (time > span * 0.95) span *= 2;
  return span;
}

/** The past and now on a line; dragging shows the past. */
export class Timeline {
  private readonly bar = h("span", { class: "time-past" });
  private readonly knob = h("span", { class: "time-knob" });
  private readonly marks = h("span", { class: "time-marks", "aria-hidden": "true" });
  private readonly lane = new Lane();
  private readonly slider: HTMLElement;
  readonly element: HTMLElement;
  private span = 0;
  private time = 0;
  private holding = false;

  constructor() {
    this.slider = h(
      "div",
      {
        class: "timeline",
        role: "slider",
        tabindex: "0",
        "aria-label": "Time",
        "aria-valuemin": "0",
      },
      h("span", { class: "time-line" }),
      this.bar,
      this.knob,
      this.marks,
    );
    this.element = h("div", { class: "time-track" }, this.lane.element, this.slider);
    this.slider.addEventListener("pointerdown", (event) => {
      if (!isDriver()) return;
      this.slider.setPointerCapture(event.pointerId);
      this.holding = true;
      this.seek(event);
    });
    this.slider.addEventListener("pointermove", (event) => this.holding && this.seek(event));
    this.slider.addEventListener("pointerup", () => (this.holding = false));
    this.slider.addEventListener("pointercancel", () => (this.holding = false));
    this.slider.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -0.1, ArrowRight: 0.1, PageDown: -1, PageUp: 1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      this.go(this.time + by * (event.shiftKey ? 10 : 1));
    });
  }

  private seek(event: PointerEvent): void {
    const box = this.slider.getBoundingClientRect();
    this.go(((event.clientX - box.left) / box.width) * this.span);
  }

  private go(time: number): void {
    const history = store.status?.history;
    if (!history) return;
    command({ type: "seek", time: Math.min(history[1], Math.max(history[0], time)) });
  }

  draw(time: number): void {
    this.time = time;
    const history = store.status?.history ?? null;
    const whole = store.scene?.replay?.duration;
    const span =
      whole ||
      (this.holding && this.span > 0 ? this.span : spanFor(Math.max(time, history?.[1] ?? 0)));
    if (span !== this.span) {
      this.span = span;
      const each = span / 10;
      this.marks.replaceChildren(
        ...Array.from({ length: 11 }, (_, i) => {
          const mark = h("span", {}, format(i * each, each < 1 ? 1 : 0));
          mark.style.left = `${i * 10}%`;
          return mark;
        }),
      );
      this.slider.setAttribute("aria-valuemax", String(span));
    }
    const place = (t: number): number => Math.min(100, (100 * t) / span);
    this.knob.style.left = `${place(time)}%`;
    this.bar.hidden = history === null;
    if (history) {
      this.bar.style.left = `${place(history[0])}%`;
      this.bar.style.width = `${place(history[1]) - place(history[0])}%`;
    }
    this.lane.draw(span);
    const words = `${format(time, 1)} seconds`;
    if (this.slider.getAttribute("aria-valuetext") !== words) {
      this.slider.setAttribute("aria-valuenow", time.toFixed(1));
      this.slider.setAttribute("aria-valuetext", words);
    }
  }
}
