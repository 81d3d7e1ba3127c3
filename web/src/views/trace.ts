import { BufferGeometry, Color, Group, Line, LineBasicMaterial, Vector3 } from "three";
import { primary, store } from "../app/store";
import { token } from "../app/theme";
import type { Bodies } from "./bodies";

const MOST = 900;

/** The path of the selected element, or of the selected joint's body. */
export class Trace {
  readonly root = new Group();
  private points: Vector3[] = [];
  private of = "";
  private time = 0;
  private readonly paint = new LineBasicMaterial({ transparent: true, depthTest: false });
  private readonly line = new Line(new BufferGeometry(), this.paint);

  constructor() {
    this.line.frustumCulled = false;
    this.line.renderOrder = 640;
    this.root.add(this.line);
  }

  /** Number of points. */
  get length(): number {
    return this.points.length;
  }

  clear(): void {
    if (this.points.length === 0) return;
    this.points = [];
    this.draw();
  }

  private draw(): void {
    this.line.geometry.dispose();
    this.line.geometry = new BufferGeometry().setFromPoints(this.points);
  }

  recolor(): void {
    this.paint.color = new Color(token("text2"));
  }

  update(on: boolean, bodies: Bodies): void {
    this.root.visible = on;
    if (!on) return;
    const thing = primary();
    const name = thing?.name ?? "";
    const element = store.scene?.elements.find((e) => e.name === name);
    const joint = store.scene?.joints.find((j) => j.name === name);
    const body = element?.body ?? joint?.body;
    const group = body === undefined ? undefined : bodies.groups[body];
    if (name !== this.of || store.poseTime < this.time || !group) this.clear();
    this.of = name;
    if (!group) return;
    if (store.poseTime === this.time && this.points.length > 0) return;
    this.time = store.poseTime;
    const at = new Vector3().fromArray(element?.pose ?? [0, 0, 0]).applyMatrix4(group.matrix);
    this.points.push(at);
    if (this.points.length > MOST) this.points.shift();
    this.draw();
  }
}
