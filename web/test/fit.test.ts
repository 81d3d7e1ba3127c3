import { PerspectiveCamera, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { fitPoints, type Room } from "../src/views/fit";

const AXES: [Vector3, Vector3, Vector3] = [
  new Vector3(1, 0, 0),
  new Vector3(0, 0, 1),
  new Vector3(0, -1, 0),
];
const NONE: Room = { top: 0, bottom: 0, side: 0 };
const corners = (x: number, y: number, z: number, at = new Vector3()): Vector3[] =>
  [-x, x].flatMap((a) => [-y, y].flatMap((b) => [-z, z].map((c) => new Vector3(a, b, c).add(at))));

describe("fitPoints", () => {
  it("fills a flat view with what is tall, or with what is wide", () => {
    expect(fitPoints(corners(0.1, 3, 1), AXES, 2, 0, NONE).half).toBeCloseTo(1);
    expect(fitPoints(corners(4, 3, 1), AXES, 2, 0, NONE).half).toBeCloseTo(2);
  });

  it("centers what is fitted, below the room that is left free at the top", () => {
    const at = new Vector3(1, 2, 3);
    const even = fitPoints(corners(1, 1, 1, at), AXES, 1, 0, NONE);
    expect(even.target.x).toBeCloseTo(1);
    expect(even.target.z).toBeCloseTo(3);
    const under = fitPoints(corners(0.1, 1, 1, at), AXES, 1, 0, { ...NONE, top: 0.5 });
    expect(under.half).toBeCloseTo(4 / 3);
    expect(under.target.z + under.half * 0.5).toBeCloseTo(4);
    expect(under.target.z - under.half).toBeCloseTo(2);
  });

  it("cuts nothing off in perspective and touches an edge", () => {
    const points = corners(0.3, 0.8, 0.5, new Vector3(0.2, 0, 0.4));
    for (const aspect of [0.4, 1, 2.5]) {
      const camera = new PerspectiveCamera(40, aspect, 0.01, 100);
      const slope = Math.tan((20 * Math.PI) / 180);
      const { target, half } = fitPoints(points, AXES, aspect, slope, NONE);
      camera.up.set(0, 0, 1);
      camera.position.copy(target).addScaledVector(AXES[2], half / slope);
      camera.lookAt(target);
      camera.updateMatrixWorld(true);
      const seen = points.map((point) => point.clone().project(camera));
      const far = Math.max(...seen.map((p) => Math.max(Math.abs(p.x), Math.abs(p.y))));
      expect(far).toBeLessThanOrEqual(1 + 1e-9);
      expect(far).toBeGreaterThan(0.999);
    }
  });

  it("stays away from a single point", () => {
    expect(fitPoints([new Vector3()], AXES, 1, 0, NONE).half).toBeGreaterThan(0.01);
  });
});
