import {
  Color,
  ConeGeometry,
  CylinderGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import { token } from "../app/theme";

const MOST = 256;
const ROW = 7;
const UP = new Vector3(0, 0, 1);
/** Longest arrow [m]; forces are drawn by their root so that small ones stay visible. */
const LONGEST = 0.25;
/** Marks have their full size on bodies of this size [m], and a part of it on smaller ones. */
const FULL_SIZE = 0.2;
const SMALLEST = 0.35;

/** How large marks are on things of a size [m], so that these are still seen. */
export function markScale(size: number): number {
  return Math.min(1, Math.max(SMALLEST, size / FULL_SIZE));
}

/** Contact points and the forces there, in the colour of force. */
export class ContactArrows {
  readonly root = new Group();
  private readonly paint = new MeshBasicMaterial({ depthTest: false, transparent: true });
  readonly dots = new InstancedMesh(new SphereGeometry(0.006, 12, 8), this.paint, MOST);
  readonly shafts = new InstancedMesh(
    new CylinderGeometry(0.0025, 0.0025, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5),
    this.paint,
    MOST,
  );
  private readonly heads = new InstancedMesh(
    new ConeGeometry(0.009, 0.024, 12).rotateX(Math.PI / 2).translate(0, 0, 0.012),
    this.paint,
    MOST,
  );

  constructor() {
    for (const mesh of [this.dots, this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 620;
      mesh.count = 0;
      this.root.add(mesh);
    }
  }

  recolor(): void {
    this.paint.color = new Color(token("force"));
  }

  /**
   * @param rows - contacts: place and force, seven numbers each
   * @param scale - how large marks are, up to 1
   */
  update(rows: Float32Array | null, points: boolean, forces: boolean, scale: number): void {
    const count = rows ? Math.min(MOST, Math.floor(rows.length / ROW)) : 0;
    this.dots.count = points ? count : 0;
    this.shafts.count = this.heads.count = forces ? count : 0;
    if (!rows) return;
    const matrix = new Matrix4();
    const one = new Vector3(scale, scale, scale);
    for (let i = 0; i < count; i++) {
      const at = new Vector3().fromArray(rows, i * ROW);
      const force = new Vector3().fromArray(rows, i * ROW + 3);
      const size = force.length();
      const long = scale * Math.min(LONGEST, 0.02 * Math.sqrt(size));
      const turn = new Quaternion().setFromUnitVectors(
        UP,
        size > 0 ? force.divideScalar(size) : UP,
      );
      this.dots.setMatrixAt(i, matrix.compose(at, turn, one));
      this.shafts.setMatrixAt(
        i,
        matrix.compose(at, turn, new Vector3(scale, scale, Math.max(long, 1e-4))),
      );
      const tip = at.clone().addScaledVector(UP.clone().applyQuaternion(turn), long);
      this.heads.setMatrixAt(
        i,
        matrix.compose(tip, turn, long > 0.01 * scale ? one : one.clone().multiplyScalar(1e-4)),
      );
    }
    for (const mesh of [this.dots, this.shafts, this.heads]) mesh.instanceMatrix.needsUpdate = true;
  }
}
