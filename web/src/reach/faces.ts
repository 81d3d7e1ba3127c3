import { Matrix4, Vector3 } from "three";
import type { ShapeMesh } from "../views/bodies";
import type { Triangles } from "./triangles";

/** The surface of a piece in the world, and the face of each triangle. */
export interface Surface {
  triangles: Triangles;
  /** Index of the face of each triangle: a side of a box, else the triangle itself. */
  faces: number[];
}

/** Corners of a box of size 2, four for each side, seen from outside. */
const SIDES: [number, number, number][][] = [0, 1, 2].flatMap((axis) =>
  [-1, 1].map((side) => {
    const [b, c] = [(axis + 1) % 3, (axis + 2) % 3];
    const corner = (u: number, v: number): [number, number, number] => {
      const at: [number, number, number] = [0, 0, 0];
      at[axis] = side;
      at[b] = side * u;
      at[c] = v;
      return at;
    };
    return [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
  }),
);
/** Extent of an infinite floor for collision checks [m]. */
const FLOOR = 20;

/** The present surface of a piece: boxes with their plain sides, others as drawn. */
export function surfaceOf({ mesh, shape }: ShapeMesh): Surface {
  if (shape.kind === "box") {
    const half = new Vector3().fromArray(shape.size).multiplyScalar(0.5);
    return made(
      SIDES.map((side) => side.map((at) => new Vector3(...at).multiply(half))),
      mesh.matrixWorld,
    );
  }
  if (shape.kind === "plane") {
    const [x, y] = [(shape.size[0] || FLOOR) / 2, (shape.size[1] || FLOOR) / 2];
    const side = [new Vector3(-x, -y), new Vector3(x, -y), new Vector3(x, y), new Vector3(-x, y)];
    return made([side], mesh.matrixWorld);
  }
  const position = mesh.geometry.getAttribute("position");
  const index = mesh.geometry.getIndex();
  const count = index ? index.count : position.count;
  const triangles = new Float32Array(3 * count);
  const at = new Vector3();
  for (let n = 0; n < count; n++) {
    at.fromBufferAttribute(position, index ? index.getX(n) : n).applyMatrix4(mesh.matrixWorld);
    at.toArray(triangles, 3 * n);
  }
  return { triangles, faces: Array.from({ length: count / 3 }, (_, n) => n) };
}

function made(sides: Vector3[][], world: Matrix4): Surface {
  const triangles = new Float32Array(18 * sides.length);
  sides.forEach((side, n) => {
    const corners = side.map((each) => each.applyMatrix4(world));
    [0, 1, 2, 0, 2, 3].forEach((k, i) => corners[k]!.toArray(triangles, 18 * n + 3 * i));
  });
  return { triangles, faces: sides.flatMap((_, n) => [n, n]) };
}

/** The triangles of whole faces: of each face that contains one of the given triangles. */
export function facesOf({ triangles, faces }: Surface, numbers: number[]): Triangles {
  const hit = new Set(numbers.map((n) => faces[n]!));
  const all = faces.flatMap((face, n) => (hit.has(face) ? [n] : []));
  const found = new Float32Array(9 * all.length);
  all.forEach((n, i) => found.set(triangles.subarray(9 * n, 9 * n + 9), 9 * i));
  return found;
}

/** The triangle whose center is nearest to a point. */
export function nearest({ triangles }: Surface, place: Vector3): number[] {
  let best = 0;
  let least = Infinity;
  for (let t = 0; t < triangles.length; t += 9) {
    let far = 0;
    for (let c = 0; c < 3; c++) {
      const middle = (triangles[t + c]! + triangles[t + 3 + c]! + triangles[t + 6 + c]!) / 3;
      far += (middle - place.getComponent(c)) ** 2;
    }
    if (far < least) [best, least] = [t / 9, far];
  }
  return triangles.length > 0 ? [best] : [];
}
