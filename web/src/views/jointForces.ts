import { Color, Vector3 } from "three";
import { layout } from "../app/layout";
import { paced } from "../app/throttle";
import { store } from "../app/store";
import { token } from "../app/theme";
import { h, setHidden, setText } from "../ui/dom";
import { Arrows } from "./arrows";
import type { Bodies } from "./bodies";
import { markScale } from "./contactArrows";
import type { View } from "./view";

const MOST = 512;
const ROW = 7;
/** Drawn length of the largest force, relative to the scene's radius. */
const REACH = 0.4;
/** Half-life of the largest force, which scales the arrows [ms]. */
const HALF_MS = 700;

/** The largest force, its joint, and its position. */
export interface Largest {
  force: number;
  name: string;
  at: Vector3;
}

/** A force as text. */
export function newtons(force: number): string {
  if (force >= 9995) return `${(force / 1000).toFixed(1)} kN`;
  return `${force.toFixed(force >= 99.95 ? 0 : force >= 9.995 ? 1 : 2)} N`;
}

/** Indices of the rows with the largest forces, `most` at most. */
export function strongest(rows: Float32Array, most: number): number[] {
  const all = Array.from({ length: Math.floor(rows.length / ROW) }, (_, i) => i);
  if (all.length <= most) return all;
  const forces = all.map((i) => forceOf(rows, i));
  return all.sort((a, b) => forces[b]! - forces[a]!).slice(0, most);
}

function forceOf(rows: Float32Array, i: number): number {
  return Math.hypot(rows[i * ROW + 3]!, rows[i * ROW + 4]!, rows[i * ROW + 5]!);
}

/** Constraint forces of joints and loops as arrows, on the second body of each. */
export class JointForces extends Arrows {
  largest: Largest | null = null;
  private peak = 0;
  private found = 0;
  /** Radius of the scene, until another is built [m]. */
  private radius: number | null = null;
  /** Number of forces, and of drawn arrows. */
  private counts = { all: 0, drawn: 0 };
  private readonly labels = new Map<View, HTMLElement>();
  private readonly write = paced(() => this.labels.forEach((label) => this.name(label)));

  constructor() {
    super(MOST, 622);
  }

  build(): void {
    this.radius = null;
  }

  recolor(): void {
    this.paint.color = new Color(token("force"));
  }

  update(rows: Float32Array | null, on: boolean, views: View[], bodies: Bodies): void {
    const drawn = on && rows ? strongest(rows, MOST) : [];
    this.largest = null;
    this.forget(views);
    if (!this.begin(drawn.length, true, true) || !rows) {
      this.labels.forEach((label) => setHidden(label, true));
      return;
    }
    this.counts = { all: Math.floor(rows.length / ROW), drawn: drawn.length };
    this.find(rows, drawn);
    const reach = REACH * this.size(bodies);
    const scale = Math.max(markScale(bodies.smallest()), reach / 0.25);
    const at = new Vector3();
    const way = new Vector3();
    drawn.forEach((row, i) => {
      at.fromArray(rows, row * ROW);
      const force = way.fromArray(rows, row * ROW + 3).length();
      if (force > 0) way.divideScalar(force);
      else way.set(0, 0, 1);
      this.put(i, at, way, (reach * force) / Math.max(this.peak, 1e-9), scale);
    });
    this.end(drawn.length);
    views.forEach((view) => this.label(view, reach));
  }

  /** The present largest force, and the reference of the arrows, which decays slowly. */
  private find(rows: Float32Array, drawn: number[]): void {
    const first = drawn.reduce((a, b) => (forceOf(rows, b) > forceOf(rows, a) ? b : a));
    const force = forceOf(rows, first);
    const at = new Vector3().fromArray(rows, first * ROW);
    this.largest = { force, name: nameOf(rows[first * ROW + 6]!), at };
    const now = performance.now();
    this.peak = Math.max(this.peak * 0.5 ** ((now - this.found) / HALF_MS), force);
    this.found = now;
  }

  private size(bodies: Bodies): number {
    this.radius ??= bodies.bounds().radius;
    return this.radius;
  }

  /** Removes the labels of views that no longer exist. */
  private forget(views: View[]): void {
    this.labels.forEach((label, view) => {
      if (views.includes(view)) return;
      label.remove();
      this.labels.delete(view);
    });
  }

  /** Labels the largest force beside its arrow. */
  private label(view: View, reach: number): void {
    let label = this.labels.get(view);
    if (!label) {
      label = h("div", { class: "force-label", hidden: true });
      this.labels.set(view, label);
      view.element.append(label);
      this.name(label);
    }
    const { width, height } = view.size;
    const at = this.largest ? view.project(this.largest.at) : null;
    const seen = at && at.x > 0 && at.x < width && at.y > 0 && at.y < height;
    setHidden(label, !seen || Boolean(view.element.hidden) || layout.stereo !== "none");
    if (!seen || label.hidden) return;
    this.write();
    const away = 10 + (0.1 * reach) / Math.max(view.pixelAt(this.largest!.at), 1e-6);
    const left = Math.min(width - 120, Math.max(8, at.x + Math.min(40, away)));
    const top = Math.min(height - 28, Math.max(44, at.y + 8));
    label.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  private name(label: HTMLElement): void {
    const found = this.largest;
    if (!found) return;
    const { all, drawn } = this.counts;
    const more = drawn < all ? ` (${drawn} of ${all} drawn)` : "";
    setText(label, `${newtons(found.force)} at ${found.name.split("/").at(-1)}${more}`);
  }
}

/** The joint of an index or, after the joints, the loop. */
function nameOf(number: number): string {
  const { joints = [], loops = [] } = store.scene ?? {};
  return (joints[number] ?? loops[number - joints.length])?.name ?? "";
}
