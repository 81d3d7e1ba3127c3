import { describe, expect, it } from "vitest";
import { metered } from "../src/charts/energyBars";
import { stepTarget } from "../src/panels/stepResponse";

describe("energy bars", () => {
  it("are those of what has a meter, robots first", () => {
    const names = [
      "arm/J1.angle",
      "arm/J1.energy_gross",
      "arm.energy_gross",
      "arm/J2.energy_gross",
    ];
    expect(metered(names.map((name) => ({ name })))).toEqual([
      { name: "arm", whole: true },
      { name: "arm/J1", whole: false },
      { name: "arm/J2", whole: false },
    ]);
  });
});

describe("a step", () => {
  const by = (20 * Math.PI) / 180;
  it("goes on where there is room and back where there is none", () => {
    expect(stepTarget(0.1, { unit: "rad", lo: null, hi: null })).toBeCloseTo(0.1 + by);
    expect(stepTarget(0.9, { unit: "rad", lo: -1, hi: 1 })).toBeCloseTo(0.9 - by);
    expect(stepTarget(0.0, { unit: "rad", lo: -0.1, hi: 0.1 })).toBeCloseTo(-0.1);
    expect(stepTarget(0.5, { unit: "m", lo: 0, hi: 1 })).toBeCloseTo(0.52);
  });
});
