import { h } from "../ui/dom";
import type { ViewCamera } from "./camera";

/** A scale bar of a round length, in orthographic views. */
export class ScaleBar {
  private readonly text = h("span", {});
  private readonly bar = h("span", { class: "scale-line" });
  readonly element = h("div", { class: "scale-bar", "aria-hidden": "true" }, this.text, this.bar);

  update(view: ViewCamera, height: number): void {
    if (!view.flat || height === 0) return;
    const perMetre = height / (2 * view.stand.half);
    const length = roundLength(90 / perMetre);
    this.bar.style.width = `${Math.round(length * perMetre)}px`;
    const words =
      length >= 0.1 ? `${Number(length.toFixed(2))} m` : `${Number((length * 1000).toFixed(1))} mm`;
    if (this.text.textContent !== words) this.text.textContent = words;
  }
}

/** The largest of 1, 2 or 5 times a power of ten that is not above `longest`. */
export function roundLength(longest: number): number {
  const power = 10 ** Math.floor(Math.log10(longest));
  const times = longest / power;
  return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}
