import {
  BufferGeometry,
  Color,
  Group,
  Line,
  LineBasicMaterial,
  Mesh,
  MeshBasicMaterial,
  SphereGeometry,
  Vector3,
} from "three";
import { drag } from "../app/drag";
import { store } from "../app/store";
import { token } from "../app/theme";
import type { Bodies } from "./bodies";
import { poseMatrix } from "./pose";

/** The spring of a pull: from its point to the pointer. */
export class PullLine {
  readonly root = new Group();
  private readonly paint = new LineBasicMaterial({ depthTest: false, transparent: true });
  private readonly fill = new MeshBasicMaterial({ depthTest: false, transparent: true });
  private readonly line = new Line(new BufferGeometry(), this.paint);
  private readonly end = new Mesh(new SphereGeometry(0.008, 16, 12), this.fill);

  constructor() {
    this.line.frustumCulled = false;
    this.line.renderOrder = this.end.renderOrder = 660;
    this.root.add(this.line, this.end);
  }

  recolor(): void {
    this.paint.color = new Color(token("force"));
    this.fill.color = new Color(token("force"));
  }

  update(bodies: Bodies): void {
    const pull = drag.pull;
    this.root.visible = pull !== null;
    if (!pull) return;
    const element = store.scene?.elements.find((e) => e.name === pull.element);
    const group = element && bodies.groups[element.body];
    if (!element || !group) return;
    const from = new Vector3(...pull.point)
      .applyMatrix4(poseMatrix(element.pose))
      .applyMatrix4(group.matrix);
    const to = new Vector3(...pull.target);
    pull.force = from.distanceTo(to) * pull.stiffness;
    this.line.geometry.dispose();
    this.line.geometry = new BufferGeometry().setFromPoints([from, to]);
    this.end.position.copy(to);
  }
}
