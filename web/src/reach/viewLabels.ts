import type { Vector3 } from "three";
import { layout } from "../app/layout";
import { h, setHidden, setText } from "../ui/dom";
import type { View } from "../views/view";

export interface Words {
  at: Vector3;
  text: string;
  /** Its color. */
  tone: "" | "warn" | "err";
}

/** Approximate size of a label [px]. */
const WIDE = 84;
const HIGH = 22;

/** Labels at points of the world, in each visible view. */
export class ViewLabels {
  private readonly made = new Map<View, HTMLElement[]>();

  draw(views: View[], words: Words[]): void {
    for (const view of views) {
      const labels = this.made.get(view) ?? [];
      this.made.set(view, labels);
      const seen = !view.element.hidden && layout.stereo === "none";
      const taken: { x: number; y: number }[] = [];
      words.forEach((each, n) => {
        labels[n] ??= this.add(view);
        this.place(view, labels[n], each, seen, taken);
      });
      labels.slice(words.length).forEach((label) => setHidden(label, true));
    }
  }

  private add(view: View): HTMLElement {
    const label = h("div", { class: "joint-label reach-label", hidden: true });
    view.element.append(label);
    return label;
  }

  /** Places a label beside its point, or below existing ones. */
  private place(
    view: View,
    label: HTMLElement,
    { at, text, tone }: Words,
    seen: boolean,
    taken: { x: number; y: number }[],
  ): void {
    const spot = seen ? view.project(at) : null;
    const { width, height } = view.size;
    const out = !spot || spot.x < 0 || spot.y < 40 || spot.x > width - 60 || spot.y > height - 24;
    setHidden(label, out);
    if (!spot || out) return;
    setText(label, text);
    label.dataset["tone"] = tone;
    const [x, high] = [Math.round(spot.x + 10), Math.round(spot.y + 6)];
    let y = high;
    while (taken.some((each) => Math.abs(each.x - x) < WIDE && Math.abs(each.y - y) < HIGH)) y += 2;
    taken.push({ x, y });
    label.style.transform = `translate(${x}px, ${y}px)`;
  }
}
