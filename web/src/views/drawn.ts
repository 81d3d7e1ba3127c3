import { Group, InstancedMesh, Mesh, type BufferGeometry, type Material } from "three";
import type { Piece } from "./bodies";

/** So many equal pieces and more are drawn by one command. */
const MANY = 2;

interface Crowd {
  mesh: InstancedMesh<BufferGeometry, Material>;
  pieces: Piece[];
}

/**
 * The visible pieces as the graphics card gets them: equal ones by one command for all. They stand
 * flat in one group and take their places from the pieces, so nothing is walked or multiplied anew
 * for each of four views.
 */
export class Drawn {
  readonly root = new Group();
  crowds: Crowd[] = [];
  /** What draws crowds; a material that draws both would be prepared anew at each change. */
  private readonly copies = new Map<Material, Material>();

  build(pieces: Piece[]): void {
    this.root.clear();
    for (const { mesh } of this.crowds) mesh.dispose();
    this.crowds = [];
    const equal = new Map<string, Piece[]>();
    for (const piece of pieces) {
      if (!piece.mesh.visible) continue;
      const { geometry, material } = piece.mesh;
      // What is seen through is drawn from the far to the near, each by itself.
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

  private alone({ mesh: of }: Piece): void {
    const mesh = new Mesh(of.geometry, of.material);
    this.place(mesh, of);
    mesh.matrixWorld = of.matrixWorld;
  }

  private together(pieces: Piece[]): void {
    const of = pieces[0]!.mesh;
    const mesh = new InstancedMesh(of.geometry, this.copy(of.material), pieces.length);
    this.place(mesh, of);
    mesh.frustumCulled = false;
    this.crowds.push({ mesh, pieces });
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

  /** Forgets what was made of a material that has changed. */
  forget(material: Material): void {
    this.copies.get(material)?.dispose();
    this.copies.delete(material);
  }

  /** Takes the places of the pieces over: call after they moved, before drawing. */
  follow(): void {
    for (const { mesh, pieces } of this.crowds) {
      const places = mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < pieces.length; i++) {
        places.set(pieces[i]!.mesh.matrixWorld.elements, 16 * i);
      }
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}
