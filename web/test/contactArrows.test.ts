import { Matrix4, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { ContactArrows, markScale } from "../src/views/contactArrows";

/** Length of an arrow and radius of its dot, as parts of those on something large. */
function drawn(size: number): { long: number; dot: number } {
  const arrows = new ContactArrows();
  arrows.update(new Float32Array([0, 0, 0, 0, 0, 4, 0]), true, true, markScale(size));
  const matrix = new Matrix4();
  const scale = new Vector3();
  arrows.shafts.getMatrixAt(0, matrix);
  const long = scale.setFromMatrixScale(matrix).z;
  arrows.dots.getMatrixAt(0, matrix);
  return { long, dot: scale.setFromMatrixScale(matrix).x };
}

describe("marks of contacts", () => {
  it("are smaller where small things touch", () => {
    const [small, large] = [drawn(0.08), drawn(2)];
    expect(large.dot).toBe(1);
    expect(large.long).toBeCloseTo(0.04);
    expect(small.dot).toBeCloseTo(0.4);
    expect(small.long).toBeCloseTo(0.016);
  });
  it("are never too small to be seen", () => {
    expect(drawn(0.001).dot).toBeCloseTo(0.35);
  });
});
