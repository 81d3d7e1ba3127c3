import {
  Box3,
  Color,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Sphere,
  type BufferGeometry,
  type Material,
} from "three";
import type { ElementView, Scene, ShapeView } from "../protocol/messages";
import { poseMatrix } from "./pose";
import { surface } from "./shapes";

export interface Piece {
  mesh: Mesh<BufferGeometry, Material>;
  element: ElementView;
  shape: ShapeView;
}

const POSE = 7;

/** The bodies of the scene as groups of meshes; poses arrive as one block of numbers. */
export class Bodies {
  readonly root = new Group();
  groups: Group[] = [];
  pieces: Piece[] = [];
  /** Called when a mesh has arrived later than the scene. */
  onArrival: () => void = () => undefined;
  private materials = new Map<string, MeshStandardMaterial>();
  private collision = false;

  build(scene: Scene): void {
    this.root.clear();
    this.pieces = [];
    this.groups = scene.bodies.map((body) => {
      const group = new Group();
      group.name = body.name;
      group.matrixAutoUpdate = false;
      this.root.add(group);
      return group;
    });
    for (const element of scene.elements) {
      for (const shape of element.shapes) void this.add(element, shape);
    }
  }

  private async add(element: ElementView, shape: ShapeView): Promise<void> {
    const group = this.groups[element.body];
    if (!group) return;
    const mesh = new Mesh<BufferGeometry, Material>(undefined, this.material(shape.color));
    const piece: Piece = { mesh, element, shape };
    mesh.matrixAutoUpdate = false;
    poseMatrix(shape.pose, 0, mesh.matrix);
    mesh.castShadow = shape.kind !== "plane";
    mesh.receiveShadow = true;
    mesh.userData["piece"] = piece;
    mesh.geometry = await surface(shape);
    if (this.groups[element.body] !== group) return;
    this.dress(piece);
    group.add(mesh);
    this.pieces.push(piece);
    this.onArrival();
  }

  private material(color: string): MeshStandardMaterial {
    let material = this.materials.get(color);
    if (!material) {
      material = new MeshStandardMaterial({
        color: new Color(color),
        roughness: 0.72,
        metalness: 0,
      });
      this.materials.set(color, material);
    }
    return material;
  }

  /** Collision shapes on: what collides is drawn as wires over what is seen. */
  showCollision(on: boolean): void {
    this.collision = on;
    this.pieces.forEach((piece) => this.dress(piece));
  }

  private dress(piece: Piece): void {
    const { shape, mesh } = piece;
    // The grid and its shadow stand for level ground.
    const seen = shape.visible && !isLevelPlane(shape);
    mesh.visible = this.collision ? shape.collide || seen : seen;
    const wire = this.collision && shape.collide;
    mesh.material = wire ? this.wire(shape.color) : this.material(shape.color);
  }

  private wire(color: string): MeshStandardMaterial {
    const material = this.material(color).clone();
    material.wireframe = true;
    return material;
  }

  pose(values: Float32Array): void {
    const count = Math.min(this.groups.length, values.length / POSE);
    for (let i = 0; i < count; i++) {
      const group = this.groups[i]!;
      poseMatrix(values, i * POSE, group.matrix);
      group.matrixWorldNeedsUpdate = true;
    }
  }

  of(element: string): Piece[] {
    return this.pieces.filter((piece) => piece.element.name === element);
  }

  onBody(body: number): Piece[] {
    return this.pieces.filter((piece) => piece.element.body === body);
  }

  /** The ball around some pieces, or around all that is not endless floor. */
  bounds(pieces: Piece[] = this.pieces): Sphere {
    const box = new Box3();
    this.root.updateMatrixWorld(true);
    const part = new Box3();
    const matrix = new Matrix4();
    for (const { mesh, shape } of pieces) {
      if (shape.kind === "plane" || !mesh.visible || isGround(shape)) continue;
      if (!mesh.geometry.boundingBox) mesh.geometry.computeBoundingBox();
      if (!mesh.geometry.boundingBox) continue;
      box.union(part.copy(mesh.geometry.boundingBox).applyMatrix4(matrix.copy(mesh.matrixWorld)));
    }
    if (box.isEmpty()) return new Sphere(undefined, 0.6);
    return box.getBoundingSphere(new Sphere());
  }
}

function isLevelPlane({ kind, pose }: ShapeView): boolean {
  return kind === "plane" && Math.abs(pose[4] ?? 0) < 1e-6 && Math.abs(pose[5] ?? 0) < 1e-6;
}

function isGround(shape: ShapeView): boolean {
  return shape.kind === "box" && Math.max(...shape.size) > 8;
}
