import {
  BufferGeometry,
  Color,
  Float32BufferAttribute,
  Group,
  Points,
  ShaderMaterial,
  Vector3,
} from "three";
import { isSelected } from "../app/selection";
import { same, store } from "../app/store";
import { token } from "../app/theme";
import type { AnchorView, SceneMessage } from "../protocol/messages";
import type { Bodies } from "./bodies";
import type { View } from "./view";

/** Pick distance of an anchor [px]. */
const NEAR_PX = 9;

const VERTEX = `
attribute vec3 color; varying vec3 ink; uniform float size;
void main() {
  ink = color;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size;
}`;
// A dot within a ring that separates it from the background.
const FRAGMENT = `
varying vec3 ink; uniform vec3 edge;
void main() {
  float d = length(gl_PointCoord - 0.5);
  if (d > 0.5) discard;
  gl_FragColor = vec4(d > 0.36 ? edge : ink, 1.0);
  #include <colorspace_fragment>
}`;

/** Anchors as dots of constant size in every view; selected ones in the accent color. */
export class AnchorMarks {
  readonly root = new Group();
  private readonly inks = { chosen: new Color(), plain: new Color() };
  private anchors: AnchorView[] = [];
  private positions: Vector3[] = [];
  private readonly paint = new ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: { size: { value: 12 }, edge: { value: new Color() } },
    depthTest: false,
    depthWrite: false,
    transparent: true,
  });
  readonly dots = new Points(new BufferGeometry(), this.paint);

  constructor() {
    this.dots.frustumCulled = false;
    this.dots.renderOrder = 641;
    this.root.add(this.dots);
    const ratio = (globalThis as { devicePixelRatio?: number }).devicePixelRatio ?? 1;
    this.paint.uniforms["size"]!.value *= Math.min(2, ratio);
  }

  build(scene: SceneMessage): void {
    this.anchors = scene.anchors;
    this.positions = scene.anchors.map(() => new Vector3());
  }

  recolor(): void {
    this.inks.chosen.set(token("accent"));
    this.inks.plain.set(token("text2"));
    this.paint.uniforms["edge"]!.value.set(token("panel"));
  }

  update(on: boolean, bodies: Bodies): void {
    const chosen = (anchor: AnchorView): boolean =>
      isSelected({ kind: "anchor", name: anchor.name });
    // Selected anchors are always visible: a loop may be closed between them.
    const shown = this.anchors.map((anchor) => on || chosen(anchor));
    this.root.visible = shown.includes(true);
    if (!this.root.visible) return;
    const positions: number[] = [];
    const inks: number[] = [];
    const { chosen: accent, plain } = this.inks;
    this.anchors.forEach((anchor, i) => {
      const group = bodies.groups[anchor.body];
      const place = this.positions[i]!;
      place.fromArray(anchor.pose);
      if (group) place.applyMatrix4(group.matrix);
      if (!shown[i]) return;
      const hovered = same(store.hover, { kind: "anchor", name: anchor.name });
      positions.push(...place.toArray());
      inks.push(...(chosen(anchor) || hovered ? accent : plain).toArray());
    });
    const { dots } = this;
    dots.geometry.dispose();
    dots.geometry = new BufferGeometry();
    dots.geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
    dots.geometry.setAttribute("color", new Float32BufferAttribute(inks, 3));
  }

  /** The anchor under the pointer, or null. */
  near(view: View, event: { clientX: number; clientY: number }): string | null {
    if (!this.root.visible) return null;
    const box = view.element.getBoundingClientRect();
    let [best, nearest] = [NEAR_PX, null as string | null];
    this.anchors.forEach((anchor, i) => {
      const at = view.project(this.positions[i]!);
      const far = at
        ? Math.hypot(at.x - event.clientX + box.left, at.y - event.clientY + box.top)
        : Infinity;
      if (far < best) [best, nearest] = [far, anchor.name];
    });
    return nearest;
  }
}
