import type { Dof } from "../protocol/messages";
import { isDriver } from "../app/store";
import { beginGesture } from "../app/targetSender";
import { h } from "../ui/dom";
import { stepOf } from "./jointStep";

/** Accent knob = target; neutral tick and fill from zero = actual. */
export class JointSlider {
  private readonly marks = h("span", { class: "slider-marks" });
  readonly element: HTMLElement;
  private readonly lo: number;
  private readonly hi: number;
  private shown = "";

  constructor(
    label: string,
    dof: Dof,
    private readonly want: (value: number) => void,
    /** The present target: the displayed one may be some frames old. */
    private readonly now: () => number,
  ) {
    this.lo = dof.lo ?? (dof.unit === "m" ? -0.5 : -Math.PI);
    this.hi = dof.hi ?? (dof.unit === "m" ? 0.5 : Math.PI);
    this.element = h(
      "div",
      {
        class: "slider",
        role: "slider",
        tabindex: "0",
        "aria-label": `${label} wanted`,
        "aria-valuemin": this.lo.toFixed(4),
        "aria-valuemax": this.hi.toFixed(4),
      },
      h("span", { class: "slider-line" }),
      this.marks,
    );
    const at = (event: PointerEvent): number => {
      const box = this.element.getBoundingClientRect();
      const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      return this.lo + part * (this.hi - this.lo);
    };
    this.element.addEventListener("pointerdown", (event) => {
      if (!isDriver()) return;
      this.element.setPointerCapture(event.pointerId);
      beginGesture();
      want(at(event));
    });
    this.element.addEventListener("pointermove", (event) => {
      if (this.element.hasPointerCapture(event.pointerId)) want(at(event));
    });
    this.element.addEventListener("keydown", (event) => {
      const step = stepOf(dof) * (event.shiftKey ? 10 : 1);
      const to = {
        ArrowRight: this.now() + step,
        ArrowUp: this.now() + step,
        ArrowLeft: this.now() - step,
        ArrowDown: this.now() - step,
        Home: this.lo,
        End: this.hi,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      if (isDriver()) this.go(to);
    });
  }

  /** Moves the target by a step [rad or m], within the range. */
  step(by: number): void {
    this.go(this.now() + by);
  }

  private go(to: number): void {
    beginGesture();
    this.want(Math.min(this.hi, Math.max(this.lo, to)));
  }

  show(wanted: number | null, actual: number | null, words: string): void {
    const knob = this.place(wanted ?? 0);
    const tick = actual === null ? null : this.place(actual);
    const shown = `${knob} ${tick}`;
    if (shown !== this.shown) {
      this.shown = shown;
      this.put(knob, tick);
    }
    if (this.element.getAttribute("aria-valuetext") !== words) {
      this.element.setAttribute("aria-valuenow", (wanted ?? 0).toFixed(4));
      this.element.setAttribute("aria-valuetext", words);
    }
  }

  /** Position of a value on the line [%], rounded to a tenth. */
  private place(value: number): number {
    const part = (Math.min(this.hi, Math.max(this.lo, value)) - this.lo) / (this.hi - this.lo || 1);
    return Math.round(1000 * part) / 10;
  }

  /**
   * Tick, knob and fill are background images of one element, in the order of the style sheet.
   * Moving them only repaints: moving elements would trigger layout or compositing.
   */
  private put(knob: number, tick: number | null): void {
    const zero = this.place(0);
    const from = tick === null ? zero : Math.min(tick, zero);
    const long = tick === null ? 0 : Math.abs(tick - zero);
    const { style } = this.marks;
    style.backgroundPosition = [
      `${middle(tick ?? 0, TICK_PX)} 7px`,
      `${middle(knob, KNOB_PX)} 6px`,
      `${long < 100 ? (100 * from) / (100 - long) : 0}% 11px`,
    ].join();
    style.backgroundSize = [
      `${tick === null ? 0 : TICK_PX}px 10px`,
      `${KNOB_PX}px ${KNOB_PX}px`,
      `${long}% 2px`,
    ].join();
  }
}

const TICK_PX = 2;
const KNOB_PX = 12;

/** Centers an image of some width [px] at a position on the line [%]. */
function middle(part: number, width: number): string {
  // A position in percent aligns that percentage of the image, not its center.
  return `calc(${part}% + ${((part / 100 - 0.5) * width).toFixed(2)}px)`;
}
