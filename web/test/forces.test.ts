import { describe, expect, it } from "vitest";
import { formatFine, formatGap } from "../src/app/numbers";
import { apart } from "../src/views/ghost";
import { newtons, strongest } from "../src/views/jointForces";
import { sharedScope } from "../src/charts/chartCard";

describe("words of small and large numbers", () => {
  it("says forces with three digits", () => {
    expect([0.1234, 12.345, 456.7, 12_345].map(newtons)).toEqual([
      "0.12 N",
      "12.3 N",
      "457 N",
      "12.3 kN",
    ]);
  });

  it("says gaps down to what is as good as closed", () => {
    expect([0, 1.2e-3, 2e-6, 4e-8, 3e-11].map(formatGap)).toEqual([
      "0.000 mm",
      "1.200 mm",
      "0.002 mm",
      "40 nm",
      "< 1 nm",
    ]);
  });

  it("keeps what rounding would lose", () => {
    expect([0, 0.25, -2.1e-9].map((v) => formatFine(v, 1))).toEqual(["0.0", "0.3", "−2.1e−9"]);
  });
});

describe("forces of many joints", () => {
  const rows = new Float32Array(7 * 600);
  for (let i = 0; i < 600; i++) rows[7 * i + 3] = i === 599 ? -9 : 1 + (i % 5);

  it("are all drawn where there is room", () => {
    expect(strongest(rows.subarray(0, 21), 3)).toEqual([0, 1, 2]);
  });

  it("are drawn from the largest on where there is none", () => {
    const drawn = strongest(rows, 512);
    expect(drawn).toHaveLength(512);
    expect(drawn[0]).toBe(599);
    expect(drawn).not.toContain(595);
  });
});

describe("ghost", () => {
  it("takes both quaternions of a turn for the same", () => {
    const a = new Float32Array([1, 2, 3, 0.5, 0.5, 0.5, 0.5]);
    const b = new Float32Array([1, 2, 3, -0.5, -0.5, -0.5, -0.5]);
    expect(apart(a, b, 0)).toBe(0);
    b[2] = 3.25;
    expect(apart(a, b, 0)).toBe(0.25);
  });
});

describe("names of curves", () => {
  it("are short where all are of one part", () => {
    expect(sharedScope(["arm/J1.angle", "arm/J2.angle"])).toBe(4);
    expect(sharedScope(["arm/J1.angle", "leg/J2.angle"])).toBe(0);
    expect(sharedScope(["arm/J1.angle"])).toBe(0);
  });
});
