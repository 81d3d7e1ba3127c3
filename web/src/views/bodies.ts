import {
  Box3,
  Color,
  Group,
  Mesh,
  MeshStandardMaterial,
  Sphere,
  type BufferGeometry,
  Vector3,
  type Material,
} from "three";
import { isHidden } from "../app/hidden";
import type { ElementView, Scene, ShapeView } from "../protocol/messages";
import { Drawn } from "./drawn";
import { poseMatrix } from "./pose";
import { surface } from "./shapes";
import { laidOut, repeated, texture } from "./textures";

export interface Piece {
  mesh: Mesh<BufferGeometry, Material>;
  element: ElementView;
  shape: ShapeView;
}

const POSE = 7;

/**
 * The bodies of the scene as groups of meshes; poses arrive as one block of numbers. The groups say
 * where things are and are pointed at; `drawn` is what is seen.
 */
export class Bodies {
  readonly root = new Group();
  readonly drawn = new Drawn();
  groups: Group[] = [];
  pieces: Piece[] = [];
  /** Called when a mesh has arrived later than the scene. */
  onArrival: () => void = () => undefined;
  private readonly materials = new Map<string, MeshStandardMaterial>();
  private readonly wires = new Map<Material, MeshStandardMaterial>();
  private collision = false;
  /** Whether there are other pieces to draw, or others places for them. */
  private changed = true;
  private moved = true;
  private moving: number[] = [];
  private small = { of: -1, size: Infinity };

  build(scene: Scene): void {
    this.root.clear();
    this.pieces = [];
    this.changed = true;
    this.moving = scene.bodies.flatMap((body, number) => (body.static ? [] : [number]));
    this.small.of = -1;
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
    const mesh = new Mesh<BufferGeometry, Material>(undefined, this.material(shape));
    const piece: Piece = { mesh, element, shape };
    mesh.matrixAutoUpdate = false;
    poseMatrix(shape.pose, 0, mesh.matrix);
    mesh.castShadow = shape.kind !== "plane";
    mesh.receiveShadow = true;
    mesh.userData["piece"] = piece;
    mesh.geometry = shape.texture ? laidOut(await surface(shape)) : await surface(shape);
    if (this.groups[element.body] !== group) return;
    this.dress(piece);
    group.add(mesh);
    mesh.matrixWorld.multiplyMatrices(group.matrix, mesh.matrix);
    this.pieces.push(piece);
    this.changed = true;
    this.onArrival();
  }

  private material(shape: ShapeView): MeshStandardMaterial {
    const { color, texture: image, texture_repeat: repeat } = shape;
    const key = `${color} ${image ?? ""} ${repeat.join(" ")}`;
    let material = this.materials.get(key);
    if (!material) {
      // `#rrggbbaa` has how solid it is in its last two digits.
      const solid = color.length === 9 ? parseInt(color.slice(7), 16) / 255 : 1;
      material = new MeshStandardMaterial({
        color: new Color(color.slice(0, 7)),
        opacity: solid,
        transparent: solid < 1,
        roughness: 0.72,
        metalness: 0,
      });
      this.materials.set(key, material);
      if (image) void this.cover(material, image, repeat);
    }
    return material;
  }

  /** Lays an image on a material as soon as it is there; its own colours are shown then. */
  private async cover(
    material: MeshStandardMaterial,
    image: string,
    repeat: readonly [number, number],
  ): Promise<void> {
    const found = await texture(image);
    if (!found) return;
    material.map = repeated(found, repeat);
    material.color.set(0xffffff);
    material.needsUpdate = true;
    this.drawn.forget(material);
    this.changed = true;
    this.onArrival();
  }

  /** Collision shapes on: what collides is drawn as wires over what is seen. */
  redress(collision: boolean): void {
    this.collision = collision;
    this.changed = true;
    this.pieces.forEach((piece) => this.dress(piece));
  }

  private dress(piece: Piece): void {
    const { shape, mesh } = piece;
    // The grid and its shadow stand for level ground.
    const seen = shape.visible && !isLevelPlane(shape);
    const drawn = this.collision ? shape.collide || seen : seen;
    mesh.visible = drawn && !isHidden(piece.element.name);
    const wire = this.collision && shape.collide;
    mesh.material = wire ? this.wire(shape) : this.material(shape);
  }

  private wire(shape: ShapeView): MeshStandardMaterial {
    const solid = this.material(shape);
    let material = this.wires.get(solid);
    if (!material) {
      material = solid.clone();
      material.wireframe = true;
      this.wires.set(solid, material);
    }
    return material;
  }

  pose(values: Float32Array): void {
    const count = Math.min(this.groups.length, values.length / POSE);
    for (let i = 0; i < count; i++) poseMatrix(values, i * POSE, this.groups[i]!.matrix);
    this.moved = true;
  }

  /** Puts all pieces where their bodies are: once per picture, for all views. */
  follow(): void {
    if (this.moved) {
      for (const group of this.groups) {
        group.matrixWorld.copy(group.matrix);
        for (const mesh of group.children)
          mesh.matrixWorld.multiplyMatrices(group.matrix, mesh.matrix);
      }
    }
    if (this.changed) this.drawn.build(this.pieces);
    if (this.moved || this.changed) this.drawn.follow();
    this.moved = this.changed = false;
  }

  of(element: string): Piece[] {
    return this.pieces.filter((piece) => piece.element.name === element);
  }

  onBody(body: number): Piece[] {
    return this.pieces.filter((piece) => piece.element.body === body);
  }

  /** Size of the smallest body that moves [m]; infinite where none does. */
  smallest(): number {
    if (this.small.of !== this.pieces.length) {
      const sizes = this.moving.map((body) => {
        const box = new Box3().setFromPoints(this.corners(this.onBody(body)));
        return box.isEmpty() ? Infinity : box.getSize(new Vector3()).length();
      });
      this.small = { of: this.pieces.length, size: Math.min(...sizes) };
    }
    return this.small.size;
  }

  /** Corners of boxes around some pieces, or around all that is not endless floor [m]. */
  corners(pieces: Piece[] = this.pieces): Vector3[] {
    this.follow();
    const found: Vector3[] = [];
    for (const { mesh, shape } of pieces) {
      if (shape.kind === "plane" || !mesh.visible || isGround(shape)) continue;
      if (!mesh.geometry.boundingBox) mesh.geometry.computeBoundingBox();
      const box = mesh.geometry.boundingBox;
      if (!box || box.isEmpty()) continue;
      for (const x of [box.min.x, box.max.x])
        for (const y of [box.min.y, box.max.y])
          for (const z of [box.min.z, box.max.z])
            found.push(new Vector3(x, y, z).applyMatrix4(mesh.matrixWorld));
    }
    return found;
  }

  /** The ball around some pieces, or around all that is not endless floor. */
  bounds(pieces: Piece[] = this.pieces): Sphere {
    const corners = this.corners(pieces);
    if (corners.length === 0) return new Sphere(undefined, 0.6);
    return new Box3().setFromPoints(corners).getBoundingSphere(new Sphere());
  }
}

function isLevelPlane({ kind, pose }: ShapeView): boolean {
  return kind === "plane" && Math.abs(pose[4] ?? 0) < 1e-6 && Math.abs(pose[5] ?? 0) < 1e-6;
}

function isGround(shape: ShapeView): boolean {
  return shape.kind === "box" && Math.max(...shape.size) > 8;
}
