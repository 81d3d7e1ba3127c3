import { describe, expect, it } from "vitest";
import { arithmetic, format, formatSI, parse } from "../src/app/numbers";

describe("parse", () => {
  it("takes a bare number in the unit the field shows", () => {
    expect(parse("90", "rad")).toBeCloseTo(Math.PI / 2);
    expect(parse("1.5", "rad", false)).toBeCloseTo(1.5);
    expect(parse("24", "m")).toBeCloseTo(0.024);
  });

  it("takes a unit behind the number", () => {
    expect(parse("30deg", "rad", false)).toBeCloseTo(Math.PI / 6);
    expect(parse("0.5 rad", "rad")).toBeCloseTo(0.5);
    expect(parse("−12 °", "rad")).toBeCloseTo((-12 * Math.PI) / 180);
    expect(parse("2 cm", "m")).toBeCloseTo(0.02);
    expect(parse("180deg", "rad/s")).toBeCloseTo(Math.PI);
  });

  it("calculates", () => {
    expect(parse("2*45", "rad")).toBeCloseTo(Math.PI / 2);
    expect(parse("pi/2 rad", "rad")).toBeCloseTo(Math.PI / 2);
  });

  it("says null for what is no number or of another kind", () => {
    for (const text of ["", "abc", "2*", "3 kg", "1..2", "alert(1)", "1/0"])
      expect(parse(text, "rad")).toBeNull();
  });
});

describe("arithmetic", () => {
  it("follows the usual order", () => {
    expect(arithmetic("1+2*3")).toBe(7);
    expect(arithmetic("(1+2)*3")).toBe(9);
    expect(arithmetic("-2^2")).toBe(-4);
    expect(arithmetic("8/4/2")).toBe(1);
    expect(arithmetic("1e-3*2")).toBeCloseTo(0.002);
  });
});

describe("format", () => {
  it("writes a true minus and no negative zero", () => {
    expect(format(-14, 1)).toBe("−14.0");
    expect(format(-0.001, 1)).toBe("0.0");
    expect(format(NaN, 1)).toBe("–");
  });

  it("writes SI values as people read them", () => {
    expect(formatSI(Math.PI / 2, "rad")).toBe("90.0°");
    expect(formatSI(0.024, "m")).toBe("24.0 mm");
    expect(formatSI(Math.PI, "rad/s")).toBe("180.0°/s");
    expect(formatSI(0.5, "rad", false)).toBe("0.500 rad");
  });
});
