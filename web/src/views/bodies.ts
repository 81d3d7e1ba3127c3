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
import type { ElementView, SceneMessage, ShapeView } from "../protocol/messages";
import { Drawn } from "./drawn";
import { poseMatrix } from "./pose";
import { surface } from "./shapes";
import { laidOut, repeated, texture } from "./textures";

export interface ShapeMesh {
  mesh: Mesh<BufferGeometry, Material>;
  element: ElementView;
  shape: ShapeView;
}

const POSE = 7;

/**
 * The bodies of the scene as groups of meshes; poses arrive as one block of numbers. The groups
 * have the poses and are picked; `drawn` is rendered.
 */
export class Bodies {
  readonly root = new Group();
  readonly drawn = new Drawn();
  groups: Group[] = [];
  shapeMeshes: ShapeMesh[] = [];
  /** Called when a mesh has loaded after the scene. */
  onArrival: () => void = () => undefined;
  private readonly materials = new Map<string, MeshStandardMaterial>();
  private readonly wires = new Map<Material, MeshStandardMaterial>();
  private collision = false;
  /** Whether the drawn pieces, or their poses, have changed. */
  private changed = true;
  private moved = true;
  private moving: number[] = [];
  private small = { of: -1, size: Infinity };

  build(scene: SceneMessage): void {
    this.root.clear();
    this.shapeMeshes = [];
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
    const piece: ShapeMesh = { mesh, element, shape };
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
    this.shapeMeshes.push(piece);
    this.changed = true;
    this.onArrival();
  }

  private material(shape: ShapeView): MeshStandardMaterial {
    const { color, texture: image, texture_repeat: repeat } = shape;
    const key = `${color} ${image ?? ""} ${repeat.join(" ")}`;
    let material = this.materials.get(key);
    if (!material) {
      // The last two digits of `#rrggbbaa` are the opacity.
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

  /** Applies an image to a material once it has loaded; its own colors are shown then. */
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

  /** Draws collision shapes as wireframes over the visible shapes. */
  redress(collision: boolean): void {
    this.collision = collision;
    this.changed = true;
    this.shapeMeshes.forEach((piece) => this.dress(piece));
  }

  private dress(piece: ShapeMesh): void {
    const { shape, mesh } = piece;
    // The grid and its shadow represent level ground.
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

  /** Updates the poses of all pieces: once per frame, for all views. */
  follow(): void {
    if (this.moved) {
      for (const group of this.groups) {
        group.matrixWorld.copy(group.matrix);
        for (const mesh of group.children)
          mesh.matrixWorld.multiplyMatrices(group.matrix, mesh.matrix);
      }
    }
    if (this.changed) this.drawn.build(this.shapeMeshes);
    if (this.moved || this.changed) this.drawn.follow();
    this.moved = this.changed = false;
  }

  of(element: string): ShapeMesh[] {
    return this.shapeMeshes.filter((piece) => piece.element.name === element);
  }

  onBody(body: number): ShapeMesh[] {
    return this.shapeMeshes.filter((piece) => piece.element.body === body);
  }

  /** Size of the smallest moving body [m]; infinite if none moves. */
  smallest(): number {
    if (this.small.of !== this.shapeMeshes.length) {
      const sizes = this.moving.map((body) => {
        const box = new Box3().setFromPoints(this.corners(this.onBody(body)));
        return box.isEmpty() ? Infinity : box.getSize(new Vector3()).length();
      });
      this.small = { of: this.shapeMeshes.length, size: Math.min(...sizes) };
    }
    return this.small.size;
  }

  /** Corners of the bounding boxes of some pieces, or of all except infinite floors [m]. */
  corners(shapeMeshes: ShapeMesh[] = this.shapeMeshes): Vector3[] {
    this.follow();
    const found: Vector3[] = [];
    for (const { mesh, shape } of shapeMeshes) {
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

  /** The bounding sphere of some pieces, or of all except infinite floors. */
  bounds(shapeMeshes: ShapeMesh[] = this.shapeMeshes): Sphere {
    const corners = this.corners(shapeMeshes);
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
