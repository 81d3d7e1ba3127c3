import { BoxGeometry, Group, Matrix4, Mesh, MeshStandardMaterial, SphereGeometry } from "three";
import { describe, expect, it } from "vitest";
import type { ShapeMesh } from "../src/views/bodies";
import { Drawn } from "../src/views/drawn";

const box = new BoxGeometry();
const paint = new MeshStandardMaterial();

function piece(
  x: number,
  geometry = box as ShapeMesh["mesh"]["geometry"],
  material = paint,
): ShapeMesh {
  const mesh = new Mesh(geometry, material);
  mesh.matrixWorld.makeTranslation(x, 0, 0);
  return { mesh, element: {}, shape: {} } as unknown as ShapeMesh;
}

/** Where the copies of a crowd are along x. */
function offsets(drawn: Drawn, crowd: number): number[] {
  const { mesh } = drawn.crowds[crowd]!;
  return Array.from({ length: mesh.count }, (_, i) => {
    const at = new Matrix4();
    mesh.getMatrixAt(i, at);
    return at.elements[12]!;
  });
}

describe("Drawn", () => {
  it("draws equal pieces by one command and follows them", () => {
    const drawn = new Drawn();
    const shapeMeshes = [piece(1), piece(2), piece(3, new SphereGeometry())];
    drawn.build(shapeMeshes);
    drawn.follow();
    expect(drawn.root.children).toHaveLength(2);
    expect(offsets(drawn, 0)).toEqual([1, 2]);
    shapeMeshes[0]!.mesh.matrixWorld.makeTranslation(9, 0, 0);
    shapeMeshes[2]!.mesh.matrixWorld.makeTranslation(8, 0, 0);
    drawn.follow();
    expect(offsets(drawn, 0)).toEqual([9, 2]);
    const alone = drawn.root.children.find((each) => (each as Mesh).geometry !== box)!;
    expect(alone.matrixWorld.elements[12]).toBe(8);
  });

  it("leaves hidden pieces out and draws what is seen through by itself", () => {
    const glass = new MeshStandardMaterial({ transparent: true });
    const drawn = new Drawn();
    const shapeMeshes = [piece(1), piece(2), piece(3), piece(4, box, glass), piece(5, box, glass)];
    shapeMeshes[1]!.mesh.visible = false;
    drawn.build(shapeMeshes);
    drawn.follow();
    expect(drawn.crowds).toHaveLength(1);
    expect(offsets(drawn, 0)).toEqual([1, 3]);
    expect(drawn.root.children).toHaveLength(3);
  });

  it("takes a changed material over", () => {
    const drawn = new Drawn();
    const shapeMeshes = [piece(1), piece(2)];
    drawn.build(shapeMeshes);
    paint.color.set("#ff0000");
    drawn.forget(paint);
    drawn.build(shapeMeshes);
    expect((drawn.crowds[0]!.mesh.material as MeshStandardMaterial).color.getHex()).toBe(0xff0000);
    expect(drawn.root).toBeInstanceOf(Group);
  });
});
