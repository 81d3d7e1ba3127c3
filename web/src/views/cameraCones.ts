import {
  BufferGeometry,
  Color,
  Float32BufferAttribute,
  Group,
  LineBasicMaterial,
  LineSegments,
  Vector3,
} from "three";
import { store } from "../app/store";
import { token } from "../app/theme";
import type { CameraView, SceneMessage } from "../protocol/messages";
import type { Bodies } from "./bodies";
import { frameMatrix } from "./sensorRays";

/** Distance from a camera at which its image is drawn [m]. */
const AHEAD = 0.35;

/** Fields of view of cameras: a pyramid from the lens to the edges of the image. */
export class CameraCones {
  readonly root = new Group();
  private cameras: { name: string; view: CameraView }[] = [];
  private readonly paint = new LineBasicMaterial({ transparent: true, depthTest: false });
  readonly lines = new LineSegments(new BufferGeometry(), this.paint);

  constructor() {
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 631;
    this.root.add(this.lines);
  }

  build(scene: SceneMessage): void {
    this.cameras = scene.sensors.flatMap(({ name, camera }) =>
      camera ? [{ name, view: camera }] : [],
    );
  }

  recolor(): void {
    this.paint.color = new Color(token("text"));
  }

  /** Draws all cameras, or only the selected one. */
  update(all: boolean, bodies: Bodies): void {
    const chosen = store.selection.at(-1);
    const positions: number[] = [];
    for (const { name, view } of this.cameras) {
      if (!all && !(chosen?.kind === "sensor" && chosen.name === name)) continue;
      const group = bodies.groups[view.body];
      if (group) positions.push(...pyramid(view, group.matrix));
    }
    this.lines.visible = positions.length > 0;
    if (!this.lines.visible) return;
    this.lines.geometry.dispose();
    this.lines.geometry = new BufferGeometry();
    this.lines.geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
  }
}

/** Four edges from the lens and the image frame, as line segments. */
function pyramid(view: CameraView, body: Parameters<Vector3["applyMatrix4"]>[0]): number[] {
  const matrix = frameMatrix(view.frame).premultiply(body);
  const ahead = Math.min(AHEAD, view.far);
  const up = ahead * Math.tan(view.opening / 2);
  const left = up * view.aspect;
  const point = (x: number, y: number, z: number): number[] =>
    new Vector3(x, y, z).applyMatrix4(matrix).toArray();
  const lens = point(0, 0, 0);
  const corners = [
    point(ahead, left, up),
    point(ahead, -left, up),
    point(ahead, -left, -up),
    point(ahead, left, -up),
  ];
  return corners.flatMap((corner, k) => [...lens, ...corner, ...corner, ...corners[(k + 1) % 4]!]);
}
