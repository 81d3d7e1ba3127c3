import { BufferGeometry, Color, Group, Line, LineBasicMaterial, Vector3 } from "three";
import { primary, store } from "../app/store";
import { token } from "../app/theme";
import type { Bodies } from "./bodies";

const MOST = 900;

/** The path of the selected element or joint's body, drawn behind it. */
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

  /** How many places it goes through. */
  get length(): number {
    return this.points.length;
  }

  clear(): void {
    this.points = [];
  }

  recolor(): void {
    this.paint.color = new Color(token("text2"));
  }

  update(on: boolean, bodies: Bodies): void {
    this.root.visible = on;
    const thing = primary();
    const scene = store.scene;
    if (!on || !thing || !scene) return;
    const element = scene.elements.find((e) => e.name === thing.name);
    const joint = scene.joints.find((j) => j.name === thing.name);
    const body = element?.body ?? joint?.body;
    const group = body === undefined ? undefined : bodies.groups[body];
    if (!group) return;
    if (thing.name !== this.of || store.poseTime < this.time) this.clear();
    this.of = thing.name;
    if (store.poseTime === this.time && this.points.length > 0) return;
    this.time = store.poseTime;
    const at = new Vector3().fromArray(element?.pose ?? [0, 0, 0]).applyMatrix4(group.matrix);
    this.points.push(at);
    if (this.points.length > MOST) this.points.shift();
    this.line.geometry.dispose();
    this.line.geometry = new BufferGeometry().setFromPoints(this.points);
  }
}
