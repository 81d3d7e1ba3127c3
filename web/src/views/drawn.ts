import { Group, InstancedMesh, Mesh, type BufferGeometry, type Material } from "three";
import type { ShapeMesh } from "./bodies";

/** Minimum number of equal pieces for instancing. */
const MANY = 2;

interface Crowd {
  mesh: InstancedMesh<BufferGeometry, Material>;
  shapeMeshes: ShapeMesh[];
}

/**
 * The rendered pieces: equal ones are instanced. They are in one flat group with the poses of the
 * pieces, so that no hierarchy is traversed for each of four views.
 */
export class Drawn {
  readonly root = new Group();
  crowds: Crowd[] = [];
  /** Materials of instanced meshes; a shared material would be recompiled at each change. */
  private readonly copies = new Map<Material, Material>();

  build(shapeMeshes: ShapeMesh[]): void {
    this.root.clear();
    for (const { mesh } of this.crowds) mesh.dispose();
    this.crowds = [];
    const equal = new Map<string, ShapeMesh[]>();
    for (const piece of shapeMeshes) {
      if (!piece.mesh.visible) continue;
      const { geometry, material } = piece.mesh;
      // Transparent pieces are drawn separately, from far to near.
      if (material.transparent) this.alone(piece);
      else {
        const key = `${geometry.uuid} ${material.uuid}`;
        const crowd = equal.get(key);
        if (crowd) crowd.push(piece);
        else equal.set(key, [piece]);
      }
    }
    for (const crowd of equal.values()) {
      if (crowd.length < MANY) crowd.forEach((piece) => this.alone(piece));
      else this.together(crowd);
    }
  }

  private alone({ mesh: of }: ShapeMesh): void {
    const mesh = new Mesh(of.geometry, of.material);
    this.place(mesh, of);
    mesh.matrixWorld = of.matrixWorld;
  }

  private together(shapeMeshes: ShapeMesh[]): void {
    const of = shapeMeshes[0]!.mesh;
    const mesh = new InstancedMesh(of.geometry, this.copy(of.material), shapeMeshes.length);
    this.place(mesh, of);
    mesh.frustumCulled = false;
    this.crowds.push({ mesh, shapeMeshes });
  }

  private place(mesh: Mesh, of: Mesh): void {
    mesh.castShadow = of.castShadow;
    mesh.receiveShadow = of.receiveShadow;
    mesh.matrixAutoUpdate = mesh.matrixWorldAutoUpdate = false;
    this.root.add(mesh);
  }

  private copy(material: Material): Material {
    let copy = this.copies.get(material);
    if (!copy) this.copies.set(material, (copy = material.clone()));
    return copy;
  }

  /** Drops the copy of a material that has changed. */
  forget(material: Material): void {
    this.copies.get(material)?.dispose();
    this.copies.delete(material);
  }

  /** Updates the poses of the pieces: call after they moved, before drawing. */
  follow(): void {
    for (const { mesh, shapeMeshes } of this.crowds) {
      const matrices = mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < shapeMeshes.length; i++) {
        matrices.set(shapeMeshes[i]!.mesh.matrixWorld.elements, 16 * i);
      }
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}
