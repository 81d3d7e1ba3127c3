import { Vector3 } from "three";
import { h } from "../ui/dom";
import type { ViewCamera } from "./camera";

const SPACE = "http://www.w3.org/2000/svg";
const AXES = [
  { name: "x", at: new Vector3(1, 0, 0) },
  { name: "y", at: new Vector3(0, 1, 0) },
  { name: "z", at: new Vector3(0, 0, 1) },
];

/** Shows the axes: balls in perspective, an axis pair in orthographic views. */
export class Compass {
  readonly element = h("div", { class: "compass", "aria-hidden": "true" });
  private readonly svg = document.createElementNS(SPACE, "svg");
  private shown = "";

  constructor() {
    this.svg.setAttribute("width", "64");
    this.svg.setAttribute("height", "64");
    this.svg.setAttribute("viewBox", "-32 -32 64 64");
    this.element.append(this.svg);
  }

  update(view: ViewCamera): void {
    const seen = AXES.map(({ name, at }) => {
      const v = at.clone().transformDirection(view.camera.matrixWorldInverse);
      return { name, x: Math.round(v.x * 220) / 10, y: Math.round(-v.y * 220) / 10, depth: v.z };
    }).sort((a, b) => a.depth - b.depth);
    const key = seen.map((a) => `${a.name}${a.x},${a.y}`).join(" ") + view.flat;
    if (key === this.shown) return;
    this.shown = key;
    this.svg.innerHTML = view.flat ? pair(seen) : balls(seen);
  }
}

interface Seen {
  name: string;
  x: number;
  y: number;
}

function balls(seen: Seen[]): string {
  return seen
    .map(
      ({ name, x, y }) =>
        `<line class="axis-${name}" x1="0" y1="0" x2="${x}" y2="${y}" stroke-width="1.6"/>` +
        `<circle class="axis-${name} filled" cx="${x}" cy="${y}" r="7"/>` +
        `<text x="${x}" y="${y + 3.5}" text-anchor="middle" class="ball">${name.toUpperCase()}</text>`,
    )
    .join("");
}

function pair(seen: Seen[]): string {
  return seen
    .filter(({ x, y }) => Math.hypot(x, y) > 4)
    .map(
      ({ name, x, y }) =>
        `<line class="axis-${name}" x1="-22" y1="22" x2="${x - 22}" y2="${y + 22}" stroke-width="2"/>` +
        `<text class="axis-${name} filled" x="${x * 1.3 - 22}" y="${y * 1.3 + 25}" text-anchor="middle">${name}</text>`,
    )
    .join("");
}
