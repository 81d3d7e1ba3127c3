import { expect, test } from "vitest";
import { BoxGeometry, Matrix4, Mesh, MeshBasicMaterial, SphereGeometry, Vector3 } from "three";
import { facesOf, nearest, surfaceOf } from "../src/reach/faces";
import { crossing } from "../src/reach/triangles";
import { drawnLengths, SCALE } from "../src/reach/ellipsoid";
import type { ShapeMesh } from "../src/views/bodies";

/** A piece of some kind at a place. */
function piece(kind: "box" | "sphere", size: number[], at: [number, number, number]): ShapeMesh {
  const geometry =
    kind === "box"
      ? new BoxGeometry(...(size as [number, number, number]))
      : new SphereGeometry(size[0], 16, 12);
  const mesh = new Mesh(geometry, new MeshBasicMaterial());
  mesh.matrixWorld = new Matrix4().makeTranslation(...at);
  return { mesh, element: {}, shape: { kind, size } } as unknown as ShapeMesh;
}

/** Where the corners of some triangles are along an axis, each once. */
const along = (all: Float32Array, axis: number): number[] =>
  [...new Set([...all].filter((_, n) => n % 3 === axis).map((c) => Number(c.toFixed(6))))].sort();

test("a box that stands half in another one meets it with its lower sides and that one's top", () => {
  const low = surfaceOf(piece("box", [1, 1, 1], [0, 0, 0]));
  const high = surfaceOf(piece("box", [0.2, 0.2, 0.4], [0, 0, 0.5]));
  const [mine, theirs] = crossing(low.triangles, high.triangles);
  expect(along(facesOf(low, mine), 2)).toEqual([0.5]);
  // Its four walls go through the top; its own top and bottom do not.
  expect(facesOf(high, theirs).length / 18).toBe(4);
  expect(along(facesOf(high, theirs), 2)).toEqual([0.3, 0.7]);
});

test("what is apart, or wholly inside, crosses nothing", () => {
  const box = surfaceOf(piece("box", [1, 1, 1], [0, 0, 0]));
  for (const at of [2, 0]) {
    const ball = surfaceOf(piece("sphere", [0.2], [at, 0, 0]));
    expect(crossing(box.triangles, ball.triangles)).toEqual([[], []]);
  }
});

test("the face next to a place is the one that is nearest", () => {
  const box = surfaceOf(piece("box", [1, 1, 1], [0, 0, 0]));
  const found = facesOf(box, nearest(box, new Vector3(0.45, 0.1, 0)));
  expect(along(found, 0)).toEqual([0.5]);
});

test("a ball through a wall is marked near the wall only, and every mark touches it", () => {
  const wall = surfaceOf(piece("box", [0.1, 2, 2], [0, 0, 0]));
  const ball = surfaceOf(piece("sphere", [0.3], [0.28, 0, 0]));
  const [, marks] = crossing(wall.triangles, ball.triangles);
  expect(marks.length).toBeGreaterThan(4);
  for (const n of marks) {
    const xs = [0, 3, 6].map((k) => ball.triangles[9 * n + k]!);
    expect(Math.min(...xs)).toBeLessThanOrEqual(0.05);
    expect(Math.max(...xs)).toBeGreaterThanOrEqual(0.05);
  }
});

test("ellipsoids of velocities are to scale, others as long as fits, endless axes longer", () => {
  expect(drawnLengths([0.5, 0.25, 0], "velocity")).toEqual([0.5 * SCALE, 0.25 * SCALE, 0]);
  expect(drawnLengths([Infinity, 4, 2], "force")).toEqual([3 * SCALE, SCALE, SCALE / 2]);
});
