import {
  BufferGeometry,
  Color,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  Vector3,
} from "three";
import type { JointView } from "../protocol/messages";
import { drag } from "../app/drag";
import { valueOf, watch } from "../app/signals";
import { store } from "../app/store";
import { token } from "../app/theme";
import type { Bodies } from "./bodies";
import { dial, rail, ring, track, type Layer, type Strokes } from "./glyphShapes";
import { handsOf, type Values } from "./hands";
import { labelJoint } from "./jointLabel";
import { jointFrame } from "./jointFrame";
import { setHidden } from "../ui/dom";
import type { View } from "./view";

const OPACITY: Record<Layer, number> = {
  sector: 0.16,
  arc: 0.75,
  ends: 0.9,
  axis: 0.95,
  actual: 1,
  wanted: 1,
};
const LAYERS = Object.keys(OPACITY) as Layer[];
const DRAW = { dial, track, ring, rail };

/** Axis, range, value and target of each degree of freedom of a joint, drawn over everything. */
export class JointGlyph {
  readonly root = new Group();
  /** The displayed joint, or null. */
  joint: JointView | null = null;
  private sized = { key: "", radius: 0.1 };
  private readonly layers = new Map<Layer, Mesh<BufferGeometry, MeshBasicMaterial>>();

  constructor() {
    LAYERS.forEach((name, i) => {
      const material = new MeshBasicMaterial({
        transparent: true,
        opacity: OPACITY[name],
        depthTest: false,
        depthWrite: false,
        side: DoubleSide,
      });
      const mesh = new Mesh(new BufferGeometry(), material);
      mesh.name = name;
      mesh.renderOrder = 950 + i;
      mesh.frustumCulled = false;
      this.layers.set(name, mesh);
      this.root.add(mesh);
    });
  }

  recolor(): void {
    const paint = (name: Layer, css: string): void => {
      this.layers.get(name)!.material.color = new Color(css);
    };
    for (const name of ["arc", "sector", "actual"] as const) paint(name, token("text"));
    paint("ends", token("warn"));
    paint("wanted", token("accent"));
    paint("axis", token("axis-y"));
  }

  update(joint: JointView | null, views: View[], bodies: Bodies): void {
    this.observe(joint);
    const poses = store.poses;
    this.root.visible = Boolean(joint && poses);
    if (!joint || !poses) {
      views.forEach((view) => setHidden(view.label, true));
      return;
    }
    const values = valuesOf(joint);
    const size = this.size(joint, bodies);
    const hands = handsOf(joint, poses, values, towards(joint));
    const held = drag.joint === joint.name && drag.held;
    this.layers.get("ends")!.material.color = new Color(token(held ? "err" : "warn"));
    const strokes: Strokes = { axis: [], arc: [], ends: [], sector: [], actual: [], wanted: [] };
    for (const hand of hands) DRAW[hand.kind](strokes, hand, size);
    for (const name of LAYERS) this.set(name, strokes[name]);
    const place = hands.at(-1)?.kind === "dial" ? hands.at(-1)!.matrix : null;
    const at = place
      ? new Vector3().setFromMatrixPosition(place)
      : (bodyPlace(joint, bodies) ?? jointFrame(joint, poses).pivot);
    labelJoint(views, at, size, joint, values, held);
  }

  /** Requests the values of the displayed joint. */
  private observe(joint: JointView | null): void {
    if (joint === this.joint) return;
    this.joint = joint;
    const names = joint?.dofs.flatMap((dof) => [dof.signal, dof.target_signal]) ?? [];
    watch(
      "glyph",
      names.filter((name) => name !== null),
    );
  }

  /** Large enough to read beside the whole scene, but not larger than its link [m]. */
  private size(joint: JointView, bodies: Bodies): number {
    if (this.sized.key !== `${joint.name} ${bodies.shapeMeshes.length}`) {
      const own = bodies.bounds(bodies.onBody(joint.body)).radius;
      const all = bodies.bounds().radius;
      const radius = Math.min(0.3 * all, Math.max(0.2 * all, 0.8 * own));
      this.sized = { key: `${joint.name} ${bodies.shapeMeshes.length}`, radius };
    }
    return this.sized.radius;
  }

  private set(name: Layer, positions: number[]): void {
    const mesh = this.layers.get(name)!;
    mesh.geometry.dispose();
    mesh.geometry = new BufferGeometry();
    mesh.geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
    mesh.visible = positions.length > 0;
  }
}

function valuesOf(joint: JointView): Values {
  return {
    actual: joint.dofs.map((dof) => valueOf(dof.signal) ?? 0),
    wanted: joint.dofs.map((dof) => drag.values[dof.signal] ?? valueOf(dof.target_signal)),
  };
}

/** The center of the link's shapes, in the frame of its body: direction of a dial's zero. */
function towards(joint: JointView): Vector3 {
  const link = new Vector3();
  const own = store.scene?.elements.filter((e) => e.body === joint.body) ?? [];
  const shapes = own.flatMap((element) => element.shapes);
  for (const shape of shapes) link.add(new Vector3().fromArray(shape.pose));
  return shapes.length > 0 ? link.divideScalar(shapes.length) : link;
}

function bodyPlace(joint: JointView, bodies: Bodies): Vector3 | null {
  const group = bodies.groups[joint.body];
  return group ? new Vector3().fromArray(joint.pivot).applyMatrix4(group.matrix) : null;
}
