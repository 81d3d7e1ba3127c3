import {
  Color,
  Group,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  type Material,
  type BufferGeometry,
} from "three";
import type { Bodies, ShapeMesh } from "./bodies";
import { Outline } from "./outline";
import { poseMatrix } from "./pose";

const POSE = 7;
/** Smaller differences [m, or a quaternion component] count as being at the target. */
const MOVED = 8e-3;

/** Draws the ghost in front of a nearly coincident link, without flicker. */
const NEARER = { polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 };

/** Difference of two poses [m, or a quaternion component]; q and −q are the same rotation. */
export function apart(a: Float32Array, b: Float32Array, at: number): number {
  let [along, same, other] = [0, 0, 0];
  for (let k = at; k < at + 3; k++) along = Math.max(along, Math.abs(a[k]! - b[k]!));
  for (let k = at + 3; k < at + POSE; k++) {
    same = Math.max(same, Math.abs(a[k]! - b[k]!));
    other = Math.max(other, Math.abs(a[k]! + b[k]!));
  }
  return Math.max(along, Math.min(same, other));
}

/** The target posture, translucent; bodies at their target are omitted. */
export class Ghost {
  readonly root = new Group();
  readonly edge = new Outline(4, 1, 700);
  private readonly fill = new MeshLambertMaterial({
    transparent: true,
    opacity: 0.34,
    depthWrite: false,
    ...NEARER,
  });
  private readonly depth = new MeshBasicMaterial({ colorWrite: false, ...NEARER });
  private copies: ShapeMesh[] = [];
  private groups: Group[] = [];
  private moved = "";

  build(bodies: Bodies): void {
    this.root.clear();
    this.copies = [];
    this.groups = bodies.groups.map(() => {
      const group = new Group();
      group.matrixAutoUpdate = false;
      group.visible = false;
      this.root.add(group);
      return group;
    });
    for (const piece of bodies.shapeMeshes) {
      const group = this.groups[piece.element.body];
      if (!group || !piece.shape.visible || piece.shape.kind === "plane") continue;
      group.add(this.copy(piece, this.depth, 690));
      const shown = this.copy(piece, this.fill, 691);
      group.add(shown);
      this.copies.push({ ...piece, mesh: shown });
    }
    this.root.add(this.edge.root);
    this.edge.around([]); // clears the previous scene
    this.moved = "";
  }

  private copy(
    piece: ShapeMesh,
    material: Material,
    order: number,
  ): Mesh<BufferGeometry, Material> {
    const mesh = new Mesh<BufferGeometry, Material>(piece.mesh.geometry, material);
    mesh.matrixAutoUpdate = false;
    mesh.matrix.copy(piece.mesh.matrix);
    mesh.renderOrder = order;
    if (material === this.depth) material.transparent = true;
    return mesh;
  }

  pose(wanted: Float32Array | null, actual: Float32Array | null): void {
    if (!wanted || !actual || wanted.length !== actual.length) {
      this.root.visible = false;
      return;
    }
    this.root.visible = true;
    const moved: number[] = [];
    this.groups.forEach((group, i) => {
      group.visible = apart(wanted, actual, i * POSE) > MOVED;
      if (!group.visible) return;
      moved.push(i);
      poseMatrix(wanted, i * POSE, group.matrix);
      group.matrixWorldNeedsUpdate = true;
    });
    this.root.visible = moved.length > 0;
    const key = moved.join(",");
    if (key === this.moved) return;
    this.moved = key;
    this.edge.around(this.copies.filter((piece) => moved.includes(piece.element.body)));
  }

  recolor(accent: string): void {
    this.fill.color = new Color(accent);
    this.edge.recolor(accent);
  }
}
