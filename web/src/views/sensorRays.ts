import {
  BufferGeometry,
  Color,
  Float32BufferAttribute,
  Group,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshBasicMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import { valueOf, watch } from "../app/signals";
import { token } from "../app/theme";
import type { FanView, RayView, SceneMessage } from "../protocol/messages";
import type { Bodies } from "./bodies";

const MOST = 2048;
/** Distances this near to the range count as no hit [m]. */
const NOTHING = 1e-6;

/** The lines of ray sensors: bright up to the hit, faint to the end of their range. */
export class SensorRays {
  readonly root = new Group();
  private rays: RayView[] = [];
  private watched = false;
  private readonly bright = new LineBasicMaterial({ transparent: true, depthTest: false });
  private readonly faint = new LineBasicMaterial({
    transparent: true,
    opacity: 0.3,
    depthTest: false,
  });
  private readonly fill = new MeshBasicMaterial({ transparent: true, depthTest: false });
  readonly met = new LineSegments(new BufferGeometry(), this.bright);
  readonly beyond = new LineSegments(new BufferGeometry(), this.faint);
  readonly dots = new InstancedMesh(new SphereGeometry(0.007, 12, 8), this.fill, MOST);

  constructor() {
    for (const each of [this.met, this.beyond, this.dots]) {
      each.frustumCulled = false;
      each.renderOrder = 630;
      this.root.add(each);
    }
    this.dots.count = 0;
  }

  build(scene: SceneMessage): void {
    this.rays = scene.sensors
      .flatMap(({ ray, fan }) => (ray ? [ray] : fan ? raysOf(fan) : []))
      .slice(0, MOST);
    this.watched = false;
  }

  recolor(): void {
    for (const paint of [this.bright, this.faint, this.fill])
      paint.color = new Color(token("text"));
  }

  update(on: boolean, bodies: Bodies): void {
    this.root.visible = on;
    if (on !== this.watched) {
      this.watched = on;
      watch("rays", on ? this.rays.map((ray) => ray.signal) : []);
    }
    if (!on) return;
    const met: number[] = [];
    const beyond: number[] = [];
    let dots = 0;
    for (const ray of this.rays) {
      const group = bodies.groups[ray.body];
      if (!group) continue;
      const distance = Math.min(valueOf(ray.signal) ?? ray.range, ray.range);
      const start = new Vector3().fromArray(ray.start).applyMatrix4(group.matrix);
      const way = new Vector3().fromArray(ray.direction).transformDirection(group.matrix);
      const hit = start.clone().addScaledVector(way, distance);
      met.push(...start.toArray(), ...hit.toArray());
      if (distance > ray.range - NOTHING) continue;
      beyond.push(...hit.toArray(), ...start.addScaledVector(way, ray.range).toArray());
      this.dots.setMatrixAt(dots++, new Matrix4().setPosition(hit));
    }
    lay(this.met, met);
    lay(this.beyond, beyond);
    this.dots.count = dots;
    this.dots.instanceMatrix.needsUpdate = true;
  }
}

/** A frame of 7 numbers, position and quaternion wxyz, as a matrix. */
export function frameMatrix([x, y, z, w, i, j, k]: number[]): Matrix4 {
  const turn = new Quaternion(i, j, k, w);
  return new Matrix4().compose(new Vector3(x, y, z), turn, new Vector3(1, 1, 1));
}

/** The rays of a lidar as separate rays. */
function raysOf(fan: FanView): RayView[] {
  const matrix = frameMatrix(fan.frame);
  const start = fan.frame.slice(0, 3);
  return fan.angles.map((angle, k) => ({
    body: fan.body,
    start,
    direction: new Vector3(Math.cos(angle), Math.sin(angle), 0)
      .transformDirection(matrix)
      .toArray(),
    range: fan.range,
    signal: fan.signals[k]!,
  }));
}

function lay(lines: LineSegments, positions: number[]): void {
  lines.geometry.dispose();
  lines.geometry = new BufferGeometry();
  lines.geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
  lines.visible = positions.length > 0;
}
