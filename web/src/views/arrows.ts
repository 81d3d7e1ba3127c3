import {
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

const UP = new Vector3(0, 0, 1);
const matrix = new Matrix4();
const size = new Vector3();

/** Arrows from points, each with a dot at its start, visible through everything. */
export class Arrows {
  readonly root = new Group();
  readonly paint = new MeshBasicMaterial({ depthTest: false, transparent: true });
  readonly dots: InstancedMesh;
  readonly shafts: InstancedMesh;
  readonly heads: InstancedMesh;

  constructor(
    readonly most: number,
    order: number,
  ) {
    const shaft = new CylinderGeometry(0.0025, 0.0025, 1, 8).rotateX(Math.PI / 2);
    const head = new ConeGeometry(0.009, 0.024, 12).rotateX(Math.PI / 2);
    this.dots = new InstancedMesh(new SphereGeometry(0.006, 12, 8), this.paint, most);
    this.shafts = new InstancedMesh(shaft.translate(0, 0, 0.5), this.paint, most);
    this.heads = new InstancedMesh(head.translate(0, 0, 0.012), this.paint, most);
    for (const mesh of this.meshes()) {
      mesh.frustumCulled = false;
      mesh.renderOrder = order;
      mesh.count = 0;
      this.root.add(mesh);
    }
  }

  private meshes(): InstancedMesh[] {
    return [this.dots, this.shafts, this.heads];
  }

  /** Sets the number of arrows; visible ones are to be set then. True if any is visible. */
  begin(count: number, dots: boolean, arrows: boolean): boolean {
    this.dots.count = dots ? count : 0;
    this.shafts.count = this.heads.count = arrows ? count : 0;
    this.root.visible = count > 0 && (dots || arrows);
    return this.root.visible;
  }

  /**
   * Sets an arrow.
   *
   * @param way - unit vector along it
   * @param long - its length [m]
   * @param scale - relative thickness and dot size; 1 for objects of some decimeters
   */
  put(i: number, at: Vector3, way: Vector3, long: number, scale: number): void {
    const turn = new Quaternion().setFromUnitVectors(UP, way);
    this.dots.setMatrixAt(i, matrix.compose(at, turn, size.setScalar(scale)));
    size.set(scale, scale, Math.max(long, 1e-4));
    this.shafts.setMatrixAt(i, matrix.compose(at, turn, size));
    const tip = at.clone().addScaledVector(way, long);
    size.setScalar(long > 0.01 * scale ? scale : 1e-4);
    this.heads.setMatrixAt(i, matrix.compose(tip, turn, size));
  }

  /** Uploads the arrows that were set. */
  end(count: number): void {
    for (const { instanceMatrix } of this.meshes()) {
      instanceMatrix.clearUpdateRanges();
      instanceMatrix.addUpdateRange(0, 16 * count);
      instanceMatrix.needsUpdate = true;
    }
  }
}
