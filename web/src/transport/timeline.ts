import { format } from "../app/numbers";
import { command } from "../app/session";
import { isDriver, store } from "../app/store";
import { h } from "../ui/dom";
import { MarkTrack } from "./markTrack";

const SHORTEST_S = 20;
/** Number of marks in the window, which scrolls by whole marks. */
const MARKS = 10;

/** The displayed range [s]. */
export interface Span {
  start: number;
  length: number;
}

/**
 * The displayed range of a run: its history and some room ahead. Its length depends on the history,
 * not on the run, and it scrolls with the run.
 */
export function spanOf(first: number, last: number): Span {
  let length = SHORTEST_S;
  while ((last - first) * 1.25 > length) length *= 2;
  const mark = length / MARKS;
  const start = Math.max(0, mark * Math.ceil((last - 0.95 * length) / mark));
  return { start, length };
}

/** Times of the marks in a range: multiples of 1, 2 or 5 times a power of ten, at most ten steps. */
export function marksOf({ start, length }: Span): { times: number[]; digits: number } {
  const least = length / MARKS;
  const power = Math.floor(Math.log10(least));
  const unit = 10 ** power;
  const step = [1, 2, 5, 10].find((k) => k * unit >= least * (1 - 1e-9))! * unit;
  const first = Math.ceil(start / step - 1e-9);
  const last = Math.floor((start + length) / step + 1e-9);
  const times = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { times, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** Past and present on a line; dragging shows the past. */
export class Timeline {
  private readonly bar = h("span", { class: "time-past" });
  private readonly knob = h("span", { class: "time-knob" });
  private readonly marks = h("span", { class: "time-marks", "aria-hidden": "true" });
  private readonly markTrack = new MarkTrack();
  private readonly slider: HTMLElement;
  readonly element: HTMLElement;
  private span: Span = { start: 0, length: 0 };
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
      },
      h("span", { class: "time-line" }),
      this.bar,
      this.knob,
      this.marks,
    );
    this.element = h("div", { class: "time-track" }, this.markTrack.element, this.slider);
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
    const { start, length } = this.span;
    this.go(start + ((event.clientX - box.left) / box.width) * length);
  }

  private go(time: number): void {
    const history = store.status?.history;
    if (!history) return;
    command({ type: "seek", time: Math.min(history[1], Math.max(history[0], time)) });
  }

  /** The whole of a recording; of a run the recent past, which is constant during a drag. */
  private shown(time: number): Span {
    const [first, last] = store.status?.history ?? [time, time];
    if (store.scene?.replay && last > first) return { start: first, length: last - first };
    if (this.holding && this.span.length > 0) return this.span;
    return spanOf(Math.min(first, time), Math.max(last, time));
  }

  draw(time: number): void {
    this.time = time;
    const history = store.status?.history ?? null;
    const span = this.shown(time);
    if (span.start !== this.span.start || span.length !== this.span.length) {
      this.span = span;
      const { times, digits } = marksOf(span);
      this.marks.replaceChildren(
        ...times.map((each) => {
          const mark = h("span", {}, format(each, digits));
          mark.style.left = `${(100 * (each - span.start)) / span.length}%`;
          return mark;
        }),
      );
      this.slider.setAttribute("aria-valuemin", String(span.start));
      this.slider.setAttribute("aria-valuemax", String(span.start + span.length));
    }
    const place = (t: number): number =>
      Math.min(100, Math.max(0, (100 * (t - span.start)) / span.length));
    this.knob.style.left = `${place(time)}%`;
    this.bar.hidden = history === null;
    if (history) {
      this.bar.style.left = `${place(history[0])}%`;
      this.bar.style.width = `${place(history[1]) - place(history[0])}%`;
    }
    this.markTrack.draw(span);
    const words = `${format(time, 1)} seconds`;
    if (this.slider.getAttribute("aria-valuetext") !== words) {
      this.slider.setAttribute("aria-valuenow", time.toFixed(1));
      this.slider.setAttribute("aria-valuetext", words);
    }
  }
}
